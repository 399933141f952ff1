import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, both, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import type { FieldError } from '../../validation/field-error.ts'
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
import { cronJobWarnings, jobWarnings } from '../../validation/jobs/job-warnings.ts'
import { createsFor, isGarbageCollector } from '../creators.ts'
import { unlessBreakGlass } from '../exemption.ts'
import { LARGE_BODY, QUEUEING, type Rule, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { allowanceFor } from './allowance.ts'
import { reviewJobSet } from './jobset.ts'
import { CRON_JOBS, JOB_SETS, JOBS } from './kinds.ts'
import { reviewJobMutation } from './mutation.ts'
import { parallelismErrors } from './parallelism.ts'
import { reviewQueueing } from './queueing.ts'
import { queuesJobs } from './scope.ts'

/**
 * `/validate/jobs`: how Jobs, and what makes Jobs, may ask to be scheduled and to be queued, and how that may change.
 */
export function reviewJobValidation(request: AdmissionRequest, world: World): Verdict {
  const { operation, subResource } = request
  if (operation !== 'CREATE' && operation !== 'UPDATE') return allowed('NotOurs')
  const kind = kindOf(request)
  if (kind === undefined) return allowed('NotAJob')
  if (subResource && (subResource !== 'status' || kind === 'CronJob')) return allowed('NotOurs')
  const scheduling = reviewScheduling(request, kind, world)
  return kind === 'CronJob' ? scheduling : both(scheduling, reviewQueueing(request, world))
}

function reviewScheduling(request: AdmissionRequest, kind: Kind, world: World): Verdict {
  if (request.subResource && !(kind === 'Job' && annotationChanged(request))) return allowed('NotOurs')
  return kind === 'JobSet' ? reviewJobSet(request, world) : reviewJob(request, kind, world)
}

const SERVED = [JOBS, CRON_JOBS, JOB_SETS]

const RULES: readonly Rule[] = [
  {
    of: JOBS,
    operations: ['CREATE', 'UPDATE'],
    unseen: 'nobody judges how they ask to be scheduled, and gangs change their parallelism',
  },
  { of: JOBS, subresource: 'status', operations: ['UPDATE'], unseen: 'scheduling blocks change with the status' },
  { of: CRON_JOBS, operations: ['CREATE', 'UPDATE'], unseen: 'nobody judges how their Jobs ask to be scheduled' },
  { of: JOB_SETS, operations: ['CREATE', 'UPDATE'], unseen: 'nobody judges how their Jobs ask to be scheduled' },
  { of: JOB_SETS, subresource: 'status', operations: ['UPDATE'], unseen: 'anyone may say that they have ended' },
]

const MUTATION_RULES: readonly Rule[] = [JOBS, JOB_SETS].map(of => ({
  of,
  operations: ['CREATE', 'UPDATE'],
  unseen: 'they run without waiting for admission',
}))

export const JOB_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'mutate-jobs',
    path: '/mutate/jobs',
    mutating: true,
    rules: MUTATION_RULES,
    isEnabled: queuesJobs,
    queueing: QUEUEING,
    threadAbove: LARGE_BODY,
    review: reviewJobMutation,
  },
  {
    name: 'validate-jobs',
    path: '/validate/jobs',
    mutating: false,
    rules: RULES,
    threadAbove: LARGE_BODY,
    review: unlessBreakGlass(reviewJobValidation),
  },
]

type Kind = (typeof SERVED)[number]['kind']

function kindOf({ kind: { group, kind } }: AdmissionRequest): Kind | undefined {
  return SERVED.find(served => served.kind === kind && served.group === group)?.kind
}

/** The API server takes changes of annotations through `jobs/status`, too. */
function annotationChanged({ object, oldObject }: AdmissionRequest): boolean {
  return annotatedBlock(object) !== annotatedBlock(oldObject)
}

function reviewJob(request: AdmissionRequest, kind: 'Job' | 'CronJob', world: World): Verdict {
  const before = request.operation === 'UPDATE' ? viewObject(request.oldObject, kind, request.name) : undefined
  const after = viewObject(request.object, kind, request.name)
  if (isMalformed(before) || isMalformed(after)) {
    return invalidObject([...(isMalformed(before) ? before : []), ...(isMalformed(after) ? after : [])])
  }
  const guarded =
    before === undefined || kind === 'CronJob' ? [] : parallelismErrors(before, after, request.userInfo, world.config)
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
  return verdictOf(errors, guarded, [...stray, ...blockWarnings(before, after, isNew, kind)])
}

function blockWarnings(
  before: JobView | undefined,
  after: JobView,
  isNew: boolean,
  kind: 'Job' | 'CronJob',
): readonly string[] {
  const block = blockOf(after)
  const counts = isNew || before?.parallelism !== after.parallelism || before.completions !== after.completions
  if (block === undefined || !counts || after.controller !== undefined) return []
  return kind === 'CronJob' ? cronJobWarnings(after, block) : jobWarnings(after, block)
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
  reason = 'Valid',
): Verdict {
  const isWrong = errors.some(({ type }) => type !== 'Forbidden')
  if (isWrong) return invalidObject(errors, [...warnings, ...guarded.map(guardWarning)])
  const refused = [...errors, ...guarded]
  return refused.length > 0 ? forbiddenRequest(refused, warnings) : allowed(reason, warnings)
}

const guardWarning = ({ field }: FieldError): string =>
  `${field}: the parallelism of a gang cannot change either; create a new Job, or one with the policy \`basic\``
