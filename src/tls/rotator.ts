import { Informer } from '../kube/cache/informer.ts'
import type { CacheObserver } from '../kube/cache/observer.ts'
import { ApiError, type KubeApi, type Resource } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import { SYSTEM_NAMESPACE, WEBHOOK_CONFIGURATION } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import { MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS } from '../kube/vocabulary/resources.ts'
import type { InstalledConfiguration } from '../kube/vocabulary/webhook-configurations.ts'
import { bundleOf, SERVING_NAMES } from './authority.ts'
import { currentPair, storedFacts } from './record.ts'
import {
  type Authority,
  decideRotation,
  type InstalledBundle,
  type Rotation,
  SPREAD_MS,
  type Stored,
} from './rotation.ts'
import { recordIn, type Secret, TLS_SECRET, takeStep } from './secret.ts'
import { Sightings } from './sightings.ts'
import type { TlsStore } from './store.ts'
import { caBundle, differing, trustedBy, trustProblem } from './trust.ts'

export interface RotatorDeps {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer: CacheObserver
  readonly store: TlsStore
  /** The installed webhook configuration has changed. */
  readonly onConfiguration?: () => void
}

/**
 * The wall clock is looked at every minute: a timer counts on a clock that stands still while a machine is suspended
 * (cert-manager#8464), and one of more than 24 days fires at once in Node.
 */
const LOOK_MS = 60_000
const RETRY_MS = 5_000

/**
 * Keeps the certificates of all replicas and the trust of the cluster in step: looks at the Secret and at every
 * installed bundle after each change and each minute, decides, and does what was decided. Nothing is remembered that
 * matters, so a crash between two writes, a lost answer, or a manifest that is applied again is put right. Every replica
 * does this; each write names the version that it was decided on, so that none undoes another's.
 */
