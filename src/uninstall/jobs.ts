import { GROUPED, ROOT_GROUP } from '../kube/vocabulary/names.ts'
import { isGrouped, rootGroupOf } from '../workload/grouped/job-to-group.ts'
import { childOf, isHeld, isQueued, isSuspended, QUEUED_MARKS } from '../workload/job-facts.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import { isDeleting } from '../workload/pod-facts.ts'
import type { Choice, Job } from './remains.ts'
import { merged, nulled, remove, type Step } from './steps.ts'

const ENDS: readonly string[] = ['Complete', 'Completed', 'Failed']

const hasEnded = ({ status }: Job): boolean =>
  status?.conditions?.some(condition => ENDS.includes(condition.type) && condition.status === 'True') ?? false

/** Suspended by Muster. Who suspended his own (`held`) wants it so, and the Jobs of a JobSet are resumed with it. */
export const waits = (job: Job): boolean =>
  isSuspended(job) && isQueued(job) && !isHeld(job) && childOf(job) === undefined && !hasEnded(job) && !isDeleting(job)

/** One write: without the marks nobody would know that it waits. Undefined: none is on it. */
export function freeJob({ resource }: JobKind, job: Job, choice: Choice | undefined): Step | undefined {
  const annotations = [
    ...QUEUED_MARKS.filter(mark => mark.of(job) !== undefined).map(({ key }) => key),
    ...(rootGroupOf(job) === undefined ? [] : [ROOT_GROUP]),
  ]
  if (annotations.length === 0 && !isGrouped(job)) return undefined
  const waiting = waits(job)
  // Found again by its mark if its deletion is cut short.
  if (waiting && choice === 'delete') return undefined
  const metadata = { annotations: nulled(annotations), ...(isGrouped(job) && { labels: nulled([GROUPED]) }) }
  const starts = waiting && choice === 'start'
  return {
    ...merged(resource, job, metadata, starts ? { suspend: false } : undefined),
    ...(waiting && choice && { waiter: choice }),
  }
}

export const deleteJob = ({ resource }: JobKind, job: Job, choice: Choice | undefined): Step | undefined =>
  choice === 'delete' && waits(job) ? { ...remove(resource, job), waiter: choice } : undefined
