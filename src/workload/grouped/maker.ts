import type { Configuration } from '../../config/configuration.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import { isImplicitGang } from '../../validation/jobs/gang.ts'
import { blockOf } from '../../validation/jobs/job-view.ts'
import { blockFor, groupedJobs } from '../../validation/jobs/jobset-rules.ts'
import type { JobSetView } from '../../validation/jobs/jobset-view.ts'
import { backendOf } from '../backend.ts'
import { isForeign } from '../jobs/job-kind.ts'
import { JOB_SET } from '../jobs/job-set.ts'
import { sourceOf } from '../mappers/source.ts'
import type { Controller, JobToGroup } from './job-to-group.ts'

/**
 * Who makes the Workload and the PodGroup of a Job. A Job has exactly one Workload, so there is exactly one answer, and
 * webhook and reconciler ask here.
 */
export type Maker =
  | { readonly who: 'muster'; readonly of: Asked }
  | { readonly who: 'jobController' }
  | { readonly who: 'nobody'; readonly why: Nobody }

/**
 * What asks for them: a block, the shape of a gang (KEP-5547), the parent that has delegated one of its templates
 * (KEP-6089), or the parent for which Muster makes everything.
 */
export type Asked = 'block' | 'shape' | 'delegated' | 'root'

export type Nobody =
  | 'ForeignController'
  | 'BringsGroup'
  | 'AsksForNothing'
  | 'NotServed'
  | 'OtherScheduler'
  | 'SwitchedOff'
  | 'RootDecides'

/**
 * Of a JobSet nobody but Muster makes anything, since JobSet itself has no field for it. Its pods are placed by one
 * scheduler, or not together.
 */
export function jobSetMakerOf(object: Fields, view: JobSetView, served: ServedScheduling, rules: Rules): Maker {
  const spec = isObject(object.spec) ? object.spec : {}
  if (isForeign(JOB_SET, spec.managedBy)) return nobody('ForeignController')
  if (!saysSomething(view)) return nobody('AsksForNothing')
  const { controller } = sourceOf(object, { version: '1.37' })
  if (controller !== undefined) return nobody('RootDecides')
  const jobs = groupedJobs(view)
  if (jobs.length === 0) return nobody('BringsGroup')
  for (const { podSpec } of jobs) {
    const schedulerName = typeof podSpec.schedulerName === 'string' ? podSpec.schedulerName : ''
    const backend = backendOf(schedulerName, rules.coScheduling, served)
    if (backend !== 'kubernetes') return nobody(whyNot(schedulerName, rules))
  }
  return rules.coScheduling.jobs === 'never' ? nobody('SwitchedOff') : { who: 'muster', of: 'block' }
}

const saysSomething = (view: JobSetView): boolean =>
  view.root !== undefined || [...view.jobs.values()].some(job => blockFor(view, job) !== undefined)

const nobody = (why: Nobody): Maker => ({ who: 'nobody', why })

export type Rules = Pick<Configuration, 'coScheduling' | 'jobs'>

export function makerOf(job: JobToGroup, served: ServedScheduling, rules: Rules): Maker {
  if (job.foreign) return nobody('ForeignController')
  if (job.bringsGroup && !job.isMarked) return nobody('BringsGroup')
  const asked = whatAsks(job, served, rules)
  if (asked === undefined) return nobody('AsksForNothing')
  const backend = backendOf(job.schedulerName, rules.coScheduling, served)
  if (backend !== 'kubernetes') return nobody(whyNot(job.schedulerName, rules))
  if (asked === 'root') return { who: 'muster', of: asked }
  if (isJobSet(job.controller) && asked !== 'delegated') return nobody('RootDecides')
  const { jobs } = rules.coScheduling
  if (jobs !== 'always' && jobControllerDoes(job, asked, served)) return { who: 'jobController' }
  return jobs === 'never' ? nobody('SwitchedOff') : { who: 'muster', of: asked }
}

/** A parent that delegates has said how, and the Job's own block plays no part then. */
function whatAsks(job: JobToGroup, served: ServedScheduling, rules: Rules): Asked | undefined {
  if (job.controller !== undefined && job.rootGroup !== undefined) return 'root'
  if (job.controller !== undefined && job.delegated !== undefined) return 'delegated'
  if (blockOf(job.view) !== undefined) return 'block'
  return infersGangs(served, rules) && isImplicitGang(job.view) ? 'shape' : undefined
}

/**
 * What the Job controllers of the two versions do. That of 1.37 makes the objects of every root Job, and for one of a
 * parent a group from a template at the top of the parent's Workload; what hangs below a group of groups it does not
 * find. It reads blocks in the field alone. That of 1.36 reads no block: it makes a gang of what has the shape of one,
 * whoever owns it.
 */
function jobControllerDoes({ view, controller, parentComposite }: JobToGroup, asked: Asked, served: ServedScheduling) {
  if (!served.jobController) return false
  if (infersItself(served)) return asked === 'shape'
  if (asked === 'delegated') return parentComposite === undefined
  return asked === 'block' && view.field !== undefined && served.jobSchedulingField && controller === undefined
}

const infersItself = ({ kubernetes, jobController }: ServedScheduling): boolean =>
  jobController && kubernetes?.version === 'v1alpha2'

/** Whether a Job is a gang by its shape: as configured, or as the Job controller of this server has it. */
export function infersGangs(served: ServedScheduling, { jobs }: Pick<Configuration, 'jobs'>): boolean {
  const { implicitGang } = jobs.parallelism
  return implicitGang === 'auto' ? infersItself(served) : implicitGang === 'indexed'
}

/** Whether the API server forgets `spec.scheduling` of a Job as it stores it, and does so without a word. */
export const dropsField = ({ kubernetes, jobSchedulingField }: ServedScheduling): boolean =>
  kubernetes !== undefined && !jobSchedulingField

/** The minimum of a gang can be changed in a PodGroup since 1.37. */
export const minCountChanges = ({ kubernetes }: ServedScheduling): boolean => kubernetes?.version === 'v1beta1'

function whyNot(schedulerName: string, { coScheduling: { backend, kubernetes } }: Rules): Nobody {
  if (backend === 'none' || backend === 'kai') return 'SwitchedOff'
  return schedulerName === '' || kubernetes.schedulerNames.includes(schedulerName) ? 'NotServed' : 'OtherScheduler'
}

export const isJobSet = (controller: Controller | undefined): boolean =>
  controller?.kind === 'JobSet' && controller.apiVersion.startsWith('jobset.x-k8s.io/')
