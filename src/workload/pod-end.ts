import type { ContainerStatus, Pod } from '../kube/vocabulary/objects.ts'

/** The reason that the pod garbage collector gives for what it ends: the node is gone, and nobody is left to report. */
const BY_POD_GC = 'DeletionByPodGC'

/** What the pod says of itself. Whoever may write its status can make it say anything. */
export function saysItIsOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/**
 * Whether a pod that says that it is over has really stopped: its phase alone proves nothing, and what it held is given
 * to others. The kubelet leaves the end of each container behind; one that refuses a pod, or evicts it before anything
 * ran, leaves a reason and no containers. A pod that was on no node has not run, and may yet.
 */
export function hasStopped(pod: Pod): boolean {
  const { status = {}, spec } = pod
  if (status.stopped !== undefined) return status.stopped
  if (!saysItIsOver(pod)) return false
  if (status.conditions?.some(({ type, status, reason }) => isPodGc(type, status, reason))) return true
  if (!spec.nodeName) return false
  const states = statusesOf(pod).map(({ state }) => state)
  if (states.some(state => state?.running != null)) return false
  if (states.some(state => state?.terminated != null)) return true
  return status.phase === 'Failed' && Boolean(status.reason)
}

function isPodGc(type: string, status: string, reason: string | undefined): boolean {
  return type === 'DisruptionTarget' && status === 'True' && reason === BY_POD_GC
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status ?? {}
  return [containerStatuses, initContainerStatuses, ephemeralContainerStatuses].flatMap(list => list ?? [])
}
