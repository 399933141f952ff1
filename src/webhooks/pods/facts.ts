import { ADMISSION_GATE, MANAGED, PREBUILT_WORKLOAD, QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { OwnerReference, Pod } from '../../kube/vocabulary/objects.ts'

/** Small questions about one pod that several rules ask. Absent and null are the same everywhere. */
export const labelOf = (pod: Pod, key: string): string | undefined => pod.metadata.labels?.[key]
export const annotationOf = (pod: Pod, key: string): string | undefined => pod.metadata.annotations?.[key]

export const labelPath = (key: string): string => `metadata.labels[${key}]`
export const annotationPath = (key: string): string => `metadata.annotations[${key}]`

/** An empty queue name is no queue name. */
export const queueOf = (pod: Pod): string => labelOf(pod, QUEUE_NAME) ?? ''

export const isMarkedManaged = (pod: Pod): boolean => labelOf(pod, MANAGED) === 'true'

export const hasOurFinalizer = (pod: Pod): boolean => pod.metadata.finalizers?.includes(MANAGED) ?? false

export function isGated(pod: Pod): boolean {
  return pod.spec.schedulingGates?.some(gate => gate.name === ADMISSION_GATE) ?? false
}

/** Kueue's "suspended": still behind the gate, or at its end. Such a pod uses nothing. */
export function isSuspended(pod: Pod): boolean {
  const phase = pod.status?.phase
  return phase === 'Succeeded' || phase === 'Failed' || isGated(pod)
}

export const isDeleting = (pod: Pod): boolean => pod.metadata.deletionTimestamp != null

export function controllerOf(references: readonly OwnerReference[] | null | undefined): OwnerReference | undefined {
  return references?.find(reference => reference.controller === true)
}

/** The annotation wins when it is not empty, as for group names. */
export function prebuiltWorkloadOf(pod: Pod): string {
  return annotationOf(pod, PREBUILT_WORKLOAD) || labelOf(pod, PREBUILT_WORKLOAD) || ''
}

export function prebuiltWorkloadPath(pod: Pod): string {
  return annotationOf(pod, PREBUILT_WORKLOAD) ? annotationPath(PREBUILT_WORKLOAD) : labelPath(PREBUILT_WORKLOAD)
}
