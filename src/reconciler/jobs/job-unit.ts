import { controllerOf } from '../../kube/vocabulary/objects.ts'
import { childOf, isQueued, isSuspended } from '../../workload/job-facts.ts'
import type { JobKind } from '../../workload/jobs/job-kind.ts'
import { frameworkKind, JOB_KINDS } from '../../workload/jobs/job-kinds.ts'
import type { PodDefaults } from '../../workload/jobs/pod-defaults.ts'
import type { QueuedJob } from '../../workload/jobs/queued-job.ts'
import { workloadName } from '../../workload/names.ts'
import { type QueuedWorkload, WORKLOAD_JOB } from '../../workload/queued-workload.ts'

/** A Job or JobSet with its Workload: what is admitted, started and stopped as one. */
export interface JobUnit {
  readonly kind: JobKind
  readonly namespace: string
  readonly name: string
  /** Undefined when it is gone, or not ours to queue. */
  readonly job: QueuedJob | undefined
  /** One that we suspended, and that is not ours to queue any more: its namespace was left out before it had a Workload. */
  readonly leftOut?: QueuedJob
  readonly workload: QueuedWorkload | undefined
  /** Workloads of predecessors, or of a Job that has left. */
  readonly orphans: readonly QueuedWorkload[]
  readonly defaults: PodDefaults
  /** Before this resource version its turn does not begin. */
  readonly turn?: string
}

/** What is known of Jobs and Workloads, as far as units are made of it. */
export interface JobRecords {
  job(kind: JobKind, namespace: string, name: string): QueuedJob | undefined
  workloadsOf(key: string): readonly QueuedWorkload[]
  /** Whether the objects of the namespace are Muster's to queue. */
  selects(namespace: string): boolean
  defaultsIn(namespace: string): PodDefaults
  /** Where the turn of a unit begins at the earliest, if not where its objects say. */
  turnOf?(key: string): string | undefined
}

/** Work queue key of a unit: `job/ns/name` or `jobset/ns/name`. */
export function jobKeyOf({ word }: JobKind, { metadata: { namespace, name } }: QueuedJob): string {
  return `${word}/${namespace}/${name}`
}

export function jobUnitFrom(kind: JobKind, key: string, records: JobRecords): JobUnit {
  const [, namespace = '', name = ''] = key.split('/')
  const found = records.job(kind, namespace, name)
  const workloads = records.workloadsOf(key)
  const wanted = found && workloadName(kind.resource, name, found.metadata.uid ?? '')
  const own = workloads.find(candidate => candidate.metadata.name === wanted)
  const defaults = records.defaultsIn(namespace)
  const job = found !== undefined && isOurs(found, own, namespace, records) ? counted(found, defaults) : undefined
  const workload = job === undefined ? undefined : own
  const turn = records.turnOf?.(key)
  const isLeftOut = found !== undefined && job === undefined && !isAnothers(found, namespace, records) && waits(found)
  return {
    ...{ kind, namespace, name, job, workload },
    ...(isLeftOut && { leftOut: found }),
    orphans: workloads.filter(other => other !== workload),
    defaults,
    ...(turn !== undefined && { turn }),
  }
}

/** What the API server adds to its pods counts like what it asks for itself, and so does that it is too much. */
function counted(job: QueuedJob, { problem }: PodDefaults): QueuedJob {
  return job.excess !== undefined || problem === undefined ? job : { ...job, excess: problem }
}

/**
 * Whether it is ours to queue: the root of what was created, in a namespace that the configuration selects, looked after
 * by its usual controller. What has a Workload stays ours when the selector changes, until its end.
 */
function isOurs(job: QueuedJob, workload: QueuedWorkload | undefined, namespace: string, records: JobRecords): boolean {
  return !isAnothers(job, namespace, records) && (workload !== undefined || records.selects(namespace))
}

const isAnothers = (job: QueuedJob, namespace: string, records: JobRecords): boolean =>
  job.foreign || childOf(job) !== undefined || isChildFromBefore(job, namespace, records)

/** Suspended by us, with an end to come. */
const waits = (job: QueuedJob): boolean => isQueued(job) && isSuspended(job) && job.progress.end === undefined

/** Created for an object that waits itself before any webhook of ours could stamp it so. */
function isChildFromBefore(job: QueuedJob, namespace: string, records: JobRecords): boolean {
  const owner = controllerOf(job.metadata.ownerReferences)
  if (isQueued(job) || owner === undefined) return false
  return JOB_KINDS.some(kind => {
    if (kind.resource.kind !== owner.kind) return false
    return records.job(kind, namespace, owner.name)?.metadata.uid === owner.uid
  })
}

/**
 * The key of the unit of a Job's Workload; undefined for all other Workloads. The controller is the Job; where the
 * garbage collector has struck it off (`--cascade=orphan`), the mark says who it was.
 */
export function jobKeyOfWorkload({ metadata }: QueuedWorkload): string | undefined {
  const [framework = '', name] = metadata.annotations?.[WORKLOAD_JOB]?.split(':') ?? []
  const kind = frameworkKind(framework)
  return kind === undefined || name === undefined ? undefined : `${kind.word}/${metadata.namespace}/${name}`
}
