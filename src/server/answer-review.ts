import { answerText } from '../admission/answer.ts'
import type { AdmissionRequest } from '../admission/review.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { AskingWorld } from './asking-world.ts'
import { type DecisionRecord, decisionRecord } from './decision-log.ts'
import type { OpenQuestions } from './inquiry.ts'

/** The text that goes over the wire, and what the log and the metrics say about it. */
export interface WrittenAnswer {
  readonly kind: 'answered'
  readonly text: string
  readonly record: DecisionRecord
}

/** Everything between a decoded review and its answer. The server and its review thread both take this way. */
export function answerReview(
  webhook: Webhook,
  request: AdmissionRequest,
  world: AskingWorld,
): WrittenAnswer | OpenQuestions {
  const verdict = webhook.review(request, world)
  const questions = world.open
  if (questions.length > 0) return { kind: 'asks', questions }
  const text = answerText(request, verdict, webhook.mutating)
  return { kind: 'answered', text, record: decisionRecord(request, verdict) }
}
