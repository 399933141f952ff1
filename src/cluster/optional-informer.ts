import { Informer, type InformerOptions } from '../kube/cache/informer.ts'
import { ApiError } from '../kube/vocabulary/api.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'

/** How soon a CRD that was installed after us is noticed. */
const LOOK_AGAIN_MS = 30_000

/**
 * Watches a kind that a cluster may or may not have. Until the API server knows it there is nothing to watch and
 * nothing to wait for; when somebody installs it later, the watch begins then.
 */
export class OptionalInformer<T extends KubeObject> {
  readonly #options: InformerOptions<T>
  readonly #informer: Informer<T>
  readonly #stopping = new AbortController()
  #state: 'asking' | 'missing' | 'watching' = 'asking'
  #cancel: () => void = () => {}

  constructor(options: InformerOptions<T>) {
    this.#options = options
    this.#informer = new Informer<T>(options)
  }

  /** True when everything there is has been seen, which may be nothing. */
  get synced(): boolean {
    return this.#state === 'missing' || this.#informer.synced
  }

  get(namespace: string, name: string): T | undefined {
    return this.#informer.get(namespace, name)
  }

  start(): void {
    const { api, resource, fieldSelector, log } = this.#options
    const query = { limit: 1, metadataOnly: true, ...(fieldSelector && { fieldSelector }) }
    api
      .list(resource, query, { signal: this.#stopping.signal })
      .then(() => this.#watch())
      .catch(error => {
        if (this.#stopping.signal.aborted) return
        if (error instanceof ApiError && error.status === 404) this.#state = 'missing'
        else log.warn({ err: error, resource: resource.plural }, 'cannot see whether this kind is installed')
        this.#cancel = this.#options.clock.after(LOOK_AGAIN_MS, () => this.start())
      })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    await this.#informer.stop()
  }

  #watch(): void {
    if (this.#stopping.signal.aborted) return
    this.#state = 'watching'
    this.#informer.start()
  }
}
