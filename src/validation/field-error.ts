/** The kinds of field error that Kubernetes knows, by their Go names. */
export type FieldErrorType =
  | 'Invalid'
  | 'Required'
  | 'Forbidden'
  | 'TooMany'
  | 'TooLong'
  | 'Duplicate'
  | 'NotSupported'
  | 'InternalError'

/** One thing wrong in one field. Errors are values: rules collect them and never throw. */
export interface FieldError {
  /** Kubernetes field path, as `metadata.labels[kueue.x-k8s.io/queue-name]`. */
  readonly field: string
  readonly type: FieldErrorType
  readonly detail: string
  readonly value?: unknown
}

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  type: 'Invalid',
  detail,
  value,
})
export const required = (field: string, detail: string): FieldError => ({ field, type: 'Required', detail })
export const forbidden = (field: string, detail: string): FieldError => ({ field, type: 'Forbidden', detail })

const TITLES: Readonly<Record<FieldErrorType, string>> = {
  Invalid: 'Invalid value',
  Required: 'Required value',
  Forbidden: 'Forbidden',
  TooMany: 'Too many',
  TooLong: 'Too long',
  Duplicate: 'Duplicate value',
  NotSupported: 'Unsupported value',
  InternalError: 'Internal error',
}

/** The `reason` of `status.details.causes[]`, by which clients tell field errors apart. */
const CAUSES: Readonly<Record<FieldErrorType, string>> = {
  Invalid: 'FieldValueInvalid',
  Required: 'FieldValueRequired',
  Forbidden: 'FieldValueForbidden',
  TooMany: 'FieldValueTooMany',
  TooLong: 'FieldValueTooLong',
  Duplicate: 'FieldValueDuplicate',
  NotSupported: 'FieldValueNotSupported',
  InternalError: 'InternalError',
}

export function causeReason(type: FieldErrorType): string {
  return CAUSES[type]
}

/** A value as it appears in an error: Go's %q for strings, JSON for the rest, cut before it drowns the text. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > 120 ? `${text.slice(0, 117)}...` : text
}

/** `Invalid value: "x": detail`: the text of an error without its field. */
export function describe(error: FieldError): string {
  const parts = [TITLES[error.type]]
  const showsValue = error.type === 'Invalid' || error.type === 'Duplicate' || error.type === 'NotSupported'
  if (showsValue) parts.push(shown(error.value ?? null))
  if (error.detail !== '') parts.push(error.detail)
  return parts.join(': ')
}

/** All errors in one message, as Kubernetes joins them: one stands alone, several stand in brackets. */
export function aggregate(errors: readonly FieldError[]): string {
  const texts = errors.map(error => `${error.field}: ${describe(error)}`)
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}
