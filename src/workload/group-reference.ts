import { isObject } from '../kube/vocabulary/fields.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'

/**
 * The group of scheduling.k8s.io that a pod names. In 1.35 groups are parts of a Workload, and a replica key makes
 * several of one; from 1.36 on each is an object of its own.
 */
export type GroupReference =
  | { readonly kind: 'workload'; readonly workload: string; readonly podGroup: string; readonly replicaKey: string }
  | { readonly kind: 'podGroup'; readonly podGroup: string }

/** An API server that does not know the field has dropped it, and then there is none. */
export function groupReferenceOf({ spec }: Pick<Pod, 'spec'>): GroupReference | undefined {
  const group: unknown = spec.schedulingGroup
  if (isObject(group) && typeof group.podGroupName === 'string' && group.podGroupName !== '') {
    return { kind: 'podGroup', podGroup: group.podGroupName }
  }
  const workload: unknown = spec.workloadRef
  if (!isObject(workload) || typeof workload.name !== 'string' || workload.name === '') return undefined
  const { name, podGroup, podGroupReplicaKey } = workload
  return {
    kind: 'workload',
    workload: name,
    podGroup: typeof podGroup === 'string' ? podGroup : '',
    replicaKey: typeof podGroupReplicaKey === 'string' ? podGroupReplicaKey : '',
  }
}

/** In the words of somebody who reads an Event. */
export function sayReference(reference: GroupReference): string {
  if (reference.kind === 'podGroup') return `PodGroup "${reference.podGroup}"`
  return `podGroup "${reference.podGroup}" of Workload "${reference.workload}"`
}
