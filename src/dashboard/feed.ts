import { setImmediate } from 'node:timers/promises'
import { explainApiFailure } from '../cluster/connect.ts'
import type { Configuration } from '../config/configuration.ts'
import { Books } from '../insight/dashboard/books.ts'
import type { Caches } from '../insight/dashboard/caches.ts'
import { gatherStory, overCache } from '../insight/dashboard/gather-story.ts'
import type { Overview } from '../insight/dashboard/overview.ts'
import type { Story } from '../insight/dashboard/story.ts'
import type { Look, Placed } from '../insight/dashboard/waiting.ts'
import type { Subject } from '../insight/explain/explanation.ts'
import { type Installation, readInstallation } from '../insight/installation.ts'
import { Sight } from '../insight/sight.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import { microTime } from '../kube/vocabulary/microtime.ts'

/** Changes come in bursts, and nobody reads faster than this. */
const SETTLE_MS = 500
/** Where a look takes long, it is taken so much less often that it takes this part of the time. */
const SHARE = 5
/** Limits change without any Workload changing. */
const REFRESH_MS = 10_000

export interface FeedOptions {
  readonly caches: Caches
  readonly installation: Installation
  /** `--config`, where the configuration is not read from the cluster. */
  readonly config: Configuration | undefined
  /** What the caller calls the cluster. */
  readonly cluster: string
  readonly unseen: readonly string[]
  readonly clock: Clock
}

/** Follows a cluster for the page: a thin shell around its books. */
export class Feed {
  readonly #options: FeedOptions
  readonly #books: Books
  readonly #changed = new Set<() => void>()
  #unseen: readonly string[]
  #installation: Installation
  #cancel: (() => void) | undefined
  #cancelRefresh: (() => void) | undefined
  #costMs = 0
  #trouble = ''
  #doubted = false
  #stopped = false

  constructor(options: FeedOptions) {
    this.#options = options
    const { caches, installation } = options
    this.#installation = installation
    this.#unseen = options.unseen
    this.#books = new Books({ installation, known: caches.known, workloads: () => caches.workloads.values() })
    this.#books.configure(installation, options.unseen)
    caches.subscribe({
      pod: pod => this.#books.seePod(pod),
      workload: (workload, gone) => this.#books.seeWorkload(workload, gone),
      unit: unit => this.#books.touch(unit),
      any: () => this.#soon(),
    })
  }

  start(): void {
    this.#options.caches.start()
    this.#refreshLater()
    void this.#options.caches.whenSynced().then(
      () => this.#soon(),
      () => {},
    )
  }

  /** A watch has broken off: whether the cluster still answers is asked at once. */
  doubt(): void {
    if (this.#trouble === '' && !this.#doubted) this.#refreshLater(0)
    this.#doubted = true
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    this.#cancelRefresh?.()
    await this.#options.caches.stop()
  }

  /** There is something new to look at. */
  onChange(changed: () => void): void {
    this.#changed.add(changed)
  }

  async overview(): Promise<Overview> {
    const { clock, caches, cluster } = this.#options
    const started = clock.monotonic()
    await this.#settle()
    const about = { cluster, namespace: caches.namespace, isComplete: caches.synced, trouble: this.#trouble }
    const overview = this.#books.overview(about, clock.now())
    this.#costMs = clock.monotonic() - started
    return overview
  }

  async waiting(look: Look, from: number, count: number): Promise<{ total: number; rows: readonly Placed[] }> {
    await this.#settle()
    return this.#books.waiting(look, from, count)
  }

  async story(subject: Subject): Promise<Story> {
    const { caches, clock } = this.#options
    const cached = () => (caches.synced && caches.namespace === '' ? caches.workloads.values() : undefined)
    const sight = new Sight(overCache(caches.api, this.#installation.engine.workloads, cached), clock)
    return await gatherStory(sight, this.#installation, subject, this.#now())
  }

  async #settle(): Promise<void> {
    for (const _ of this.#books.settle(this.#now())) await setImmediate()
  }

  #soon(): void {
    if (this.#cancel !== undefined || this.#stopped) return
    this.#cancel = this.#options.clock.after(Math.max(SETTLE_MS, this.#costMs * SHARE), () => {
      this.#cancel = undefined
      for (const changed of this.#changed) changed()
    })
  }

  #refreshLater(ms = REFRESH_MS): void {
    this.#cancelRefresh?.()
    this.#cancelRefresh = this.#options.clock.after(ms, () => {
      void this.#refresh().finally(() => {
        this.#doubted = false
        if (!this.#stopped) this.#refreshLater()
      })
    })
  }

  /** The engine stays the one that it was: with another, the command is started anew, as Muster itself is. */
  async #refresh(): Promise<void> {
    const { caches, config, clock } = this.#options
    const sight = new Sight(caches.api, clock)
    try {
      const read = await readInstallation(sight, config)
      this.#installation = { ...read, engine: this.#installation.engine }
      await caches.api.list(read.engine.workloads, { ...caches.scope, limit: 1 })
      this.#books.configure(this.#installation, [...new Set([...this.#unseen, ...sight.unseen])])
      this.#trouble = ''
    } catch (error) {
      this.#trouble = explainApiFailure(error, this.#options.cluster)
    }
    this.#soon()
  }

  #now(): string {
    return microTime(this.#options.clock.now()).replace(/\.\d+Z$/, 'Z')
  }
}
