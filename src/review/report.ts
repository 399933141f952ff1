import type { PatchOperation } from '../admission/patch.ts'
import type { AdmissionRequest } from '../admission/review.ts'
import type { DocumentSource } from '../documents/documents.ts'
import type { Unreadable } from '../documents/place.ts'
import type { FieldErrorType } from '../validation/field-error.ts'
import type { StagesOutcome } from './stages.ts'
import type { Subject } from './subjects.ts'

/** One reviewed object, with the keys and the order of keys that `-o json` promises. */
export interface Result {
  readonly source: DocumentSource
  readonly operation: string
  readonly kind: string
  readonly namespace: string
  /** A name that the API server will complete ends with `*`, which no real name has. */
  readonly name: string
  readonly allowed: boolean
  readonly code: number
  readonly message: string
  readonly errors: readonly ReportedError[]
  readonly warnings: readonly string[]
  readonly patch: readonly PatchOperation[]
  readonly result: unknown
}

export interface ReportedError {
  readonly field: string
  readonly type: FieldErrorType
  readonly detail: string
  readonly value: unknown
}

/** A result, and what people want to know besides. */
export interface Reviewed {
  readonly result: Result
  /** One word: why it was let through or refused. */
  readonly reason: string
}

export interface Report {
  readonly reviewed: readonly Reviewed[]
  /** Everything that could not be read: input, cluster state, configuration. */
  readonly unreadable: readonly Unreadable[]
  /** Failures of Muster itself, with their stacks. */
  readonly failures: readonly string[]
}

/** What `-o json` and `-o yaml` print. */
export function reportDocument({ reviewed, unreadable }: Report): unknown {
  return {
    apiVersion: 'review.muster.dev/v1alpha1',
    kind: 'ReviewReport',
    results: reviewed.map(({ result }) => result),
    ...(unreadable.length > 0 ? { unreadable } : {}),
  }
}

export function reviewedOf({ source, request }: Subject, outcome: StagesOutcome): Reviewed {
  return {
    reason: outcome.reason,
    result: {
      source,
      operation: request.operation,
      kind: request.kind.kind,
      namespace: request.namespace || (metadataText(request, 'namespace') ?? ''),
      name: nameOf(request),
      allowed: outcome.allowed,
      code: outcome.code,
      message: outcome.message,
      errors: outcome.errors.map(({ field, type, detail, value }) => ({ field, type, detail, value: value ?? null })),
      warnings: outcome.warnings,
      patch: outcome.patch,
      result: outcome.result,
    },
  }
}

/** As the server answers when it fails: denied, because a request that was not judged must not pass. */
export function failedOutcome({ object }: AdmissionRequest, error: unknown): StagesOutcome {
  const message = `Muster failed because of an error of its own: ${String(error)}`
  const errors = [{ field: '', type: 'InternalError' as const, detail: message }]
  const nothing = { warnings: [], patch: [] }
  return { allowed: false, reason: 'InternalError', code: 500, message, errors, ...nothing, result: object ?? null }
}

function nameOf(request: AdmissionRequest): string {
  if (request.name) return request.name
  const prefix = metadataText(request, 'generateName')
  return metadataText(request, 'name') ?? (prefix === undefined ? '' : `${prefix}*`)
}

/** Objects come from anywhere: nothing about them is certain yet. */
function metadataText(request: AdmissionRequest, key: 'name' | 'namespace' | 'generateName'): string | undefined {
  const value: unknown = (request.object ?? request.oldObject)?.metadata?.[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
