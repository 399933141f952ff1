import { type AnsweredReview, answer } from '../admission/answer.ts'
import { applyPatch, type PatchOperation } from '../admission/patch.ts'
import type { AdmissionRequest } from '../admission/review.ts'
import type { Verdict } from '../admission/verdict.ts'
import type { FieldError } from '../validation/field-error.ts'
import { unseenLabelWarnings } from '../webhooks/jobs/queue-label.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { World } from '../webhooks/world.ts'
import { webhooksFor } from './rules.ts'

export const STAGES = ['all', 'mutating', 'validating'] as const
export type Stage = (typeof STAGES)[number]

/** What came out of all webhooks that a request passed. */
export interface StagesOutcome {
  readonly allowed: boolean
  /** One word: why it was let through or refused. */
  readonly reason: string
  readonly code: number
  readonly message: string
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
  readonly patch: readonly PatchOperation[]
  /** The object after mutation. */
  readonly result: unknown
}

/** Decides one request with one webhook and answers it: the two steps that the server takes, with the same functions. */
export function respond(
  webhook: Webhook,
  request: AdmissionRequest,
  world: World,
): { readonly verdict: Verdict; readonly answered: AnsweredReview } {
  const verdict = webhook.review(request, world)
  return { verdict, answered: answer(request, verdict, webhook.mutating) }
}

/**
 * A request on its way through the API server: what mutates comes first, what validates sees the result, and the first
 * refusal ends it. Defaults that the API server would fill in are not.
 */
export function passStages(request: AdmissionRequest, world: World, stage: Stage): StagesOutcome {
  const webhooks = webhooksFor(request, world.config)
  if (webhooks.length === 0) {
    const message = `Muster has no webhook for ${request.operation} of ${request.kind.kind}`
    return { ...admitted(request, { reason: 'NotForMuster', message }), warnings: unseenLabelWarnings(request) }
  }
  let current = request
  let passed = admitted(request, { reason: 'NotInThisStage' })
  for (const webhook of webhooks) {
    if (stage !== 'all' && webhook.mutating !== (stage === 'mutating')) continue
    const { verdict, answered } = respond(webhook, current, world)
    const warnings = unique([...passed.warnings, ...(answered.response.warnings ?? [])])
    if (verdict.kind === 'denied') {
      const { code, message } = answered.response.status ?? verdict
      return { ...passed, allowed: false, reason: verdict.reason, code, message, errors: verdict.errors, warnings }
    }
    const result = verdict.patch.length === 0 ? passed.result : applyPatch(current.object, verdict.patch)
    current = { ...current, object: result as AdmissionRequest['object'] }
    // What a mutation said of the object tells more than that it is valid, too, or that another left it as it was.
    const changes = verdict.patch.length > 0 || passed.patch.length === 0
    const tells = webhook.mutating && webhook.advisory !== true && changes
    const reason = tells || passed.reason === 'NotInThisStage' ? verdict.reason : passed.reason
    passed = { ...passed, reason, warnings, patch: [...passed.patch, ...verdict.patch], result }
  }
  return passed
}

function admitted(
  { object }: AdmissionRequest,
  { reason, message = '' }: { readonly reason: string; readonly message?: string },
): StagesOutcome {
  const nothing = { errors: [], warnings: [], patch: [] }
  return { allowed: true, reason, code: 200, message, ...nothing, result: object ?? null }
}

/** kubectl prints a warning once, however many webhooks send it. */
const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
