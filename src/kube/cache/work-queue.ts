import { ApiError } from '../vocabulary/api.ts'
import type { Clock, Random } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'

/** `retry`: not finished and no bug either; come back with backoff. Throwing means the same, with a log line. */
export type Attempt = 'done' | 'retry'
export type Handler = (key: string) => Promise<Attempt>

export interface WorkQueueMetrics {
  depth(keys: number): void
  add(): void
  retry(): void
  /** How long a key waited before a worker took it. */
  latency(seconds: number): void
}

export interface WorkQueueOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly baseDelayMs?: number
  readonly maxDelayMs?: number
  readonly metrics?: WorkQueueMetrics
}

/**
 * client-go's keyed work queue: a key is worked on by one worker at a time, adding it again meanwhile is remembered
 * once, and each key backs off on its own. Every map forgets a key when there is nothing left to do for it.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #baseDelayMs: number
  readonly #maxDelayMs: number
  readonly #queue: string[] = []
  #head = 0
  /** Keys that need work, and since when: those in the queue, and those added again while being processed. */
  readonly #dirty = new Map<string, number>()
  readonly #processing = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #delayed = new Map<string, { readonly dueAt: number; readonly cancel: () => void }>()
  /** Keys that no worker may take yet, and how to end that. */
  readonly #resting = new Map<string, () => void>()
  #handler: Handler | undefined
  #workers = 0
  #stopping = false
  #discarding = false
  #idle: (() => void)[] = []

  constructor(options: WorkQueueOptions) {
    this.#options = options
    this.#baseDelayMs = options.baseDelayMs ?? 5
    this.#maxDelayMs = options.maxDelayMs ?? 60_000
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#queue.length - this.#head
  }

  /** Keys that wait for their time, most of them in backoff. */
  get delayed(): number {
    return this.#delayed.size
  }

  add(key: string): void {
    if (this.#stopping || this.#dirty.has(key)) return
    this.#options.metrics?.add()
    this.#dirty.set(key, this.#options.clock.monotonic())
    if (this.#isFree(key)) this.#enqueue(key)
  }

  #isFree(key: string): boolean {
    return !this.#processing.has(key) && !this.#resting.has(key)
  }

  /** For so long nobody works on the key again; whatever is added meanwhile becomes one piece of work at the end. */
  rest(key: string, ms: number): void {
    if (this.#stopping) return
    this.#resting.get(key)?.()
    const cancel = this.#options.clock.after(ms, () => this.#wake(key))
    this.#resting.set(key, cancel)
  }

  #wake(key: string): void {
    this.#resting.delete(key)
    if (this.#dirty.has(key) && this.#isFree(key)) this.#enqueue(key)
  }

  /** Of several delays for one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#stopping) return
    if (ms <= 0) {
      this.add(key)
      return
    }
    const dueAt = this.#options.clock.monotonic() + ms
    const waiting = this.#delayed.get(key)
    if (waiting && waiting.dueAt <= dueAt) return
    waiting?.cancel()
    const cancel = this.#options.clock.after(ms, () => {
      this.#delayed.delete(key)
      this.add(key)
    })
    this.#delayed.set(key, { dueAt, cancel })
  }

  /** Ends the backoff of a key. Done by itself after success. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  start(workers: number, handler: Handler): void {
    if (this.#handler) throw new Error('work queue: already started')
    this.#handler = handler
    this.#workers = workers
    this.#pump()
  }

  /**
   * Takes no more keys, drops the delayed ones, and resolves when the work is done: with `drain` (the default) that is
   * everything in the queue, without it only what workers hold right now.
   */
  async stop({ drain = true }: { readonly drain?: boolean } = {}): Promise<void> {
    this.#stopping = true
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    if (!drain || !this.#handler) this.#discard()
    for (const [key, cancel] of this.#resting) {
      cancel()
      this.#wake(key)
    }
    if (this.#isIdle()) return
    await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  #discard(): void {
    this.#discarding = true
    this.#queue.length = 0
    this.#head = 0
    this.#dirty.clear()
    this.#failures.clear()
    this.#options.metrics?.depth(0)
  }

  #isIdle(): boolean {
    return this.#processing.size === 0 && this.depth === 0
  }

  #enqueue(key: string): void {
    this.#queue.push(key)
    this.#options.metrics?.depth(this.depth)
    this.#pump()
  }

  #dequeue(): string | undefined {
    const key = this.#queue[this.#head]
    if (key === undefined) return undefined
    this.#head++
    // An array that is shifted costs its length each time; cut off the used part when it is the larger one.
    if (this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head)
      this.#head = 0
    }
    this.#options.metrics?.depth(this.depth)
    return key
  }

  #pump(): void {
    const handler = this.#handler
    while (handler && this.#processing.size < this.#workers) {
      const key = this.#dequeue()
      if (key === undefined) return
      const { clock, metrics } = this.#options
      metrics?.latency((clock.monotonic() - (this.#dirty.get(key) ?? clock.monotonic())) / 1000)
      this.#dirty.delete(key)
      this.#processing.add(key)
      void this.#work(key, handler)
    }
  }

  async #work(key: string, handler: Handler): Promise<void> {
    const { log } = this.#options
    try {
      // Whoever adds a key must not find its handler running before `add` has returned.
      await Promise.resolve()
      if ((await handler(key)) === 'retry') this.#retryLater(key, 0)
      else this.forget(key)
    } catch (error) {
      const delayMs = this.#retryLater(key, error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0)
      log.error({ err: error, key, failures: this.failures(key), retryInMs: Math.round(delayMs) }, 'handler failed')
    }
    this.#processing.delete(key)
    if (this.#dirty.has(key) && this.#isFree(key) && !this.#discarding) this.#enqueue(key)
    this.#pump()
    if (!this.#stopping || !this.#isIdle()) return
    for (const resolve of this.#idle) resolve()
    this.#idle = []
  }

  #retryLater(key: string, retryAfterSeconds: number): number {
    if (this.#stopping) return 0
    const failures = this.failures(key)
    this.#failures.set(key, failures + 1)
    this.#options.metrics?.retry()
    const backoffMs = this.#baseDelayMs * 2 ** Math.min(failures, 30)
    const wantedMs = Math.max(backoffMs, retryAfterSeconds * 1000) * (1 + 0.1 * this.#options.random())
    const delayMs = Math.min(wantedMs, this.#maxDelayMs)
    this.addAfter(key, delayMs)
    return delayMs
  }
}
