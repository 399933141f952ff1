import type { Logger } from 'pino'
import { Informer } from '../kube/cache/informer.ts'
import type { CacheObserver } from '../kube/cache/observer.ts'
import { WorkQueue, type WorkQueueMetrics } from '../kube/cache/work-queue.ts'
import type { EventRecorder } from '../kube/coordination/events.ts'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import { MANAGED } from '../kube/vocabulary/names.ts'
import type { Pod } from '../kube/vocabulary/objects.ts'
import { PODS } from '../kube/vocabulary/resources.ts'
import { type Action, subjectOf } from '../workload/actions.ts'
import { isGated, isMarkedManaged } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { podForCache } from './cache-contents.ts'
import { decide } from './decide.ts'
import type { Engine } from './engine.ts'
import { type Lanes, laneOf } from './lanes.ts'
import { perform, type Result, type WriteBack } from './perform.ts'
import { Standings } from './standings.ts'
import { isStray, parseStrayKey, strayKeyOf, unitFrom, unitKeyOf, unitKeyOfWorkload } from './unit.ts'

export interface ReconcilerDeps {
  readonly api: KubeApi
  readonly engine: Engine
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly observer: CacheObserver
  readonly events: EventRecorder
  readonly lanes: Lanes
  readonly metrics: ReconcilerMetrics
  /** Only the leader writes; the others keep their caches warm. */
  readonly isLeader: () => boolean
}

export interface ReconcilerMetrics {
  reconciled(kind: string, result: 'success' | 'error', seconds: number): void
  acted(action: Action['kind'], result: Result['kind'] | 'error'): void
  lifted(seconds: number): void
  waiting(reason: string, pods: number): void
  readonly queue: WorkQueueMetrics
}

/** More workers than writes: a group that waits for its writes must not keep other units from being decided. */
const WORKERS = 32

/** Watches pods and Workloads and turns every change into one decision for the unit or the queue it concerns. */
export class Reconciler {
  readonly #deps: ReconcilerDeps
  readonly #pods: Informer<Pod>
  readonly #workloads: Informer<QueuedWorkload>
  readonly #queue: WorkQueue
  readonly #engine: Engine
  readonly #standings: Standings
  readonly #writeBack: WriteBack
  /** The caches are no older than our leadership. */
  #current = false
  #turn = 0

