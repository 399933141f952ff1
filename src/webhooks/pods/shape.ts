import { isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, required } from '../../validation/field-error.ts'
import { checkList, checkMetadata } from '../shape.ts'

/**
 * The rules read labels, annotations, gates and owners as what the API says they are. The API server guarantees it
 * for objects it has decoded; files given to `muster review` come from anywhere, and `managed: true` without quotes
 * is the most common mistake in them.
 */
export function shapeErrors(pod: unknown): readonly FieldError[] {
  if (!isObject(pod)) return [required('object', 'the request carries no pod')]
  const { metadata, spec } = pod
  if (!isObject(metadata)) return [required('metadata', 'a pod has metadata')]
  if (!isObject(spec)) return [required('spec', 'a pod has a spec')]
  const errors: FieldError[] = []
  checkMetadata(metadata, errors)
  checkList(spec.schedulingGates, 'spec.schedulingGates', 'an object with a name', isObject, errors)
  return errors
}
