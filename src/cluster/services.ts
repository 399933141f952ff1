import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Configuration } from '../config/configuration.ts'
import type { LiveConfiguration } from '../config/live.ts'
import type { ConfigurationChange } from '../config/watch.ts'
import { Informer } from '../kube/cache/informer.ts'
import { OptionalInformer } from '../kube/cache/optional-informer.ts'
import { createKubeClient, type KubeClient } from '../kube/client/client.ts'
import type { Credentials } from '../kube/client/credentials.ts'
import { EventRecorder } from '../kube/coordination/events.ts'
import { systemClock } from '../kube/vocabulary/clock.ts'
import { DEFAULT_QUEUE, STATUS_POLICY, SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
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
import { Rotator } from '../tls/rotator.ts'
import { firstPair } from '../tls/secret.ts'
import { type SecureServer, TlsStore } from '../tls/store.ts'
import { heldBy } from '../webhooks/local-world.ts'
import { coSchedulers } from './co-schedulers.ts'
import { whoAmI } from './connect.ts'
import { assembleController } from './controller.ts'
import type { CoverageFacts } from './coverage.ts'
import { CoverageWatch } from './coverage-watch.ts'
import { type EngineSource, engineSource } from './engine.ts'
import { LateController } from './late-controller.ts'
import { giveBackMemory } from './memory.ts'
import { cacheObserver, controllerMetrics } from './metrics.ts'
import { namespaceScope } from './namespace-scope.ts'
import { OwnerCache } from './owner-cache.ts'
import { PodGrouperWatch } from './pod-grouper-watch.ts'
import { SchedulingWatch } from './scheduling-watch.ts'
import type { StatusPolicyFacts } from './status-policy.ts'
import { WatchMonitor } from './watch-monitor.ts'
import { boundedLookUp, clusterWorld, lookUp, slimNamespace, slimQueue } from './world.ts'

export interface ClusterDeps {
  readonly credentials: Credentials
  readonly live: LiveConfiguration
  readonly log: Logger
  readonly metrics: Metrics
  /** Who signs the certificates of callers, where they need one. */
  readonly clientAuthority?: string | undefined
  /** Ends the wait for a cluster that does not answer. */
  readonly stopping?: AbortSignal
}

/** Where the manifests have it. Muster may not read it, so its uid is not known. */
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', namespace: SYSTEM_NAMESPACE, name: 'muster', uid: '' }

/** The client's connections are for writes: whoever has us look up what does not exist must not keep a lift waiting. */
const LOOKUPS_AT_ONCE = 4
/** At a hundred a second, more than can be answered before the API server gives up. */
const MOST_LOOKUPS = 128

/**
 * Everything that runs only with a cluster: the caches behind the webhooks, the certificates the API server trusts,
 * and the reconciler. All replicas serve and keep their caches warm; the one that holds the Lease reconciles.
 */
export class ClusterServices {
  readonly lookUp: LookUp
  readonly pair: ServingPair
  readonly #api: KubeClient
  readonly #store: TlsStore
  readonly #rotator: Rotator
  readonly #namespaces: Informer<KubeObject>
  readonly #owners: OwnerCache
  readonly #defaultQueues: OptionalInformer<KubeObject>
  readonly #statusPolicy: OptionalInformer<InstalledPolicy>
  readonly #statusPolicyBinding: OptionalInformer<InstalledPolicyBinding>
  readonly #coverage: CoverageWatch
  readonly #scheduling: SchedulingWatch
  readonly #podGrouper: PodGrouperWatch
  readonly #watches: WatchMonitor
  readonly #engine: EngineSource
  readonly #controller: LateController
  readonly #deps: ClusterDeps
  readonly #events: EventRecorder
  #world: CachedWorld

  /** Talks to the API server once: who are we, which certificate do the replicas share, and what is served? */
  static async connect(deps: ClusterDeps): Promise<ClusterServices> {
    const api = createKubeClient({
      credentials: deps.credentials,
      clock: systemClock,
      onCall: ({ verb, resource, status }) => deps.metrics.apiRequests.inc({ verb, resource, code: String(status) }),
    })
    const giveUp = (): void => void api.close()
    deps.stopping?.addEventListener('abort', giveUp)
    try {
      const self = await whoAmI(api)
      const pair = await firstPair(api, SERVING_NAMES, systemClock.now())
      const services = new ClusterServices(deps, api, self, pair)
      await services.#scheduling.ask()
      await services.#engine.ask()
      return services
    } catch (error) {
      await api.close()
      throw error
    } finally {
      deps.stopping?.removeEventListener('abort', giveUp)
    }
  }

  private constructor(deps: ClusterDeps, api: KubeClient, self: string, pair: ServingPair) {
    const { live, log, metrics } = deps
    const config = live.current
    this.#watches = new WatchMonitor({ api, clock: systemClock, log })
    const observer = cacheObserver(metrics, this.#watches)
    const ports = { api, clock: systemClock, random: Math.random, log, observer }
    this.#deps = deps
    this.#api = api
    this.pair = pair
    const { clientAuthority } = deps
    this.#store = new TlsStore(pair, { clock: systemClock, log, metrics, names: SERVING_NAMES, clientAuthority })
    this.#rotator = new Rotator({ ...ports, store: this.#store, onConfiguration: () => this.#coverage.look() })
    this.#namespaces = new Informer<KubeObject>({
      ...ports,
      resource: NAMESPACES,
      metadataOnly: true,
      transform: slimNamespace,
    })
    this.#scheduling = new SchedulingWatch({
      ...ports,
      api,
      config: config.coScheduling,
      count: ({ kubernetes, kai }) => {
        metrics.coScheduling.set({ backend: 'kubernetes' }, kubernetes?.podGroups ? 1 : 0)
        metrics.coScheduling.set({ backend: 'kai' }, kai ? 1 : 0)
      },
    })
    const usesKai = ['auto', 'kai'].includes(config.coScheduling.backend)
    this.#podGrouper = new PodGrouperWatch({ ...ports, concerns: () => usesKai && this.#scheduling.served.kai })
    this.#engine = engineSource(live, { ...ports, api })
    this.#controller = new LateController(
      this.#engine,
      engine =>
        assembleController({
          ...ports,
          engine,
          scope: namespaceScope(live, this.#namespaces),
          schedulers: coSchedulers(),
          scheduling: this.#scheduling,
          kai: { naming: config.coScheduling.kai.naming, enabled: usesKai },
          identity: `${hostname()}_${randomUUID()}`,
          metrics: controllerMetrics(metrics),
          onRead: giveBackMemory,
        }),
      log,
    )
    const holds = heldBy(config)
    // What nothing queues excuses no pod, so nobody asks for it.
    this.#owners = new OwnerCache(
      ports,
      config.integrations.frameworks.filter(framework => holds.includes(framework)),
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
    const known = {
      ...{ self, holds, namespaces: this.#namespaces, owners: this.#owners, defaultQueues: this.#defaultQueues },
      scheduling: () => this.#scheduling.served,
    }
    const worldOf = (current: Configuration) => clusterWorld({ ...known, config: current })
    this.#world = worldOf(config)
    live.onChange(next => {
      this.#world = worldOf(next)
      this.#coverage.look()
    })
    this.#events = new EventRecorder({ ...ports, instance: hostname() })
    const turns = new Lanes(LOOKUPS_AT_ONCE)
    this.lookUp = boundedLookUp((lookups, signal) => {
      metrics.webhookLookups.inc(lookups.length)
      return lookUp(api, lookups, signal, turns)
    }, MOST_LOOKUPS)
    const { origin } = deps.credentials.server
    log.info({ self, server: origin, engine: config.engine, holds }, 'connected to the cluster')
  }

  /** What reviews are answered from. A review keeps to the one that it began with. */
  get world(): CachedWorld {
    return this.#world
  }

  /** Tells people what became of a change of theirs. */
  tell(change: ConfigurationChange): void {
    const said = {
      taken: ['Normal', 'ConfigurationTaken', 'the changed configuration is in force'],
      partly: [
        'Warning',
        'RestartNeeded',
        `in force but for ${'kept' in change ? change.kept.join(', ') : ''}: restart Muster`,
      ],
      refused: [
        'Warning',
        'ConfigurationRefused',
        `the old configuration stays in force: ${'errors' in change ? change.errors : ''}`,
      ],
    } as const
    const [type, reason, note] = said[change.result]
    this.#events.record({ regarding: CONFIG_MAP, type, reason, action: 'Configure', note, apart: true })
  }

  /** Starts everything. The server must have been built with `pair`; it gets every later certificate. */
  serve(server: SecureServer): void {
    this.#store.attach(server)
    this.#rotator.start()
    this.#namespaces.start()
    this.#owners.start()
    this.#defaultQueues.start()
    this.#statusPolicy.start()
    this.#statusPolicyBinding.start()
    this.#coverage.start()
    this.#scheduling.start()
    this.#podGrouper.start()
    this.#watches.start()
    this.#engine.start()
    this.#controller.start()
  }

  readiness(): readonly ReadinessCheck[] {
    const cache = (name: string, synced: boolean): ReadinessCheck =>
      synced ? { name, ok: true } : { name, ok: false, reason: 'not read from the API server yet' }
    return [
      this.#store.readiness(),
      this.#rotator.readiness(),
      this.#coverage.readiness(),
      this.#scheduling.readiness(),
      this.#podGrouper.readiness(),
      ...this.#engine.readiness(),
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
    this.#coverage.stop()
    this.#scheduling.stop()
    this.#podGrouper.stop()
    this.#watches.stop()
    this.#engine.stop()
    await this.#controller.stop()
    await this.#events.stop()
    const policies = [this.#statusPolicy, this.#statusPolicyBinding]
    const caches = [this.#rotator, this.#namespaces, this.#owners, this.#defaultQueues, ...policies]
    await Promise.all(caches.map(cache => cache.stop()))
    await this.#api.close()
  }

  #coverageFacts(): CoverageFacts | undefined {
    if (!this.#rotator.synced || !this.#namespaces.synced || !this.#defaultQueues.synced) return undefined
    const namespaces = [...this.#namespaces.values()].map(({ metadata }) => ({
      name: metadata.name ?? '',
      labels: metadata.labels ?? {},
    }))
    return {
      config: this.#deps.live.current,
      mutating: this.#rotator.configuration(MUTATING_WEBHOOKS),
      validating: this.#rotator.configuration(VALIDATING_WEBHOOKS),
      namespaces,
      served: this.#scheduling.served,
      namespacesWithDefaultQueue: namespaces.map(({ name }) => name).filter(this.#world.hasDefaultQueue),
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
