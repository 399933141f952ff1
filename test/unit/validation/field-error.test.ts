import { describe, expect, it } from 'vitest'
import {
  aggregate,
  causeReason,
  describe as described,
  type FieldError,
  forbidden,
  invalid,
  MAX_ERRORS,
  required,
} from '../../../src/validation/field-error.ts'

describe('a field error', () => {
  it.each<[FieldError, string, string]>([
    [invalid('spec.x', 'a"b', 'is wrong'), 'Invalid value: "a\\"b": is wrong', 'FieldValueInvalid'],
    [invalid('spec.x', undefined, ''), 'Invalid value: null', 'FieldValueInvalid'],
    [required('spec.x', 'is needed'), 'Required value: is needed', 'FieldValueRequired'],
    [forbidden('spec.x', 'is not allowed'), 'Forbidden: is not allowed', 'FieldValueForbidden'],
    [{ field: 'f', type: 'TooMany', detail: 'at most 4', value: 5 }, 'Too many: 5: at most 4', 'FieldValueTooMany'],
    [{ field: 'f', type: 'TooMany', detail: 'at most 4' }, 'Too many: at most 4', 'FieldValueTooMany'],
    [{ field: 'f', type: 'TooLong', detail: 'at most 9', value: 'x' }, 'Too long: at most 9', 'FieldValueTooLong'],
    [{ field: 'f', type: 'Duplicate', detail: '', value: 'x' }, 'Duplicate value: "x"', 'FieldValueDuplicate'],
  ])('speaks as Kubernetes does: %j', (error, text, cause) => {
    expect(described(error)).toBe(text)
    expect(causeReason(error.type)).toBe(cause)
  })

  it('shows the beginning of a long value', () => {
    expect(described(invalid('f', 'x'.repeat(1000), 'is long'))).toBe(`Invalid value: "${'x'.repeat(116)}...: is long`)
  })

  it('stands alone, and in brackets among others', () => {
    const error = required('spec.x', '')
    expect(aggregate([error])).toBe('spec.x: Required value')
    expect(aggregate([error, error])).toBe('[spec.x: Required value, spec.x: Required value]')
  })

  it('is counted and not shown where there are more than anybody reads', () => {
    const errors = Array.from({ length: MAX_ERRORS + 7 }, (_, index) => required(`f${index}`, ''))
    const text = aggregate(errors)
    expect(text).toContain(`f${MAX_ERRORS - 1}: Required value, and 7 more]`)
    expect(text).not.toContain(`f${MAX_ERRORS}:`)
  })
})
