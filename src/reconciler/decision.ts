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
}

export function tell(pods: readonly Pod[], reason: Reason, note: string, since?: string): readonly Standing[] {
  return pods.map(pod => ({ pod, reason, note, ...(since !== undefined && { since }) }))
}
