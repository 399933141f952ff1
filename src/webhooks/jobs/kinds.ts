import type { AdmissionRequest } from '../../admission/review.ts'
import type { ServedKind } from '../webhook.ts'

export const JOBS = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs' } as const
export const CRON_JOBS = { group: 'batch', version: 'v1', kind: 'CronJob', resource: 'cronjobs' } as const
export const JOB_SETS = { group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet', resource: 'jobsets' } as const

/** A kind whose objects wait in queues by being suspended. */
export interface QueueableKind extends ServedKind {
  readonly kind: 'Job' | 'JobSet'
  /** As configurations call it. */
  readonly framework: string
}

const QUEUEABLE: readonly QueueableKind[] = [
  { ...JOBS, framework: 'batch/job' },
  { ...JOB_SETS, framework: 'jobset.x-k8s.io/jobset' },
]

export const QUEUEABLE_FRAMEWORKS: readonly string[] = QUEUEABLE.map(({ framework }) => framework)

/** A CronJob waits for nothing: its Jobs do, each for itself. */
export function queueableKindOf({ kind: { group, kind } }: AdmissionRequest): QueueableKind | undefined {
  return QUEUEABLE.find(each => each.kind === kind && each.group === group)
}
