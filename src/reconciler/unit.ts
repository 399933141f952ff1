import type { Pod } from '../kube/vocabulary/objects.ts'
import type { Target } from '../workload/actions.ts'
import { groupNameOf } from '../workload/group.ts'
import { singlePodWorkloadName } from '../workload/names.ts'
import { byAge, hasOurFinalizer, isDeleting, nameOf, uidOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'

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
 * The unit of a key, from the pods and Workloads that have it. A single pod's Workload carries the pod's uid in its
 * name; whatever else has the key is of pods that are gone.
 */
export function unitFrom(key: string, members: readonly Pod[], workloads: readonly QueuedWorkload[]): Unit {
  const [kind, namespace = '', name = ''] = key.split('/')
  const pods = [...members].sort(byAge)
  const [pod] = pods
  const wanted = kind === 'group' ? name : pod && singlePodWorkloadName(name, uidOf(pod))
  const workload = workloads.find(candidate => candidate.metadata.name === wanted)
  const orphans = workloads.filter(other => other !== workload)
  return { kind: kind === 'group' ? 'group' : 'single', namespace, name, pods, workload, orphans }
}

/** A single pod's Workload names its pod as controller; a group's has the group's name. */
export function unitKeyOfWorkload(workload: QueuedWorkload): string {
  const { namespace, name, ownerReferences } = workload.metadata
  const pod = ownerReferences?.find(owner => owner.controller === true && owner.kind === 'Pod')
  return pod === undefined ? `group/${namespace}/${name}` : `single/${namespace}/${pod.name}`
}
