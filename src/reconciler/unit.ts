import { MANAGED } from '../kube/vocabulary/names.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'
import type { Target } from '../workload/actions.ts'
import { groupNameOf } from '../workload/group.ts'
import { singlePodWorkloadName } from '../workload/names.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { nameOf, uidOf } from './pod-state.ts'

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
export function isStray({ metadata: { deletionTimestamp, finalizers } }: Pod): boolean {
  return deletionTimestamp == null && (finalizers?.includes(MANAGED) ?? false)
}

export function strayKeyOf({ metadata: { namespace = '', name = '', uid = '' } }: Pod): string {
  return `stray/${namespace}/${name}/${uid}`
}

export function parseStrayKey(key: string): Target {
  const [, namespace = '', name = '', uid = ''] = key.split('/')
  return { namespace, name, uid }
}

export function parseUnitKey(key: string): Pick<Unit, 'kind' | 'namespace' | 'name'> {
  const [kind, namespace = '', name = ''] = key.split('/')
  return { kind: kind === 'group' ? 'group' : 'single', namespace, name }
}

/** The name under which a unit's Workload is looked up; a single pod's depends on the pod's uid. */
export function workloadNameOf(kind: Unit['kind'], name: string, pods: readonly Pod[]): string | undefined {
  if (kind === 'group') return name
  const pod = pods[0]
  return pod === undefined ? undefined : singlePodWorkloadName(name, uidOf(pod))
}

/** A single pod's Workload names its pod as controller; a group's has the group's name. */
export function unitKeyOfWorkload(workload: QueuedWorkload): string {
  const { namespace, name, ownerReferences } = workload.metadata
  const pod = ownerReferences?.find(owner => owner.controller === true && owner.kind === 'Pod')
  return pod === undefined ? `group/${namespace}/${name}` : `single/${namespace}/${pod.name}`
}
