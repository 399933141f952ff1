import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Configuration } from '../config/configuration.ts'
import { Informer } from '../kube/cache/informer.ts'
import { OptionalInformer } from '../kube/cache/optional-informer.ts'
import { createKubeClient } from '../kube/client/client.ts'
import type { Credentials } from '../kube/client/credentials.ts'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { DEFAULT_QUEUE, STATUS_POLICY } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import {
  LOCAL_QUEUES,
  MUTATING_WEBHOOKS,
  NAMESPACES,
  VALIDATING_POLICIES,
  VALIDATING_POLICY_BINDINGS,
  VALIDATING_WEBHOOKS,
} from '../kube/vocabulary/resources.ts'
import type { InstalledPolicy, InstalledPolicyBinding } from '../kube/vocabulary/webhook-configurations.ts'
import { Lanes } from '../reconciler/lanes.ts'
import type { CachedWorld } from '../server/asking-world.ts'
import type { LookUp } from '../server/inquiry.ts'
import type { Metrics } from '../server/metrics.ts'
import { SERVING_NAMES, type ServingPair } from '../tls/authority.ts'
import { CaBundleWriter } from '../tls/ca-bundle-writer.ts'
import { ensureSecret } from '../tls/secret.ts'
import { type SecureServer, startRenewal, TlsStore } from '../tls/store.ts'
import { whoAmI } from './connect.ts'
import { assembleController, type Controller } from './controller.ts'
import type { CoverageFacts } from './coverage.ts'
import { CoverageWatch } from './coverage-watch.ts'
import { engineOf } from './engine.ts'
import { giveBackMemory } from './memory.ts'
import { cacheObserver, controllerMetrics } from './metrics.ts'
import { namespaceScope } from './namespace-scope.ts'
import { OwnerCache } from './owner-cache.ts'
import type { StatusPolicyFacts } from './status-policy.ts'
import { WatchMonitor } from './watch-monitor.ts'
import { boundedLookUp, clusterWorld, lookUp, slimNamespace, slimQueue } from './world.ts'

export interface ClusterDeps {
  readonly credentials: Credentials
  readonly config: Configuration
  readonly log: Logger
  readonly metrics: Metrics
  /** Who signs the certificates of callers, where they need one. */
  readonly clientAuthority?: string | undefined
}

/** The client's connections are for writes: whoever has us look up what does not exist must not keep a lift waiting. */
const LOOKUPS_AT_ONCE = 4
/** At a hundred a second, more than can be answered before the API server gives up. */
const MOST_LOOKUPS = 128

/**
 * Everything that runs only with a cluster: the caches behind the webhooks, the certificates the API server trusts,
 * and the reconciler. All replicas serve and keep their caches warm; the one that holds the Lease reconciles.
 */
export class ClusterServices {
  readonly world: CachedWorld
  readonly lookUp: LookUp
  readonly pair: ServingPair
  readonly #api: KubeApi & { close(): Promise<void> }
  readonly #store: TlsStore
  readonly #trust: CaBundleWriter
  readonly #namespaces: Informer<KubeObject>
  readonly #owners: OwnerCache
  readonly #defaultQueues: OptionalInformer<KubeObject>
  readonly #statusPolicy: OptionalInformer<InstalledPolicy>
  readonly #statusPolicyBinding: OptionalInformer<InstalledPolicyBinding>
  readonly #coverage: CoverageWatch
  readonly #watches: WatchMonitor
  readonly #controller: Controller
  readonly #deps: ClusterDeps
  #stopRenewal: () => void = () => {}

  /** Talks to the API server once: who are we, and which certificate do the replicas share? */
  static async connect(deps: ClusterDeps): Promise<ClusterServices> {
    const api = createKubeClient({
      credentials: deps.credentials,
      clock: systemClock,
      onCall: ({ verb, resource, status }) => deps.metrics.apiRequests.inc({ verb, resource, code: String(status) }),
    })
    try {
      const self = await whoAmI(api)
      const pair = await ensureSecret(api, SERVING_NAMES, systemClock.now())
      return new ClusterServices(deps, api, self, pair)
    } catch (error) {
      await api.close()
      throw error
    }
  }

