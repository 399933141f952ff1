import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { type FieldError, invalid, MAX_ERRORS } from '../validation/field-error.ts'

/** What rules read of the metadata of any object, where it is not what the API says it is. */
export function checkMetadata(metadata: Fields, errors: FieldError[]): void {
  checkStrings(metadata.labels, 'metadata.labels', errors)
  checkStrings(metadata.annotations, 'metadata.annotations', errors)
  checkList(metadata.finalizers, 'metadata.finalizers', 'a string', item => typeof item === 'string', errors)
  checkList(metadata.ownerReferences, 'metadata.ownerReferences', 'an object', isObject, errors)
}

export function checkStrings(map: unknown, path: string, errors: FieldError[]): void {
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

export function checkList(
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
