import { JOB_UID } from '../kube/vocabulary/names.ts'
import type { Condition, KubeObject, PodSpec, StringMap, Toleration } from '../kube/vocabulary/objects.ts'
import { cutToBytes, MAX_CONDITION_MESSAGE } from '../kube/vocabulary/texts.ts'
import { MAX_INT32 } from '../validation/numbers.ts'

/** On the Workload of a single pod: the name of the pod. */
export const WORKLOAD_POD = 'muster.dev/pod'
/** On the Workload of a group that Muster made where others make some, too: the name of the group. */
export const WORKLOAD_GROUP = 'muster.dev/group'
/** On the Workload of a Job or JobSet: which one it is for, as `framework:name`. */
export const WORKLOAD_JOB = 'muster.dev/job'

/** A Workload that waits in a queue: the part of Kueue's Workload v1beta2 that a pod needs. Each engine has its own kind. */
export interface QueuedWorkload extends KubeObject {
  readonly spec: WorkloadSpec
  readonly status?: WorkloadStatus
}

export interface WorkloadSpec {
  readonly queueName: string
  readonly podSets: readonly PodSet[]
  readonly priority?: number
  readonly active?: boolean
}

export interface PodSet {
  readonly name: string
  readonly count: number
  /** With how few it may be admitted, if not only with all. */
  readonly minCount?: number
  readonly template: { readonly spec: PodSpec }
}

export interface WorkloadStatus {
  /** How many pods the podSets have together: a printer column cannot add. */
  readonly pods?: number
  readonly conditions?: readonly Condition[]
  /** Pods that have done their work, for engines that take back a part. */
  readonly reclaimablePods?: readonly { readonly name: string; readonly count: number }[]
  /** Null takes it away in a merge patch. */
  readonly admission?: Admission | null
  /** Null takes it away in a merge patch. */
  readonly waiting?: Waiting | null
  /** The resource version at which it was switched on again: it stands behind whoever was there by then. */
  readonly order?: string
}

/** That a queue has told the Workload to wait. What it waits for, QuotaReserved says. */
export interface Waiting {
  readonly queueName: string
  /** When it was told so first in this queue: the condition's own time stays when the queue changes. */
  readonly since: string
}

export interface Admission {
  readonly clusterQueue: string
  readonly podSetAssignments: readonly PodSetAssignment[]
}

/** What the pods of a podSet get with their admission. The names are those of Kueue's PodSetUpdate. */
export interface PodSetUpdate {
  readonly labels?: StringMap
  readonly annotations?: StringMap
  readonly nodeSelector?: StringMap
  readonly tolerations?: readonly Toleration[]
  /** Gates that fall with ours, where they are. */
  readonly gates?: readonly string[]
  /** The gate behind which another places the pod, once ours has fallen. */
  readonly placedBehind?: string
}

export interface PodSetAssignment extends PodSetUpdate {
  readonly name: string
  readonly count: number
}

/** How it ended, for the condition Finished. */
export interface Ending {
  readonly reason: string
  readonly message: string
}

/** Its reason where its pods have gone, or belong to others, and there is nobody left for whom it could end otherwise. */
export const ABANDONED = 'Abandoned'

export type WorkloadConditionType =
  | 'QuotaReserved'
  | 'Admitted'
  | 'Evicted'
  | 'DeactivationTarget'
  | 'Requeued'
  | 'PodsReady'
  | 'Finished'
  | 'WaitingForReplacementPods'

/** Of the Job or JobSet that it is for. */
export const jobUidOf = ({ metadata }: QueuedWorkload): string => metadata.labels?.[JOB_UID] ?? ''

export function condition(workload: QueuedWorkload, type: WorkloadConditionType): Condition | undefined {
  return workload.status?.conditions?.find(candidate => candidate.type === type)
}

export function isTrue(workload: QueuedWorkload, type: WorkloadConditionType): boolean {
  return condition(workload, type)?.status === 'True'
}

/** For the status of a Workload that waits no longer. */
export function notWaiting({ status }: QueuedWorkload): Pick<WorkloadStatus, 'waiting'> {
  return status?.waiting ? { waiting: null } : {}
}

/** For the status of a Workload that begins anew: what it gave back of its last admission is nothing in the next. */
export function wholeAgain({ status }: QueuedWorkload): Pick<WorkloadStatus, 'reclaimablePods'> {
  return (status?.reclaimablePods ?? []).length > 0 ? { reclaimablePods: [] } : {}
}

/** As many as an int32 has room for: what goes beyond is refused elsewhere, and telling so must not fail. */
export function podCount(workload: QueuedWorkload): number {
  const sum = workload.spec.podSets.reduce((sum, { count }) => sum + count, 0)
  return Math.min(Math.trunc(sum), MAX_INT32)
}

export type ConditionChange = Pick<Condition, 'status' | 'reason' | 'message'> & {
  readonly type: WorkloadConditionType
}

/**
 * The conditions after `changes`, or undefined if nothing changes: a write that changes nothing is not sent.
 * Conditions that others wrote stay as they are; lastTransitionTime moves only with the status.
 */
export function withConditions(
  workload: QueuedWorkload,
  changes: readonly ConditionChange[],
  now: string,
): readonly Condition[] | undefined {
  const conditions = [...(workload.status?.conditions ?? [])]
  let changed = false
  for (const change of changes) {
    const message = cutToBytes(change.message, MAX_CONDITION_MESSAGE)
    const at = conditions.findIndex(candidate => candidate.type === change.type)
    const old = conditions[at]
    if (old?.status === change.status && old.reason === change.reason && old.message === message) continue
    changed = true
    const lastTransitionTime = old?.status === change.status ? old.lastTransitionTime : now
    const next: Condition = { ...change, message, lastTransitionTime }
    if (old === undefined) conditions.push(next)
    else conditions[at] = next
  }
  return changed ? conditions : undefined
}
