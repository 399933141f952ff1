import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { describe, type FieldError, MAX_ERRORS } from '../../validation/field-error.ts'
import { annotationPath } from '../../validation/jobs/job-view.ts'
import { jobSetErrors, newlySaid } from '../../validation/jobs/jobset-rules.ts'
import { type JobSetView, viewJobSet } from '../../validation/jobs/jobset-view.ts'
import { isGrouped } from '../../workload/grouped/job-to-group.ts'
import { jobSetMakerOf } from '../../workload/grouped/maker.ts'
import { mapJobSet } from '../../workload/mappers/jobset.ts'
import type { World } from '../world.ts'
import { allowanceFor } from './allowance.ts'
import { nothingActs } from './block-warnings.ts'

/**
 * A JobSet is the root of its Jobs, and what it says about their scheduling is judged here, where a person reads the
 * answer, and not when its controller makes the Jobs. One that says nothing about it is JobSet's alone to judge.
 */
export function reviewJobSet(request: AdmissionRequest, world: World): Verdict {
  const before = request.operation === 'UPDATE' ? viewJobSet(request.oldObject) : undefined
  const after = viewJobSet(request.object)
  const { outside, templates } = newlySaid(before, after)
  if (!outside && templates.size === 0) return allowed('Valid')

  const allowance = allowanceFor(request, world)
  // Thousands of templates may all be wrong in the same way.
  const errors = jobSetErrors(before, after, allowance).slice(0, MAX_ERRORS)
  if (errors.length === 0) {
    const uncompiled = compileWarnings(request.object)
    const unheard = unheardWarnings(request, after, uncompiled.length === 0, world)
    return allowed('Valid', [...unheard, ...uncompiled])
  }
  return errors.some(({ type }) => type !== 'Forbidden') ? invalidObject(errors) : forbiddenRequest(errors)
}

/** No JobSet has a field for it: what says nothing to Muster says nothing to anybody. */
function unheardWarnings(
  { operation, object }: AdmissionRequest,
  view: JobSetView,
  compiles: boolean,
  world: World,
): readonly string[] {
  const path = annotationPath({ prefix: '' })
  if (!isObject(object) || view.root?.paths.block !== path) return []
  const maker = jobSetMakerOf(object, view, world.scheduling(), world.config)
  if (maker.who === 'nobody') return [nothingActs(path, maker.why, { schedulerName: '' })]
  // Its mark is given at creation, or never. What does not compile gets none, and is told why.
  const isUnseen = operation === 'CREATE' && compiles && !isGrouped(object)
  return isUnseen ? [nothingActs(path, 'NotMutated', { schedulerName: '' })] : []
}

/**
 * A JobSet may be right, and its Workload still one that no API server takes. Which Workload that is, its controller
 * decides and nobody has settled yet, so this is a warning here and an error only where it is compiled.
 */
function compileWarnings(object: unknown): readonly string[] {
  const compiled = isObject(object) ? mapJobSet(object, { version: '1.37' }) : { notes: [] }
  return 'errors' in compiled ? compiled.errors.map(warningOf) : []
}

const warningOf = (error: FieldError): string => `${error.field}: ${describe(error)}`
