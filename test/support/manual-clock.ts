import type { Clock } from '../../src/kube/vocabulary/clock.ts'

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>()
  #time = 0
  #order = 0
  /** Where the wall clock stands when the monotonic one is at zero; set it to skew or to jump. */
  epoch: number

  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.epoch = epoch
  }

  get pending(): number {
    return this.#timers.size
  }

  now(): number {
    return this.epoch + this.#time
  }

  monotonic(): number {
    return this.#time
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#time + Math.max(0, ms), order: this.#order++, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves on in order of the timers, and lets what each of them started come to rest before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms
    await settle()
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#time = next.at
      this.#timers.delete(next)
      next.callback()
      await settle()
    }
    this.#time = end
    await settle()
  }

  #next(end: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at > end) continue
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }
}

/** All promises that can go on without a timer have gone on. */
export async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}
