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
  /** For a rule that has to know which error this is: its text is for people. */
  readonly code?: FieldErrorCode
}

/** `EmptyUnion`: no member is set where exactly one has to be. */
export type FieldErrorCode = 'EmptyUnion'

export const labelPath = (key: string): string => `metadata.labels[${key}]`
export const annotationPath = (key: string): string => `metadata.annotations[${key}]`

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

/**
 * More than anybody reads. An object can be wrong in a million places; a rule that looks at each of many things stops
 * here, and so does what is said about them.
 */
export const MAX_ERRORS = 100
const MAX_TEXT = 2048
const MAX_VALUE = 120

/** A value as it appears in an error: Go's %q for strings, JSON for the rest, cut before it drowns the text. */
function shown(value: unknown): string {
  // A million errors about one long text would otherwise write it down a million times, to keep a line of each.
  const start = typeof value === 'string' ? value.slice(0, MAX_VALUE) : value
  return cut(JSON.stringify(start) ?? 'null', MAX_VALUE)
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 3)}...` : text)

/** `Invalid value: "x": detail`: the text of an error without its field. */
export function describe(error: FieldError): string {
  const parts = [TITLES[error.type]]
  const { type } = error
  const showsValue = type === 'Invalid' || type === 'Duplicate' || type === 'NotSupported'
  // The value of a list that is too long is its length, where the rule gives it.
  if (showsValue || (type === 'TooMany' && error.value !== undefined)) parts.push(shown(error.value ?? null))
  if (error.detail !== '') parts.push(cut(error.detail, MAX_TEXT))
  return parts.join(': ')
}

/** The path of the field; keys in it are the user's, and may be of any length. */
export const fieldOf = (error: FieldError): string => cut(error.field, MAX_TEXT)

/** All errors in one message, as Kubernetes joins them: one stands alone, several stand in brackets. */
export function aggregate(errors: readonly FieldError[]): string {
  const texts = errors.slice(0, MAX_ERRORS).map(error => `${fieldOf(error)}: ${describe(error)}`)
  if (errors.length > MAX_ERRORS) texts.push(`and ${errors.length - MAX_ERRORS} more`)
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}