  private constructor(deps: ClusterDeps, api: KubeApi & { close(): Promise<void> }, self: string, pair: ServingPair) {
    const { config, log, metrics } = deps
    this.#watches = new WatchMonitor({ api, clock: systemClock, log })
    const observer = cacheObserver(metrics, this.#watches)
    const ports = { api, clock: systemClock, random: Math.random, log, observer }
    this.#deps = deps
    this.#api = api
    this.pair = pair
    const { clientAuthority } = deps
    this.#store = new TlsStore(pair, { clock: systemClock, log, metrics, names: SERVING_NAMES, clientAuthority })
    this.#trust = new CaBundleWriter({ ...ports, store: this.#store, onConfiguration: () => this.#coverage.look() })
    this.#namespaces = new Informer<KubeObject>({
      ...ports,
      resource: NAMESPACES,
      metadataOnly: true,
      transform: slimNamespace,
    })
    const engine = engineOf(config)
    this.#controller = assembleController({
      ...ports,
      engine,
      scope: namespaceScope(config, this.#namespaces),
      identity: `${hostname()}_${randomUUID()}`,
      metrics: controllerMetrics(metrics),
      onRead: giveBackMemory,
    })
    // What nothing queues excuses no pod, so nobody asks for it.
    this.#owners = new OwnerCache(
      ports,
      config.integrations.frameworks.filter(framework => engine.holds.includes(framework)),
    )
    const named = { fieldSelector: `metadata.name=${DEFAULT_QUEUE}`, metadataOnly: true, transform: slimQueue }
    this.#defaultQueues = new OptionalInformer<KubeObject>({ ...ports, ...named, resource: LOCAL_QUEUES })
    const policy = { ...ports, fieldSelector: `metadata.name=${STATUS_POLICY}` }
    this.#statusPolicy = new OptionalInformer({ ...policy, resource: VALIDATING_POLICIES })
    this.#statusPolicyBinding = new OptionalInformer({ ...policy, resource: VALIDATING_POLICY_BINDINGS })
    this.#coverage = new CoverageWatch({
      ...ports,
      facts: () => this.#coverageFacts(),
      count: (kind, findings) => metrics.webhookCoverage.set({ kind }, findings),
    })
    this.world = clusterWorld({
      config,
      self,
      holds: engine.holds,
      namespaces: this.#namespaces,
      owners: this.#owners,
      defaultQueues: this.#defaultQueues,
    })
    const turns = new Lanes(LOOKUPS_AT_ONCE)
    this.lookUp = boundedLookUp((lookups, signal) => {
      metrics.webhookLookups.inc(lookups.length)
      return lookUp(api, lookups, signal, turns)
    }, MOST_LOOKUPS)
    const { name, holds } = engine
    log.info({ self, server: deps.credentials.server.origin, engine: name, holds }, 'connected to the cluster')
  }

  /** Starts everything. The server must have been built with `pair`; it gets every later certificate. */
  serve(server: SecureServer): void {
    const { log } = this.#deps
    this.#store.attach(server)
    this.#trust.start()
    this.#namespaces.start()
    this.#owners.start()
    this.#defaultQueues.start()
    this.#statusPolicy.start()
    this.#statusPolicyBinding.start()
    this.#coverage.start()
    this.#watches.start()
    this.#controller.start()
    this.#stopRenewal = startRenewal({
      clock: systemClock,
      log,
      store: this.#store,
      load: () => ensureSecret(this.#api, SERVING_NAMES, systemClock.now()),
    })
  }

  readiness(): readonly ReadinessCheck[] {
    const cache = (name: string, synced: boolean): ReadinessCheck =>
      synced ? { name, ok: true } : { name, ok: false, reason: 'not read from the API server yet' }
    return [
      this.#store.readiness(),
      this.#trust.readiness(),
      this.#coverage.readiness(),
      cache('namespaces', this.#namespaces.synced),
      cache('owners', this.#owners.synced),
      cache('default-queues', this.#defaultQueues.synced),
      cache('reconciler-caches', this.#controller.synced),
    ]
  }

  /** What only a new process would put right. */
  liveness(): readonly ReadinessCheck[] {
    return [this.#watches.liveness()]
  }

  async stop(): Promise<void> {
    this.#stopRenewal()
    this.#coverage.stop()
    this.#watches.stop()
    await this.#controller.stop()
    const policies = [this.#statusPolicy, this.#statusPolicyBinding]
    const caches = [this.#trust, this.#namespaces, this.#owners, this.#defaultQueues, ...policies]
    await Promise.all(caches.map(cache => cache.stop()))
    await this.#api.close()
  }

  #coverageFacts(): CoverageFacts | undefined {
    if (!this.#trust.synced || !this.#namespaces.synced || !this.#defaultQueues.synced) return undefined
    const namespaces = [...this.#namespaces.values()].map(({ metadata }) => ({
      name: metadata.name ?? '',
      labels: metadata.labels ?? {},
    }))
    return {
      config: this.#deps.config,
      mutating: this.#trust.configuration(MUTATING_WEBHOOKS),
      validating: this.#trust.configuration(VALIDATING_WEBHOOKS),
      namespaces,
      namespacesWithDefaultQueue: namespaces.map(({ name }) => name).filter(this.world.hasDefaultQueue),
      statusPolicy: this.#statusPolicyFacts(),
    }
  }

  #statusPolicyFacts(): StatusPolicyFacts | undefined {
    if (!this.#statusPolicy.synced || !this.#statusPolicyBinding.synced) return undefined
    return {
      policy: this.#statusPolicy.get('', STATUS_POLICY),
      binding: this.#statusPolicyBinding.get('', STATUS_POLICY),
    }
  }
}
