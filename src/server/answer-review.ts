import { answerText } from '../admission/answer.ts'
import type { AdmissionRequest } from '../admission/review.ts'
import type { Needs } from '../admission/verdict.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { World } from '../webhooks/world.ts'
import { type DecisionRecord, decisionRecord } from './decision-log.ts'

/** A decided review: the text that goes over the wire, and what the log and the metrics say about it. */
export interface Decision {
  readonly kind: 'decided'
  readonly text: string
  readonly record: DecisionRecord
}

/** Everything between a decoded review and its answer. The server and its review thread both take this way. */
export function answerReview(webhook: Webhook, request: AdmissionRequest, world: World): Decision | Needs {
  const verdict = webhook.review(request, world)
  if (verdict.kind === 'needs') return verdict
  const text = answerText(request, verdict, webhook.mutating)
  return { kind: 'decided', text, record: decisionRecord(request, verdict) }
}
