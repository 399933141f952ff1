import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import {
  KAI_NODE_POOL,
  KAI_POD_GROUP,
  KAI_PREEMPTIBILITY,
  KAI_PROJECT,
  KAI_QUEUE,
  KAI_SUBGROUP,
} from '../kube/vocabulary/kai.ts'
import {
  ADMISSION_GATE,
  ADMISSION_GATED_BY,
  CLUSTER_QUEUE_LABEL,
  CREATOR,
  ELASTIC_JOB,
  LOCAL_QUEUE_LABEL,
  MANAGED,
  MAX_EXEC_TIME,
  MIRROR_POD,
  POD_GROUP,
  PODSET_LABEL,
  PREBUILT_WORKLOAD,
  PRIORITY_CLASS,
  QUEUE_NAME,
  ROLE_HASH,
  SUSPENDING_PARENT,
  WORKLOAD_ANNOTATION,
} from '../kube/vocabulary/names.ts'
import type { KubeObject, Pod, StringMap } from '../kube/vocabulary/objects.ts'
import { annotationPath, labelPath } from '../validation/field-error.ts'
import { hasStopped, saysItIsOver } from './pod-end.ts'

/**
 * Questions about one pod. Each key of a label or annotation is read here and nowhere else, but for those of groups
 * (group.ts), so that webhook and reconciler never mean two things by one word. Absent and null are the same.
 */
const labelOf = ({ metadata }: Marked, key: string): string | undefined => metadata.labels?.[key]
const annotationOf = ({ metadata }: Marked, key: string): string | undefined => metadata.annotations?.[key]

/** Some of these marks stand on Jobs, too, and mean the same there. */
export type Marked = Pick<KubeObject, 'metadata'>

export const uidOf = (pod: Pod): string => pod.metadata.uid ?? ''
export const nameOf = (pod: Pod): string => pod.metadata.name ?? ''

/** A label or annotation for rules that go through several of them: where it is, and what a pod has there. */
export interface Mark {
  readonly in: 'labels' | 'annotations'
  readonly key: string
  readonly path: string
  readonly of: (object: Marked) => string | undefined
}

export const labelMark = (key: string): Mark => ({
  in: 'labels',
  key,
  path: labelPath(key),
  of: object => labelOf(object, key),
})
export const annotationMark = (key: string): Mark => ({
  in: 'annotations',
  key,
  path: annotationPath(key),
  of: object => annotationOf(object, key),
})

/** An empty queue name is no queue name. Owners of pods have the same label. */
export const queueIn = (labels: StringMap | null | undefined): string => queueLabelIn(labels) ?? ''
export const queueOf = (pod: Marked): string => queueIn(pod.metadata.labels)
/** As it is written: an empty label means no queue, and is refused as a name. */
export const queueLabelIn = (labels: StringMap | null | undefined): string | undefined => labels?.[QUEUE_NAME]
export const queueLabelOf = (pod: Marked): string | undefined => queueLabelIn(pod.metadata.labels)

export const managedLabelOf = (pod: Pod): string | undefined => labelOf(pod, MANAGED)
export const isMarkedManaged = (pod: Pod): boolean => managedLabelOf(pod) === 'true'
export const hasOurFinalizer = (pod: Pod): boolean => pod.metadata.finalizers?.includes(MANAGED) ?? false

/** Where metadata, of which nothing has been checked yet, has the marks of a queued pod. */
export function managedMarksIn({ labels, finalizers }: Fields): readonly string[] {
  return [
    ...(isObject(labels) && Object.hasOwn(labels, MANAGED) ? [labelPath(MANAGED)] : []),
    ...(Array.isArray(finalizers) && finalizers.includes(MANAGED) ? ['metadata.finalizers'] : []),
  ]
}

/** Who created it, as the webhook stamped it: equal for equal people of one namespace, and nobody's name. */
export const creatorOf = (pod: Pod): string | undefined => annotationOf(pod, CREATOR)
/** The podSet that it was lifted into. */
export const podSetOf = (pod: Pod): string | undefined => labelOf(pod, PODSET_LABEL)

/** The Workload on which it was lifted, also in the template of a Job. */
export const workloadAnnotationIn = (annotations: StringMap | undefined): string | undefined =>
  annotations?.[WORKLOAD_ANNOTATION]

export const roleHashOf = (pod: Pod): string | undefined => annotationOf(pod, ROLE_HASH)
export const priorityClassOf = (pod: Marked): string => labelOf(pod, PRIORITY_CLASS) ?? ''
export const maxExecTimeOf = (pod: Marked): string | undefined => labelOf(pod, MAX_EXEC_TIME)
export const admissionGatedBy = (pod: Marked): string => annotationOf(pod, ADMISSION_GATED_BY) ?? ''
export const isElastic = (pod: Marked): boolean => annotationOf(pod, ELASTIC_JOB) === 'true'
export const isMirror = (pod: Pod): boolean => annotationOf(pod, MIRROR_POD) !== undefined
export const hasSuspendingParent = (pod: Pod): boolean => annotationOf(pod, SUSPENDING_PARENT) !== undefined

/** The annotation wins when it is not empty, as for group names. */
export function prebuiltWorkloadOf(pod: Marked): string | undefined {
  return annotationOf(pod, PREBUILT_WORKLOAD) || labelOf(pod, PREBUILT_WORKLOAD)
}

export function prebuiltWorkloadPath(pod: Marked): string {
  return annotationOf(pod, PREBUILT_WORKLOAD) ? annotationPath(PREBUILT_WORKLOAD) : labelPath(PREBUILT_WORKLOAD)
}

