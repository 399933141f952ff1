import type { Patch } from '../../kube/vocabulary/api.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import { fields } from '../../kube/vocabulary/outline.ts'
import { JOBS } from '../../kube/vocabulary/resources.ts'
import { parseInt32 } from '../../validation/numbers.ts'
import { doCompletionsFollow, isStopping, minParallelismOf } from '../job-facts.ts'
import { isForeign, type JobKind } from './job-kind.ts'
import type { JobChange, JobPodSet, Progress, QueuedJob, TemplateChange } from './queued-job.ts'
import {
  bounded,
  CONDITIONS,
  countIn,
  fieldsOf,
  JOB_METADATA,
  jobMetadata,
  POD_TEMPLATE,
  templateFacts,
  trueCondition,
  uncounted,
} from './templates.ts'

/** Of the one podSet of a Job. */
const MAIN = 'main'
/** The API server gives it to the pods of every Job, and selects them by it, unless the Job selects them itself. */
const POD_LABEL = 'batch.kubernetes.io/controller-uid'

export const BATCH_JOB: JobKind = {
  framework: 'batch/job',
  word: 'job',
  resource: JOBS,
  controller: 'kubernetes.io/job-controller',
  podLabel: POD_LABEL,
  endsEarly: false,
  outline: {
    ...fields('apiVersion', 'kind'),
    metadata: JOB_METADATA,
    spec: {
      ...fields('suspend', 'parallelism', 'completions', 'completionMode', 'managedBy', 'manualSelector'),
      selector: { matchLabels: fields(POD_LABEL) },
      template: POD_TEMPLATE,
    },
    status: {
      ...fields('active', 'terminating', 'startTime', 'succeeded', 'completedIndexes', 'failedIndexes'),
      conditions: CONDITIONS,
    },
  },
  forCache,
  patch,
}

function forCache(object: KubeObject): QueuedJob {
  const { spec: written, status: known } = object as { spec?: unknown; status?: unknown }
  const [spec, status] = [fieldsOf(written), fieldsOf(known)]
  const template = fieldsOf(spec.template)
  const suspend = spec.suspend === true
  const hidden = selectsItself(spec, object.metadata.uid)
  return {
    metadata: jobMetadata(object),
    spec: { suspend },
    ...(hidden
      ? uncounted(JOBS.kind, object)
      : bounded({ ...object, kind: JOBS.kind }, [podSetOf(object, spec, status)])),
    priority: priorityOf(template),
    foreign: isForeign(BATCH_JOB, spec.managedBy),
    progress: progressOf(suspend, isStopping(object), status),
  }
}

/**
 * Whether the pods of a Job are known by labels of its user's choice. By those nobody sees how many are left when it is
 * stopped, and whoever takes one off a running pod has another made beside it. The word for it may be taken back later,
 * and the selector may not.
 */
export function selectsItself({ manualSelector, selector }: Record<string, unknown>, uid: string | undefined): boolean {
  if (manualSelector === true) return true
  if (selector === undefined || selector === null || uid === undefined) return false
  return fieldsOf(fieldsOf(selector).matchLabels)[POD_LABEL] !== uid
}

export function priorityOf(template: unknown): number {
  const { priority } = fieldsOf(fieldsOf(template).spec)
  return typeof priority === 'number' && Number.isInteger(priority) ? priority : 0
}

function podSetOf(object: KubeObject, spec: Record<string, unknown>, status: Record<string, unknown>): JobPodSet {
  const parallelism = countIn(spec.parallelism) ?? 1
  const count = podsOf(spec)
  const least = parseInt32(minParallelismOf(object) ?? '')
  const minCount = 'value' in least && least.value > 0 && least.value < count ? least.value : undefined
  return {
    name: MAIN,
    count,
    ...(minCount !== undefined && { minCount }),
    needed: Math.min(count, parallelism, remainingIn(spec, status)),
    present: podsIn(status),
    ...templateFacts(spec.template),
  }
}

/** Also those that terminate: they use what they were given until their last moment. */
function podsIn(status: Record<string, unknown>): number {
  return (countIn(status.active) ?? 0) + (countIn(status.terminating) ?? 0)
}

/** How many pods of a Job run at once. */
export function podsOf(spec: Record<string, unknown>): number {
  const parallelism = countIn(spec.parallelism) ?? 1
  return Math.min(parallelism, countIn(spec.completions) ?? parallelism)
}

/** How many completions are left. An index is done whether it has succeeded or failed for good. */
export function remainingIn(spec: Record<string, unknown>, status: Record<string, unknown>): number {
  const wanted = countIn(spec.completions) ?? countIn(spec.parallelism) ?? 1
  const done =
    spec.completionMode === 'Indexed'
      ? indexesIn([status.completedIndexes, status.failedIndexes], wanted)
      : (countIn(status.succeeded) ?? 0)
  return Math.max(wanted - done, 0)
}

/** How many different indexes below `end` texts like `0,3-5` name. */
export function indexesIn(texts: readonly unknown[], end: number): number {
  const ranges = texts
    .flatMap(text => (typeof text === 'string' && text !== '' ? text.split(',') : []))
    .map(range => /^([0-9]+)(?:-([0-9]+))?$/.exec(range))
    .flatMap(found => (found === null ? [] : [[Number(found[1]), Number(found[2] ?? found[1])] as const]))
    .sort(([a], [b]) => a - b)
  let count = 0
  let next = 0
  for (const [from, to] of ranges) {
    const [first, last] = [Math.max(from, next), Math.min(to, end - 1)]
    if (last < first) continue
    count += last - first + 1
    next = last + 1
  }
  return count
}

/** Conditions that only announce an end (`FailureTarget`, `SuccessCriteriaMet`) are none: pods may still run. */
function progressOf(suspended: boolean, stopping: boolean, status: Record<string, unknown>): Progress {
  const pods = podsIn(status)
  const startTime = typeof status.startTime === 'string'
  const seenSuspended = trueCondition(status, 'Suspended') !== undefined
  const isKnown = startTime || pods > 0 || (countIn(status.succeeded) ?? 0) > 0
  const complete = trueCondition(status, 'Complete')
  const failed = trueCondition(status, 'Failed')
  const end = complete
    ? { reason: 'Succeeded', message: complete.message || 'Job finished successfully' }
    : failed && { reason: 'Failed', message: failed.message || 'Job failed' }
  return {
    startTime,
    seenSuspended,
    ...(!suspended && (seenSuspended || !isKnown) && { unseen: true }),
    // A Job that has never been looked at has neither a start time nor the condition. One that we have started may be
    // looked at this very moment, and get its pods: it has stopped when its controller says so.
    stopped: suspended && pods === 0 && (seenSuspended || !(startTime || stopping)),
    ...(end && { end }),
  }
}

/** A merge patch: null takes away, and what is not named stays. */
function patch(job: QueuedJob, { suspend, annotations, templates = [] }: JobChange): Patch {
  const [template] = templates
  return {
    type: 'merge',
    body: {
      metadata: { ...(annotations && { annotations }) },
      spec: { ...(suspend !== undefined && { suspend }), ...(template && templateFields(job, template)) },
    },
  }
}

function templateFields(job: QueuedJob, change: TemplateChange): object {
  const { count, labels, annotations, nodeSelector, tolerations } = change
  const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) }
  const spec = { ...(nodeSelector && { nodeSelector }), ...(tolerations !== undefined && { tolerations }) }
  return {
    ...(count !== undefined && { parallelism: count, ...(doCompletionsFollow(job) && { completions: count }) }),
    template: { metadata, spec },
  }
}
