import { type FieldError, invalid } from '../field-error.ts'
import { allNeedsGangErrors, gangOf, jobPolicy, modeThatCounts } from './gang.ts'
import { annotationPath, fieldPath, isBlock, type JobView } from './job-view.ts'
import { changeErrors, creationErrors, members } from './scheduling-rules.ts'
import type { WrittenBlock } from './scheduling-spelling.ts'
import { sameTree } from './scheduling-tree.ts'

/**
 * What the API server of Kubernetes 1.37 says about the scheduling of a Job: first the rules it has written by hand,
 * then the declarative ones. The annotation obeys the same rules, at its own path.
 */
export function upstreamErrors(before: JobView | undefined, after: JobView, isCronJob: boolean): readonly FieldError[] {
  const sources = [fieldChange(before, after), ...annotationChange(before, after)]
  return [
    ...sources.flatMap(change => handWrittenErrors(change, after, isCronJob)),
    ...sources.flatMap(change => declarativeErrors(change)),
  ]
}

/** One block on its way from the old object to the new one. `created`: there is no old object to compare with. */
interface Change {
  readonly root: string
  readonly was: WrittenBlock | undefined
  readonly is: WrittenBlock | undefined
  readonly created: boolean
  /** Nothing that the hand-written rules look at has changed, and they may let it be. */
  readonly settled: boolean
}

function fieldChange(before: JobView | undefined, after: JobView): Change {
  const created = before === undefined
  return { root: fieldPath(after), was: before?.field, is: after.field, created, settled: false }
}

/**
 * The API server does not know the annotation, so it may be wrong in Jobs that were there before Muster. Upstream's
 * hand-written rules judge even what has not changed; for such a Job that would mean that no finalizer could ever be
 * taken off. An old annotation that cannot be read is as none: its correction is judged like a creation.
 */
function annotationChange(before: JobView | undefined, after: JobView): readonly Change[] {
  const root = annotationPath(after)
  const is = isBlock(after.annotation) ? after.annotation : undefined
  const was = isBlock(before?.annotation) ? before.annotation : undefined
  const wasUnreadable = before?.annotation !== undefined && (was === undefined || was.errors.length > 0)
  const unchanged = before !== undefined && before.text === after.text
  if (wasUnreadable && unchanged) return []
  // What cannot be read is reported once, as that.
  if (after.annotation !== undefined && is === undefined) return []
  const settled = unchanged && before.parallelism === after.parallelism
  return [{ root, was, is, created: before === undefined || wasUnreadable, settled }]
}

/** In upstream's order. The policy variant is frozen in Jobs only: a CronJob may switch it for its next Jobs. */
function handWrittenErrors({ was, is, settled }: Change, job: JobView, isCronJob: boolean): readonly FieldError[] {
  if (is === undefined || settled) return []
  return [
    ...minCountErrors(is, job),
    ...modeErrors(is),
    ...(was === undefined || isCronJob ? [] : variantErrors(was, is)),
  ]
}

function declarativeErrors({ root, was, is, created }: Change): readonly FieldError[] {
  if (!created) return changeErrors(was, is, root)
  return is === undefined ? [] : creationErrors(is)
}

function minCountErrors({ model, paths }: WrittenBlock, { parallelism, numberErrors }: JobView): readonly FieldError[] {
  const minCount = gangOf(model.schedulingPolicy)?.minCount
  if (typeof minCount !== 'number' || minCount <= parallelism || numberErrors.length > 0) return []
  return [invalid(paths.minCount, minCount, `must not be greater than parallelism (${parallelism})`)]
}

function modeErrors({ model, paths }: WrittenBlock): readonly FieldError[] {
  return allNeedsGangErrors(jobPolicy(model.schedulingPolicy), modeThatCounts(model.disruptionMode), paths.disruption)
}

function variantErrors({ model: was }: WrittenBlock, { model: is, paths }: WrittenBlock): readonly FieldError[] {
  if (was.schedulingPolicy === undefined || is.schedulingPolicy === undefined) return []
  const isBasic = (policy: unknown): boolean => members(policy).includes('basic')
  if (isBasic(was.schedulingPolicy) === isBasic(is.schedulingPolicy)) return []
  const detail =
    'the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated'
  return [invalid(paths.policy, null, detail)]
}

/** Whether anything in the blocks was written anew; what has stood there before is not judged by policy again. */
export function blocksChanged(before: JobView | undefined, after: JobView): boolean {
  return before === undefined || !sameTree(writtenIn(before), writtenIn(after))
}

function writtenIn({ field, annotation, text }: JobView): unknown {
  const blocks = [field, annotation].map(block =>
    isBlock(block) ? [block.model, block.stray.map(({ key, value }) => [key, value]), block.errors.length] : null,
  )
  return annotation === undefined || isBlock(annotation) ? blocks : [...blocks, text]
}
