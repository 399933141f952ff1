import type { Logger } from 'pino'
import { answer, refusal } from '../admission/answer.ts'
import { createReviewDecoder } from '../admission/protocol.ts'
import type { AdmissionRequest } from '../admission/review.ts'
import type { Allowed, Denied, Lookup, Needs } from '../admission/verdict.ts'
import type { Clock } from '../kube/clock.ts'
import type { Webhook, World } from '../webhooks/world.ts'
import { BudgetExceeded, within } from './budget.ts'
import { capped, logDecision, rounded, subject, verdictLabel } from './decision-log.ts'
import { type Metrics, type WebhookRecorder, webhookRecorder } from './metrics.ts'
import { peekReview } from './oversized.ts'

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

export function createReviewer(webhook: Webhook, deps: ReviewerDeps): Reviewer {
  const { log, clock } = deps
  const recorder = webhookRecorder(deps.metrics, webhook.name)
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
  const failed = (request: AdmissionRequest, error: unknown, started: number): Answer => {
    const late = error instanceof BudgetExceeded
    const elapsed = clock.monotonic() - started
    recorder.decided(request.operation, 'error', elapsed / 1000)
    recorder.failed(late ? 'timeout' : 'handler')
    log.error(
      { webhook: webhook.name, ...subject(request), verdict: 'error', durationMs: rounded(elapsed), err: error },
      'review failed',
    )
    const problem = late ? 'ran out of time' : 'failed because of an error of its own'
    const message = `Muster ${problem}; the request was not judged. Please retry; if it happens again, see the log of Muster for review ${capped(request.uid)}.`
    return { status: 200, text: JSON.stringify(refusal(request.uid, 500, 'InternalError', message)) }
  }

  const answered = (request: AdmissionRequest, verdict: Allowed | Denied, started: number, budget: number): Answer => {
    const elapsed = clock.monotonic() - started
    if (elapsed > budget) throw new BudgetExceeded(budget)
    const text = JSON.stringify(answer(request, verdict, webhook.mutating))
    recorder.decided(request.operation, verdictLabel(verdict), elapsed / 1000)
    logDecision(log, webhook.name, request, verdict, elapsed)
    return { status: 200, text }
  }

  return {
    recorder,
    unreadable,
    review: (body, started, budget) => {
      const decoded = decode(body)
      if ('error' in decoded) return unreadable(decoded.error.status, decoded.error.reason)
      const { request } = decoded.ok
      try {
        const world = deps.world()
        const verdict = webhook.review(request, world)
        if (verdict.kind !== 'needs') return answered(request, verdict, started, budget)
        return lookedUp(webhook, request, deps, world, verdict, { total: budget, until: started + budget })
          .then(later => answered(request, later, started, budget))
          .catch(error => failed(request, error, started))
      } catch (error) {
        return failed(request, error, started)
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

async function lookedUp(
  webhook: Webhook,
  request: AdmissionRequest,
  deps: ReviewerDeps,
  known: World,
  first: Needs,
  budget: { readonly total: number; readonly until: number },
): Promise<Allowed | Denied> {
  const { lookup, clock } = deps
  if (lookup === undefined) throw new Error('the review needs objects from the cluster, and there is no cluster')
  const late = new BudgetExceeded(budget.total)
  let world = known
  let { lookups } = first
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = world
    world = await within(clock, budget.until - clock.monotonic(), late, signal => lookup(lookups, before, signal))
    const verdict = webhook.review(request, world)
    if (verdict.kind !== 'needs') return verdict
    lookups = verdict.lookups
  }
  throw new Error(`the review still needs objects after ${MAX_ROUNDS} rounds of looking them up`)
}

function cappedAll(texts: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, capped(text)]))
}
