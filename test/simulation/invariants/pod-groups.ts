import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { controllerOf } from '../../../src/kube/vocabulary/objects.ts'
import {
  COMPOSITE_POD_GROUPS,
  JOB_SETS,
  JOBS,
  PODS,
  SCHEDULING_WORKLOADS,
} from '../../../src/kube/vocabulary/resources.ts'
import { isOurPodGroupName } from '../../../src/workload/placement.ts'
import { KAI, parentOf } from '../actors/nodes.ts'
import { POD_GROUP, podGroupOf } from '../actors/pod-groups.ts'
import { asPod, isDeleting, isGated, isTerminal } from '../facts.ts'
import { equal } from '../model/patches.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'

const WORKLOAD = SCHEDULING_WORKLOADS.v1beta1
/**
 * A watch that died without a word is given up after 90 s and begun anew. Until then nobody can know what a person has
 * deleted; what the garbage collector takes was announced by the end of its owner.
 */
const UNHEARD_MS = 100_000
/** A write that was right when it was sent may arrive as late as this; the garbage collector takes what it made. */
const UNDER_WAY_MS = 10_000
const OWNERS: readonly Resource[] = [JOBS, JOB_SETS]

interface PodGroup {
  readonly spec: {
    readonly workloadRef?: { readonly workloadName?: string }
    readonly schedulingPolicy?: object
    readonly podGroupTemplates?: readonly { readonly schedulingPolicy?: object }[]
  }
}

/** I4: a group that is lifted has in the end what the scheduler places it by, whoever has deleted that. */
export function ungrouped(server: ModelServer): readonly string[] {
  return server.all(PODS).flatMap(object => {
    const { metadata, spec } = asPod(object)
    const name = podGroupOf(object)
    if (name === undefined || !isOurPodGroupName(name) || spec.schedulerName === KAI || spec.nodeName) return []
    if (isDeleting(object) || isGated(asPod(object)) || isTerminal(asPod(object))) return []
    const group = server.find(POD_GROUP, metadata.namespace, name)
    const above = group && parentOf(group)
    const isThere = above === undefined || server.find(COMPOSITE_POD_GROUPS, metadata.namespace, above) !== undefined
    const who = `${metadata.namespace}/${metadata.name}`
    return group !== undefined && isThere ? [] : [`${who} is lifted and what it would be placed by is not there`]
  })
}

/**
 * I2: no gate falls before the PodGroup that the pod names is there, with the group of groups that it is under, and they
 * are Muster's; no PodGroup before its Workload. Of what a person has deleted a moment ago Muster may not have heard.
 * I5: of such an object that somebody else has made nothing is changed, of Muster's own only how many it wants.
 */
