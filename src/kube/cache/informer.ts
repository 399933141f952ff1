import { type KubeApi, type ListOptions, ProtocolError, type Resource } from '../vocabulary/api.ts'
import type { Clock, Random } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { type Outline, outlined } from '../vocabulary/outline.ts'
import type { CacheObserver, ObservedCache } from './observer.ts'
import { Reflector } from './reflector.ts'
import { type Change, type IndexFunction, ObjectStore } from './store.ts'

export interface InformerOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly resource: Resource
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly metadataOnly?: boolean
  /** What `transform` and everybody else reads of an object. Nothing else of it is there, be it large or small. */
  readonly outline?: Outline
  /** What is kept of each object. By default everything but `managedFields`. */
  readonly transform?: (object: T) => T
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /**
   * The selectors of the watch as a function. Needed only where objects are offered to a filtered informer: without it,
   * a filtered informer takes no offered object that it does not hold already.
   */
  readonly accepts?: (object: T) => boolean
  /** Whether a kind that the server does not know any more is a kind without objects. */
  readonly mayVanish?: boolean
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer: CacheObserver
}

/**
 * A local copy of one resource that keeps itself equal to what the API server holds, and tells what changes.
 * It recovers from every failure by itself; the only way to end it is `stop`.
 */
export class Informer<T extends KubeObject> implements ObservedCache {
  readonly #options: InformerOptions<T>
  readonly #store: ObjectStore<T>
  readonly #reflector: Reflector<T>
  readonly #stopping = new AbortController()
  readonly #subscribers = new Set<(change: Change<T>) => void>()
  readonly #waiting = new Set<{ readonly resolve: () => void; readonly reject: (error: Error) => void }>()
  #running: Promise<void> | undefined
  #synced = false
  #lastProgressAt: number

  constructor(options: InformerOptions<T>) {
    this.#options = options
    const { api, resource, clock, random, log, indexes, observer } = options
    const filtered = options.labelSelector !== undefined || options.fieldSelector !== undefined
    this.#store = new ObjectStore<T>({
      ...(indexes && { indexes }),
      accepts: options.accepts ?? (({ metadata }) => !filtered || this.#holds(metadata.namespace, metadata.name)),
      onChange: change => this.#deliver(change),
      onIndexError: (index, error) => this.#isolate(error, `index function ${index} failed: the object is not in it`),
    })
    this.#lastProgressAt = clock.monotonic()
    this.#reflector = new Reflector<T>({
      api,
      resource,
      query: queryOf(options),
      store: this.#store,
      mayVanish: options.mayVanish ?? false,
      prepare: object => this.#prepare(object),
      clock,
      random,
      log,
      onProgress: () => {
        this.#lastProgressAt = clock.monotonic()
      },
      onSynced: () => this.#settleWaiting(),
      onRelist: reason => observer.relisted(resource, reason),
      onRestart: reason => observer.restarted(resource, reason),
    })
  }

  start(): void {
    if (this.#stopping.signal.aborted) throw new Error('informer: it cannot start again after stop')
    if (this.#running !== undefined) return
    this.#options.observer.started(this)
    this.#running = this.#reflector.run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#options.observer.stopped(this)
    for (const waiter of this.#waiting) waiter.reject(stoppedTooEarly())
    this.#waiting.clear()
    await this.#running
  }

  get resource(): Resource {
    return this.#options.resource
  }

  get synced(): boolean {
    return this.#synced
  }

  /** Resolves after the first complete list; rejects if `stop` comes first. */
  async whenSynced(): Promise<void> {
    if (this.#synced) return
    if (this.#stopping.signal.aborted) throw stoppedTooEarly()
    await new Promise<void>((resolve, reject) => this.#waiting.add({ resolve, reject }))
  }

  /**
   * Resolves when the store holds at least what the API server held when this was called. A watch may lag; whoever
   * takes over from somebody else must not decide on what was true before the other's last write.
   */
  async refresh(): Promise<void> {
    if (this.#stopping.signal.aborted) throw stoppedTooEarly()
    this.#reflector.refresh()
    await new Promise<void>((resolve, reject) => this.#waiting.add({ resolve, reject }))
  }

  /** Whatever the server said counts, also a refusal: what is silent has lost its server. */
  get lastProgressAt(): number {
    return this.#lastProgressAt
  }

  get size(): number {
    return this.#store.size
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#store.get(namespace, name)
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#store.byIndex(index, value)
  }

  values(): IterableIterator<T> {
    return this.#store.values()
  }

  /** Changes from now on; what is already there is in `values()`. */
  subscribe(subscriber: (change: Change<T>) => void): () => void {
    this.#subscribers.add(subscriber)
    return () => {
      this.#subscribers.delete(subscriber)
    }
  }

  /** Read your writes: hand in what a write returned. True if it was news to the store. */
  offer(object: T): boolean {
    return this.#store.offer(this.#prepare(object))
  }

  #holds(namespace: string | undefined, name: string | undefined): boolean {
    return name !== undefined && this.#store.get(namespace, name) !== undefined
  }

  #prepare(object: T): T {
    if (typeof object?.metadata?.name !== 'string') {
      throw new ProtocolError(`the server sent something that is no ${this.#options.resource.kind}: it has no name`)
    }
    const kept = partOf(object, this.#options.outline)
    try {
      return this.#options.transform?.(kept) ?? kept
    } catch (error) {
      this.#isolate(error, 'transform failed: the object is kept as it is')
      return kept
    }
  }

  #deliver(change: Change<T>): void {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(change)
      } catch (error) {
        this.#isolate(error, 'subscriber failed: it has missed a change')
      }
    }
  }

  /** The code of others, run here, must never end the informer or the process. */
  #isolate(error: unknown, message: string): void {
    this.#options.observer.failed(this.#options.resource)
    this.#options.log.error({ err: error, resource: this.#options.resource.plural }, message)
  }

  #settleWaiting(): void {
    this.#synced = true
    for (const waiter of this.#waiting) waiter.resolve()
    this.#waiting.clear()
  }
}

function partOf<T extends KubeObject>(object: T, outline: Outline | undefined): T {
  if (outline === undefined) return withoutManagedFields(object)
  const { omitted } = object
  return { ...(outlined(object, outline) as T), ...(omitted && { omitted }) }
}

/** Half of a pod's JSON can be bookkeeping of who set which field; nobody here reads it. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function queryOf(options: ListOptions): ListOptions {
  const { namespace, labelSelector, fieldSelector, metadataOnly, outline } = options
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(metadataOnly !== undefined && { metadataOnly }),
    ...(outline !== undefined && { outline }),
  }
}

function stoppedTooEarly(): Error {
  return new Error('informer: stopped before its first sync')
}
