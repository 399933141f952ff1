import type { Pod } from '../../kube/vocabulary/objects.ts'
import { podSetGroupOf, requiredTopologyOf } from '../../workload/group.ts'
import { priorityClassOf, schedulerOf } from '../../workload/placement.ts'

/**
 * What pods that kube-scheduler places together have in common. It looks at none of a PodGroup (1.37.1: nor of those
 * beside it in a group of groups) if one of them has another scheduler or another priority.
 */
export interface Terms {
  readonly scheduler: string
  /** Empty: none. */
  readonly priorityClass: string
  /** The label of nodes in which all of them have to agree. */
  readonly topology?: string
  /** Roles with the same word here want one and the same domain. */
  readonly colocation?: string
}

/** Those of the first, which is the oldest that runs; where it asks for no topology, of the first that does. */
export function termsOf(pods: readonly Pod[]): Terms {
  const [first] = pods
  const asking = pods.find(pod => requiredTopologyOf(pod) !== undefined)
  const topology = asking && requiredTopologyOf(asking)
  const colocation = asking && podSetGroupOf(asking)
  return {
    scheduler: first === undefined ? '' : schedulerOf(first),
    priorityClass: first === undefined ? '' : priorityClassOf(first),
    ...(topology !== undefined && { topology }),
    ...(colocation !== undefined && { colocation }),
  }
}

/** In what a pod differs from those with whom it would be placed. */
export function differenceTo(pod: Pod, { scheduler, priorityClass, topology }: Terms): string | undefined {
  if (schedulerOf(pod) !== scheduler) return 'spec.schedulerName'
  if (priorityClassOf(pod) !== priorityClass) return 'spec.priorityClassName'
  const own = requiredTopologyOf(pod)
  return own === undefined || own === topology ? undefined : 'the topology that it requires'
}

/** Whether the pods of several PodGroups may be under one group of groups. */
export function areAlike([first, ...rest]: readonly Terms[]): boolean {
  return rest.every(
    ({ scheduler, priorityClass }) => scheduler === first?.scheduler && priorityClass === first.priorityClass,
  )
}

/** The topology that all of them want in common, and not each for itself. */
export function commonTopology([first, ...rest]: readonly Terms[]): string | undefined {
  if (first?.topology === undefined || first.colocation === undefined) return undefined
  const { topology, colocation } = first
  return rest.every(other => other.topology === topology && other.colocation === colocation) ? topology : undefined
}
