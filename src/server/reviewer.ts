import type { Logger } from 'pino'
import { refusal } from '../admission/answer.ts'
import { createReviewDecoder } from '../admission/protocol.ts'
import type { Operation } from '../admission/review.ts'
import type { Lookup, Needs } from '../admission/verdict.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { World } from '../webhooks/world.ts'
import { answerReview, type Decision } from './answer-review.ts'
import { BudgetExceeded, within } from './budget.ts'
import { capped, createDecisionLog, rounded, type Subject, subject } from './decision-log.ts'
import { type Metrics, type WebhookRecorder, webhookRecorder } from './metrics.ts'
import { PREFIX, peekReview } from './oversized.ts'
import type { ReviewThread } from './review-thread.ts'

/** Fetches what a review could not find in the caches, and returns a world that knows it. */
export type LookUp = (lookups: readonly Lookup[], world: World, signal: AbortSignal) => Promise<World>

export interface ReviewerDeps {
  readonly world: () => World
  readonly lookup?: LookUp
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
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
  /** Counts and logs a body that is no review. */
  unreadable(status: number, reason: string): Answer
}

/** An owner chain has to be fetched link by link; ten links is where Kueue's own walk stops. */
const MAX_ROUNDS = 12

export function createReviewer(webhook: Webhook, deps: ReviewerDeps, thread: ReviewThread): Reviewer {
  const { log, clock } = deps
  const { threadAbove = Number.POSITIVE_INFINITY } = webhook
  const recorder = webhookRecorder(deps.metrics, webhook.name)
  const logDecision = createDecisionLog(log, webhook.name)
  const decode = createReviewDecoder()

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

  const answered = ({ text, record }: Decision, started: number, budget: number): Answer => {
    const elapsed = clock.monotonic() - started
    if (elapsed > budget) throw new BudgetExceeded(budget)
    recorder.decided(record.operation, record.verdict, elapsed / 1000)
    logDecision(record, elapsed)
    return { status: 200, text }
  }

  const reviewLarge = async (body: Buffer, started: number, budget: number): Promise<Answer> => {
    const prefix = Buffer.from(body.subarray(0, PREFIX))
    try {
      const outcome = await thread.review({
        webhook: webhook.name,
        body,
        world: deps.world(),
        until: started + budget,
        late: new BudgetExceeded(budget),
        lookUp: boundedLookUp(deps, started, budget),
      })
      if (outcome.kind === 'unreadable') return unreadable(outcome.status, outcome.reason)
      if (outcome.kind === 'failed') return failed(outcome.uid, outcome.about, outcome.error, started)
      return answered(outcome, started, budget)
    } catch (error) {
      const { uid, operation, namespace, name } = peekReview(prefix) ?? {}
      const about = { operation: operation as Operation, namespace: capped(namespace), name: capped(name) }
      const answer = failed(uid ?? '', about, error, started)
      // Without its uid the API server takes no answer for one.
      return uid === undefined ? refused(503, 'Muster could not judge this large review; please retry') : answer
    }
  }

  return {
    recorder,
    unreadable,
    review: (body, started, budget) => {
      if (body.length > threadAbove) return reviewLarge(body, started, budget)
      const decoded = decode(body)
      if ('error' in decoded) return unreadable(decoded.error.status, decoded.error.reason)
      const { request } = decoded.ok
      try {
        const world = deps.world()
        const decision = answerReview(webhook, request, world)
        if (decision.kind === 'decided') return answered(decision, started, budget)
        const again = (known: World) => answerReview(webhook, request, known)
        return lookedUp(world, decision, boundedLookUp(deps, started, budget), again)
          .then(later => answered(later, started, budget))
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

/** What no cache holds, round after round, as long as there is time. */
function boundedLookUp({ lookup, clock }: ReviewerDeps, started: number, budget: number) {
  const late = new BudgetExceeded(budget)
  let rounds = 0
  return async (lookups: readonly Lookup[], world: World): Promise<World> => {
    if (lookup === undefined) throw new Error('the review needs objects from the cluster, and there is no cluster')
    if (rounds++ === MAX_ROUNDS) {
      throw new Error(`the review still needs objects after ${MAX_ROUNDS} rounds of looking them up`)
    }
    return await within(clock, started + budget - clock.monotonic(), late, signal => lookup(lookups, world, signal))
  }
}

async function lookedUp(
  known: World,
  first: Needs,
  lookUp: (lookups: readonly Lookup[], world: World) => Promise<World>,
  again: (world: World) => Decision | Needs,
): Promise<Decision> {
  let world = known
  let decision: Decision | Needs = first
  while (decision.kind === 'needs') {
    world = await lookUp(decision.lookups, world)
    decision = again(world)
  }
  return decision
}

function cappedAll(texts: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, capped(text)]))
}
