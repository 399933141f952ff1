import {
  ApiError,
  type KubeApi,
  type ListOptions,
  ProtocolError,
  type Resource,
  SilenceError,
  type WatchEvent,
  type WatchOptions,
} from '../vocabulary/api.ts'
import { Backoff, sleep } from '../vocabulary/backoff.ts'
import type { Clock, Random } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { compareVersions } from '../vocabulary/versions.ts'
import { listAll } from './list-all.ts'
import { keyOf, type ObjectStore } from './store.ts'
import { isRefusal, reasonOf, StreamError, streamError } from './watch-errors.ts'

export interface ReflectorOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly resource: Resource
  readonly query: ListOptions
  readonly store: ObjectStore<T>
  /** What is kept of an object. Throws `ProtocolError` for something that is no object. */
  readonly prepare: (object: T) => T
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The kind may be taken away: then there is nothing of it, and it is looked for again. */
  readonly mayVanish: boolean
  /** The server has spoken: a page, an event, a bookmark, a refusal, the orderly end of a watch. */
  readonly onProgress: () => void
  readonly onSynced: () => void
  readonly onRelist: (reason: string) => void
  readonly onRestart: (reason: string) => void
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'
const FRUITLESS_LIMIT = 3
const SHORT_WATCH_MS = 1_000
const FIRST_DELAY_MS = 800