/** What a pod is admitted with, besides its place in a group. */
export const ADMITTED_MARKS: readonly Mark[] = [
  labelMark(QUEUE_NAME),
  annotationMark(ROLE_HASH),
  labelMark(PREBUILT_WORKLOAD),
  annotationMark(PREBUILT_WORKLOAD),
]

export const QUEUE_MARK: Mark = labelMark(QUEUE_NAME)
export const CREATOR_MARK: Mark = annotationMark(CREATOR)

/** Keys that mean something here: those of Kueue that Muster does not know, that of static pods and KAI's links included. */
export function isGuardedKey(key: string): boolean {
  return key.startsWith('kueue.x-k8s.io/') || key.startsWith('muster.dev/') || EXACT_KEYS.includes(key)
}

const EXACT_KEYS: readonly string[] = [MIRROR_POD, KAI_POD_GROUP, KAI_SUBGROUP]

/** What Muster writes on a pod when it lifts the gate. */
export const LIFT_MARKS: readonly Mark[] = [
  labelMark(PODSET_LABEL),
  labelMark(LOCAL_QUEUE_LABEL),
  labelMark(CLUSTER_QUEUE_LABEL),
  annotationMark(WORKLOAD_ANNOTATION),
]

/** What decisions about a pod read of it, besides the marks of its group. */
export const POD_MARKS: readonly Mark[] = [
  labelMark(QUEUE_NAME),
  labelMark(MANAGED),
  annotationMark(ROLE_HASH),
  annotationMark(CREATOR),
  annotationMark(MIRROR_POD),
  labelMark(POD_GROUP),
  annotationMark(KAI_POD_GROUP),
  // By these its PodGroup of KAI is in the queue, and in the pool of nodes, that the pod asks for, and may be preempted.
  ...[KAI_QUEUE, KAI_PROJECT, KAI_NODE_POOL, KAI_PREEMPTIBILITY].map(labelMark),
  labelMark(PRIORITY_CLASS),
  labelMark(MAX_EXEC_TIME),
  annotationMark(ADMISSION_GATED_BY),
  labelMark(PREBUILT_WORKLOAD),
  annotationMark(PREBUILT_WORKLOAD),
  ...LIFT_MARKS,
]

export const isAdmissionGate = (name: string): boolean => name === ADMISSION_GATE
export const isPodGroupGate = (name: string): boolean => name === POD_GROUP

export function isGated(pod: Pod): boolean {
  return pod.spec.schedulingGates?.some(gate => isAdmissionGate(gate.name)) ?? false
}

/** Behind the gate that holds a pod of KAI until its PodGroup is there. */
export function awaitsPodGroup(pod: Pod): boolean {
  return pod.spec.schedulingGates?.some(gate => isPodGroupGate(gate.name)) ?? false
}

/** Why Muster looks after its link to a PodGroup of KAI: the pod names a group itself, or is a member of one of ours. */
export const podGroupMarkOf = (pod: Pod): string | undefined => labelOf(pod, POD_GROUP)

/** The PodGroup of KAI that it belongs to. */
export const kaiLinkOf = (pod: Pod): string | undefined => annotationOf(pod, KAI_POD_GROUP)

export function foreignGates(pod: Pod): readonly string[] {
  return (pod.spec.schedulingGates ?? []).map(gate => gate.name).filter(name => name !== ADMISSION_GATE)
}

/** Behind our gate, and not on its way out. */
export function isWaiting(pod: Pod): boolean {
  return isGated(pod) && !isDeleting(pod)
}

/** Lifted, and not at its end: it runs, or may at any moment. */
export function mayRun(pod: Pod): boolean {
  return !isGated(pod) && !isTerminal(pod)
}

/** Kueue's "suspended": still behind the gate, or at its end as far as it says so itself. */
export function isSuspended(pod: Pod): boolean {
  return saysItIsOver(pod) || isGated(pod)
}

/** As its kubelet says. What has ended is not ready any more. */
export function isReady({ status }: Pod): boolean {
  return status?.ready ?? status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

export function isDeleting(pod: Marked): boolean {
  return pod.metadata.deletionTimestamp != null
}

export function isFailed(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' && isTerminal(pod)
}

export function isSucceeded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' && isTerminal(pod)
}

/** Nothing is to be expected of it any more. A gated pod is taken at its word: nothing of it runs, and nothing will. */
export function isTerminal(pod: Pod): boolean {
  return saysItIsOver(pod) && (isGated(pod) || hasStopped(pod))
}

/**
 * A deleted pod that holds no node any more: it waits for nobody's consent. Grace period zero means that the
 * kubelet has stopped the containers, or that somebody forced the deletion; in both cases only finalizers are
 * left. A succeeded pod is the exception: it still counts for its group and stays until the group has finished.
 */
export function mayLeave(pod: Pod): boolean {
  if (!isDeleting(pod) || (isSucceeded(pod) && !isGated(pod))) return false
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

/** Takes, or has rightly used, one of the places of its group. Who says behind the gate that it is over wants none. */
export function takesPlace(pod: Pod): boolean {
  if (isGated(pod) && isTerminal(pod)) return false
  return !isFailed(pod) && !(isDeleting(pod) && !pod.spec.nodeName)
}

/** Oldest first, then by name: the same order on every replica and after every restart. */
export function byAge(a: Pod, b: Pod): number {
  const [bornA, bornB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (bornA !== bornB) return bornA < bornB ? -1 : 1
  return nameOf(a) < nameOf(b) ? -1 : 1
}