export class Rotator {
  readonly #deps: RotatorDeps
  readonly #secret: Informer<Secret>
  readonly #configurations: ReadonlyMap<Resource, Informer<InstalledConfiguration>>
  readonly #records = new Sightings()
  readonly #trusted = new Sightings()
  #acting: Promise<void> = Promise.resolve()
  #nextLook = () => {}
  #lastStepAt = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(deps: RotatorDeps) {
    this.#deps = deps
    const named = <T extends KubeObject>(resource: Resource, name: string, namespace?: string) =>
      new Informer<T>({
        ...deps,
        resource,
        fieldSelector: `metadata.name=${name}`,
        ...(namespace ? { namespace } : {}),
        // What is written comes back as an answer, too, also where there was nothing before.
        accepts: ({ metadata }) => metadata.name === name,
      })
    this.#secret = named<Secret>(SECRETS, TLS_SECRET, SYSTEM_NAMESPACE)
    this.#secret.subscribe(() => this.#look())
    this.#configurations = new Map(
      [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map(resource => {
        const informer = named<InstalledConfiguration>(resource, WEBHOOK_CONFIGURATION)
        informer.subscribe(() => {
          this.#look()
          deps.onConfiguration?.()
        })
        return [resource, informer]
      }),
    )
  }

  start(): void {
    const informers = [this.#secret, ...this.#configurations.values()]
    for (const informer of informers) informer.start()
    // Stopped before they have read anything, they say so, and there is nothing to look at.
    Promise.all(informers.map(informer => informer.whenSynced())).then(
      () => this.#look(),
      () => {},
    )
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#nextLook()
    await Promise.all([this.#secret.stop(), ...[...this.#configurations.values()].map(informer => informer.stop())])
    await this.#acting
  }

  /** As installed; undefined if it is not there, or has not been read yet. */
  configuration(resource: Resource): InstalledConfiguration | undefined {
    return this.#configurations.get(resource)?.get('', WEBHOOK_CONFIGURATION)
  }

  get synced(): boolean {
    return [...this.#configurations.values()].every(informer => informer.synced)
  }

  readiness(): ReadinessCheck {
    const name = 'webhook-trust'
    for (const [{ kind }, informer] of this.#configurations) {
      const configuration = informer.get('', WEBHOOK_CONFIGURATION)
      if (configuration === undefined && !informer.synced) {
        return { name, ok: false, reason: `${kind} has not been read yet` }
      }
      const reason = trustProblem(kind, configuration, this.#deps.store.facts?.authority)
      if (reason !== undefined) return { name, ok: false, reason }
    }
    return { name, ok: true }
  }

  #look(): void {
    this.#acting = this.#acting
      .then(() => this.#act())
      .then(
        isSettled => this.#lookAgain(isSettled ? LOOK_MS : SPREAD_MS),
        error => {
          // Somebody else was faster, and the watch brings what he has done.
          if (!(error instanceof ApiError && error.status === 409)) {
            this.#deps.log.error({ err: error }, 'certificate or caBundle could not be written; trying again')
          }
          this.#lookAgain(RETRY_MS)
        },
      )
  }

  #lookAgain(ms: number): void {
    this.#nextLook()
    if (!this.#stopped) this.#nextLook = this.#deps.clock.after(ms, () => this.#look())
  }

  /** True when nothing is on its way from one phase to the next. */
  async #act(): Promise<boolean> {
    if (this.#stopped || !this.#secret.synced || !this.synced) return true
    const { store, clock } = this.#deps
    const secret = this.#secret.get(SYSTEM_NAMESPACE, TLS_SECRET)
    const stored = this.#stored(secret)
    const installed = this.#installed()
    const rotation = decideRotation(stored, installed, clock.now(), store.facts)
    const pair = currentPair(recordIn(secret))
    // What no client would accept is offered, too: the store refuses it, and says why.
    const isServed = pair !== undefined && (rotation.serve || stored.current === undefined) && store.swap(pair)
    if (rotation.publish !== undefined) await this.#publish(rotation.publish)
    if (rotation.record !== 'keep') await this.#take(rotation.record, secret)
    return isServed && rotation.publish === undefined && rotation.record === 'keep' && stored.next === undefined
  }

  #stored(secret: Secret | undefined): Stored {
    const stored = storedFacts(recordIn(secret), SERVING_NAMES, 0)
    const authorities = stored.authorities.map(({ fingerprint }) => fingerprint).join()
    const age = this.#records.see([authorities], this.#deps.clock.monotonic())
    return { ...stored, ageMs: age(authorities) }
  }

  #installed(): readonly InstalledBundle[] {
    const entries = [...this.#configurations].flatMap(([{ kind }, informer]) =>
      (informer.get('', WEBHOOK_CONFIGURATION)?.webhooks ?? []).map(webhook => ({
        place: `${kind} ${webhook.name} `,
        authorities: trustedBy(webhook),
      })),
    )
    const seen = entries.flatMap(({ place, authorities }) => authorities.map(({ fingerprint }) => place + fingerprint))
    const age = this.#trusted.see(seen, this.#deps.clock.monotonic())
    return entries.map(({ place, authorities }) => ({
      authorities: authorities.map(authority => ({ ...authority, ageMs: age(place + authority.fingerprint) })),
    }))
  }

  async #publish(authorities: readonly Authority[]): Promise<void> {
    for (const [resource, informer] of this.#configurations) {
      const configuration = informer.get('', WEBHOOK_CONFIGURATION)
      const names = configuration === undefined ? [] : differing(configuration, authorities)
      if (names.length === 0) continue
      const bundle = caBundle(bundleOf(authorities))
      // A strategic merge by name changes the bundle and nothing else, whatever else the entries say.
      const webhooks = names.map(name => ({ name, clientConfig: { caBundle: bundle } }))
      const body = { metadata: { resourceVersion: configuration?.metadata.resourceVersion }, webhooks }
      const written = await this.#deps.api.patch<InstalledConfiguration>(
        resource,
        { name: WEBHOOK_CONFIGURATION },
        { type: 'strategic', body, fieldManager: 'muster-trust' },
      )
      informer.offer(written)
      this.#deps.log.info({ kind: resource.kind, webhooks: names }, 'caBundle written')
    }
  }

  async #take(step: Exclude<Rotation['record'], 'keep'>, found: Secret | undefined): Promise<void> {
    const { api, clock, log } = this.#deps
    // Two replicas whose clocks are weeks apart each find the other's certificate invalid, and need not hurry.
    if (clock.monotonic() - this.#lastStepAt < SPREAD_MS) return
    this.#lastStepAt = clock.monotonic()
    const written = await takeStep(api, found, step, SERVING_NAMES, clock.now())
    this.#secret.offer(written)
    log.info({ secret: TLS_SECRET, step }, 'certificate rotation')
  }
}
