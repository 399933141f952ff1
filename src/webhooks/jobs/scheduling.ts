import type { ReviewReason } from '../../admission/reasons.ts'
import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { gangOf } from '../../validation/jobs/gang.ts'
import { withPolicyErrors } from '../../validation/jobs/job-allow.ts'
import { blocksChanged, upstreamErrors } from '../../validation/jobs/job-rules.ts'
import {
  annotatedBlock,
  annotationPath,
  blockOf,
  hasBlock,
  type JobView,
  viewJob,
  writingErrors,
} from '../../validation/jobs/job-view.ts'
import { minCountChanges } from '../../workload/grouped/maker.ts'
import { createsFor, isGarbageCollector } from '../creators.ts'
import type { World } from '../world.ts'
import { allowanceFor } from './allowance.ts'
import { makerWarnings } from './block-warnings.ts'
import { CRON_JOBS, JOB_SETS } from './kinds.ts'
import { parallelismErrors } from './parallelism.ts'

/** What a Job, or the Jobs of a CronJob, say about their scheduling, and how that may change. */
export function reviewJob(request: AdmissionRequest, kind: 'Job' | 'CronJob', world: World): Verdict {
  const before = request.operation === 'UPDATE' ? viewObject(request.oldObject, kind, request.name) : undefined
  const after = viewObject(request.object, kind, request.name)
  if (isMalformed(before) || isMalformed(after)) {
    return invalidObject([...(isMalformed(before) ? before : []), ...(isMalformed(after) ? after : [])])
  }
  const guarded =
    before === undefined || kind === 'CronJob' ? [] : parallelismErrors(before, after, request.userInfo, world)
  const stray = kind === 'CronJob' ? misplacedWarnings(request.object) : []
  if (!hasBlock(before) && !hasBlock(after)) return verdictOf([], guarded, stray, 'NoSchedulingBlock')

  // Policy judges what is new: a list that has become shorter does not break what is running. A Job that is set free
  // is new in this sense: its block begins to count.
  const isNew = blocksChanged(before, after) || isSetFree(before, after, request)
  const isJudged = isNew && hasBlock(after) && !isMadeByRoot(after, request, world)
  const allowance = isJudged ? allowanceFor(request, world) : undefined
  const upstream = [...after.numberErrors, ...upstreamErrors(before, after, kind === 'CronJob')]
  const written = isNew ? [...upstream, ...writingErrors(after)] : upstream
  const errors = allowance === undefined ? written : withPolicyErrors(upstream, after, allowance)
  const fixed = before === undefined || kind === 'CronJob' ? [] : minCountErrors(before, after, world)
  const counts = isNew || before?.parallelism !== after.parallelism || before.completions !== after.completions
  const told = counts && after.controller === undefined ? makerWarnings(request.object, after, kind, world) : []
  return verdictOf(errors, [...guarded, ...fixed], [...stray, ...told])
}

/** 1.37 lets the size of a gang change; what 1.36 has made of it stays as it is. */
function minCountErrors(before: JobView, after: JobView, world: World): readonly FieldError[] {
  const served = world.scheduling()
  if (served.kubernetes?.podGroups !== true || minCountChanges(served)) return []
  const [was, is] = [blockOf(before), blockOf(after)]
  const [old, next] = [gangOf(was?.model.schedulingPolicy)?.minCount, gangOf(is?.model.schedulingPolicy)?.minCount]
  if (was === undefined || is === undefined || old === next) return []
  const detail =
    'the minCount of a gang cannot change on Kubernetes 1.36, whose PodGroups are immutable: create a new Job'
  return [forbidden(is.paths.minCount, detail)]
}

/**
 * Jobs of a CronJob or JobSet are what their root has said, and that was judged when the root was written. To name one
 * of these as the controller is no way around the lists: it is the root that must ask.
 */
function isMadeByRoot({ controller }: JobView, { userInfo }: AdmissionRequest, { config }: World): boolean {
  return isRoot(controller) && createsFor(controller, userInfo, config)
}

/**
 * Whether a Job loses its root, from when on the Job controller heeds its block. When the root was deleted with
 * `--cascade=orphan` it is the garbage collector that strikes it off, and comes again until it may: what it sets free
 * was judged before, with its root or, if somebody only named one, by itself.
 */
function isSetFree(before: JobView | undefined, after: JobView, { userInfo }: AdmissionRequest): boolean {
  return before !== undefined && isRoot(before.controller) && !isRoot(after.controller) && !isGarbageCollector(userInfo)
}

type Root = Pick<OwnerReference, 'apiVersion' | 'kind'>

function isRoot(controller: JobView['controller']): controller is JobView['controller'] & Root {
  const { kind, apiVersion } = controller ?? {}
  if (typeof apiVersion !== 'string') return false
  return (
    (kind === CRON_JOBS.kind && apiVersion.startsWith(`${CRON_JOBS.group}/`)) ||
    (kind === JOB_SETS.kind && apiVersion.startsWith(`${JOB_SETS.group}/`))
  )
}

const isMalformed = (view: JobView | readonly FieldError[] | undefined): view is readonly FieldError[] =>
  Array.isArray(view)

function viewObject(object: unknown, kind: 'Job' | 'CronJob', requestName = ''): JobView | readonly FieldError[] {
  const { metadata, spec } = isObject(object) ? object : {}
  const { name, generateName } = isObject(metadata) ? metadata : {}
  // Five characters are what the API server adds.
  const generated = typeof generateName === 'string' ? `${generateName}xxxxx` : ''
  const known = (typeof name === 'string' && name) || requestName || generated
  if (kind === 'Job') return viewJob(object, '', known)
  return viewJob(isObject(spec) ? spec.jobTemplate : undefined, 'spec.jobTemplate.', known)
}

/** Nobody copies the annotations of a CronJob to its Jobs. */
function misplacedWarnings(cronJob: unknown): readonly string[] {
  if (annotatedBlock(cronJob) == null) return []
  const [here, there] = [annotationPath({ prefix: '' }), annotationPath({ prefix: 'spec.jobTemplate.' })]
  return [`${here}: has no effect on a CronJob; its Jobs take theirs from ${there}`]
}

/**
 * 422 for an object that is wrong, 403 for one that is not allowed here. What Kubernetes itself refuses is reported as
 * Kubernetes does, and the parallelism of a gang is then a warning: fixing one must not be the way into the other.
 */
function verdictOf(
  errors: readonly FieldError[],
  guarded: readonly FieldError[],
  warnings: readonly string[],
  reason: ReviewReason = 'Valid',
): Verdict {
  const isWrong = errors.some(({ type }) => type !== 'Forbidden')
  if (isWrong) return invalidObject(errors, [...warnings, ...guarded.map(guardWarning)])
  const refused = [...errors, ...guarded]
  return refused.length > 0 ? forbiddenRequest(refused, warnings) : allowed(reason, warnings)
}

const guardWarning = ({ field }: FieldError): string =>
  `${field}: the size of a gang cannot change either; create a new Job, or one with the policy \`basic\``
