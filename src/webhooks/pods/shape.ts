import { isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, invalid, MAX_ERRORS, required } from '../../validation/field-error.ts'

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
  checkStrings(metadata.labels, 'metadata.labels', errors)
  checkStrings(metadata.annotations, 'metadata.annotations', errors)
  checkList(metadata.finalizers, 'metadata.finalizers', 'a string', item => typeof item === 'string', errors)
  checkList(metadata.ownerReferences, 'metadata.ownerReferences', 'an object', isObject, errors)
  checkList(spec.schedulingGates, 'spec.schedulingGates', 'an object with a name', isObject, errors)
  return errors
}

function checkStrings(map: unknown, path: string, errors: FieldError[]): void {
  if (map === undefined || map === null) return
  if (!isObject(map)) {
    errors.push(invalid(path, map, 'must be an object with string values'))
    return
  }
  for (const key in map) {
    if (errors.length >= MAX_ERRORS) return
    if (typeof map[key] !== 'string') {
      errors.push(invalid(`${path}[${key}]`, map[key], 'must be a string: put the value in quotes'))
    }
  }
}

function checkList(
  list: unknown,
  path: string,
  what: string,
  fits: (item: unknown) => boolean,
  errors: FieldError[],
): void {
  if (list === undefined || list === null) return
  if (!Array.isArray(list)) {
    errors.push(invalid(path, list, 'must be a list'))
    return
  }
  for (const [index, item] of list.entries()) {
    if (errors.length >= MAX_ERRORS) return
    if (!fits(item)) errors.push(invalid(`${path}[${index}]`, item, `must be ${what}`))
  }
}
