import type { Logger } from 'pino'
import { refusal } from '../admission/answer.ts'
import type { ReviewDecoder } from '../admission/protocol.ts'
import type { Operation } from '../admission/review.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Fields } from '../kube/vocabulary/fields.ts'
import type { Roles } from '../webhooks/roles.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { answerReview, type WrittenAnswer } from './answer-review.ts'
import { AskingWorld, type CachedWorld } from './asking-world.ts'
import { BudgetExceeded } from './budget.ts'
import { capped, createDecisionLog, rounded, type Subject, subject } from './decision-log.ts'
import { createInquiry, type Inquiry, type LookUp, untilAnswered } from './inquiry.ts'
import { type Metrics, type WebhookRecorder, webhookRecorder } from './metrics.ts'
import { PREFIX, peekReview } from './oversized.ts'
import type { ReviewThread } from './review-thread.ts'

export interface ReviewerDeps {
  readonly world: () => CachedWorld
  readonly lookup?: LookUp
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
}

/** What the reviewers of a server have in common: a decoder for each of them took more than 1 MB each. */
export interface Shared {
  readonly decode: ReviewDecoder
  readonly thread: ReviewThread
  readonly roles: Roles
}

/** What goes over the wire. 200 carries an AdmissionReview, everything else one line of JSON. */
export interface Answer {
  readonly status: number
  readonly text: string
}

export interface Reviewer {
  readonly recorder: WebhookRecorder
  /**
   * Decides a review: at once when the caches know everything, later when something has to be looked up.
   * Never throws and never rejects: a failure of ours is an answer too.
   */
  review(body: Buffer, started: number, budget: number): Answer | Promise<Answer>
  /** Answers a review of which only the beginning was kept. */
  oversized(prefix: Buffer, limit: number): Answer
  /** Answers one that was cut, because too much was arriving at once. */
  crowded(prefix: Buffer, started: number): Answer
  /** Counts and logs a body that is no review. */
  unreadable(status: number, reason: string): Answer
}

const CROWDED = 'too much was arriving at once, and this had taken the longest'

export function createReviewer(webhook: Webhook, deps: ReviewerDeps, { decode, thread, roles }: Shared): Reviewer {
  const { log, clock } = deps
  const { threadAbove = Number.POSITIVE_INFINITY } = webhook
  const recorder = webhookRecorder(deps.metrics, webhook.name)
  const logDecision = createDecisionLog(log, webhook.name)

  const unreadable = (status: number, reason: string): Answer => {
    recorder.failed('unreadable')
    log.warn({ webhook: webhook.name, status, reason }, 'review refused: unreadable')
    return refused(status, reason)
  }

  /**
   * A bare HTTP error would reach the user as "failed calling webhook" and nothing else. Denied, because a pod that
   * slips past the queue cannot be called back, while a denied request is simply sent again.
   */
  const failed = (uid: string, about: Partial<Subject>, error: unknown, started: number): Answer => {
    const late = error instanceof BudgetExceeded
    const elapsed = clock.monotonic() - started
    recorder.decided(about.operation, 'error', elapsed / 1000)
    recorder.failed(late ? 'timeout' : 'handler')
    log.error(
      { webhook: webhook.name, ...about, verdict: 'error', durationMs: rounded(elapsed), err: error },
      'review failed',
    )
    const problem = late ? 'ran out of time' : 'failed because of an error of its own'
    const message = `Muster ${problem}; the request was not judged. Please retry; if it happens again, see the log of Muster for review ${capped(uid)}.`
    return { status: 200, text: JSON.stringify(refusal(uid, 500, 'InternalError', message)) }
  }

  const answered = ({ text, record }: WrittenAnswer, started: number, budget: number): Answer => {
    const elapsed = clock.monotonic() - started
    if (elapsed > budget) throw new BudgetExceeded(budget)
    recorder.decided(record.operation, record.verdict, elapsed / 1000)
    logDecision(record, elapsed)
    return { status: 200, text }
  }

  const inquiry = (world: CachedWorld, started: number, budget: number): Inquiry =>
    createInquiry({ world, lookup: deps.lookup, clock, until: started + budget, budget })

  const reviewLarge = async (body: Buffer, started: number, budget: number): Promise<Answer> => {
    const prefix = Buffer.from(body.subarray(0, PREFIX))
    try {
      const world = deps.world()
      const { config, self, holds } = world
      const reply = await thread.review({
        webhook: webhook.name,
        body,
        settled: { config, self, holds, served: world.scheduling() },
        inquire: inquiry(world, started, budget),
        until: started + budget,
        late: new BudgetExceeded(budget),
      })
      if (reply.kind === 'unreadable') return unreadable(reply.status, reply.reason)
      if (reply.kind === 'failed') return failed(reply.uid, reply.about, reply.error, started)
      return answered(reply, started, budget)
    } catch (error) {
      return unjudged(prefix, error, started)
    }
  }

  /** For a review of which no more than the beginning is here. */
  const unjudged = (prefix: Buffer, error: unknown, started: number): Answer => {
    const { uid, operation, namespace, name } = peekReview(prefix) ?? {}
    const about = { operation: operation as Operation, namespace: capped(namespace), name: capped(name) }
    const answer = failed(uid ?? '', about, error, started)
    // Without its uid the API server takes no answer for one.
    return uid === undefined ? refused(503, 'Muster could not judge this large review; please retry') : answer
  }

  return {
    recorder,
    unreadable,
    crowded: (prefix, started) => unjudged(prefix, new Error(CROWDED), started),
    review: (body, started, budget) => {
      if (body.length > threadAbove) return reviewLarge(body, started, budget)
      const decoded = decode(body)
      if ('error' in decoded) return unreadable(decoded.error.status, decoded.error.reason)
      const { request } = decoded.ok
      try {
        const known = deps.world()
        const world = new AskingWorld(known, roles)
        const first = answerReview(webhook, request, world)
        if (first.kind === 'answered') return answered(first, started, budget)
        return untilAnswered(first, inquiry(known, started, budget), facts => {
          world.learn(facts)
          return answerReview(webhook, request, world)
        })
          .then(reply => answered(reply, started, budget))
          .catch(error => failed(request.uid, subject(request), error, started))
      } catch (error) {
        return failed(request.uid, subject(request), error, started)
      }
    },
    oversized: (prefix, limit) => {
      const megabytes = `${rounded(limit / (1024 * 1024))} MiB`
      const review = peekReview(prefix)
      if (review === undefined) return unreadable(413, `the body is larger than ${megabytes} and starts like no review`)
      const { uid, ...rest } = review
      recorder.failed('unreadable')
      log.warn({ webhook: webhook.name, uid: capped(uid), ...cappedAll(rest), verdict: 'denied' }, 'review too large')
      const message = `the review of this object is larger than the ${megabytes} that Muster reads; make the object smaller (annotations, managedFields, inline data) or exclude its namespace from Muster`
      return { status: 200, text: JSON.stringify(refusal(uid, 413, 'RequestEntityTooLarge', message)) }
    },
  }
}

export function refused(status: number, reason: string): Answer {
  return { status, text: JSON.stringify({ error: reason }) }
}

function cappedAll(texts: Fields): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, capped(text)]))
}
