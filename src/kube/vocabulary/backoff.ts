import type { Clock, Random } from './clock.ts'

export interface BackoffOptions {
  readonly clock: Clock
  readonly random: Random
  readonly initialMs: number
  readonly maxMs: number
  /** Up to this fraction of the delay is added at random, so that replicas do not return in step. */
  readonly jitter: number
  /** This long without a failure, and the next failure counts as the first again. */
  readonly resetAfterMs: number
}

/** A hostile or confused Retry-After must not put a loop to sleep for a year. */
const MAX_RETRY_AFTER_MS = 120_000

export class Backoff {
  readonly #options: BackoffOptions
  #nextMs: number
  #lastFailureAt: number | undefined

  constructor(options: BackoffOptions) {
    this.#options = options
    this.#nextMs = options.initialMs
  }

  /** The delay after one more failure. `retryAfterSeconds` is what the server asked for, if it did. */
  next(retryAfterSeconds = 0): number {
    const { clock, random, initialMs, maxMs, jitter, resetAfterMs } = this.#options
    const now = clock.monotonic()
    if (this.#lastFailureAt !== undefined && now - this.#lastFailureAt > resetAfterMs) this.#nextMs = initialMs
    const base = this.#nextMs
    this.#nextMs = Math.min(base * 2, maxMs)
    const asked = Math.min(retryAfterSeconds * 1000, MAX_RETRY_AFTER_MS)
    const delay = Math.max(base, asked) + base * jitter * random()
    // The wait itself is not health: count from its end.
    this.#lastFailureAt = now + delay
    return delay
  }

  reset(): void {
    this.#nextMs = this.#options.initialMs
    this.#lastFailureAt = undefined
  }
}

/** Resolves after `ms`, or at once when the signal is aborted. It never rejects: the caller looks at the signal. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) {
      resolve()
      return
    }
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done)
  })
}
