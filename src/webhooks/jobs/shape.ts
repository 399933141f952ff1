import type { AdmissionRequest } from '../../admission/review.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import type { KubeObject, StringMap } from '../../kube/vocabulary/objects.ts'
import { type FieldError, invalid, required } from '../../validation/field-error.ts'
import { checkMetadata, checkStrings } from '../shape.ts'
import type { QueueableKind } from './kinds.ts'

/** A Job or JobSet as far as queueing reads it. The numbers in it are anything that somebody wrote. */
export interface QueueableObject extends KubeObject {
  readonly spec: {
    readonly suspend?: boolean | null
    readonly parallelism?: unknown
    readonly completions?: unknown
    readonly completionMode?: unknown
    readonly replicatedJobs?: unknown
    readonly managedBy?: unknown
    readonly podReplacementPolicy?: unknown
    readonly template?: { readonly metadata?: { readonly labels?: StringMap | null } | null } | null
  }
  readonly status?: unknown
}

/** What is wrong with the object, or else with what it was before: said once, where both are. */
export function requestErrors(
  { operation, object, oldObject }: AdmissionRequest,
  kind: QueueableKind,
): readonly FieldError[] {
  const errors = shapeErrors(object, kind)
  return errors.length === 0 && operation === 'UPDATE' ? shapeErrors(oldObject, kind) : errors
}

/** The API server guarantees it for what it has decoded; files come from anywhere. */
function shapeErrors(object: unknown, { kind }: QueueableKind): readonly FieldError[] {
  if (!isObject(object)) return [required('object', `the request carries no ${kind}`)]
  const { metadata, spec } = object
  if (!isObject(metadata)) return [required('metadata', `a ${kind} has metadata`)]
  if (!isObject(spec)) return [required('spec', `a ${kind} has a spec`)]
  const errors: FieldError[] = []
  checkMetadata(metadata, errors)
  const { suspend, template } = spec
  if (suspend !== undefined && suspend !== null && typeof suspend !== 'boolean') {
    errors.push(invalid('spec.suspend', suspend, 'must be true or false, without quotes'))
  }
  if (kind === 'Job' && template !== undefined && template !== null) {
    if (!isObject(template)) errors.push(invalid('spec.template', template, 'must be an object'))
    else if (isObject(template.metadata)) {
      checkStrings(template.metadata.labels, 'spec.template.metadata.labels', errors)
    } else if (template.metadata !== undefined && template.metadata !== null) {
      errors.push(invalid('spec.template.metadata', template.metadata, 'must be an object'))
    }
  }
  return errors
}
