import { controllerOf, type Pod } from '../kube/vocabulary/objects.ts'
import type { Target } from '../workload/actions.ts'
import { groupNameOf } from '../workload/group.ts'
import { singlePodWorkloadName } from '../workload/names.ts'
import { byAge, hasOurFinalizer, isDeleting, isGated, isMirror, nameOf, uidOf } from '../workload/pod-facts.ts'
import { type QueuedWorkload, WORKLOAD_POD } from '../workload/queued-workload.ts'
import { jobKeyOfWorkload } from './jobs/job-unit.ts'

/** What is admitted, lifted and finished as one: a single pod, or all pods of a group. */
export interface Unit {
  readonly kind: 'single' | 'group'
  readonly namespace: string
  readonly name: string
  /** Managed pods, oldest first. */
  readonly pods: readonly Pod[]
  readonly workload: QueuedWorkload | undefined
  /** Workloads of predecessors: pods of the same name that are gone. */
  readonly orphans: readonly QueuedWorkload[]
  /** Uids of pods that own one of these Workloads and are members of other units. */
  readonly elsewhere: ReadonlySet<string>
  /** A Workload that has the group's name and is another unit's. */
  readonly namesake?: QueuedWorkload
  /** A Workload that somebody made ahead for this pod, by name, and that is not the pod's yet. */
  readonly prebuilt?: QueuedWorkload
  /** Pods that have our marks and the key, and are not ours. */
  readonly outside: readonly Pod[]
  /** Before this resource version its turn does not begin. */
  readonly turn?: string
}

/** What is known of pods and Workloads, as far as units are made of it. */
export interface Records {
  /** Pods that say that they belong to the unit. */
  podsOf(key: string): readonly Pod[]
  workloadsOf(key: string): readonly QueuedWorkload[]
  workload(namespace: string, name: string): QueuedWorkload | undefined
  /** Workloads with this pod among their owners. */
  ownedBy(uid: string): readonly QueuedWorkload[]
  pod(namespace: string, name: string): Pod | undefined
  /** Whether the pods of the namespace are Muster's to queue. */
  selects(namespace: string): boolean
  /** Not if another program gates pods, too, and this is one of its own. */
  owns(pod: Pod): boolean
  /** The Workload that was made ahead for the pod, as the pod calls it. */
  prebuiltOf(pod: Pod): string | undefined
  /** Where the turn of a unit begins at the earliest, if not where its objects say. */
  turnOf?(key: string): string | undefined
}

/** Work queue key of a unit: `single/ns/pod` or `group/ns/name`; no part of a Kubernetes name has a slash. */
export function unitKeyOf(pod: Pod): string {
  const namespace = pod.metadata.namespace ?? ''
  const group = groupNameOf(pod)
  return group === undefined ? `single/${namespace}/${nameOf(pod)}` : `group/${namespace}/${group}`
}

/**
 * A pod that has lost our label and keeps our finalizer: somebody exempt took it from us. Nobody else would ever remove
 * the finalizer, and the pod could never be deleted. An object that is really gone has a deletion timestamp.
 */
export function isStray(pod: Pod): boolean {
  return !isDeleting(pod) && hasOurFinalizer(pod)
}

export function strayKeyOf({ metadata: { namespace = '', name = '', uid = '' } }: Pod): string {
  return `stray/${namespace}/${name}/${uid}`
}

export function parseStrayKey(key: string): Target {
  const [, namespace = '', name = '', uid = ''] = key.split('/')
  return { namespace, name, uid }
}

/**
 * Whose a pod is. What has been lifted stays with the Workload that it was lifted on, by its uid among the owners there,
 * whatever is written on the pod itself later: else a label would be a way to leave a place and keep what came with it.
 */
export function unitKeysOf(pod: Pod, ownedBy: Records['ownedBy']): readonly string[] {
  const said = unitKeyOf(pod)
  if (isGated(pod)) return [said]
  const recorded = ownedBy(uidOf(pod)).map(unitKeyOfWorkload)
  return recorded.length === 0 || recorded.includes(said) ? [said] : recorded
}

/**
 * Whether a pod is ours, whatever marks it carries: no webhook of ours looks at the pods of other namespaces, nor at the
 * mirrors of static pods. What was given a Workload stays ours when the selector changes, until its end.
 */
function isOurs(pod: Pod, namespace: string, records: Records): boolean {
  if (!records.owns(pod)) return false
  return (!isMirror(pod) && records.selects(namespace)) || records.ownedBy(uidOf(pod)).length > 0
}

/**
 * The unit of a key, from the pods and Workloads that have it. A single pod's Workload carries the pod's uid in its
 * name, or was made ahead and has the pod as its controller; whatever else has the key is of pods that are gone.
 */
export function unitFrom(key: string, records: Records): Unit {
  const [kind, namespace = '', name = ''] = key.split('/')
  const workloads = records.workloadsOf(key)
  const owners = workloads
    .flatMap(({ metadata }) => metadata.ownerReferences ?? [])
    .flatMap(owner => {
      const pod = records.pod(namespace, owner.name)
      return pod !== undefined && uidOf(pod) === owner.uid ? [pod] : []
    })
  const all = new Set([...records.podsOf(key), ...owners])
  const {
    here = [],
    elsewhere = [],
    outside = [],
  } = Object.groupBy(all, pod => {
    if (!isOurs(pod, namespace, records)) return 'outside'
    return unitKeysOf(pod, records.ownedBy).includes(key) ? 'here' : 'elsewhere'
  })
  const pods = here.sort(byAge)
  const [pod] = pods
  const wanted = kind === 'group' ? name : pod && singlePodWorkloadName(name, uidOf(pod))
  const ahead = kind === 'single' && pod ? records.prebuiltOf(pod) : undefined
  const workload =
    workloads.find(candidate => candidate.metadata.name === wanted) ??
    (ahead && pod ? workloads.find(candidate => isTakenBy(candidate, pod)) : undefined)
  const orphans = workloads.filter(other => other !== workload)
  const namesake = kind === 'group' && workload === undefined ? records.workload(namespace, name) : undefined
  const prebuilt = ahead && workload === undefined ? records.workload(namespace, ahead) : undefined
  const turn = records.turnOf?.(key)
  return {
    kind: kind === 'group' ? 'group' : 'single',
    namespace,
    name,
    pods,
    workload,
    orphans,
    ...(namesake && { namesake }),
    ...(prebuilt && { prebuilt }),
    elsewhere: new Set(elsewhere.map(uidOf)),
    outside,
    ...(turn !== undefined && { turn }),
  }
}

/** What was made ahead has a place for one pod, and this is the one. */
const isTakenBy = (workload: QueuedWorkload, pod: Pod): boolean =>
  hasOnePlace(workload) && controllerOf(workload.metadata.ownerReferences)?.uid === uidOf(pod)

export const hasOnePlace = ({ spec }: QueuedWorkload): boolean =>
  spec.podSets.length === 1 && spec.podSets[0]?.count === 1

/**
 * A single pod's Workload names its pod as controller, and once more where the garbage collector does not strike it off
 * (`--cascade=orphan`); a group's has the group's name.
 */
export function unitKeyOfWorkload(workload: QueuedWorkload): string {
  const job = jobKeyOfWorkload(workload)
  if (job !== undefined) return job
  const { namespace, name, ownerReferences, annotations } = workload.metadata
  const controller = ownerReferences?.find(owner => owner.controller === true && owner.kind === 'Pod')
  const pod = controller?.name ?? annotations?.[WORKLOAD_POD]
  return pod === undefined ? `group/${namespace}/${name}` : `single/${namespace}/${pod}`
}
