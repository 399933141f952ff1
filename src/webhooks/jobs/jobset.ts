import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import { SCHEDULING } from '../../kube/vocabulary/names.ts'
import { type FieldError, forbidden, MAX_ERRORS } from '../../validation/field-error.ts'
import { type Allowance, allowErrors, withPolicyErrors, withStrayErrors } from '../../validation/jobs/job-allow.ts'
import { blocksChanged, upstreamErrors } from '../../validation/jobs/job-rules.ts'
import { type JobView, viewJob } from '../../validation/jobs/job-view.ts'
import { readBlock } from '../../validation/jobs/scheduling-spelling.ts'
import { type Fields, isRecord, sameTree } from '../../validation/jobs/scheduling-tree.ts'
import type { World } from '../world.ts'
import { allowanceFor } from './allowance.ts'

/**
 * A JobSet is the root of its Jobs, and what it says about their scheduling is judged here, where a person reads the
 * answer, and not when its controller makes the Jobs. Of the wrapper's own block only the allow-lists speak: its shape
 * is JobSet's to decide, KEP-6089 just gives examples.
 */
export function reviewJobSet(request: AdmissionRequest, world: World): Verdict {
  const before = request.operation === 'UPDATE' ? viewJobSet(request.oldObject) : NOTHING
  const after = viewJobSet(request.object)
  const children = [...after.children.values()].filter(({ job, name }) => {
    const old = before.children.get(name)?.job
    return hasBlock(job) && blocksChanged(old, job)
  })
  const wrappers = sameTree(before.wrappers, after.wrappers) ? [] : after.wrappers
  const split = splitBrainErrors(before, after)
  if (children.length === 0 && wrappers.length === 0) return verdictOf(split)

  const allowance = allowanceFor(request, world)
  if ('kind' in allowance) return allowance
  return verdictOf([
    ...split,
    ...wrappers.flatMap(({ value, path }) => wrapperErrors(value, path, allowance)),
    ...children.flatMap(({ job }) => childErrors(job, allowance)),
  ])
}

interface JobSetView {
  /** Where the wrapper itself says something about scheduling: `spec.scheduling` and the targeted policies. */
  readonly wrappers: readonly { readonly path: string; readonly value: unknown }[]
  readonly children: ReadonlyMap<string, Child>
}

interface Child {
  readonly name: string
  readonly job: JobView
}

const NOTHING: JobSetView = { wrappers: [], children: new Map() }

function viewJobSet(object: unknown): JobSetView {
  const spec = isRecord(object) && isRecord(object.spec) ? object.spec : {}
  const children = new Map<string, Child>()
  const list = Array.isArray(spec.replicatedJobs) ? spec.replicatedJobs : []
  for (const [index, item] of list.entries()) {
    if (!isRecord(item)) continue
    const name = typeof item.name === 'string' ? item.name : `[${index}]`
    const job = viewJob(item.template, `spec.replicatedJobs[${index}].template.`, name)
    if ('prefix' in job) children.set(name, { name, job })
  }
  return { wrappers: wrappersIn(spec), children }
}

/** The second option of KEP-6089 targets replicated jobs by name, in a list inside the block; people put it beside it. */
function wrappersIn(spec: Fields): JobSetView['wrappers'] {
  const wrappers: { path: string; value: unknown }[] = []
  if (spec.scheduling != null) wrappers.push({ path: 'spec.scheduling', value: spec.scheduling })
  const inside = isRecord(spec.scheduling) ? spec.scheduling.replicatedJobPolicies : undefined
  for (const [path, list] of [
    ['spec.scheduling.replicatedJobPolicies', inside],
    ['spec.replicatedJobPolicies', spec.replicatedJobPolicies],
  ] as const) {
    for (const [index, value] of (Array.isArray(list) ? list : []).entries()) {
      wrappers.push({ path: `${path}[${index}]`, value })
    }
  }
  return wrappers
}

/** KEP-6089: two places that may contradict each other. A conflict that is stored already does not block an update. */
function splitBrainErrors(before: JobSetView, after: JobSetView): readonly FieldError[] {
  const [wrapper] = after.wrappers
  if (wrapper === undefined) return []
  const stored = before.wrappers.length > 0
  return [...after.children.values()].flatMap(({ name, job }) => {
    const old = before.children.get(name)?.job
    if (!hasBlock(job) || (stored && old !== undefined && hasBlock(old))) return []
    const path =
      job.field === undefined ? `${job.prefix}metadata.annotations[${SCHEDULING}]` : `${job.prefix}spec.scheduling`
    const detail =
      `${wrapper.path} and ${path} both say how the pods of the replicated job ${JSON.stringify(name)} are scheduled, ` +
      'and the JobSet can follow only one of them: keep one'
    return [forbidden(path, detail)]
  })
}

const hasBlock = ({ field, annotation }: JobView): boolean => field !== undefined || annotation !== undefined

function wrapperErrors(value: unknown, path: string, allowance: Allowance): readonly FieldError[] {
  if (!isRecord(value)) return []
  const block = readBlock(value, path)
  const unions = block.stray.filter(({ holder }) => holder === 'policy' || holder === 'disruption')
  return [...withStrayErrors([], { ...block, stray: unions }, allowance), ...allowErrors(block, allowance)]
}

/** As the API server will judge the Job, and as this webhook would. */
function childErrors(job: JobView, allowance: Allowance): readonly FieldError[] {
  return withPolicyErrors([...job.numberErrors, ...upstreamErrors(undefined, job, false)], job, allowance)
}

function verdictOf(found: readonly FieldError[]): Verdict {
  // Thousands of templates may all be wrong in the same way.
  const errors = found.slice(0, MAX_ERRORS)
  if (errors.length === 0) return allowed('Valid')
  return errors.some(({ type }) => type !== 'Forbidden') ? invalidObject(errors) : forbiddenRequest(errors)
}
