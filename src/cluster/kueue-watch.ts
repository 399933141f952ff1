import { isDeepStrictEqual } from 'node:util'
import { kueueEngine } from '../engines/kueue/kueue.ts'
import type { Discovery, KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import { KUEUE_GROUP, KUEUE_KINDS, KUEUE_VERSIONS, type KueueVersion } from '../kube/vocabulary/kueue.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import type { Engine } from '../reconciler/engine.ts'
import { orAbsent, resourcesIn, versionsIn } from './discovery.ts'
import { type KueueSetup, kueueSetup } from './kueue-configuration.ts'

export interface KueueWatchDeps {
  readonly api: Discovery & Pick<KubeApi, 'get'>
  readonly clock: Clock
  readonly log: Log
}

/** No watch tells of API groups. What somebody is about to put right is looked at more often. */
const INTERVAL_MS = 30_000
const SOON_MS = 5_000

/** What the engine depends on. When it changes, the engine is another one. */
interface Found extends KueueSetup {
  readonly version: KueueVersion
}

/** Knows in which version the API server serves Kueue's Workloads and how Kueue is set up, and has the engine for that. */
export class KueueWatch {
  readonly #deps: KueueWatchDeps
  readonly #stopping = new AbortController()
  readonly #changed = new Set<() => void>()
  #found: Found | undefined
  #engine: Engine | undefined
  #asked = false
  #cancel: () => void = () => {}

  constructor(deps: KueueWatchDeps) {
    this.#deps = deps
  }

  get engine(): Engine | undefined {
    return this.#engine
  }

  onChange(changed: () => void): void {
    this.#changed.add(changed)
  }

  async ask(): Promise<void> {
    const found = await this.#find()
    const isNews = !isDeepStrictEqual(found, this.#found)
    if (this.#asked && !isNews) return
    this.#asked = true
    this.#found = found
    this.#engine = found && kueueEngine(found.version, { ...found, gatesPods: found.podIntegration !== undefined })
    this.#tell()
    if (isNews) for (const changed of this.#changed) changed()
  }

  async #find(): Promise<Found | undefined> {
    const { api } = this.#deps
    const { signal } = this.#stopping
    const version = await servedVersion(api, this.#found?.version, signal)
    return version && { version, ...(await kueueSetup(api, signal)) }
  }

  #tell(): void {
    const { log } = this.#deps
    if (this.#found === undefined) {
      log.warn({}, MISSING)
      return
    }
    const { version, podIntegration, waitsForPodsReady } = this.#found
    log.info({ version, waitsForPodsReady }, `Kueue's Workloads are served in version ${version}`)
    if (podIntegration !== undefined) log.warn({}, stillOn(podIntegration))
  }

  start(): void {
    const pause = this.#found?.podIntegration !== undefined || this.#found === undefined ? SOON_MS : INTERVAL_MS
    this.#cancel = this.#deps.clock.after(pause, () => {
      this.ask()
        .catch(error => {
          if (this.#stopping.signal.aborted) return
          this.#deps.log.warn({ err: error }, "cannot see whether the API server serves Kueue's Workloads")
        })
        .finally(() => {
          if (!this.#stopping.signal.aborted) this.start()
        })
    })
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel()
  }

  readiness(): readonly ReadinessCheck[] {
    const name = 'kueue'
    if (this.#found === undefined) return [{ name, ok: false, reason: MISSING }]
    const { version, podIntegration } = this.#found
    if (podIntegration !== undefined) return [{ name, ok: false, reason: stillOn(podIntegration) }]
    return [{ name, ok: true, reason: `Workloads of version ${version}` }]
  }
}

const MISSING =
  `the API server serves no Workloads of ${KUEUE_GROUP} (${KUEUE_VERSIONS.join(' or ')}), and nobody admits pods: ` +
  'install Kueue, or set engine: builtin'

/** Two that lift the same gate is the worst that can be: whatever the other does not know of, starts. */
const stillOn = (why: string): string =>
  `Kueue's own pod integration is on (${why}): Muster lifts nothing that Kueue has gated, and takes no new pods. ` +
  'Switch it off (docs/kueue.md), or uninstall Muster'

/** The one in use as long as it is served: a change of version is a change of everything that is watched. */
async function servedVersion(
  api: Discovery,
  inUse: KueueVersion | undefined,
  signal: AbortSignal,
): Promise<KueueVersion | undefined> {
  const served = versionsIn(await api.discover([], { signal })).get(KUEUE_GROUP) ?? []
  const candidates = inUse === undefined ? KUEUE_VERSIONS : [inUse, ...KUEUE_VERSIONS]
  for (const version of candidates) {
    if (!served.includes(version)) continue
    const { workloads } = KUEUE_KINDS[version]
    const resources = resourcesIn(await orAbsent(api.discover([KUEUE_GROUP, version], { signal })))
    if (resources.includes(workloads.plural)) return version
  }
  return undefined
}
