import type { Dice } from '../time/dice.ts'

/**
 * The condition of the way between one replica and the API server. Faults set a condition and the time until which it
 * holds; nothing needs to be undone, so removing a fault from a schedule leaves the others as they were.
 */
export class Link {
  readonly #dice: Dice
  readonly #now: () => number
  partitionedUntil = 0
  outageUntil = 0
  errors = { until: 0, status: 500, rate: 0, retryAfter: 0 }
  loss = { until: 0, before: 0, after: 0 }
  /** Requests are carried out twice: a connection broke after the first time and the client sent again. */
  resend = { until: 0, rate: 0 }
  slow = { until: 0, ms: 0 }
  readonly lag = new Map<string, { until: number; ms: number }>()
  duplicates = { until: 0, rate: 0 }
  /** How an expired watch is told: as an HTTP status, inside the stream, or not at all (kubernetes#137089). */
  expiredAs: 'http' | 'stream' | 'silence' = 'stream'
  streaming = true
  pageLimit = 500
  readonly baseLagMs: number

  constructor(dice: Dice, now: () => number, baseLagMs: number) {
    this.#dice = dice
    this.#now = now
    this.baseLagMs = baseLagMs
  }

  get dice(): Dice {
    return this.#dice
  }

  get down(): boolean {
    return this.holds(this.partitionedUntil) || this.holds(this.outageUntil)
  }

  holds(until: number): boolean {
    return until > this.#now()
  }

  /** One way, in milliseconds. Never so long that a write of a leader outlives the pause between two leaders. */
  latency(): number {
    const slow = this.holds(this.slow.until) ? this.#dice.next() * this.slow.ms : 0
    return 0.5 + this.#dice.next() * 6 + slow
  }

  watchLag(resource: string): number {
    const lag = this.lag.get(resource)
    const extra = lag !== undefined && this.holds(lag.until) ? lag.ms * (0.5 + 0.5 * this.#dice.next()) : 0
    return this.baseLagMs * this.#dice.next() + extra
  }
}