/** Fills a store by list and watch, for ever: resumes where it can, reads everything again where it must. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #backoff: Backoff
  #streaming = true
  #streamFailures = 0
  #fruitless = 0
  #expired = false
  /** The watch has brought something beyond the state it began with. */
  #heard = false
  /** Where the watch goes on. `undefined`: the whole state must be read first. */
  #resumeFrom: string | undefined
  #relistReason = 'start'
  #attempt = new AbortController()

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    const { clock, random } = options
    this.#backoff = new Backoff({
      clock,
      random,
      initialMs: FIRST_DELAY_MS,
      maxMs: 30_000,
      jitter: 1,
      resetAfterMs: 120_000,
    })
  }

  /** Returns only when the signal is aborted, and never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, resource } = this.#options
    while (!signal.aborted) {
      let delay: number
      const attempt = new AbortController()
      this.#attempt = attempt
      const either = AbortSignal.any([signal, attempt.signal])
      try {
        delay = this.#resumeFrom === undefined ? await this.#synchronise(either) : await this.#resume(either)
      } catch (error) {
        if (signal.aborted) return
        if (attempt.signal.aborted) continue
        delay = this.#failed(error)
        log.warn({ err: error, resource: resource.plural, retryInMs: Math.round(delay) }, 'list or watch interrupted')
      }
      if (delay > 0) await sleep(clock, delay, either)
    }
  }

  /** Reads everything again, now. When `onSynced` is called next, nothing in the store is older than this moment. */
  refresh(): void {
    this.#forget('refresh')
    this.#attempt.abort()
  }

  async #synchronise(signal: AbortSignal): Promise<number> {
    this.#options.onRelist(this.#relistReason)
    this.#options.store.beginReplace()
    if (this.#streaming && this.#streamFailures < FRUITLESS_LIMIT) {
      try {
        return await this.#follow({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, new Map(), signal)
      } catch (error) {
        if (this.#resumeFrom === undefined) this.#streamFailures++
        if (!isRefusal(error)) throw error
        // 403 and 404 can be about the moment (rights or a CRD that come later); the others are about the server.
        if (error.status !== 403 && error.status !== 404) this.#streaming = false
      }
    }
    this.#streamFailures = 0
    try {
      const listed = await listAll<T>({ ...this.#options, prepare: object => this.#staged(object) }, signal)
      if (listed !== undefined) await this.#settle(listed.items, listed.version, signal)
      return 0
    } catch (error) {
      if (!this.#hasVanished(error)) throw error
      return await this.#clear(signal)
    }
  }

  #hasVanished(error: unknown): boolean {
    return this.#options.mayVanish && error instanceof ApiError && error.status === 404
  }

  async #clear(signal: AbortSignal): Promise<number> {
    await this.#settle(new Map(), this.#options.store.version ?? '0', signal)
    this.#forget('missing')
    this.#options.onRestart('missing')
    this.#options.onProgress()
    return this.#backoff.next()
  }

  #resume(signal: AbortSignal): Promise<number> {
    return this.#follow(this.#resumeFrom === undefined ? {} : { resourceVersion: this.#resumeFrom }, undefined, signal)
  }

  /** One watch from start to end; returns the delay before the next. `initial`: it begins with the whole state. */
  async #follow(part: WatchOptions, initial: Map<string, T> | undefined, signal: AbortSignal): Promise<number> {
    const { api, resource, query, clock, random, onProgress } = this.#options
    const startedAt = clock.monotonic()
    const timeoutSeconds = 300 + Math.floor(random() * 301)
    const options: WatchOptions = { ...query, ...part, allowWatchBookmarks: true, timeoutSeconds }
    let pending = initial
    let events = 0
    this.#heard = false
    for await (const event of api.watch<T>(resource, options, signal)) {
      if (signal.aborted) return 0
      onProgress()
      if (event.type === 'ERROR') throw streamError(event.object)
      events++
      if (pending === undefined) this.#apply(event)
      else if (event.type === 'BOOKMARK') {
        if (event.object?.metadata?.annotations?.[INITIAL_EVENTS_END] !== 'true') continue
        await this.#settle(pending, event.object.metadata.resourceVersion, signal)
        pending = undefined
      } else this.#stage(event, pending)
    }
    if (signal.aborted) return 0
    onProgress()
    if (pending) throw new ProtocolError('the streaming list ended before it was complete')
    return this.#ended(events, clock.monotonic() - startedAt)
  }

  #stage(event: { readonly type: string; readonly object: T }, pending: Map<string, T>): void {
    const object = this.#staged(event.object)
    if (event.type === 'DELETED') pending.delete(keyOf(object))
    else pending.set(keyOf(object), object)
  }

  #staged(object: T): T {
    return this.#options.store.orStored(this.#options.prepare(object))
  }

  #apply(event: Exclude<WatchEvent<T>, { type: 'ERROR' }>): void {
    const { store, prepare } = this.#options
    this.#fruitless = 0
    this.#expired = false
    this.#heard = true
    if (event.type === 'BOOKMARK') {
      const version = event.object?.metadata?.resourceVersion
      if (version && compareVersions(version, store.version) < 0) {
        // Bookmarks only go forwards. This one says that the server's history is not the one we have seen.
        throw new ProtocolError(`the server went back from resourceVersion ${store.version} to ${version}`)
      }
      store.advance(version)
    } else {
      const object = prepare(event.object)
      if (event.type === 'DELETED') store.remove(object)
      else store.upsert(object)
    }
    this.#resumeFrom = store.version
  }

  async #settle(items: ReadonlyMap<string, T>, version: string | undefined, signal: AbortSignal): Promise<void> {
    if (!version) throw new ProtocolError('the list carries no resourceVersion')
    for (const _ of this.#options.store.replace(items, version)) {
      await sleep(this.#options.clock, 0, signal)
      if (signal.aborted) return
    }
    this.#resumeFrom = version
    this.#streamFailures = 0
    this.#options.onSynced()
  }

  /**
   * A server that closes each watch at once and never says 410 (kubernetes#137089) would have us reconnect for ever
   * from a version that it no longer knows.
   */
  #ended(events: number, lifetimeMs: number): number {
    if (lifetimeMs >= SHORT_WATCH_MS) return 0
    if (events > 0) return FIRST_DELAY_MS
    this.#options.onRestart('short watch')
    this.#countFruitless()
    return this.#backoff.next()
  }

  #failed(error: unknown): number {
    this.#options.onRestart(reasonOf(error))
    if (error instanceof ApiError) this.#options.onProgress()
    if (error instanceof ProtocolError) this.#forget('protocol error')
    else if (this.#hasVanished(error)) this.#forget('missing')
    else if (error instanceof ApiError && error.status === 410) this.#expire()
    else if (error instanceof StreamError) this.#countFruitless()
    else if (error instanceof SilenceError) this.#fellSilent()
    return this.#backoff.next(error instanceof ApiError ? error.retryAfterSeconds : undefined)
  }

  /** 410 right after an outage is the server being back, so wait little; 410 upon 410 is not, so wait longer. */
  #expire(): void {
    if (!this.#expired) this.#backoff.reset()
    this.#expired = true
    this.#forget('expired')
  }

  /**
   * A connection that has died is taken up where it was. But an API server that has seen no event of a kind since it
   * started sends no bookmarks for it either (cacher.go, dispatchEvents), so a watch on which nothing ever came may
   * be in good health: reading everything again tells the two apart, and that nothing was missed.
   */
  #fellSilent(): void {
    this.#backoff.reset()
    if (!this.#heard) this.#forget('silence')
  }

  #countFruitless(): void {
    if (++this.#fruitless >= FRUITLESS_LIMIT) this.#forget('no progress')
  }

  #forget(reason: string): void {
    this.#fruitless = 0
    this.#resumeFrom = undefined
    this.#relistReason = reason
  }
}