export function watchPodGroups(server: ModelServer, muster: string, judge: Judge, now: () => number): void {
  const ours = new Set<string>()
  const snatched = new Map<string, number>()
  /** Deleted by a person, and kept for as long as pods name them: they go when these do. */
  const doomed = new Set<string>()
  /** When who owned such objects was gone, by uid. */
  const goneAt = new Map<string, number>()

  const place = (resource: Resource, namespace = '', name = '') => `${resource.plural}/${namespace}/${name}`
  const mayBeUnheardOf = (resource: Resource, namespace: string | undefined, name: string) =>
    now() - (snatched.get(place(resource, namespace, name)) ?? Number.NEGATIVE_INFINITY) <= UNHEARD_MS

  const checkLift = (pod: Stored) => {
    const name = podGroupOf(pod)
    if (name === undefined || asPod(pod).spec.schedulerName === KAI) return
    const group = server.find(POD_GROUP, pod.metadata.namespace, name)
    const who = `${pod.metadata.namespace}/${pod.metadata.name}`
    if (group === undefined) {
      if (mayBeUnheardOf(POD_GROUP, pod.metadata.namespace, name)) return
      judge.fail('I2', `${who} is lifted and its PodGroup ${name} is not there`)
    } else if (!ours.has(group.metadata.uid ?? ''))
      judge.fail('I5', `${who} is lifted into a PodGroup of somebody else`)
    const above = group && parentOf(group)
    if (above === undefined) return
    const composite = server.find(COMPOSITE_POD_GROUPS, pod.metadata.namespace, above)
    if (composite === undefined) {
      if (mayBeUnheardOf(COMPOSITE_POD_GROUPS, pod.metadata.namespace, above)) return
      judge.fail('I2', `${who} is lifted and its CompositePodGroup ${above} is not there`)
    } else if (!ours.has(composite.metadata.uid ?? ''))
      judge.fail('I5', `${who} is lifted below a group of somebody else`)
  }

  const checkNew = (group: Stored) => {
    const { workloadRef } = (group as unknown as PodGroup).spec
    const workload = server.find(WORKLOAD, group.metadata.namespace, workloadRef?.workloadName ?? '')
    if (workload !== undefined) {
      if (ours.has(workload.metadata.uid ?? '')) return
      return judge.fail('I5', `${group.kind ?? 'group'} ${group.metadata.name} is made for a Workload of somebody else`)
    }
    const owner = controllerOf(group.metadata.ownerReferences)?.uid ?? ''
    if (now() - (goneAt.get(owner) ?? Number.NEGATIVE_INFINITY) <= UNDER_WAY_MS) return
    judge.fail('I2', `${group.kind ?? 'group'} ${group.metadata.name} is made before its Workload`)
  }

  /** Exactly one for a Job, whoever leads and whoever was killed in between. */
  const checkOnly = (workload: Stored) => {
    const owner = controllerOf(workload.metadata.ownerReferences)
    if (owner === undefined) return
    const isOther = ({ metadata: { uid, ownerReferences } }: Stored) =>
      uid !== workload.metadata.uid && controllerOf(ownerReferences)?.uid === owner.uid
    if (server.all(WORKLOAD).some(isOther)) judge.fail('I5', `${owner.kind} ${owner.name} has a second Workload`)
  }

  const checkChange = (before: Stored, after: Stored) => {
    const name = `${after.metadata.namespace}/${after.metadata.name}`
    if (!ours.has(after.metadata.uid ?? '')) judge.fail('I5', `${name}, which is somebody else's, was changed`)
    const kept = ({ metadata: { resourceVersion: _, ...metadata }, spec }: Stored): unknown => {
      const { schedulingPolicy: __, podGroupTemplates: templates = [], ...rest } = (spec ?? {}) as PodGroup['spec']
      return [metadata, rest, templates.map(({ schedulingPolicy: ___, ...template }) => template)]
    }
    if (!equal(kept(before), kept(after))) judge.fail('I5', `more than its number was changed of ${name}`)
  }

  server.subscribe(({ resource, type, before, after, who }) => {
    if (resource === PODS) {
      if (type === 'updated' && before && isGated(asPod(before)) && !isGated(asPod(after)) && who === muster)
        checkLift(after)
      return
    }
    if (type === 'deleted' && OWNERS.includes(resource)) goneAt.set(after.metadata.uid ?? '', now())
    if (resource !== POD_GROUP && resource !== WORKLOAD && resource !== COMPOSITE_POD_GROUPS) return
    const byPerson = !who.startsWith('system:')
    if (byPerson && before && isDeleting(after) && !isDeleting(before)) doomed.add(after.metadata.uid ?? '')
    if (type === 'deleted' && (byPerson || doomed.has(after.metadata.uid ?? '')))
      snatched.set(place(resource, after.metadata.namespace, after.metadata.name), now())
    if (who !== muster) return
    if (type === 'deleted') judge.fail('I5', `Muster deleted ${after.metadata.namespace}/${after.metadata.name}`)
    if (type === 'created') {
      ours.add(after.metadata.uid ?? '')
      if (resource === WORKLOAD) checkOnly(after)
      else checkNew(after)
    } else if (before !== undefined) checkChange(before, after)
  })
}
