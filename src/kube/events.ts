import { createHash } from 'node:crypto'
import { ApiError, type KubeApi } from './api.ts'
import { sleep } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { microTime } from './microtime.ts'
import type { KubeObject } from './objects.ts'
import { EVENTS } from './resources.ts'

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
  /** What was done or tried, one word. */
  readonly action: string
  /** The sentence a person reads in `kubectl describe`. */
  readonly note: string
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

export type EventOutcome = 'sent' | 'known' | 'dropped' | 'failed'

export interface EventRecorderOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly log: Log
  /** Name of this replica, usually the pod name. */
  readonly instance: string
  readonly queueLimit?: number
  readonly burst?: number
  readonly perSecond?: number
  readonly onOutcome?: (outcome: EventOutcome) => void
}

const CONTROLLER = 'muster.dev/reconciler'
const NOTE_BYTES = 1024
const REMEMBERED = 4096
const CONCURRENCY = 2
const ATTEMPTS = 3

/**
 * Tells people what was decided. Events are courtesy: recording one never blocks, never throws, and gives way when
 * there are too many. Their names follow from what they say, so that neither a restart nor a second replica repeats one.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #queue: EventObject[] = []
  readonly #told = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #senders = new Set<Promise<void>>()
  #active = 0
  #tokens: number
  #refilledAt: number

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#tokens = options.burst ?? 100
    this.#refilledAt = options.clock.monotonic()
  }

  record(input: EventInput): void {
    const event = eventOf(input, this.#options.instance, this.#options.clock.now())
    const key = keyOf(event)
    if (this.#told.has(key)) {
      this.#remember(key)
      return
    }
    if (this.#stopping.signal.aborted || this.#queue.length >= (this.#options.queueLimit ?? 1000)) {
      this.#options.onOutcome?.('dropped')
      return
    }
    this.#remember(key)
    this.#queue.push(event)
    if (this.#active >= CONCURRENCY) return
    const sender = this.#send().finally(() => this.#senders.delete(sender))
    this.#senders.add(sender)
  }

  /** Lets calls under way finish and drops the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const _ of this.#queue.splice(0)) this.#options.onOutcome?.('dropped')
    await Promise.all(this.#senders)
  }

  async #send(): Promise<void> {
    const { signal } = this.#stopping
    this.#active++
    for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
      await this.#takeToken(signal)
      const outcome = signal.aborted ? 'dropped' : await this.#post(event, signal)
      this.#options.onOutcome?.(outcome)
    }
    // In the same breath as the last look at the queue, so that nothing is left in it without a sender.
    this.#active--
  }

  async #post(event: EventObject, signal: AbortSignal): Promise<EventOutcome> {
    const { api, clock, log } = this.#options
    let problem: unknown
    for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted; attempt++) {
      try {
        await api.create(EVENTS, event)
        return 'sent'
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return 'known'
        problem = error
        if (!mayPass(error) || attempt === ATTEMPTS) break
        const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
        await sleep(clock, Math.min(Math.max(1000 * attempt, askedMs), 30_000), signal)
      }
    }
    // Untold again, so that the next occurrence has its chance.
    this.#told.delete(keyOf(event))
    log.warn({ err: problem, event: event.metadata.name, reason: event.reason }, 'event could not be sent')
    return 'failed'
  }

  async #takeToken(signal: AbortSignal): Promise<void> {
    const { clock, burst = 100, perSecond = 20 } = this.#options
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

function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status >= 500
}

function keyOf(event: EventObject): string {
  return `${event.metadata.namespace}/${event.metadata.name}`
}

function eventOf(input: EventInput, instance: string, now: number): EventObject {
  const { regarding, type, reason, action } = input
  const note = cutToBytes(input.note, NOTE_BYTES)
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
    reportingController: CONTROLLER,
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

/** The API server counts bytes; a cut inside a character would leave half of it. */
function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let end = limit - 3
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.toString('utf8', 0, end)}...`
}
