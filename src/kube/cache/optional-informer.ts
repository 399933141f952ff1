import { ApiError } from '../vocabulary/api.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { Informer, type InformerOptions } from './informer.ts'

/** How soon a CRD that was installed after us is noticed. */
const LOOK_AGAIN_MS = 30_000
/** How soon to ask again when there was no answer: whoever waits for this cache waits with everything. */
const RETRY_MS = 1000

type Asked<T extends KubeObject> = Pick<Informer<T>, 'get' | 'byIndex' | 'values' | 'subscribe' | 'offer'>

/**
 * Watches a kind that a cluster may or may not have. Until the API server knows it there is nothing to watch and
 * nothing to wait for; when somebody installs it later, the watch begins then. Taken away again, it has no objects.
 */
export class OptionalInformer<T extends KubeObject> implements Asked<T> {
  readonly #options: InformerOptions<T>
  readonly #informer: Informer<T>
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<{ readonly resolve: () => void; readonly reject: (error: Error) => void }>()
  #state: 'asking' | 'missing' | 'watching' = 'asking'
  #cancel: () => void = () => {}

  constructor(options: InformerOptions<T>) {
    this.#options = options
    this.#informer = new Informer<T>({ ...options, mayVanish: true })
  }

  /** True when everything there is has been seen, which may be nothing. */
  get synced(): boolean {
    return this.#state === 'missing' || this.#informer.synced
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#informer.get(namespace, name)
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#informer.byIndex(index, value)
  }

  values(): IterableIterator<T> {
    return this.#informer.values()
  }

  subscribe(subscriber: Parameters<Informer<T>['subscribe']>[0]): () => void {
    return this.#informer.subscribe(subscriber)
  }

  offer(object: T): boolean {
    return this.#informer.offer(object)
  }

  /** Resolves when everything there is has been seen; rejects if `stop` comes first. */
  async whenSynced(): Promise<void> {
    await this.#whenAnswered()
    if (this.#state === 'watching') await this.#informer.whenSynced()
  }

  /** As of an informer. Of a kind that is not installed there is nothing newer. */
  async refresh(): Promise<void> {
    await this.#whenAnswered()
    if (this.#state === 'watching') await this.#informer.refresh()
  }

  start(): void {
    const { api, resource, labelSelector, fieldSelector, log } = this.#options
    const selectors = { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) }
    api
      .list(resource, { limit: 1, metadataOnly: true, ...selectors }, { signal: this.#stopping.signal })
      .then(() => this.#watch())
      .catch(error => {
        if (this.#stopping.signal.aborted) return
        const missing = error instanceof ApiError && error.status === 404
        if (missing) this.#answered('missing')
        else log.warn({ err: error, resource: resource.plural }, 'cannot see whether this kind is installed')
        this.#cancel = this.#options.clock.after(missing ? LOOK_AGAIN_MS : RETRY_MS, () => this.start())
      })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    for (const waiter of this.#waiting) waiter.reject(new Error('informer: stopped before its first sync'))
    this.#waiting.clear()
    await this.#informer.stop()
  }

  #watch(): void {
    if (this.#stopping.signal.aborted) return
    this.#answered('watching')
    this.#informer.start()
  }

  #answered(state: 'missing' | 'watching'): void {
    this.#state = state
    for (const waiter of this.#waiting) waiter.resolve()
    this.#waiting.clear()
  }

  async #whenAnswered(): Promise<void> {
    if (this.#state !== 'asking') return
    await new Promise<void>((resolve, reject) => this.#waiting.add({ resolve, reject }))
  }
}
