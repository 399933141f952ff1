import type { AdmissionRequest } from '../admission/review.ts'
import { withExactNumbers } from './exact.ts'
import { placeOfField, stepsOf } from './positions.ts'
import type { Finding, ReportedError, Result } from './report.ts'
import type { StagesOutcome } from './stages.ts'
import type { Subject } from './subjects.ts'

/** What is reported of one object. */
export function resultOf(subject: Subject, outcome: StagesOutcome, findings: readonly Finding[]): Result {
  const { source, request, document, path } = subject
  const { exact } = document
  return {
    source,
    operation: request.operation,
    kind: request.kind.kind,
    namespace: request.namespace || (metadataText(request, 'namespace') ?? ''),
    name: nameOf(request),
    allowed: outcome.allowed,
    reason: outcome.reason,
    code: outcome.code,
    message: outcome.message,
    errors: outcome.errors.map(error => reportedError(subject, error)),
    findings,
    warnings: outcome.warnings,
    patch: outcome.patch,
    result: exact.length === 0 ? outcome.result : withExactNumbers(outcome.result, exact, path),
  }
}

function reportedError(subject: Subject, error: StagesOutcome['errors'][number]): ReportedError {
  const { field, type, detail, value } = error
  const { exact } = subject.document
  const shown = exact.length === 0 ? value : withExactNumbers(value, exact, [...subject.path, ...stepsOf(field)])
  return { field, type, detail, value: shown ?? null, ...placeOfField(subject, field) }
}

/** As the server answers when it fails: denied, because a request that was not judged must not pass. */
export function failedOutcome({ object }: AdmissionRequest, error: unknown): StagesOutcome {
  const message = `Muster failed because of an error of its own: ${String(error)}`
  const errors = [{ field: '', type: 'InternalError' as const, detail: message }]
  const nothing = { warnings: [], patch: [] }
  return { allowed: false, reason: 'InternalError', code: 500, message, errors, ...nothing, result: object ?? null }
}

export function nameOf(request: AdmissionRequest): string {
  if (request.name) return request.name
  const prefix = metadataText(request, 'generateName')
  return metadataText(request, 'name') ?? (prefix === undefined ? '' : `${prefix}*`)
}

/** Objects come from anywhere: nothing about them is certain yet. */
function metadataText(request: AdmissionRequest, key: 'name' | 'namespace' | 'generateName'): string | undefined {
  const value: unknown = (request.object ?? request.oldObject)?.metadata?.[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
