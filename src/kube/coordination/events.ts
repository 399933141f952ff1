import { createHash } from 'node:crypto'
import { ApiError, type KubeApi } from '../vocabulary/api.ts'
import { sleep } from '../vocabulary/backoff.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { microTime } from '../vocabulary/microtime.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { EVENTS } from '../vocabulary/resources.ts'
import { cutToBytes, MAX_EVENT_NOTE } from '../vocabulary/texts.ts'

export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid: string
}

export interface EventInput {
  readonly regarding: ObjectReference
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase, from a closed list. */
  readonly reason: string
  /** What was done or tried, one word: each is the voice of one part of Muster. */
  readonly action: 'Queue' | 'Group' | 'Place' | 'Configure'
  /** The sentence a person reads in `kubectl describe`. */
  readonly note: string
  /** It stays worth telling whatever is said of the object next. */
  readonly apart?: boolean
}

interface EventObject extends KubeObject {
  readonly eventTime: string
  readonly reportingController: string
  readonly reportingInstance: string
  readonly action: string
  readonly reason: string
  readonly regarding: ObjectReference
  readonly note: string
  readonly type: string
}

/** `overtaken`: before it was sent, there was something newer to say about the same object. */
export type EventOutcome = 'sent' | 'known' | 'overtaken' | 'retried' | 'dropped' | 'failed'

interface Waiting {
  readonly input: EventInput
  readonly at: number
}

export interface EventRecorderOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly log: Log
  /** Name of this replica, usually the pod name. */
  readonly instance: string
  /** How long to wait before the first event of a burst goes out: what is overtaken by then need not be told. */
  readonly settleMs?: number
  readonly queueLimit?: number
  readonly burst?: number
  readonly perSecond?: number
  /** Runs a call when nothing more urgent wants to. Default: at once. */
  readonly turn?: <T>(call: () => Promise<T>) => Promise<T>
  readonly onOutcome?: (outcome: EventOutcome) => void
}

/** Who says so, in every Event of ours. */
export const EVENT_SOURCE = 'muster.dev/reconciler'
const REMEMBERED = 4096
const CONCURRENCY = 2
const RETRY_MS = 2000
const RETRY_LIMIT_MS = 30_000
const SETTLE_MS = 1000
const QUEUE_LIMIT = 50_000
const BURST = 20
const PER_SECOND = 20

