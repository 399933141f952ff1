import type { ObjectReference } from '../kube/coordination/events.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'
import type { Action } from '../workload/actions.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import type { QueuedJob } from '../workload/jobs/queued-job.ts'
import type { Reason } from '../workload/reasons.ts'

/** Where one pod stands, for its Event, the log and the metrics. */
export interface Standing {
  readonly pod: Pod
  readonly reason: Reason
  readonly note: string
  /**
   * What the words beside the reason are about, where they change often and mean the same: they are told when that or the
   * reason is new. Each time is an Event for every pod of a group.
   */
  readonly steady?: string
  /** When it began, if the Workload says so: what began before we led has been told by whoever led then. */
  readonly since?: string
}

/** Where one Job or JobSet stands: its pods wait, or are not there yet, with it. */
export interface JobStanding {
  readonly kind: JobKind
  readonly job: QueuedJob
  readonly reason: Reason
  readonly note: string
  readonly since?: string
}

export interface Decision {
  readonly actions: readonly Action[]
  readonly standings: readonly Standing[]
  readonly remarks?: readonly Remark[]
}

/** Something worth an Event beside where pods stand. It is told once. */
export interface Remark {
  readonly regarding: ObjectReference
  readonly type: 'Normal' | 'Warning'
  readonly reason: RemarkReason
  readonly note: string
}

/**
 * - `NotPlacedTogether`: the scheduler cannot do, for all or some of the group, what was asked for.
 * - `SchedulingDropped`: the API server has no feature gate for something that was asked for, and stores it without.
 */
export type RemarkReason = 'NotPlacedTogether' | 'SchedulingDropped'

export function referenceTo(pod: Pod): ObjectReference {
  const { namespace, name = '', uid = '' } = pod.metadata
  return { apiVersion: 'v1', kind: 'Pod', ...(namespace !== undefined && { namespace }), name, uid }
}

export function tell(pods: readonly Pod[], reason: Reason, note: string, since?: string): readonly Standing[] {
  return pods.map(pod => ({ pod, reason, note, ...(since !== undefined && { since }) }))
}
