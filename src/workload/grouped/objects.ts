import type { Fields } from '../../kube/vocabulary/fields.ts'
import { dnsLabelProblems } from '../../kube/vocabulary/formats.ts'
import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { isImplicitGang } from '../../validation/jobs/gang.ts'
import { blockOf, podSpecOf } from '../../validation/jobs/job-view.ts'
import { buildWorkload } from '../builder/build.ts'
import { workloadErrors } from '../builder/check.ts'
import { podGroupFrom } from '../builder/groups.ts'
import type { SchedulingCallback, WorkloadItem } from '../builder/item.ts'
import { jobTemplateName, shortHash, workloadName } from '../builder/names.ts'
import {
  controllerReference,
  type SchedulingObject,
  type SchedulingWorkload,
  workloadReference,
} from '../builder/objects.ts'
import { jobErrors, jobItem } from '../mappers/job.ts'
import { mapJobSet } from '../mappers/jobset.ts'
import { parentWorkload } from '../mappers/parent.ts'
import { priorityClassOf, type Source, sourceOf } from '../mappers/source.ts'
import { type Controller, type JobToGroup, jobToGroup } from './job-to-group.ts'

/** What is to be there for a Job or JobSet, in the order in which it is made. */
export type Wanted =
  | { readonly objects: readonly SchedulingObject[] }
  | { readonly errors: readonly FieldError[] }
  /** It needs something that is not there yet. */
  | { readonly waits: string }

export type Parent = Pick<Controller, 'kind' | 'name'>

export interface Surroundings {
  /** Of its own Workload, if that is there: the groups name it as an owner. */
  readonly workloadUid: string | undefined
  /** Workloads of its namespace that are for its controller, for who takes his group from there: nobody else asks. */
  workloadsFor(parent: Parent): readonly SchedulingWorkload[]
}

/** The objects of a Job that Muster groups: as the Job controller of 1.37 makes them, but named by what its pods name. */
export function objectsOfJob(object: Fields, around: Surroundings): Wanted {
  const job = jobToGroup(object)
  if (job === undefined) return { errors: [] }
  const source = sourceOf(object, { version: '1.37' })
  const owner = controllerReference('batch/v1', 'Job', source.name, source.uid)
  if (job.controller !== undefined && job.delegated !== undefined) {
    return delegated(job, source, owner, around.workloadsFor(job.controller))
  }
  const errors = jobErrors(job.view)
  if (errors.length > 0) return { errors }
  const identity = { name: workloadName(source.name, source.uid), namespace: source.namespace, owner }
  const built = buildWorkload(itemOf(job, object), identity)
  if ('errors' in built) return built
  const workload = built.ok
  const refused = workloadErrors(workload)
  if (refused.length > 0) return { errors: refused }
  const [template] = workload.spec.podGroupTemplates ?? []
  if (template === undefined || around.workloadUid === undefined) return { objects: [workload] }
  const owners = [owner, workloadReference(workload, around.workloadUid)]
  return { objects: [workload, podGroupFrom(workload, template, { name: job.groupName, owners })] }
}

/** A block says what it is; without one it was taken in for its shape. */
function itemOf({ view, name }: JobToGroup, object: Fields): WorkloadItem {
  const block = blockOf(view)
  const { parallelism } = view
  const item = jobItem({ name, parallelism, block, ...priorityClassOf(podSpecOf(object.spec)) })
  const inferred = block === undefined && isImplicitGang(view)
  return {
    ...item,
    name: templateName(name),
    ...(inferred && { defaults: { ...item.defaults, policy: { gang: { minCount: parallelism } } } }),
    callbacks: [...(item.callbacks ?? []), atMost(parallelism)],
  }
}

/** A Job that runs with fewer pods than its gang was to have, because its queue had no more room, is a gang of those. */
function atMost(pods: number): SchedulingCallback {
  return config => {
    const minCount = config.policy?.gang?.minCount
    if (minCount === undefined || minCount <= Math.max(1, pods)) return config
    return { ...config, policy: { gang: { minCount: Math.max(1, pods) } } }
  }
}

/** As upstream's, as long as that is a DNS label: the Job controller has no name for the others, and never starts them. */
function templateName(jobName: string): string {
  const usual = jobTemplateName(jobName)
  if (dnsLabelProblems(usual).length === 0) return usual
  return jobTemplateName(`${jobName.replaceAll('.', '-').slice(0, 40).replace(/-+$/, '')}-${shortHash(jobName)}`)
}

/** The parent has written the Workload; the Job's own block plays no part. Nested templates are found, too. */
function delegated(
  job: JobToGroup,
  source: Source,
  owner: OwnerReference,
  workloads: readonly SchedulingWorkload[],
): Wanted {
  const found = parentWorkload(source, workloads, 'nested')
  if (typeof found === 'string') return { waits: found }
  const { workload, template } = found
  const parent = job.parentComposite === undefined ? {} : { parent: job.parentComposite }
  return { objects: [podGroupFrom(workload, template, { name: job.groupName, owners: [owner], ...parent })] }
}

/** The objects of a JobSet, of which Muster is the root controller: one group for the pods of each replicated job. */
export function objectsOfJobSet(object: Fields, { workloadUid }: Surroundings): Wanted {
  const mapped = mapJobSet(object, { version: '1.37', ...(workloadUid !== undefined && { workloadUid }) })
  if ('errors' in mapped) return mapped
  const [workload, ...groups] = mapped.objects
  if (workload === undefined) return { objects: [] }
  return { objects: workloadUid === undefined ? [workload] : [workload, ...groups] }
}
