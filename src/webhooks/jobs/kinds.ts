import type { AdmissionRequest } from '../../admission/review.ts'
import { BATCH_JOB } from '../../workload/jobs/batch-job.ts'
import type { JobKind } from '../../workload/jobs/job-kind.ts'
import { JOB_SET } from '../../workload/jobs/job-set.ts'
import type { ServedKind } from '../webhook.ts'

export const JOBS = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs' } as const
export const CRON_JOBS = { group: 'batch', version: 'v1', kind: 'CronJob', resource: 'cronjobs' } as const
export const JOB_SETS = { group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet', resource: 'jobsets' } as const

/** A kind whose objects wait in queues by being suspended. */
export interface QueueableKind extends ServedKind, Pick<JobKind, 'framework' | 'controller'> {
  readonly kind: 'Job' | 'JobSet'
}

const QUEUEABLE: readonly QueueableKind[] = [
  { ...JOBS, framework: BATCH_JOB.framework, controller: BATCH_JOB.controller },
  { ...JOB_SETS, framework: JOB_SET.framework, controller: JOB_SET.controller },
]

export const QUEUEABLE_FRAMEWORKS: readonly string[] = QUEUEABLE.map(({ framework }) => framework)

/** A CronJob waits for nothing: its Jobs do, each for itself. */
export function queueableKindOf({ kind: { group, kind } }: AdmissionRequest): QueueableKind | undefined {
  return QUEUEABLE.find(each => each.kind === kind && each.group === group)
}