  constructor(deps: ReconcilerDeps) {
    const { api, clock, random, log, observer } = deps
    this.#deps = deps
    this.#engine = deps.engine
    this.#pods = new Informer<Pod>({
      api,
      resource: PODS,
      labelSelector: `${MANAGED}=true`,
      accepts: isMarkedManaged,
      indexes: { unit: pod => [unitKeyOf(pod)] },
      transform: podForCache,
      clock,
      random,
      log,
      observer,
    })
    this.#workloads = new Informer<QueuedWorkload>({
      api,
      resource: deps.engine.workloads,
      indexes: { unit: workload => [unitKeyOfWorkload(workload)] },
      transform: workload => deps.engine.forCache(workload),
      clock,
      random,
      log,
      observer,
    })
    this.#queue = new WorkQueue({ clock, random, log, metrics: deps.metrics.queue })
    this.#standings = new Standings(deps.events, deps.metrics)
    this.#writeBack = (resource, object) => {
      if (resource === PODS) this.#pods.offer(object as Pod)
      if (resource === this.#engine.workloads) this.#workloads.offer(object as QueuedWorkload)
    }
    this.#pods.subscribe(({ object, previous, type }) => {
      if (type === 'deleted') this.#standings.forget(object)
      if (type === 'deleted' && isStray(object)) this.#queue.add(strayKeyOf(object))
      if (previous !== undefined) this.#queue.add(unitKeyOf(previous))
      this.#queue.add(unitKeyOf(object))
    })
    this.#workloads.subscribe(({ object, type }) => {
      const queues = this.#engine.decider?.observe(object, type === 'deleted') ?? []
      for (const queue of queues) this.#queue.add(`queue/${queue}`)
      this.#queue.add(unitKeyOfWorkload(object))
    })
  }

  get synced(): boolean {
    return this.#pods.synced && this.#workloads.synced
  }

  async start(): Promise<void> {
    this.#pods.start()
    this.#workloads.start()
    // A decision on half a cache could take a group for incomplete or a queue for empty.
    await Promise.all([this.#pods.whenSynced(), this.#workloads.whenSynced()])
    this.#queue.start(WORKERS, key => this.#reconcile(key))
  }

  async stop(): Promise<void> {
    await this.#queue.stop()
    await Promise.all([this.#pods.stop(), this.#workloads.stop()])
  }

  /**
   * For a new leader. Its caches may lag behind the last writes of its predecessor, so they are read again before
   * anything is decided; then everything is looked at once, since it may have changed and gone undecided.
   */
  async resync(): Promise<void> {
    this.#current = false
    const turn = ++this.#turn
    await Promise.all([this.#pods.refresh(), this.#workloads.refresh()])
    if (turn !== this.#turn) return
    this.#current = true
    this.#standings.lead(this.#deps.clock.now())
    for (const pod of this.#pods.values()) this.#queue.add(unitKeyOf(pod))
    for (const workload of this.#workloads.values()) {
      this.#queue.add(unitKeyOfWorkload(workload))
      if (this.#engine.decider !== undefined) this.#queue.add(`queue/${workload.spec.queueName}`)
    }
  }

  /** What is known ends with the leadership: until the next `resync` nothing is decided. */
  pause(): void {
    this.#current = false
    this.#turn += 1
  }

  async #reconcile(key: string): Promise<'done' | 'retry'> {
    const { clock, metrics, isLeader } = this.#deps
    if (!isLeader() || !this.#current) return 'done'
    const started = clock.monotonic()
    const [kind = ''] = key.split('/')
    try {
      const settled = await this.#reconcileBy(kind, key)
      metrics.reconciled(kind, 'success', (clock.monotonic() - started) / 1000)
      return settled ? 'done' : 'retry'
    } catch (error) {
      metrics.reconciled(kind, 'error', (clock.monotonic() - started) / 1000)
      throw error
    }
  }

  #reconcileBy(kind: string, key: string): Promise<boolean> {
    if (kind === 'queue') return this.#reconcileQueue(key)
    return kind === 'stray' ? this.#releaseStray(key) : this.#reconcileUnit(key)
  }

  /** Once: if it is gone by now, or has a successor, there is nothing left to do. */
  async #releaseStray(key: string): Promise<boolean> {
    await this.#performAll([{ kind: 'RemoveFinalizer', pod: parseStrayKey(key) }])
    return true
  }

  async #reconcileQueue(key: string): Promise<boolean> {
    const queue = key.slice('queue/'.length)
    return await this.#performAll(this.#engine.decider?.decide(queue, this.#timestamp()) ?? [])
  }

  async #reconcileUnit(key: string): Promise<boolean> {
    const unit = unitFrom(key, this.#pods.byIndex('unit', key), this.#workloads.byIndex('unit', key))
    const { actions, standings } = decide(unit, this.#engine, this.#timestamp())
    this.#standings.tell(standings)
    return await this.#performAll(actions)
  }

  /**
   * All at once: the lanes set the pace, and a group's gates fall together. False when a write met an object that had
   * changed: mostly the watch brings the news, but a conflict can also come without any (the API server gives up a
   * contended patch, a quota is contended), so the unit is looked at again in any case.
   */
  async #performAll(actions: readonly Action[]): Promise<boolean> {
    const results = await Promise.allSettled(actions.map(action => this.#perform(action)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
    return results.every(result => result.status === 'fulfilled' && result.value)
  }

  async #perform(action: Action): Promise<boolean> {
    const { metrics, log, lanes } = this.#deps
    try {
      const result = await lanes.run(laneOf(action), () => this.#performIfLeader(action))
      if (result === undefined) return true
      metrics.acted(action.kind, result.kind)
      const { namespace, name } = subjectOf(action)
      log.debug({ action: action.kind, namespace, name, result: result.kind }, 'acted')
      if (action.kind === 'LiftGate' && result.kind === 'done') this.#lifted(action.admittedAt)
      if (result.kind === 'blocked') this.#blocked(action, result.message)
      return result.kind === 'done'
    } catch (error) {
      metrics.acted(action.kind, 'error')
      throw error
    }
  }

  /** Asked when its turn has come, not when it was queued: leadership may have ended in between. */
  async #performIfLeader(action: Action): Promise<Result | undefined> {
    return this.#deps.isLeader() ? await perform(action, this.#deps.api, this.#writeBack) : undefined
  }

  #lifted(admittedAt: string | undefined): void {
    if (admittedAt === undefined) return
    // Another machine's clock wrote the admission: a negative difference is skew, not time travel.
    this.#deps.metrics.lifted(Math.max(0, (this.#deps.clock.now() - Date.parse(admittedAt)) / 1000))
  }

  /** Refused by the API server: tell the pod's owner what it said, and try again later, at the queue's pace. */
  #blocked(action: Action, message: string): never {
    if ('pod' in action) {
      const pod = this.#pods.get(action.pod.namespace, action.pod.name)
      if (pod !== undefined && isGated(pod) && action.kind === 'LiftGate') {
        this.#standings.tell([{ pod, reason: 'LiftBlocked', note: `the gate could not be lifted: ${message}` }])
      }
    }
    throw new Error(`${action.kind} was refused by the API server: ${message}`)
  }

  #timestamp(): string {
    return new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  }
}
