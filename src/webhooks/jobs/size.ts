import { isObject } from '../../kube/vocabulary/fields.ts'
import type { QueueableKind } from './kinds.ts'
import type { QueueableObject } from './shape.ts'

/** With how many pods a Job or JobSet runs at once: what it is charged for. What is no number is the API server's to refuse. */
export function podsOf({ spec }: QueueableObject, { kind }: QueueableKind): number {
  return kind === 'Job' ? podsOfJob(spec) : podsOfJobSet(spec.replicatedJobs)
}

export const parallelismOf = ({ parallelism }: JobSpec): number => countIn(parallelism) ?? 1

interface JobSpec {
  readonly parallelism?: unknown
  readonly completions?: unknown
}

function podsOfJob(spec: JobSpec): number {
  const parallelism = parallelismOf(spec)
  return Math.min(parallelism, countIn(spec.completions) ?? parallelism)
}

function podsOfJobSet(replicatedJobs: unknown): number {
  if (!Array.isArray(replicatedJobs)) return 0
  let pods = 0
  for (const job of replicatedJobs) {
    if (!isObject(job)) continue
    const spec = isObject(job.template) && isObject(job.template.spec) ? job.template.spec : {}
    pods += (countIn(job.replicas) ?? 1) * podsOfJob(spec)
  }
  return pods
}

const countIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) ? value : undefined
