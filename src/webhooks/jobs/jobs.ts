import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, both, type Verdict } from '../../admission/verdict.ts'
import type { Configuration } from '../../config/configuration.ts'
import { annotatedBlock } from '../../validation/jobs/job-view.ts'
import { unlessBreakGlass } from '../exemption.ts'
import { isCalledFor, LARGE_BODY, QUEUEING, type Rule, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { reviewGroupMarks } from './group-guard.ts'
import { reviewGrouping } from './grouping.ts'
import { reviewJobSet } from './jobset.ts'
import { CRON_JOBS, JOB_SETS, JOBS } from './kinds.ts'
import { reviewJobMutation } from './mutation.ts'
import { reviewQueueing } from './queueing.ts'
import { reviewJob } from './scheduling.ts'
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
  if (kind === 'CronJob') return scheduling
  return both(both(scheduling, reviewGroupMarks(request, kind, world)), reviewQueueing(request, world))
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

const MUTATION_RULES: readonly Rule[] = [
  ...[JOBS, JOB_SETS].map(
    (of): Rule => ({
      of,
      operations: ['CREATE', 'UPDATE'],
      unseen: 'they run without waiting for admission, and are not placed together',
    }),
  ),
  {
    of: CRON_JOBS,
    operations: ['CREATE', 'UPDATE'],
    waitsForNothing: true,
    unseen: 'the API server may drop the scheduling of their Jobs',
  },
]

const IMPLICIT_RULES: readonly Rule[] = [
  { of: JOBS, operations: ['CREATE'], unseen: 'gangs by their shape are placed one by one' },
]

/** Whether there is anything that it may change, as far as the configuration says. */
const mutatesJobs = (config: Configuration): boolean => queuesJobs(config) || groupsJobs(config)

const groupsJobs = ({ coScheduling: { backend, jobs } }: Configuration): boolean =>
  jobs !== 'never' && (backend === 'auto' || backend === 'kubernetes')

export const JOB_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'mutate-jobs',
    path: '/mutate/jobs',
    mutating: true,
    rules: MUTATION_RULES,
    isEnabled: mutatesJobs,
    queueing: QUEUEING,
    threadAbove: LARGE_BODY,
    review: reviewJobMutation,
  },
  // Who is a gang by its shape has not asked to be one: it does not wait for Muster when that is away.
  {
    name: 'mutate-implicit-gangs',
    path: '/mutate/implicit-gangs',
    mutating: true,
    rules: IMPLICIT_RULES,
    isEnabled: groupsJobs,
    advisory: true,
    threadAbove: LARGE_BODY,
    review: (request, world) =>
      isCalledFor({ rules: IMPLICIT_RULES }, request) ? reviewGrouping(request, world) : allowed('NotOurs'),
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
