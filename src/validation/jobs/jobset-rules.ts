import { type FieldError, forbidden, invalid } from '../field-error.ts'
import { allNeedsGangErrors, gangOf, jobPolicy, modeThatCounts, policyThatCounts } from './gang.ts'
import { type Allowance, absentPolicyErrors, allowErrors, withPolicyErrors, withStrayErrors } from './job-allow.ts'
import { blocksChanged, upstreamErrors } from './job-rules.ts'
import { annotationPath, blockOf, fieldPath, hasBlock } from './job-view.ts'
import type { JobSetView, ReplicatedJob } from './jobset-view.ts'
import type { PodGroupPolicy } from './scheduling-model.ts'
import { creationErrors } from './scheduling-rules.ts'
import type { WrittenBlock } from './scheduling-spelling.ts'
import { sameTree } from './scheduling-tree.ts'

/** The levels of a JobSet that say something else than before, and are judged for that reason. */
interface NewlySaid {
  /** The whole, and the entries that target replicated jobs. */
  readonly outside: boolean
  /** Replicated jobs, for what their templates say. */
  readonly templates: ReadonlySet<ReplicatedJob>
}

export function newlySaid(before: JobSetView | undefined, after: JobSetView): NewlySaid {
  const isNew = ({ name, job }: ReplicatedJob): boolean =>
    hasBlock(job) && blocksChanged(before?.jobs.get(name)?.job, job)
  return {
    outside: after.outside.some(value => value !== undefined) && !sameTree(before?.outside, after.outside),
    templates: new Set([...after.jobs.values()].filter(isNew)),
  }
}

/** What a JobSet that asks for nothing as a whole is: a gang of gangs, as KEP-6089 has it, if a gang can ever start. */
export const defaultOfTheWhole = ({ isSequenced }: JobSetView): PodGroupPolicy =>
  isSequenced ? { basic: {} } : { gang: {} }

/** The block that describes the pods of a replicated job. With two of them the JobSet is refused. */
export const blockFor = ({ targeted }: JobSetView, { name, job }: ReplicatedJob): WrittenBlock | undefined =>
  targeted.get(name) ?? blockOf(job)

/** Whoever brings groups of their own has no part in the group of groups. */
export const groupedJobs = ({ jobs }: JobSetView): readonly ReplicatedJob[] =>
  [...jobs.values()].filter(({ bringsGroup }) => !bringsGroup)

/**
 * What is wrong with a JobSet, for those who admit one and those who compile one. Templates are judged as the Jobs they
 * will be, the rest by the same rules with the defaults of its level. `before` is the JobSet before an update: a level
 * that says what it has said before is not judged again.
 */
export function jobSetErrors(
  before: JobSetView | undefined,
  after: JobSetView,
  allowance: Allowance,
): readonly FieldError[] {
  const said = newlySaid(before, after)
  const errors = [
    ...after.shapeErrors,
    ...(said.outside ? outsideErrors(after, allowance) : []),
    ...[...said.templates].flatMap(({ job }) =>
      withPolicyErrors(upstreamErrors(undefined, job, false), job, allowance),
    ),
    ...saidTwiceErrors(before, after),
  ]
  return errors.length > 0 ? errors : sizeErrors(after, said)
}

function outsideErrors(jobSet: JobSetView, allowance: Allowance): readonly FieldError[] {
  const { root, targeted, targetErrors } = jobSet
  return [
    ...(root === undefined ? [] : blockErrors(root, policyOfTheWhole(root, jobSet), allowance)),
    ...targetErrors,
    ...[...targeted.values()].flatMap(block => [
      ...blockErrors(block, jobPolicy(block.model.schedulingPolicy), allowance),
      ...absentPolicyErrors(block, allowance),
    ]),
  ]
}

const policyOfTheWhole = (root: WrittenBlock, jobSet: JobSetView): PodGroupPolicy =>
  policyThatCounts(root.model.schedulingPolicy) ?? defaultOfTheWhole(jobSet)

/** What it says, what nobody knows of it, how it is written, and what is not allowed here. */
function blockErrors(
  block: WrittenBlock,
  policy: PodGroupPolicy | undefined,
  allowance: Allowance,
): readonly FieldError[] {
  const { model, paths } = block
  const podCount = `${paths.policy}.gang.minCount`
  const structure = creationErrors(block).map(error =>
    error.field === podCount ? { ...error, field: paths.minCount } : error,
  )
  return [
    ...withStrayErrors(structure, block, allowance),
    ...allNeedsGangErrors(policy, modeThatCounts(model.disruptionMode), paths.disruption),
    ...block.errors,
    ...allowErrors(block, allowance),
  ]
}

/**
 * KEP-6089's split brain: one level that is described in two places, which may contradict each other. Different levels
 * in different places are the KEP's own examples. A conflict that is stored already does not block an update.
 */
function saidTwiceErrors(before: JobSetView | undefined, after: JobSetView): readonly FieldError[] {
  return [...after.jobs.values()].flatMap(({ name, job }) => {
    const entry = after.targeted.get(name)
    if (entry === undefined || !saysTwice(after, name) || saysTwice(before, name)) return []
    const path = job.field === undefined ? annotationPath(job) : fieldPath(job)
    const detail =
      `${entry.paths.block} and ${path} both say how the pods of the replicated job ${JSON.stringify(name)} are ` +
      'scheduled, and the JobSet can follow only one of them: keep one'
    return [forbidden(path, detail)]
  })
}

const saysTwice = (jobSet: JobSetView | undefined, name: string): boolean =>
  jobSet?.targeted.has(name) === true && hasBlock(jobSet.jobs.get(name)?.job)

/** More than there will ever be is a gang that never starts. */
function sizeErrors(jobSet: JobSetView, { outside, templates }: NewlySaid): readonly FieldError[] {
  const jobs = groupedJobs(jobSet)
  const judged = jobs.filter(job => templates.has(job) || (outside && jobSet.targeted.has(job.name)))
  return [
    ...(outside ? tooLarge(jobSet.root, jobs.length, 'groups') : []),
    ...judged.flatMap(job => tooLarge(blockFor(jobSet, job), job.pods, 'pods: replicas × parallelism')),
  ]
}

function tooLarge(block: WrittenBlock | undefined, limit: number, what: string): readonly FieldError[] {
  const size = gangOf(block?.model.schedulingPolicy)?.minCount
  if (block === undefined || typeof size !== 'number' || size <= limit) return []
  return [invalid(block.paths.minCount, size, `must not be greater than the number of ${what} (${limit})`)]
}
