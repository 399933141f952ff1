import { ADMISSION_GATE, MANAGED, QUEUE_NAME } from '../kube/vocabulary/names.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'

export const uidOf = (pod: Pod): string => pod.metadata.uid ?? ''
export const nameOf = (pod: Pod): string => pod.metadata.name ?? ''
export const queueOf = (pod: Pod): string => pod.metadata.labels?.[QUEUE_NAME] ?? ''

export function isGated(pod: Pod): boolean {
  return pod.spec.schedulingGates?.some(gate => gate.name === ADMISSION_GATE) ?? false
}

/** Behind our gate, and not on its way out. */
export function isWaiting(pod: Pod): boolean {
  return isGated(pod) && !isDeleting(pod)
}

/** Lifted, and not at its end: it runs, or may at any moment. */
export function mayRun(pod: Pod): boolean {
  return !isGated(pod) && !isTerminal(pod)
}

export function foreignGates(pod: Pod): readonly string[] {
  return (pod.spec.schedulingGates ?? []).map(gate => gate.name).filter(name => name !== ADMISSION_GATE)
}

export function hasFinalizer(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(MANAGED) ?? false
}

export function isDeleting(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp != null
}

export function isFailed(pod: Pod): boolean {
  return pod.status?.phase === 'Failed'
}

export function isSucceeded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded'
}

export function isTerminal(pod: Pod): boolean {
  return isSucceeded(pod) || isFailed(pod)
}

/**
 * A deleted pod that holds no node any more: it waits for nobody's consent. Grace period zero means that the
 * kubelet has stopped the containers, or that somebody forced the deletion; in both cases only finalizers are
 * left. A succeeded pod is the exception: it still counts for its group and stays until the group has finished.
 */
export function mayLeave(pod: Pod): boolean {
  if (!isDeleting(pod) || isSucceeded(pod)) return false
  const neverStarted = isGated(pod) || !pod.spec.nodeName
  return neverStarted || isFailed(pod) || pod.metadata.deletionGracePeriodSeconds === 0
}

/**
 * Deleted, and over: when this is true of all pods of a unit, nobody is left for whom a success would count. A namespace
 * that is deleted waits for its pods before it touches anything else, so waiting for more would be for ever.
 */
export function isGivenUp(pod: Pod): boolean {
  return mayLeave(pod) || (isDeleting(pod) && isSucceeded(pod))
}

/** Takes, or has rightly used, one of the places of its group. */
export function takesPlace(pod: Pod): boolean {
  return !isFailed(pod) && !(isDeleting(pod) && !pod.spec.nodeName)
}

/** Oldest first, then by name: the same order on every replica and after every restart. */
export function byAge(a: Pod, b: Pod): number {
  const [bornA, bornB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (bornA !== bornB) return bornA < bornB ? -1 : 1
  return nameOf(a) < nameOf(b) ? -1 : 1
}
