import type { Resource } from '../kube/vocabulary/api.ts'
import { parseApiVersion } from '../kube/vocabulary/api-version.ts'
import { KAI_POD_GROUPS } from '../kube/vocabulary/kai.ts'
import { KUEUE_GROUP } from '../kube/vocabulary/kueue.ts'
import { POD_GROUP_OF } from '../kube/vocabulary/names.ts'
import { controllerOf, type KubeObject, type OwnerReference, type Pod } from '../kube/vocabulary/objects.ts'
import { JOBS, POD_GROUPS } from '../kube/vocabulary/resources.ts'
import { isGrouped } from '../workload/grouped/job-to-group.ts'
import { isOurPodGroupName, podGroupOf } from '../workload/placement.ts'
import { kaiLinkOf } from '../workload/pod-facts.ts'
import { isAlive } from './pods.ts'
import type { Job, Remains, SchedulingObject } from './remains.ts'
import { isGoing, merged, nulled, remove, type Step } from './steps.ts'

/**
 * A pod names its PodGroup for good, and its scheduler holds it until there is one. So what pods still name stays and is
 * made harmless: it asks for one pod, belongs to those who name it, and goes with the last of them.
 */
export function settleGroups(remains: Remains): readonly Step[] {
  return [...ofQueues(remains), ...ofJobs(remains), ...missing(remains), ...ofKai(remains)]
}

/** Groups in queues: their objects belong to a Workload that is about to go. */
function ofQueues({ podGroups, around, pods, podGroupVersion }: Remains): readonly Step[] {
  if (podGroupVersion === undefined) return []
  const members = membersOf(pods)
  const byOwner = Map.groupBy(podGroups.filter(isOfQueue), ownerUid)
  const ownersOf = (object: KubeObject): readonly OwnerReference[] =>
    (byOwner.get(ownerUid(object)) ?? []).flatMap(({ metadata }) => members.get(keyOf(metadata)) ?? []).map(asOwner)
  const all = [{ resource: POD_GROUPS[podGroupVersion], objects: podGroups }, ...around]
  return all.flatMap(({ resource, objects }) =>
    objects.filter(isOfQueue).flatMap(object => {
      const ownerReferences = ownersOf(object)
      if (ownerReferences.length === 0) return isGoing(object) ? [] : [remove(resource, object)]
      return [merged(resource, object, { ownerReferences }, shrunk(object, resource))]
    }),
  )
}

/** Groups of Jobs that Muster has grouped: theirs stay their Job's, and nobody is left who would let them shrink. */
function ofJobs({ podGroups, jobs, podGroupVersion }: Remains): readonly Step[] {
  if (podGroupVersion === undefined) return []
  const resource = POD_GROUPS[podGroupVersion]
  const grouped = new Set(
    jobs.flatMap(({ objects }) => objects.filter(isGrouped)).map(({ metadata }) => metadata.uid ?? ''),
  )
  return podGroups
    .filter(object => grouped.has(ownerUid(object)))
    .flatMap(object => {
      const spec = shrunk(object, resource)
      return spec === undefined ? [] : [merged(resource, object, {}, spec)]
    })
}

/**
 * Named by somebody and never made: without one he would wait for ever, whoever lifts his gate. Who is about to go needs
 * none, and where his whole namespace goes the API server lets nobody make one.
 */
function missing({ podGroups, pods, jobs, podGroupVersion }: Remains): readonly Step[] {
  if (podGroupVersion === undefined) return []
  const resource = POD_GROUPS[podGroupVersion]
  const there = new Set(podGroups.map(({ metadata }) => keyOf(metadata)))
  const wanted = new Map<string, OwnerReference[]>()
  const want = ({ namespace }: KubeObject['metadata'], name: string | undefined, owner: OwnerReference): void => {
    const key = keyOf({ namespace: namespace ?? '', name: name ?? '' })
    if (name !== undefined && !there.has(key)) wanted.set(key, [...(wanted.get(key) ?? []), owner])
  }
  for (const pod of pods.filter(each => isAlive(each) && !isGoing(each))) {
    const name = podGroupOf(pod)
    if (name !== undefined && isOurPodGroupName(name)) want(pod.metadata, name, asOwner(pod))
  }
  const ofJobs = jobs.flatMap(({ kind, objects }) => (kind.resource === JOBS ? objects : []))
  for (const job of ofJobs.filter(each => isGrouped(each) && !isGoing(each))) {
    want(job.metadata, groupNamedBy(job), { ...asOwner(job), apiVersion: 'batch/v1', kind: 'Job' })
  }
  return [...wanted].map(([key, ownerReferences]) => {
    const [namespace = '', name = ''] = key.split('/')
    const apiVersion = `${resource.group}/${resource.version}`
    const metadata = { name, namespace, ownerReferences }
    const object = { apiVersion, kind: resource.kind, metadata, spec: { schedulingPolicy: { basic: {} } } }
    return { kind: 'create', resource, object }
  })
}

const groupNamedBy = ({ spec }: Job): string | undefined =>
  podGroupOf({ metadata: {}, spec: spec.template?.spec ?? {} })

function ofKai({ kaiPodGroups, pods }: Remains): readonly Step[] {
  const linked = Map.groupBy(pods.filter(isAlive), pod => keyOf({ ...pod.metadata, name: kaiLinkOf(pod) ?? '' }))
  return kaiPodGroups
    .filter(({ metadata }) => metadata.annotations?.[POD_GROUP_OF] !== undefined)
    .flatMap(object => {
      const ownerReferences = (linked.get(keyOf(object.metadata)) ?? []).map(asOwner)
      if (ownerReferences.length === 0) return isGoing(object) ? [] : [remove(KAI_POD_GROUPS, object)]
      const metadata = { ownerReferences, annotations: nulled([POD_GROUP_OF]) }
      return [merged(KAI_POD_GROUPS, object, metadata, { minMember: 1 })]
    })
}

function membersOf(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  return Map.groupBy(pods.filter(isAlive), pod => keyOf({ ...pod.metadata, name: podGroupOf(pod) ?? '' }))
}

/** Made for a group that waits in a queue of Muster's: by its name, and by whose it is. */
function isOfQueue({ metadata }: KubeObject): boolean {
  const owner = controllerOf(metadata.ownerReferences)
  if (owner?.kind !== 'Workload' || !isOurPodGroupName(metadata.name ?? '')) return false
  return ['muster.dev', KUEUE_GROUP].includes(parseApiVersion(owner.apiVersion).group)
}

const ownerUid = ({ metadata }: KubeObject): string => controllerOf(metadata.ownerReferences)?.uid ?? ''
const keyOf = ({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string =>
  `${namespace ?? ''}/${name ?? ''}`

const asOwner = ({ metadata: { name = '', uid = '' } }: KubeObject): OwnerReference => ({
  ...{ apiVersion: 'v1', kind: 'Pod', name, uid },
})

/** A gang of one is none. In 1.36 nothing of a PodGroup changes, and it stays as large as it is. */
function shrunk({ spec }: SchedulingObject, resource: Resource): object | undefined {
  const minCount = spec?.schedulingPolicy?.gang?.minCount ?? 1
  if (minCount <= 1 || resource !== POD_GROUPS.v1beta1) return undefined
  return { schedulingPolicy: { gang: { minCount: 1 } } }
}
