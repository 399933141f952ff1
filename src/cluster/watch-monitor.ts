import type { ObservedCache } from '../kube/cache/observer.ts'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import { NAMESPACES } from '../kube/vocabulary/resources.ts'
import { type DirectAnswers, isSuspicious, judgeWatches, type WatchFacts } from './watch-progress.ts'

export interface WatchMonitorDeps {
  readonly api: KubeApi
  readonly clock: Clock
  readonly log: Log
}

const INTERVAL_MS = 10_000
const ANSWER_WITHIN_MS = 5_000
/** Later than a look can be if the process runs at all: it was stopped, and so were its watches. */
const OVERSLEPT_MS = 30_000

/** Looks after the watches of all caches of a process, and asks the API server itself when they fall silent. */
export class WatchMonitor {
  readonly #deps: WatchMonitorDeps
  readonly #caches = new Set<ObservedCache>()
  readonly #stopping = new AbortController()
  #direct: DirectAnswers
  #lookedAt: number
  #failing = false
  #cancel: () => void = () => {}

  constructor(deps: WatchMonitorDeps) {
    this.#deps = deps
    this.#lookedAt = deps.clock.monotonic()
    this.#direct = { answered: false, excusedUntil: this.#lookedAt }
  }

  watch(cache: ObservedCache): void {
    this.#caches.add(cache)
  }

  unwatch(cache: ObservedCache): void {
    this.#caches.delete(cache)
  }

  start(): void {
    this.#lookedAt = this.#deps.clock.monotonic()
    this.#lookLater()
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel()
  }

  /** From what is known already: a probe of the kubelet waits for nobody. */
  liveness(): ReadinessCheck {
    return judgeWatches(this.#facts(), this.#direct, this.#deps.clock.monotonic())
  }

  #lookLater(): void {
    if (!this.#stopping.signal.aborted) this.#cancel = this.#deps.clock.after(INTERVAL_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { clock } = this.#deps
    const now = clock.monotonic()
    const overslept = now - this.#lookedAt > OVERSLEPT_MS
    this.#lookedAt = now
    const suspicious = isSuspicious(this.#facts(), now)
    const answered = suspicious && (await this.#ask())
    const excused = overslept || (suspicious && !answered)
    this.#direct = { answered, excusedUntil: excused ? clock.monotonic() : this.#direct.excusedUntil }
    this.#tell()
    this.#lookLater()
  }

  /** A read that Muster may make in any cluster, on the connections that calls use. */
  async #ask(): Promise<boolean> {
    const { api, log } = this.#deps
    try {
      const limits = { signal: this.#stopping.signal, timeoutMs: ANSWER_WITHIN_MS }
      await api.get(NAMESPACES, { name: SYSTEM_NAMESPACE }, limits)
      return true
    } catch (error) {
      log.debug({ err: error }, 'the watches are silent and a direct request fails, too')
      return false
    }
  }

  #tell(): void {
    const { ok, reason } = this.liveness()
    if (!ok && !this.#failing) this.#deps.log.error({ reason }, 'not healthy any more')
    if (ok && this.#failing) this.#deps.log.info({}, 'the watches are back')
    this.#failing = !ok
  }

  #facts(): readonly WatchFacts[] {
    return Array.from(this.#caches, ({ resource, synced, lastProgressAt }) => ({
      resource: resource.plural,
      synced,
      lastProgressAt,
    }))
  }
}