/**
 * Tells people what was decided. Events are courtesy: recording one never blocks, never throws, and gives way to work.
 * Of several things that one part has to say about one object only the newest is sent, so a group that grows pod by pod
 * does not make an Event for every count; another part's word stands beside it. Their names follow from what they say,
 * so that neither a restart nor a second replica repeats one.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  /** By what they regard and whose word it is, oldest first. */
  readonly #waiting = new Map<string, Waiting>()
  readonly #told = new Set<string>()
  #settling: (() => void) | undefined
  readonly #stopping = new AbortController()
  readonly #senders = new Set<Promise<void>>()
  #active = 0
  #tokens: number
  #refilledAt: number

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#tokens = options.burst ?? BURST
    this.#refilledAt = options.clock.monotonic()
  }

  record(input: EventInput): void {
    const { clock, onOutcome, queueLimit = QUEUE_LIMIT } = this.#options
    const place = placeOf(input)
    const overtakes = this.#waiting.has(place)
    if (this.#stopping.signal.aborted || (!overtakes && this.#waiting.size >= queueLimit)) {
      onOutcome?.('dropped')
      return
    }
    if (overtakes) onOutcome?.('overtaken')
    this.#waiting.set(place, { input, at: clock.now() })
    this.#wake()
  }

  /**
   * The object is gone for those who say so: nobody waits for their news of it any more. What somebody has to know is
   * still told, and so is what others say: what has left the sight of one part may well be in that of another.
   */
  forget(uid: string, ...actions: readonly EventInput['action'][]): void {
    for (const action of actions) {
      const place = commonPlace(uid, action)
      if (this.#waiting.get(place)?.input.type === 'Normal') this.#waiting.delete(place)
    }
  }

  /** Lets calls under way finish and drops the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#settling?.()
    for (const _ of this.#waiting) this.#options.onOutcome?.('dropped')
    this.#waiting.clear()
    await Promise.all(this.#senders)
  }

  #wake(): void {
    if (this.#settling !== undefined || this.#active === CONCURRENCY) return
    if (this.#active > 0) {
      this.#startSender()
      return
    }
    this.#settling = this.#options.clock.after(this.#options.settleMs ?? SETTLE_MS, () => {
      this.#settling = undefined
      for (let sender = 0; sender < Math.min(CONCURRENCY, this.#waiting.size); sender++) this.#startSender()
    })
  }

  #startSender(): void {
    const sender = this.#send().finally(() => this.#senders.delete(sender))
    this.#senders.add(sender)
  }

  async #send(): Promise<void> {
    const { signal } = this.#stopping
    const { turn = call => call(), onOutcome } = this.#options
    this.#active++
    while (this.#waiting.size > 0) {
      await this.#takeToken(signal)
      const pauseMs = await turn(async () => {
        const taken = this.#takeOldest()
        if (taken === undefined) return 0
        const { outcome, pauseMs = 0 } = signal.aborted ? { outcome: 'dropped' as const } : await this.#tell(taken)
        onOutcome?.(outcome)
        return pauseMs
      })
      if (pauseMs > 0) await sleep(this.#options.clock, pauseMs, signal)
    }
    // In the same breath as the last look at what waits, so that nothing is left without a sender.
    this.#active--
  }

  /** Taken only when its turn has come: until then it may be overtaken. */
  #takeOldest(): Waiting | undefined {
    for (const [place, waiting] of this.#waiting) {
      this.#waiting.delete(place)
      return waiting
    }
    return undefined
  }

  async #tell(waiting: Waiting): Promise<{ readonly outcome: EventOutcome; readonly pauseMs?: number }> {
    const { api, log, instance } = this.#options
    const event = eventOf(waiting.input, instance, waiting.at)
    const key = keyOf(event)
    if (this.#told.has(key)) {
      this.#remember(key)
      return { outcome: 'known' }
    }
    this.#remember(key)
    try {
      await api.create(EVENTS, event)
      return { outcome: 'sent' }
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) return { outcome: 'known' }
      this.#told.delete(key)
      if (!mayPass(error)) {
        log.warn({ err: error, event: event.metadata.name, reason: event.reason }, 'event could not be sent')
        return { outcome: 'failed' }
      }
      // The server is busy or away: this is not lost, unless there is something newer to say already.
      const place = placeOf(waiting.input)
      if (!this.#waiting.has(place)) this.#waiting.set(place, waiting)
      const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
      return { outcome: 'retried', pauseMs: Math.min(Math.max(RETRY_MS, askedMs), RETRY_LIMIT_MS) }
    }
  }

  async #takeToken(signal: AbortSignal): Promise<void> {
    const { clock, burst = BURST, perSecond = PER_SECOND } = this.#options
    const now = clock.monotonic()
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#refilledAt) / 1000) * perSecond)
    this.#refilledAt = now
    // Going below zero books a place in the future, so that two senders never wait for the same token.
    this.#tokens--
    if (this.#tokens < 0) await sleep(clock, (-this.#tokens / perSecond) * 1000, signal)
  }

  /** Insertion order is age: a key that is used again moves to the young end. */
  #remember(key: string): void {
    this.#told.delete(key)
    this.#told.add(key)
    if (this.#told.size <= REMEMBERED) return
    for (const oldest of this.#told) {
      this.#told.delete(oldest)
      return
    }
  }
}

/** What is newer overtakes what waits in the same place. */
const placeOf = ({ regarding, action, reason, note, apart }: EventInput): string =>
  apart ? `${regarding.uid}/${action}/${reason}/${note}` : commonPlace(regarding.uid, action)

const commonPlace = (uid: string, action: EventInput['action']): string => `${uid}/${action}`

function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status >= 500
}

function keyOf(event: EventObject): string {
  return `${event.metadata.namespace}/${event.metadata.name}`
}

function eventOf(input: EventInput, instance: string, now: number): EventObject {
  const { regarding, type, reason, action } = input
  const note = cutToBytes(input.note, MAX_EVENT_NOTE)
  const identity = createHash('sha256')
    .update(JSON.stringify([regarding.uid, reason, note]))
    .digest('hex')
    .slice(0, 16)
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // Events about objects without a namespace live in `default`, as kubectl expects.
    metadata: { namespace: regarding.namespace ?? 'default', name: `${namePrefix(regarding.name)}.${identity}` },
    eventTime: microTime(now),
    reportingController: EVENT_SOURCE,
    reportingInstance: instance.slice(0, 128),
    action,
    reason,
    regarding,
    note,
    type,
  }
}

/** The result must be a DNS subdomain of at most 253 characters; some kinds allow wilder names for their objects. */
function namePrefix(name: string): string {
  const prefix = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .slice(0, 200)
    .replace(/\.[.-]+|[.-]+\./g, '.')
    .replace(/^[.-]+|[.-]+$/g, '')
  return prefix || 'object'
}
