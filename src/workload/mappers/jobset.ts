import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import type { SchedulingBlock } from '../../validation/jobs/scheduling-model.ts'
import type { WrittenBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { type Fields, isRecord } from '../../validation/jobs/scheduling-tree.ts'
import { ALLOW_ALL } from '../builder/allow.ts'
import { buildWorkload } from '../builder/build.ts'
import { workloadErrors } from '../builder/check.ts'
import { compositePodGroupFrom, podGroupFrom } from '../builder/groups.ts'
import type { WorkloadInput, WorkloadItem } from '../builder/item.ts'
import { podGroupName, workloadName } from '../builder/names.ts'
import { controllerReference, type SchedulingObject, type Workload, workloadReference } from '../builder/objects.ts'
import { validateTree } from '../builder/validate.ts'
import { inWorkload, sizedGang } from './job.ts'
import { readJobSetBlocks } from './jobset-blocks.ts'
import { type Replicated, readReplicatedJobs } from './replicated.ts'
import {
  groupInput,
  type MapOptions,
  type MapResult,
  nothing,
  PLACEHOLDER_UID,
  type Source,
  sourceOf,
} from './source.ts'

/**
 * A JobSet, after the examples of KEP-6089: a group of groups with one group of pods per replicated job. What its jobs
 * ask for is in their templates (nested) or in the policies of the JobSet (targeted), not in both.
 */
export function mapJobSet(jobSet: Fields, options: MapOptions): MapResult {
  const source = sourceOf(jobSet, options)
  if (source.name === '') return { errors: [required('metadata.name', 'name or generateName is required')] }
  const spec = isRecord(jobSet.spec) ? jobSet.spec : {}
  const { jobs: all, names, errors: jobsErrors } = readReplicatedJobs(spec)
  const blocks = readJobSetBlocks(spec, names)
  const errors = [...jobsErrors, ...blocks.errors, ...splitBrainErrors(all, blocks.targeted)]
  if (errors.length > 0) return { errors }
  if (source.controller !== undefined) {
    const owner = `${String(source.controller.kind)} ${JSON.stringify(source.controller.name)}`
    return nothing(`${owner} is its controller and speaks for it`)
  }
  const jobs = all.filter(({ bringsGroup }) => !bringsGroup)
  if (jobs.length === 0) return nothing('all of its pods name a group of their own')
  const isSequenced = sequenced(spec)
  const item = jobSetItem(source.name, jobs, { root: blocks.root, targeted: blocks.targeted, isSequenced })
  const wrong = [...validateTree(item, { allow: ALLOW_ALL, skipBlocks: true }), ...sizeErrors(jobs, blocks)]
  if (wrong.length > 0) return { errors: wrong }
  return objectsOf(item, jobSet, source, options, notesFor(all, blocks.root, isSequenced))
}

export interface JobSetPolicies {
  readonly root?: WrittenBlock
  readonly targeted?: ReadonlyMap<string, WrittenBlock>
  /** Its jobs start one after the other: waiting for all of them would be waiting for ever. */
  readonly isSequenced?: boolean
}

/** The default is a gang of gangs, as the KEP has it: `basic` in the block of the whole is the way out. */
export function jobSetItem(name: string, jobs: readonly Replicated[], policies: JobSetPolicies): WorkloadItem {
  const { root, targeted = new Map<string, WrittenBlock>(), isSequenced = false } = policies
  const [first] = jobs
  const priority = first?.priorityClassName === undefined ? {} : { priorityClassName: first.priorityClassName }
  return {
    name: `${name}-cpgt-0`,
    defaults: { policy: isSequenced ? { basic: {} } : { gang: {} }, ...priority },
    ...(root === undefined ? {} : { input: compositeInput(root) }),
    callbacks: [sizedGang(jobs.filter(({ pods }) => pods > 0).length)],
    children: jobs.map(job => {
      const block = targeted.get(job.name) ?? job.block
      return {
        name: job.name,
        defaults: {
          policy: { basic: {} },
          ...(job.priorityClassName === undefined ? {} : { priorityClassName: job.priorityClassName }),
        },
        ...(block === undefined ? {} : { input: groupInput(block) }),
        callbacks: [sizedGang(job.pods)],
      }
    }),
  }
}

function compositeInput({ model, paths }: WrittenBlock): WorkloadInput {
  const { schedulingPolicy: policy, schedulingConstraints, disruptionMode } = model as SchedulingBlock
  const minGroupCount = policy?.gang?.minCount
  const gang = policy?.gang === undefined ? {} : { gang: minGroupCount === undefined ? {} : { minGroupCount } }
  return {
    policy: {
      composite: policy === undefined ? undefined : { ...(policy.basic === undefined ? {} : { basic: {} }), ...gang },
      path: [paths.policy],
    },
    constraints: { composite: schedulingConstraints, path: [paths.constraints] },
    disruptionMode: { composite: disruptionMode, path: [paths.disruption] },
  }
}

function splitBrainErrors(
  jobs: readonly Replicated[],
  targeted: ReadonlyMap<string, WrittenBlock>,
): readonly FieldError[] {
  if (targeted.size === 0) return []
  return jobs.flatMap(({ block }) => {
    if (block === undefined) return []
    const detail = 'the JobSet has replicatedJobPolicies, and the scheduling of its jobs is in one place only: keep one'
    return [forbidden(block.paths.block, detail)]
  })
}

/** More than there will ever be is a gang that never starts. */
function sizeErrors(
  jobs: readonly Replicated[],
  { root, targeted }: { readonly root: WrittenBlock | undefined; readonly targeted: ReadonlyMap<string, WrittenBlock> },
): readonly FieldError[] {
  const tooLarge = (block: WrittenBlock | undefined, limit: number, what: string): readonly FieldError[] => {
    const size = (block?.model as SchedulingBlock | undefined)?.schedulingPolicy?.gang?.minCount
    if (block === undefined || size === undefined || size <= limit) return []
    return [invalid(block.paths.minCount, size, `must not be greater than the number of ${what} (${limit})`)]
  }
  return [
    ...tooLarge(root, jobs.length, 'groups'),
    ...jobs.flatMap(job => tooLarge(targeted.get(job.name) ?? job.block, job.pods, 'pods: replicas × parallelism')),
  ]
}

function sequenced({ startupPolicy, replicatedJobs }: Fields): boolean {
  const hasDependencies = (job: unknown): boolean =>
    isRecord(job) && Array.isArray(job.dependsOn) && job.dependsOn.length > 0
  const inOrder = isRecord(startupPolicy) && startupPolicy.startupPolicyOrder === 'InOrder'
  return inOrder || (Array.isArray(replicatedJobs) && replicatedJobs.some(hasDependencies))
}

function notesFor(
  jobs: readonly Replicated[],
  root: WrittenBlock | undefined,
  isSequenced: boolean,
): readonly string[] {
  const asked = (root?.model as SchedulingBlock | undefined)?.schedulingPolicy?.gang !== undefined
  return [
    ...jobs
      .filter(({ bringsGroup }) => bringsGroup)
      .map(({ name }) => `the pods of ${JSON.stringify(name)} name a group of their own and are left out`),
    ...(isSequenced && asked
      ? ['its jobs start one after the other, and a gang of them waits for all: it may never start']
      : []),
  ]
}

function objectsOf(
  item: WorkloadItem,
  jobSet: Fields,
  source: Source,
  options: MapOptions,
  notes: readonly string[],
): MapResult {
  const owner = controllerReference(String(jobSet.apiVersion), 'JobSet', source.name, source.uid)
  const identity = { name: workloadName(source.name, source.uid), namespace: source.namespace, owner }
  const built = buildWorkload(item, identity)
  if ('errors' in built) return built
  const errors = workloadErrors(built.ok)
  if (errors.length > 0) return { errors: inWorkload(errors, built.ok) }
  const owners = [owner, workloadReference(built.ok, options.workloadUid ?? PLACEHOLDER_UID)]
  return { objects: [built.ok, ...groupsOf(built.ok, owners)], notes: [...source.notes, ...notes] }
}

function groupsOf(
  workload: Workload,
  owners: Parameters<typeof podGroupFrom>[2]['owners'],
): readonly SchedulingObject[] {
  return (workload.spec.compositePodGroupTemplates ?? []).flatMap(composite => {
    const parent = podGroupName(workload.metadata.name, composite.name)
    const children = (composite.podGroupTemplates ?? []).map(template => {
      const name = podGroupName(workload.metadata.name, template.name)
      return podGroupFrom(workload, template, { name, owners, parent })
    })
    return [compositePodGroupFrom(workload, composite, { name: parent, owners }), ...children]
  })
}
