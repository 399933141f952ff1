import { controllerOf } from '../../../src/kube/vocabulary/objects.ts'
import { COMPOSITE_POD_GROUPS, PODS, SCHEDULING_WORKLOADS } from '../../../src/kube/vocabulary/resources.ts'
import { KAI, parentOf } from '../actors/nodes.ts'
import { POD_GROUP, podGroupOf } from '../actors/pod-groups.ts'
import { asPod, isGated } from '../facts.ts'
import { equal } from '../model/patches.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Judge } from './judge.ts'

const WORKLOAD = SCHEDULING_WORKLOADS.v1beta1

interface PodGroup {
  readonly spec: {
    readonly workloadRef?: { readonly workloadName?: string }
    readonly schedulingPolicy?: object
    readonly podGroupTemplates?: readonly { readonly schedulingPolicy?: object }[]
  }
}

/**
 * I2: no gate falls before the PodGroup that the pod names is there, with the group of groups that it is under, and they
 * are Muster's; no PodGroup before its Workload.
 * I5: of such an object that somebody else has made nothing is changed, of Muster's own only how many it wants.
 */
export function watchPodGroups(server: ModelServer, muster: string, judge: Judge): void {
  const ours = new Set<string>()

  const checkLift = (pod: Stored) => {
    const name = podGroupOf(pod)
    if (name === undefined || asPod(pod).spec.schedulerName === KAI) return
    const group = server.find(POD_GROUP, pod.metadata.namespace, name)
    const who = `${pod.metadata.namespace}/${pod.metadata.name}`
    if (group === undefined) judge.fail('I2', `${who} is lifted and its PodGroup ${name} is not there`)
    else if (!ours.has(group.metadata.uid ?? '')) judge.fail('I5', `${who} is lifted into a PodGroup of somebody else`)
    const above = group && parentOf(group)
    if (above === undefined) return
    const composite = server.find(COMPOSITE_POD_GROUPS, pod.metadata.namespace, above)
    if (composite === undefined) judge.fail('I2', `${who} is lifted and its CompositePodGroup ${above} is not there`)
    else if (!ours.has(composite.metadata.uid ?? ''))
      judge.fail('I5', `${who} is lifted below a group of somebody else`)
  }

  const checkNew = (group: Stored) => {
    const { workloadRef } = (group as unknown as PodGroup).spec
    if (server.find(WORKLOAD, group.metadata.namespace, workloadRef?.workloadName ?? '') !== undefined) return
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
    if (resource !== POD_GROUP && resource !== WORKLOAD && resource !== COMPOSITE_POD_GROUPS) return
    if (who !== muster) return
    if (type === 'deleted') judge.fail('I5', `Muster deleted ${after.metadata.namespace}/${after.metadata.name}`)
    if (type === 'created') {
      ours.add(after.metadata.uid ?? '')
      if (resource === WORKLOAD) checkOnly(after)
      else checkNew(after)
    } else if (before !== undefined) checkChange(before, after)
  })
}
