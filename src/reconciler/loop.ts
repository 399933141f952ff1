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
import { isGated, isMarkedManaged, uidOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { POD_OUTLINE, podForCache } from './cache-contents.ts'
import { decide } from './decide.ts'
import { tell } from './decision.ts'
import type { Engine } from './engine.ts'
import { type Lanes, laneOf } from './lanes.ts'
import { perform, type Result, type WriteBack } from './perform.ts'
import { Standings } from './standings.ts'
import { isStray, parseStrayKey, type Records, strayKeyOf, unitFrom, unitKeyOf, unitKeyOfWorkload } from './unit.ts'

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
  readonly scope: NamespaceScope
  /** Only the leader writes; the others keep their caches warm. */
  readonly isLeader: () => boolean
}

/** Which namespaces' pods are queued. */
export interface NamespaceScope {
  /** What is asked before has no meaning. */
  whenKnown(): Promise<unknown>
  selects(namespace: string): boolean
  /** Calls when a namespace comes in or goes out. */
  onChange(changed: (namespace: string) => void): void
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
/** An administrator takes the label off a few pods; more than this, and the rest is his. */
const MOST_STRAYS = 10_000

/** Watches pods and Workloads and turns every change into one decision for the unit or the queue it concerns. */
export class Reconciler {
  readonly #deps: ReconcilerDeps
  readonly #pods: Informer<Pod>
  readonly #workloads: Informer<QueuedWorkload>
  readonly #queue: WorkQueue
  readonly #engine: Engine
  readonly #standings: Standings
  readonly #records: Records
  readonly #writeBack: WriteBack
  readonly #strays = new Set<string>()
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
      outline: POD_OUTLINE,
      transform: podForCache,
      clock,
      random,
      log,
      observer,
    })
    this.#workloads = new Informer<QueuedWorkload>({
      api,
      resource: deps.engine.workloads,
      indexes: {
        unit: workload => [unitKeyOfWorkload(workload)],
        owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(owner => owner.uid),
      },
      transform: workload => deps.engine.forCache(workload),
      clock,
      random,
      log,
      observer,
    })
    this.#records = {
      podsOf: key => this.#pods.byIndex('unit', key),
      workloadsOf: key => this.#workloads.byIndex('unit', key),
      ownedBy: uid => this.#workloads.byIndex('owner', uid),
      pod: (namespace, name) => this.#pods.get(namespace, name),
      selects: deps.scope.selects,
    }
    this.#queue = new WorkQueue({ clock, random, log, metrics: deps.metrics.queue })
    this.#standings = new Standings(deps.events, deps.metrics)
    this.#writeBack = (resource, object) => {
      if (resource === PODS) this.#pods.offer(object as Pod)
      if (resource === this.#engine.workloads) this.#workloads.offer(object as QueuedWorkload)
    }
    this.#pods.subscribe(({ object, previous, type }) => {
      if (type === 'deleted') this.#standings.forget(object)
      if (type === 'deleted' && isStray(object)) this.#remember(strayKeyOf(object))
      if (previous !== undefined) this.#queue.add(unitKeyOf(previous))
      this.#queue.add(unitKeyOf(object))
      for (const workload of this.#records.ownedBy(uidOf(object))) this.#queue.add(unitKeyOfWorkload(workload))
    })
    deps.scope.onChange(namespace => {
      for (const pod of this.#pods.values()) if (pod.metadata.namespace === namespace) this.#queue.add(unitKeyOf(pod))
    })
    this.#workloads.subscribe(({ object, type }) => {
      const queues = this.#engine.decider?.observe(object, type === 'deleted') ?? []
      for (const queue of queues) this.#queue.add(`queue/${queue}`)
      this.#queue.add(unitKeyOfWorkload(object))
    })
  }

  /** Our watch does not show a stray any more: whoever leads next would not find it. */
  #remember(stray: string): void {
    if (this.#strays.size < MOST_STRAYS) this.#strays.add(stray)
    this.#queue.add(stray)
  }

  get synced(): boolean {
    return this.#pods.synced && this.#workloads.synced
  }

  async start(): Promise<void> {
    this.#pods.start()
    this.#workloads.start()
    // A decision on half a cache could take a group for incomplete or a queue for empty.
    await Promise.all([this.#pods.whenSynced(), this.#workloads.whenSynced(), this.#deps.scope.whenKnown()])
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
    for (const stray of this.#strays) this.#queue.add(stray)
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
    this.#standings.rest()
  }

  async #reconcile(key: string): Promise<'done' | 'retry'> {
    const { clock, metrics } = this.#deps
    const turn = this.#turn
    if (!this.#leads(turn)) return 'done'
    const started = clock.monotonic()
    const [kind = ''] = key.split('/')
    try {
      const settled = await this.#reconcileBy(kind, key, turn)
      metrics.reconciled(kind, 'success', (clock.monotonic() - started) / 1000)
      return settled ? 'done' : 'retry'
    } catch (error) {
      metrics.reconciled(kind, 'error', (clock.monotonic() - started) / 1000)
      throw error
    }
  }

  #reconcileBy(kind: string, key: string, turn: number): Promise<boolean> {
    if (kind === 'queue') return this.#reconcileQueue(key, turn)
    return kind === 'stray' ? this.#releaseStray(key, turn) : this.#reconcileUnit(key, turn)
  }

  async #releaseStray(key: string, turn: number): Promise<boolean> {
    const settled = await this.#performAll([{ kind: 'RemoveFinalizer', pod: parseStrayKey(key) }], turn)
    if (settled && this.#leads(turn)) this.#strays.delete(key)
    return settled
  }

  async #reconcileQueue(key: string, turn: number): Promise<boolean> {
    const queue = key.slice('queue/'.length)
    return await this.#performAll(this.#engine.decider?.decide(queue, this.#timestamp()) ?? [], turn)
  }

  async #reconcileUnit(key: string, turn: number): Promise<boolean> {
    const unit = unitFrom(key, this.#records)
    const { actions, standings } = decide(unit, this.#engine, this.#timestamp())
    this.#standings.tell(standings)
    return await this.#performAll(actions, turn, unit.pods)
  }

  /**
   * All at once: the lanes set the pace, and a group's gates fall together. False when a write met an object that had
   * changed: mostly the watch brings the news, but a conflict can also come without any (the API server gives up a
   * contended patch, a quota is contended), so the unit is looked at again in any case.
   */
  async #performAll(actions: readonly Action[], turn: number, pods: readonly Pod[] = []): Promise<boolean> {
    const results = await Promise.allSettled(actions.map(action => this.#perform(action, turn, pods)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
    return results.every(result => result.status === 'fulfilled' && result.value)
  }

  async #perform(action: Action, turn: number, pods: readonly Pod[]): Promise<boolean> {
    const { metrics, log, lanes } = this.#deps
    try {
      const result = await lanes.run(laneOf(action), () => this.#performIfLeading(action, turn))
      if (result === undefined) return true
      metrics.acted(action.kind, result.kind)
      const { namespace, name } = subjectOf(action)
      log.debug({ action: action.kind, namespace, name, result: result.kind }, 'acted')
      if (action.kind === 'LiftGate' && result.kind === 'done') this.#lifted(action.admittedAt)
      if (result.kind === 'blocked') this.#blocked(action, pods, result.message)
      return result.kind === 'done' || (action.kind === 'RemoveFinalizer' && result.kind === 'gone')
    } catch (error) {
      metrics.acted(action.kind, 'error')
      throw error
    }
  }

  /**
   * Asked when its turn has come, not when it was queued: leadership may have ended in between. It may even have come
   * back: what was decided in an earlier time as leader is not done in a later one, since another has led meanwhile.
   */
  async #performIfLeading(action: Action, turn: number): Promise<Result | undefined> {
    return this.#leads(turn) ? await perform(action, this.#deps.api, this.#writeBack) : undefined
  }

  #leads(turn: number): boolean {
    return this.#deps.isLeader() && this.#current && turn === this.#turn
  }

  #lifted(admittedAt: string | undefined): void {
    if (admittedAt === undefined) return
    // Another machine's clock wrote the admission: a negative difference is skew, not time travel.
    this.#deps.metrics.lifted(Math.max(0, (this.#deps.clock.now() - Date.parse(admittedAt)) / 1000))
  }

  /** Refused: tell the pods that wait for it what was said, and try again later, at the queue's pace. */
  #blocked(action: Action, pods: readonly Pod[], message: string): never {
    const held = action.kind === 'LiftGate' ? pods.filter(({ metadata }) => metadata.uid === action.pod.uid) : pods
    const what = action.kind === 'LiftGate' ? 'the gate could not be lifted' : 'its Workload could not be written'
    if (action.kind === 'LiftGate' || action.kind === 'EnsureObject') {
      this.#standings.tell(tell(held.filter(isGated), 'LiftBlocked', `${what}: ${message}`))
    }
    throw new Error(`${action.kind} was refused: ${message}`)
  }

  #timestamp(): string {
    return new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  }
}
