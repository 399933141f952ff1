import { Informer } from '../kube/cache/informer.ts'
import type { CacheObserver } from '../kube/cache/observer.ts'
import type { KubeApi, Resource } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import { SYSTEM_NAMESPACE, WEBHOOK_CONFIGURATION } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import { MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS } from '../kube/vocabulary/resources.ts'
import type { InstalledConfiguration } from '../kube/vocabulary/webhook-configurations.ts'
import { type Secret, servingPair, TLS_SECRET } from './secret.ts'
import type { TlsStore } from './store.ts'
import { caBundle, distrusting, trustProblem } from './trust.ts'

export interface CaBundleWriterDeps {
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
 * Keeps the cluster's trust in step with what is served: a new Secret is served by every replica at once, and the CA
 * bundle of the Secret stands in every webhook of ours. The wanted bundle is compared with every entry after each
 * change, never remembered, so a crash between two writes, or a manifest applied again, is put right.
 */
export class CaBundleWriter {
  readonly #deps: CaBundleWriterDeps
  readonly #secret: Informer<Secret>
  readonly #configurations: ReadonlyMap<Resource, Informer<InstalledConfiguration>>
  #writing: Promise<void> = Promise.resolve()
  #retry: (() => void) | undefined

  constructor(deps: CaBundleWriterDeps) {
    this.#deps = deps
    const named = <T extends KubeObject>(resource: Resource, name: string, namespace?: string) =>
      new Informer<T>({
        ...deps,
        resource,
        fieldSelector: `metadata.name=${name}`,
        ...(namespace ? { namespace } : {}),
      })
    this.#secret = named<Secret>(SECRETS, TLS_SECRET, SYSTEM_NAMESPACE)
    this.#secret.subscribe(({ type, object }) => {
      const pair = type === 'deleted' ? undefined : servingPair(object)
      if (pair !== undefined && deps.store.swap(pair)) this.#align()
    })
    this.#configurations = new Map(
      [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map(resource => {
        const informer = named<InstalledConfiguration>(resource, WEBHOOK_CONFIGURATION)
        informer.subscribe(() => {
          this.#align()
          deps.onConfiguration?.()
        })
        return [resource, informer]
      }),
    )
  }

  start(): void {
    this.#secret.start()
    for (const informer of this.#configurations.values()) informer.start()
  }

  async stop(): Promise<void> {
    this.#retry?.()
    await Promise.all([this.#secret.stop(), ...[...this.#configurations.values()].map(informer => informer.stop())])
    await this.#writing
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
      const reason = trustProblem(kind, configuration, this.#deps.store.current.bundle)
      if (reason !== undefined) return { name, ok: false, reason }
    }
    return { name, ok: true }
  }

  #align(): void {
    this.#writing = this.#writing
      .then(() => this.#writeBundles())
      .catch(error => {
        this.#deps.log.error({ err: error }, 'caBundle could not be written; trying again')
        this.#retry = this.#deps.clock.after(5_000, () => this.#align())
      })
  }

  async #writeBundles(): Promise<void> {
    for (const [resource, informer] of this.#configurations) {
      const configuration = informer.get('', WEBHOOK_CONFIGURATION)
      const { bundle } = this.#deps.store.current
      const names = configuration === undefined ? [] : distrusting(configuration, bundle)
      if (names.length === 0) continue
      // A strategic merge by name changes the bundle and nothing else, whatever else the entries say.
      const webhooks = names.map(name => ({ name, clientConfig: { caBundle: caBundle(bundle) } }))
      const body = { webhooks }
      const written = await this.#deps.api.patch<InstalledConfiguration>(
        resource,
        { name: WEBHOOK_CONFIGURATION },
        { type: 'strategic', body, fieldManager: 'muster-trust' },
      )
      informer.offer(written)
      this.#deps.log.info({ kind: resource.kind, webhooks: names }, 'caBundle written')
    }
  }
}
