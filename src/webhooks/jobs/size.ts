import { isObject } from '../../kube/vocabulary/fields.ts'
import { podsOf as podsOfJob } from '../../workload/jobs/batch-job.ts'
import { countIn, fieldsOf } from '../../workload/jobs/templates.ts'
import { JOBS, type QueueableKind } from './kinds.ts'
import type { QueueableObject } from './shape.ts'

/** With how many pods a Job or JobSet runs at once: what it is charged for. What is no number the API server refuses. */
export function podsOf({ spec }: QueueableObject, { kind }: QueueableKind): number {
  return kind === JOBS.kind ? podsOfJob(spec) : podsOfJobSet(spec.replicatedJobs)
}

export const parallelismOf = ({ spec }: QueueableObject): number => countIn(spec.parallelism) ?? 1

function podsOfJobSet(replicatedJobs: unknown): number {
  const jobs = Array.isArray(replicatedJobs) ? replicatedJobs.filter(isObject) : []
  return jobs.reduce(
    (pods, job) => pods + (countIn(job.replicas) ?? 1) * podsOfJob(fieldsOf(fieldsOf(job.template).spec)),
    0,
  )
}
