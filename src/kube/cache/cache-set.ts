import type { InformerOptions } from './informer.ts'

/** What every cache of a process shares. */
export type CachePorts = Pick<InformerOptions<never>, 'api' | 'clock' | 'random' | 'log' | 'observer'>

export interface Cache {
  readonly synced: boolean
  start(): void
  stop(): Promise<void>
  whenSynced(): Promise<void>
  refresh(): Promise<void>
}

/** Caches that are one: they start and stop together, and are read when each of them is. */
export class CacheSet implements Cache {
  readonly #caches: readonly Cache[]
  #started = false

  constructor(caches: readonly Cache[]) {
    this.#caches = caches
  }

  get synced(): boolean {
    return this.#started && this.#caches.every(cache => cache.synced)
  }

  /** Once, however often it is asked for. */
  start(): void {
    if (this.#started) return
    this.#started = true
    for (const cache of this.#caches) cache.start()
  }

  /** Of what was never started nothing will ever be known, and nobody waits for it. */
  async whenSynced(): Promise<void> {
    if (this.#started) await Promise.all(this.#caches.map(cache => cache.whenSynced()))
  }

  async refresh(): Promise<void> {
    if (this.#started) await Promise.all(this.#caches.map(cache => cache.refresh()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#caches.map(cache => cache.stop()))
  }
}
