import { causeReason, describe } from '../validation/field-error.ts'
import { checkPatch } from './patch.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'
import type { Allowed, Denied } from './verdict.ts'

export interface AnsweredReview {
  readonly apiVersion: 'admission.k8s.io/v1'
  readonly kind: 'AdmissionReview'
  readonly response: AdmissionResponse
}

/** Past this the API server cuts a warning itself, in the middle of a sentence of its own choosing. */
const MAX_WARNING = 256

/**
 * The answer to a review that was decided. Throws when the verdict cannot be sent: the API server fails the user's
 * request for a patch that does not apply, a patch on DELETE or a patch from a validating webhook, whatever the
 * failure policy says, so such a verdict is a bug of ours and must not leave the house.
 */
export function answer(request: AdmissionRequest, verdict: Allowed | Denied, mutating: boolean): AnsweredReview {
  if (verdict.kind === 'denied') return envelope(denial(request.uid, verdict))
  const warnings = verdict.warnings.length > 0 ? { warnings: sendableWarnings(verdict.warnings) } : undefined
  if (verdict.patch.length === 0) return envelope({ uid: request.uid, allowed: true, ...warnings })
  if (!mutating) throw new Error('a validating webhook must not patch')
  if (request.operation === 'DELETE') throw new Error('there is no object to patch on DELETE')
  checkPatch(request.object, verdict.patch)
  return envelope({
    uid: request.uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(verdict.patch)).toString('base64'),
    ...warnings,
  })
}

/** The answer when there is no verdict: the review was too large to read, or Muster itself failed. */
export function refusal(uid: string, code: number, reason: string, message: string): AnsweredReview {
  return envelope({ uid, allowed: false, status: { code, reason, message } })
}

const envelope = (response: AdmissionResponse): AnsweredReview => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response,
})

/** Without a message the API server prints "denied the request without explanation". */
function denial(uid: string, verdict: Denied): AdmissionResponse {
  const { code, reason, errors } = verdict
  const message = verdict.message === '' ? reason : verdict.message
  const causes = errors.map(error => ({
    reason: causeReason(error.type),
    message: describe(error),
    field: error.field,
  }))
  return {
    uid,
    allowed: false,
    status: { code, reason, message, ...(causes.length > 0 ? { details: { causes } } : undefined) },
    ...(verdict.warnings.length > 0 ? { warnings: sendableWarnings(verdict.warnings) } : undefined),
  }
}

/** A warning becomes an HTTP header of the API server, which drops one with control characters. */
function sendableWarnings(warnings: readonly string[]): readonly string[] {
  return warnings.map(warning => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go.
    const line = warning.replace(/[\u0000-\u001f\u007f]+/g, ' ')
    return line.length > MAX_WARNING ? `${line.slice(0, MAX_WARNING - 3).toWellFormed()}...` : line
  })
}
