import { isObject } from '../../kube/vocabulary/fields.ts'
import { blockOf, type JobView } from '../../validation/jobs/job-view.ts'
import { blockWarnings, cronJobWarnings, jobWarnings } from '../../validation/jobs/job-warnings.ts'
import { type JobToGroup, jobToGroup } from '../../workload/grouped/job-to-group.ts'
import { makerOf, type Nobody } from '../../workload/grouped/maker.ts'
import type { World } from '../world.ts'
import { CRON_JOBS } from './kinds.ts'

/** What becomes of the block of a Job, or of those of a CronJob, where that is not what its author may think. */
export function makerWarnings(
  object: unknown,
  view: JobView,
  kind: 'Job' | 'CronJob',
  world: World,
): readonly string[] {
  const block = blockOf(view)
  const job = jobIn(object, kind, view)
  if (block === undefined || job === undefined) return []
  const maker = makerOf(job, world.scheduling(), world.config)
  if (maker.who === 'jobController') return jobWarnings(view, block)
  if (maker.who === 'muster') {
    const unseen = kind === 'Job' && !job.isMarked ? [nothingActs(block.paths.block, 'NotMutated', job)] : []
    return [...unseen, ...blockWarnings(view, block)]
  }
  if (view.field === undefined) return [nothingActs(block.paths.block, maker.why, job), ...blockWarnings(view, block)]
  return kind === 'CronJob' ? cronJobWarnings(view, block) : jobWarnings(view, block)
}

/** The Jobs of a CronJob have it as their controller. */
function jobIn(object: unknown, kind: 'Job' | 'CronJob', view: JobView): JobToGroup | undefined {
  if (kind === 'Job') return jobToGroup(object, view.prefix, view)
  const spec = isObject(object) ? object.spec : undefined
  const job = isObject(spec) ? jobToGroup(spec.jobTemplate, view.prefix, view) : undefined
  const { group, version } = CRON_JOBS
  const controller = { apiVersion: `${group}/${version}`, kind: CRON_JOBS.kind, name: '', uid: '' }
  return job && { ...job, controller }
}

/** Whoever writes a block believes that somebody reads it. */
export function nothingActs(
  path: string,
  why: Nobody | 'NotMutated',
  { schedulerName }: Pick<JobToGroup, 'schedulerName'>,
): string {
  const reasons: Readonly<Record<typeof why, string>> = {
    ForeignController: 'spec.managedBy leaves the Job to another controller',
    BringsGroup: 'its pods name a group of their own',
    AsksForNothing: 'it asks for nothing',
    NotServed: 'the API server serves no PodGroups (feature gate GenericWorkload, scheduling.k8s.io/v1beta1)',
    OtherScheduler: `its pods go to a scheduler that places by no PodGroups of Kubernetes${named(schedulerName)}`,
    SwitchedOff: 'the configuration has switched it off (coScheduling.backend, coScheduling.jobs)',
    RootDecides: 'its controller speaks for it',
    NotMutated:
      "Muster's webhook /mutate/jobs has not seen it (namespaceSelector of the MutatingWebhookConfiguration muster), or " +
      'another webhook has undone what it did',
  }
  return `${path}: nothing will act on it: ${reasons[why]}`
}

const named = (scheduler: string): string => (scheduler === '' ? '' : `: ${JSON.stringify(scheduler.slice(0, 63))}`)
