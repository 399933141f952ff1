import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { GROUP_TEMPLATE_NAME } from '../../kube/vocabulary/names.ts'
import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import { type FieldError, required } from '../../validation/field-error.ts'
import { gangSize, isImplicitGang } from '../../validation/jobs/gang.ts'
import { withPolicyErrors } from '../../validation/jobs/job-allow.ts'
import { upstreamErrors } from '../../validation/jobs/job-rules.ts'
import { blockOf, type JobView, podSpecOf, viewJob } from '../../validation/jobs/job-view.ts'
import { jobWarnings } from '../../validation/jobs/job-warnings.ts'
import type { WrittenBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { buildWorkload } from '../builder/build.ts'
import { workloadErrors } from '../builder/check.ts'
import { groupsOf, podGroupFrom } from '../builder/groups.ts'
import type { SchedulingCallback, SchedulingConfig, WorkloadItem } from '../builder/item.ts'
import { jobTemplateName, podGroupName, workloadName } from '../builder/names.ts'
import { controllerReference, type SchedulingWorkload, workloadReference } from '../builder/objects.ts'
import { parentWorkload } from './parent.ts'
import {
  ALL_OF_KUBERNETES,
  groupInput,
  type MapOptions,
  type MapResult,
  nothing,
  PLACEHOLDER_UID,
  priorityClassOf,
  type Source,
  sourceOf,
} from './source.ts'

const JOB_CONTROLLER = 'kubernetes.io/job-controller'

/** What the API server says about the block of a Job, and about keys that it does not know. */
export function jobErrors(view: JobView): readonly FieldError[] {
  return withPolicyErrors([...view.numberErrors, ...upstreamErrors(undefined, view, false)], view, ALL_OF_KUBERNETES)
}

interface JobItemOptions {
  readonly name: string
  /** Pods at a time; none is one. */
  readonly parallelism?: number
  readonly priorityClassName?: string
  readonly block?: WrittenBlock
}

/** The tree of a Job, one group of pods: Basic unless its block says otherwise. */
export function jobItem({ name, parallelism = 1, priorityClassName, block }: JobItemOptions): WorkloadItem {
  const defaults: SchedulingConfig = {
    policy: { basic: {} },
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  }
  return {
    name: jobTemplateName(name),
    defaults,
    ...(block === undefined ? {} : { input: groupInput(block) }),
    callbacks: [sizedGang(parallelism)],
  }
}

/** Gives a gang its size. For a group of groups, what runs at a time is groups. */
export function sizedGang(atATime: number): SchedulingCallback {
  return config => {
    const gang = config.policy?.gang
    if (gang === undefined) return config
    return { ...config, policy: { ...config.policy, gang: { minCount: gangSize(gang, atATime) } } }
  }
}

type Management = { readonly mode: 'both' | 'podGroup' } | { readonly mode: 'none'; readonly why: string }

/** Which objects the Job controller of 1.37 makes for a Job, decided in its order. */
function managementOf(job: Fields, { controller, groupTemplateName }: Source): Management {
  const { managedBy } = isObject(job.spec) ? job.spec : {}
  if (typeof managedBy === 'string' && managedBy !== JOB_CONTROLLER) {
    return { mode: 'none', why: `the Job is left to ${managedBy} (spec.managedBy)` }
  }
  const { schedulingGroup } = podSpecOf(job.spec)
  if (schedulingGroup !== undefined && schedulingGroup !== null) {
    return { mode: 'none', why: 'its pods name a group of their own (spec.template.spec.schedulingGroup)' }
  }
  if (controller === undefined) return { mode: 'both' }
  if (groupTemplateName !== undefined) return { mode: 'podGroup' }
  const owner = `${String(controller.kind)} ${JSON.stringify(controller.name)}`
  return { mode: 'none', why: `${owner} is its controller and speaks for it (no annotation ${GROUP_TEMPLATE_NAME})` }
}

/** The Workload and the PodGroup of a Job, as the Job controller makes them. */
export function mapJob(job: Fields, options: MapOptions): MapResult {
  const source = sourceOf(job, options)
  if (source.name === '') return { errors: [required('metadata.name', 'name or generateName is required')] }
  const view = viewJob(job, '', source.name)
  if (!('prefix' in view)) return { errors: view }
  const errors = jobErrors(view)
  if (errors.length > 0) return { errors }
  const management = managementOf(job, source)
  if (management.mode === 'none') return nothing(management.why)
  if (options.version === '1.36' && blockOf(view) === undefined) return inferred(job, source, view, options)
  if (management.mode === 'podGroup') return delegated(source, options)
  const item = jobItem({
    name: source.name,
    parallelism: view.parallelism,
    ...priorityClassOf(podSpecOf(job.spec)),
    block: blockOf(view),
  })
  return objectsOf(item, ownerOf(source), source, options, notesFor(view, options))
}

function notesFor(view: JobView, { version }: MapOptions): readonly string[] {
  const block = blockOf(view)
  if (block === undefined) return []
  if (version === '1.37') return jobWarnings(view, block)
  return ['the Job controller of Kubernetes 1.36 does not read the block; this is what the block means there']
}

/** The objects of a tree: its Workload, and a group from each template of that. */
export function objectsOf(
  item: WorkloadItem,
  owner: OwnerReference,
  source: Source,
  options: MapOptions,
  notes: readonly string[],
): MapResult {
  const identity = { name: workloadName(source.name, source.uid), namespace: source.namespace, owner }
  const built = buildWorkload(item, identity)
  if ('errors' in built) return built
  const workload = built.ok
  const errors = workloadErrors(workload)
  if (errors.length > 0) return { errors: inWorkload(errors, workload) }
  const owners = [owner, workloadReference(workload, options.workloadUid ?? PLACEHOLDER_UID)]
  return { objects: [workload, ...groupsOf(workload, owners)], notes: [...source.notes, ...notes] }
}

/** 1.36 has no block: it makes a gang of an Indexed Job that runs all its pods at once, and nothing of any other. */
function inferred(job: Fields, source: Source, view: JobView, options: MapOptions): MapResult {
  if (!isImplicitGang(view)) {
    return nothing(
      'Kubernetes 1.36 makes a group only of an Indexed Job with a parallelism above 1 and as many completions',
    )
  }
  const { name, defaults } = jobItem({ name: source.name, ...priorityClassOf(podSpecOf(job.spec)) })
  const item: WorkloadItem = { name, defaults: { ...defaults, policy: { gang: { minCount: view.parallelism } } } }
  return objectsOf(item, ownerOf(source), source, options, [])
}

/** The parent has written the Workload; the Job's own block plays no part. */
function delegated(source: Source, { workloads = [] }: MapOptions): MapResult {
  const found = parentWorkload(source, workloads)
  if (typeof found === 'string') return nothing(found)
  const { workload, template } = found
  const name = podGroupName(workload.metadata.name, template.name)
  return { objects: [podGroupFrom(workload, template, { name, owners: [ownerOf(source)] })], notes: source.notes }
}

const ownerOf = ({ name, uid }: Source) => controllerReference('batch/v1', 'Job', name, uid)

/** Errors in an object that the user has never seen say which one they are about. */
function inWorkload(errors: readonly FieldError[], workload: SchedulingWorkload): readonly FieldError[] {
  const where = `in the Workload ${workload.metadata.name} that this compiles to, so its pods would never start`
  return errors.map(error => ({ ...error, detail: error.detail === '' ? where : `${error.detail} (${where})` }))
}
