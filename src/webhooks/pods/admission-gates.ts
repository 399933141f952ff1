import { domainPrefixedPathProblems } from '../../kube/vocabulary/formats.ts'
import { ADMISSION_GATED_BY } from '../../kube/vocabulary/names.ts'
import { annotationPath, type FieldError, forbidden, invalid, MAX_ERRORS } from '../../validation/field-error.ts'
import { admissionGatedBy, type Marked } from '../../workload/pod-facts.ts'

/** Kueue's annotation `admission-gated-by`: names of controllers that must consent before admission. */
const PATH = annotationPath(ADMISSION_GATED_BY)
const NAME_LENGTH = 63

export function admissionGatesErrors(object: Marked): readonly FieldError[] {
  return formatErrors(admissionGatedBy(object))
}

/** Consent can be given once. It can't be demanded of a pod that may be running already. */
export function admissionGatesUpdateErrors(before: Marked, after: Marked): readonly FieldError[] {
  const old = admissionGatedBy(before)
  const value = admissionGatedBy(after)
  if (value === '') return []
  const errors: FieldError[] = []
  if (old === '') errors.push(forbidden(PATH, 'cannot add admission gate after creation'))
  else {
    const known = new Set(namesIn(old))
    if (namesIn(value).some(name => !known.has(name))) {
      errors.push(forbidden(PATH, 'can only remove gates, not add new ones'))
    }
  }
  return [...errors, ...formatErrors(value)]
}

function formatErrors(value: string): readonly FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const doubled = new Set<string>()
  for (const name of namesIn(value)) {
    if (errors.length >= MAX_ERRORS) break
    // One mistake is one error, however often it is made.
    if (doubled.has(name)) continue
    if (seen.has(name)) {
      doubled.add(name)
      if (name !== '') errors.push(invalid(PATH, value, `duplicate gate name: ${name}`))
      continue
    }
    seen.add(name)
    if (name === '') errors.push(invalid(PATH, value, 'cannot contain empty gate names'))
    else {
      errors.push(...domainPrefixedPathProblems(name).map(({ value: part, problem }) => invalid(PATH, part, problem)))
      if (name.length > NAME_LENGTH) {
        errors.push({ field: PATH, type: 'TooLong', detail: `may not be more than ${NAME_LENGTH} bytes`, value: name })
      }
    }
  }
  return errors
}

function namesIn(value: string): readonly string[] {
  return value.trim() === '' ? [] : value.split(',').map(name => name.trim())
}
