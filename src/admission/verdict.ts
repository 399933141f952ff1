import { aggregate, type FieldError } from '../validation/field-error.ts'
import type { PatchOperation } from './patch.ts'
import type { PreparedPatch } from './prepared-patch.ts'

/** What a review function decides. Data, so that the server, the command line and the tests read the same thing. */
export type Verdict = Allowed | Denied

export interface Allowed {
  readonly kind: 'allowed'
  /** One word for the log and the metrics: why it was let through. */
  readonly reason: string
  readonly patch: readonly PatchOperation[]
  /** The same patch, where many verdicts share it. */
  readonly prepared?: PreparedPatch
  readonly warnings: readonly string[]
  /** What the audit log of the API server shall say about it, under the name of the webhook. */
  readonly audit?: Readonly<Record<string, string>>
}

export interface Denied {
  readonly kind: 'denied'
  readonly reason: string
  readonly code: number
  readonly message: string
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

export const allowed = (
  reason: string,
  warnings: readonly string[] = [],
  audit?: Readonly<Record<string, string>>,
): Allowed => ({ kind: 'allowed', reason, patch: [], warnings, ...(audit && { audit }) })

export const patched = (
  reason: string,
  patch: readonly PatchOperation[],
  warnings: readonly string[] = [],
): Allowed => ({ kind: 'allowed', reason, patch, warnings })

export const patchedAlike = (reason: string, prepared: PreparedPatch): Allowed => ({
  kind: 'allowed',
  reason,
  patch: prepared.operations,
  prepared,
  warnings: [],
})

/** Two answers to one request: a refusal wins, and of two refusals the one that names wrong fields, each of them once. */
export function both(one: Verdict, other: Verdict): Verdict {
  if (addsNothing(other)) return one
  const warnings = [...one.warnings, ...other.warnings]
  if (one.kind === 'allowed' && other.kind === 'allowed') {
    const audit = { ...one.audit, ...other.audit }
    const patch = [...one.patch, ...other.patch]
    return { kind: 'allowed', reason: one.reason, patch, warnings, ...(Object.keys(audit).length > 0 && { audit }) }
  }
  if (one.kind === 'allowed') return { ...other, warnings }
  if (other.kind === 'allowed') return { ...one, warnings }
  if (one.code !== other.code) return { ...(one.code > other.code ? one : other), warnings }
  const known = new Set(one.errors.map(({ type, field }) => `${type} ${field}`))
  const errors = [...one.errors, ...other.errors.filter(({ type, field }) => !known.has(`${type} ${field}`))]
  return { ...one, errors, message: aggregate(errors), warnings }
}

const addsNothing = (verdict: Verdict): boolean =>
  verdict.kind === 'allowed' && verdict.patch.length + verdict.warnings.length === 0 && verdict.audit === undefined

/** Wrong fields: 422, as the API server answers for the rules of its own. */
export const invalidObject = (errors: readonly FieldError[], warnings: readonly string[] = []): Denied => ({
  kind: 'denied',
  reason: 'Invalid',
  code: 422,
  message: aggregate(errors),
  errors,
  warnings,
})

/** Not wrong, but not for this user or not now: 403. */
export const forbiddenRequest = (errors: readonly FieldError[], warnings: readonly string[] = []): Denied => ({
  kind: 'denied',
  reason: 'Forbidden',
  code: 403,
  message: aggregate(errors),
  errors,
  warnings,
})
