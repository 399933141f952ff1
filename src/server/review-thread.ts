import { Worker } from 'node:worker_threads'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Settled } from './asking-world.ts'
import { type BudgetExceeded, within } from './budget.ts'
import { type Inquiry, untilAnswered } from './inquiry.ts'
import type { FromThread, ThreadReply, ToThread } from './thread-messages.ts'

/** Each of them may be 7 MiB. Whoever comes after them is told to try again. */
const MAX_WAITING = 8
/**
 * The worst that can be made of 7 MiB takes a bit more than 96 MB (see MAX_NESTS). There must be room to spare, because
 * V8 does not always survive a heap that is full; and no more than that, because V8 uses what it is given.
 */
const HEAP = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 }
/** Large reviews come in bursts, if at all. Between them their memory is given back. */
const IDLE_MS = 5_000

export interface LargeReview {
  readonly webhook: string
  readonly body: Buffer
  readonly settled: Settled
  readonly inquire: Inquiry
  readonly until: number
  readonly late: BudgetExceeded
}

interface Exchange {
  readonly resolve: (reply: FromThread) => void
  readonly reject: (error: unknown) => void
}

/**
 * Decides large reviews in a thread of its own, one after the other, so that parsing one does not keep small ones
 * waiting. The thread is started when it is needed and replaced when it dies or runs out of time. What a review asks
 * about the cluster is answered from here, where the caches are.
 */
export class ReviewThread {
  readonly #clock: Clock
  #worker: Worker | undefined
  #exchange: Exchange | undefined
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #cancelIdle = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes the body over: its memory belongs to the thread afterwards. */
  async review(review: LargeReview): Promise<ThreadReply> {
    if (this.#waiting >= MAX_WAITING) {
      throw new Error(`${MAX_WAITING} other large reviews are waiting already`)
    }
    this.#waiting++
    this.#cancelIdle()
    const before = this.#turn
    const done = Promise.withResolvers<void>()
    this.#turn = done.promise
    const remaining = review.until - this.#clock.monotonic()
    return await within(this.#clock, remaining, review.late, async signal => {
      try {
        await before
        signal.throwIfAborted()
        signal.addEventListener('abort', () => this.#stop(review.late))
        return await this.#decide(review)
      } finally {
        this.#waiting--
        if (this.#waiting === 0) this.#restLater()
        done.resolve()
      }
    })
  }

  async close(): Promise<void> {
    await this.#stop(new Error('the server is closing'))
  }

  async #decide({ webhook, body, settled, inquire }: LargeReview): Promise<ThreadReply> {
    const first = await this.#send({ kind: 'review', webhook, body: owned(body), settled })
    return await untilAnswered(first, inquire, facts => this.#send({ kind: 'facts', facts }))
  }

  #send(message: ToThread): Promise<FromThread> {
    this.#worker ??= this.#start()
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>()
    this.#exchange = { resolve, reject }
    this.#worker.postMessage(message, message.kind === 'review' ? [message.body.buffer] : [])
    return promise
  }

  /** Only a thread that nobody waits for is idle: a review may take longer than that, and look things up meanwhile. */
  #restLater(): void {
    this.#cancelIdle()
    this.#cancelIdle = this.#clock.after(IDLE_MS, () => this.#stop(new Error('the review thread was idle')))
  }

  #start(): Worker {
    // A URL is not an import: nothing turns its extension into the one of the compiled file.
    const file = import.meta.url.endsWith('.ts') ? './review-worker.ts' : './review-worker.js'
    const worker = new Worker(new URL(file, import.meta.url), {
      name: 'muster-review',
      resourceLimits: HEAP,
    })
    worker.unref()
    worker.on('message', (reply: FromThread) => {
      if (worker === this.#worker) this.#exchange?.resolve(reply)
    })
    worker.on('error', error => this.#lost(worker, error))
    worker.on('exit', code => this.#lost(worker, new Error(`the review thread ended with code ${code}`)))
    return worker
  }

  #lost(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#exchange?.reject(error)
  }

  async #stop(reason: unknown): Promise<void> {
    this.#cancelIdle()
    const worker = this.#worker
    if (worker === undefined) return
    this.#lost(worker, reason)
    await worker.terminate()
  }
}

/** Memory can be handed to a thread only as a whole. */
function owned(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return new Uint8Array(buffer)
  return new Uint8Array(body)
}
