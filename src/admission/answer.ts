import { MAX_NAME_LENGTH } from '../kube/vocabulary/formats.ts'
import { quoted } from '../kube/vocabulary/json-text.ts'
import { causeReason, describe, fieldOf, MAX_ERRORS } from '../validation/field-error.ts'
import { checkPatch } from './patch.ts'
import { encodePatch } from './prepared-patch.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'
import type { Allowed, Denied, Verdict } from './verdict.ts'

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
export function answer(request: AdmissionRequest, verdict: Verdict, mutating: boolean): AnsweredReview {
  if (verdict.kind === 'denied') return envelope(denial(request, verdict))
  const remarks = {
    ...(verdict.warnings.length > 0 && { warnings: sendableWarnings(verdict.warnings) }),
    ...(verdict.audit && { auditAnnotations: verdict.audit }),
  }
  if (verdict.patch.length === 0) return envelope({ uid: request.uid, allowed: true, ...remarks })
  return envelope({
    uid: request.uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: sendablePatch(request, verdict, mutating),
    ...remarks,
  })
}

const START = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":'

/**
 * The same answer as it goes over the wire, byte for byte. Nearly every review lets the object through, with a patch,
 * a warning or nothing to say: those texts are put together here.
 */
export function answerText(request: AdmissionRequest, verdict: Verdict, mutating: boolean): string {
  if (verdict.kind === 'denied' || verdict.audit !== undefined) {
    return JSON.stringify(answer(request, verdict, mutating))
  }
  let text = `${START}${quoted(request.uid)},"allowed":true`
  if (verdict.patch.length > 0)
    text += `,"patchType":"JSONPatch","patch":"${sendablePatch(request, verdict, mutating)}"`
  if (verdict.warnings.length > 0) text += `,"warnings":${JSON.stringify(sendableWarnings(verdict.warnings))}`
  return `${text}}}`
}

function sendablePatch({ operation, object }: AdmissionRequest, verdict: Allowed, mutating: boolean): string {
  if (!mutating) throw new Error('a validating webhook must not patch')
  if (operation === 'DELETE') throw new Error('there is no object to patch on DELETE')
  const { prepared, patch } = verdict
  if (prepared === undefined) {
    checkPatch(object, patch)
    return encodePatch(patch)
  }
  prepared.check(object)
  return prepared.encoded
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

/**
 * Without a message the API server prints "denied the request without explanation". With kind, name and causes kubectl
 * writes `The Pod "x" is invalid:` and one line per cause, as it does for the API server's own rules.
 */
function denial({ uid, kind, name }: AdmissionRequest, verdict: Denied): AdmissionResponse {
  const { code, reason, errors } = verdict
  const message = verdict.message === '' ? reason : verdict.message
  const causes = errors.slice(0, MAX_ERRORS).map(error => ({
    reason: causeReason(error.type),
    message: describe(error),
    field: fieldOf(error),
  }))
  const details = { ...(name ? { name: name.slice(0, MAX_NAME_LENGTH) } : undefined), kind: kind.kind, causes }
  return {
    uid,
    allowed: false,
    status: { code, reason, message, ...(causes.length > 0 ? { details } : undefined) },
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
