import type { Logger } from 'pino'
import { KaiGrouper, type KaiGrouperDeps } from '../coscheduling/kai/grouper.ts'
import type { CacheObserver } from '../kube/cache/observer.ts'
import { Elector } from '../kube/coordination/elector.ts'
import { type EventOutcome, EventRecorder } from '../kube/coordination/events.ts'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import { SYSTEM_NAMESPACE } from '../kube/vocabulary/names.ts'
import type { CoScheduler } from '../reconciler/co-scheduler.ts'
import type { Engine } from '../reconciler/engine.ts'
import { Lanes } from '../reconciler/lanes.ts'
import { Reconciler, type ReconcilerMetrics } from '../reconciler/loop.ts'
import type { NamespaceScope, ServedPort } from '../reconciler/surroundings.ts'

export interface ControllerDeps {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly observer: CacheObserver
  readonly engine: Engine
  readonly scope: NamespaceScope
  readonly schedulers: readonly CoScheduler[]
  readonly scheduling: ServedPort
  /** Without it nobody looks after pods that name a group and are placed by KAI. */
  readonly kai?: Pick<KaiGrouperDeps, 'naming' | 'enabled'>
  /** Who this is among the replicas, in another life another one. */
  readonly identity: string
  readonly metrics: ReconcilerMetrics & { leading(leads: boolean): void; told(outcome: EventOutcome): void }
  /** All caches have been read, at the start or by a new leader. */
  readonly onRead?: () => void
}

export interface Controller {
  readonly synced: boolean
  readonly leads: boolean
  start(): void
  /** Writes end before the Lease is given back, so that the next leader never meets ours. */
  stop(): Promise<void>
}

/**
 * The part of a replica that acts: the election, the caches that decisions are made on, the reconciler and the Events
 * by which it tells what it did. The simulator calls this, too: what it tries is put together as what ships is.
 */
export function assembleController(deps: ControllerDeps): Controller {
  const { identity, engine, scope, schedulers, scheduling, metrics, log, onRead = () => {} } = deps
  const ports = { api: deps.api, clock: deps.clock, random: deps.random, log, observer: deps.observer }
  const lanes = new Lanes()
  let stopping = false
  /** Whoever stops before the caches are read fails to read them, and that is no failure. */
  const failed = (message: string) => (error: unknown) => {
    if (!stopping) log.error({ err: error }, message)
  }
  const events = new EventRecorder({
    ...ports,
    instance: identity,
    turn: call => lanes.run(3, call),
    onOutcome: metrics.told,
  })
  const elector: Elector = new Elector({
    ...ports,
    namespace: SYSTEM_NAMESPACE,
    name: 'muster',
    identity,
    onStarted: () => {
      metrics.leading(true)
      reconciler.resync().then(onRead, failed('leading, but the caches could not be read'))
      grouper?.resync().catch(failed('leading, but the caches for KAI could not be read'))
    },
    onStopped: () => {
      metrics.leading(false)
      reconciler.pause()
      grouper?.pause()
    },
  })
  const reconciler = new Reconciler({
    ...{ ...ports, engine, scope, schedulers, scheduling, events, lanes, metrics },
    isLeader: () => elector.isLeader(),
    // Both write pods: neither may decide on less than the other has done.
    wrote: (resource, object) => grouper?.offer(resource, object),
  })
  const grouper =
    deps.kai === undefined
      ? undefined
      : new KaiGrouper({
          ...{ ...ports, ...deps.kai, scheduling, events, lanes },
          acted: metrics.acted,
          isLeader: () => elector.isLeader(),
          wrote: (resource, object) => reconciler.offer(resource, object),
        })
  return {
    get synced() {
      return reconciler.synced && (grouper?.synced ?? true)
    },
    get leads() {
      return elector.isLeader()
    },
    start: () => {
      elector.start()
      reconciler.start().then(onRead, failed('the reconciler could not start'))
      grouper?.start().catch(failed('the reconciler for KAI could not start'))
    },
    stop: async () => {
      stopping = true
      await reconciler.stop()
      await grouper?.stop()
      await events.stop()
      await elector.stop()
    },
  }
}
