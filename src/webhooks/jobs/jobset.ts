import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { describe, type FieldError, MAX_ERRORS } from '../../validation/field-error.ts'
import { jobSetErrors, newlySaid } from '../../validation/jobs/jobset-rules.ts'
import { viewJobSet } from '../../validation/jobs/jobset-view.ts'
import { mapJobSet } from '../../workload/mappers/jobset.ts'
import type { World } from '../world.ts'
import { allowanceFor } from './allowance.ts'

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
  if (errors.length === 0) return allowed('Valid', compileWarnings(request.object))
  return errors.some(({ type }) => type !== 'Forbidden') ? invalidObject(errors) : forbiddenRequest(errors)
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
