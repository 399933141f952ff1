import type { StringMap } from '../../kube/vocabulary/objects.ts'
import { podsOf as podsOfJob, selectsItself } from '../../workload/jobs/batch-job.ts'
import { countIn, fieldsOf } from '../../workload/jobs/templates.ts'
import { managedMarksIn } from '../../workload/pod-facts.ts'
import { JOBS, type QueueableKind } from './kinds.ts'
import type { QueueableObject } from './shape.ts'

/** One template of pods, as far as rules ask about it. */
export interface PodTemplate {
  /** Where it lies, with the dot that leads into it. */
  readonly path: string
  readonly annotations: StringMap
  /** How many pods of it run at once. What is no number the API server refuses. */
  readonly pods: number
  /** Where its Job says so, if it selects its pods itself. */
  readonly ownSelector?: string
  /** Where it has marks of pods that are queued by themselves. */
  readonly podMarks: readonly string[]
  /** Whether they ask for devices by claims. */
  readonly claims: boolean
}

export function podTemplatesOf({ metadata, spec }: QueueableObject, { kind }: QueueableKind): readonly PodTemplate[] {
  if (kind === JOBS.kind) return [templateIn(fieldsOf(spec), 1, '', metadata.uid)]
  const jobs = Array.isArray(spec.replicatedJobs) ? spec.replicatedJobs : []
  return jobs.map((job, index) => {
    const { replicas, template } = fieldsOf(job)
    return templateIn(
      fieldsOf(fieldsOf(template).spec),
      countIn(replicas) ?? 1,
      `spec.replicatedJobs[${index}].template.`,
    )
  })
}

function templateIn(
  spec: Readonly<Record<string, unknown>>,
  replicas: number,
  prefix: string,
  uid?: string,
): PodTemplate {
  const metadata = fieldsOf(fieldsOf(spec.template).metadata)
  const texts = Object.entries(fieldsOf(metadata.annotations)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const { resourceClaims } = fieldsOf(fieldsOf(spec.template).spec)
  return {
    path: `${prefix}spec.template.`,
    annotations: Object.fromEntries(texts),
    pods: replicas * podsOfJob(spec),
    ...(selectsItself(spec, uid) && { ownSelector: `${prefix}spec.manualSelector` }),
    podMarks: managedMarksIn(metadata).map(path => `${prefix}spec.template.${path}`),
    claims: Array.isArray(resourceClaims) && resourceClaims.length > 0,
  }
}

/** With how many pods a Job or JobSet runs at once: what it is charged for. */
export const podsOf = (object: QueueableObject, kind: QueueableKind): number =>
  podTemplatesOf(object, kind).reduce((sum, { pods }) => sum + pods, 0)

export const parallelismOf = ({ spec }: QueueableObject): number => countIn(spec.parallelism) ?? 1
