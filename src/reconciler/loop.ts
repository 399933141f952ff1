import type { Logger } from 'pino'
import type { CacheObserver } from '../kube/cache/observer.ts'
import { WorkQueue, type WorkQueueMetrics } from '../kube/cache/work-queue.ts'
import type { EventRecorder } from '../kube/coordination/events.ts'
import type { KubeApi, Resource } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import { jobKindOf } from '../workload/jobs/job-kinds.ts'
import { Backlog } from './backlog.ts'
import { Caches } from './caches.ts'
import type { CoScheduler, Placement } from './co-scheduler.ts'
import { decide } from './decide.ts'
import type { Engine } from './engine.ts'
import { GroupedJobs, isGroupedKey } from './grouped/grouped-jobs.ts'
import { listen } from './hearing.ts'
import { decideJob } from './jobs/decide-job.ts'
import { type JobRecords, jobKeyOf, jobUnitFrom } from './jobs/job-unit.ts'
import type { Lanes } from './lanes.ts'
import { Latecomers } from './latecomers.ts'
import { type Outcome, Performer, type PerformerMetrics } from './performer.ts'
import { refusedJob, refusedPods } from './refused.ts'
import { Standings } from './standings.ts'
import { letGoOf, supersededKeyOf } from './superseded.ts'
import type { NamespaceScope, ServedPort } from './surroundings.ts'
import { Tenure } from './tenure.ts'
import { parseStrayKey, type Records, unitFrom, unitKeyOf, unitKeyOfWorkload } from './unit.ts'

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
  /** Who places units as a whole. */
  readonly schedulers: readonly CoScheduler[]
  readonly scheduling: ServedPort
  /** Only the leader writes; the others keep their caches warm. */
  readonly isLeader: () => boolean
  /** Tells the other loop of this replica, which has caches of its own, what was written. */
  readonly wrote: (resource: Resource, object: KubeObject) => void
}

export interface ReconcilerMetrics extends PerformerMetrics {
  reconciled(kind: string, result: 'success' | 'error', seconds: number): void
  waiting(reason: string, pods: number): void
  readonly queue: WorkQueueMetrics
}

/** More workers than writes: a group that waits for its writes must not keep other units from being decided. */
const WORKERS = 32
/** An administrator takes the label off a few pods; more than this, and the rest is his. */
const MOST_STRAYS = 10_000

/** How soon it is looked again whether the last pods of a Job are gone: not all pods are watched. */
const LOOK_AGAIN_MS = 1500

/**
 * A decision looks at every pod of its unit, and every change of a pod asks for one: what it took is left to others many
 * times over before the next one, or a group would cost the square of its size.
 */
const REST = { times: 9, fromMs: 0.5, mostMs: 250 }

/** Watches pods, Jobs and Workloads and turns every change into one decision for the unit or the queue it concerns. */
export class Reconciler {
  readonly #deps: ReconcilerDeps
  readonly #caches: Caches
  readonly #queue: WorkQueue
  readonly #engine: Engine
  readonly #standings: Standings
  readonly #backlog = new Backlog()
  readonly #latecomers = new Latecomers()
  readonly #records: Records & JobRecords
  readonly #performer: Performer
  readonly #placement: Placement
  readonly #grouped: GroupedJobs
  readonly #strays = new Set<string>()
  readonly #tenure: Tenure
  /** To what outlives this one: with another engine there is another reconciler, and this one goes with all it has read. */
  readonly #subscriptions: readonly (() => void)[]

  constructor(deps: ReconcilerDeps) {
    const { api, clock, random, log, observer } = deps
    this.#deps = deps
    this.#engine = deps.engine
    this.#tenure = new Tenure(deps.isLeader)
    this.#caches = new Caches({ api, clock, random, log, observer }, deps.engine, deps.schedulers)
    const { pods, workloads, jobs, scheduling } = this.#caches
    this.#records = {
      podsOf: key => pods.byIndex('unit', key),
      workloadsOf: key => workloads.byIndex('unit', key),
      workload: (namespace, name) => workloads.get(namespace, name),
      ownedBy: uid => workloads.byIndex('owner', uid),
      pod: (namespace, name) => pods.get(namespace, name),
      job: (kind, namespace, name) => jobs.get(kind)?.get(namespace, name),
      selects: namespace => deps.scope.selects(namespace) === true,
      owns: pod => deps.engine.owns?.(pod) ?? true,
      prebuiltOf: pod => deps.engine.prebuiltOf?.(pod),
      defaultsIn: namespace => this.#caches.defaultsIn(namespace),
      turnOf: key => this.#latecomers.turnOf(key),
    }
    this.#placement = {
      schedulers: deps.schedulers,
      known: {
        get served() {
          return deps.scheduling.served
        },
        find: (resource, namespace, name) => scheduling.get(resource)?.get(namespace, name),
        named: (resource, name) => scheduling.get(resource)?.byIndex('name', name) ?? [],
      },
    }
    this.#queue = new WorkQueue({ clock, random, log, metrics: deps.metrics.queue })
    this.#standings = new Standings(deps.events, deps.metrics)
    this.#performer = new Performer({
      ...{ api, clock, log, lanes: deps.lanes, metrics: deps.metrics },
      writeBack: (resource, object) => {
        this.#caches.offer(resource, object)
        deps.wrote(resource, object)
      },
      leads: turn => this.#tenure.leads(turn),
      tell: standings => this.#standings.tell(standings),
    })
    this.#grouped = new GroupedJobs({
      ...{ jobs: this.#caches.grouped, scheduling, events: deps.events },
      served: () => deps.scheduling.served,
      add: key => this.#queue.add(key),
    })
    this.#subscriptions = listen(this.#caches, deps, this.#records, {
      saw: object => this.#latecomers.saw(object),
      add: key => this.#queue.add(key),
      addAll: concerns => this.#addAll(concerns),
      addJobs: concerns => this.#addJobs(concerns),
      addQueues: () => this.#addQueues(),
      forget: object => this.#standings.forget(object),
      remember: stray => this.#remember(stray),
      isLed: () => this.#tenure.begun,
    })
  }

  /** Our watch does not show a stray any more: whoever leads next would not find it. */
  #remember(stray: string): void {
    if (this.#strays.size < MOST_STRAYS) this.#strays.add(stray)
    this.#queue.add(stray)
  }

  #addJobs(concerns: (object: KubeObject) => boolean): void {
    for (const key of this.#jobKeys(concerns)) this.#queue.add(key)
  }

  #addAll(concerns?: (object: KubeObject) => boolean): void {
    for (const key of this.#unitKeys(concerns)) this.#queue.add(key)
  }

  *#unitKeys(concerns: (object: KubeObject) => boolean = () => true): Generator<string> {
    for (const pod of this.#caches.pods.values()) if (concerns(pod)) yield unitKeyOf(pod)
    yield* this.#jobKeys(concerns)
    this.#grouped.addAll(concerns)
  }

  *#jobKeys(concerns: (object: KubeObject) => boolean): Generator<string> {
    for (const [kind, informer] of this.#caches.jobs) {
      for (const job of informer.values()) if (concerns(job)) yield jobKeyOf(kind, job)
    }
  }

  /** What this replica has written elsewhere. */
  offer(resource: Resource, object: KubeObject): void {
    this.#caches.offer(resource, object)
  }

  get synced(): boolean {
    return this.#caches.whole.synced
  }

  async start(): Promise<void> {
    this.#caches.whole.start()
    // A decision on half a cache could take a group for incomplete or a queue for empty.
    await Promise.all([this.#caches.whole.whenSynced(), this.#deps.scope.whenKnown()])
    this.#queue.start(WORKERS, key => this.#reconcile(key))
  }

  async stop(): Promise<void> {
    for (const cancel of this.#subscriptions) cancel()
    await this.#queue.stop()
    await this.#caches.whole.stop()
  }

  /**
   * For a new leader. Its caches may lag behind the last writes of its predecessor, so they are read again before
   * anything is decided; then everything is looked at once, since it may have changed and gone undecided.
   */
  async resync(): Promise<void> {
    if (!(await this.#tenure.begin(() => this.#caches.whole.refresh()))) return
    this.#standings.lead(this.#deps.clock.now())
    for (const stray of this.#strays) this.#queue.add(stray)
    for (const left of this.#caches.superseded?.values() ?? []) this.#queue.add(supersededKeyOf(left))
    const units = new Set(this.#unitKeys())
    this.#backlog.begin(units)
    for (const key of units) this.#queue.add(key)
    for (const workload of this.#caches.workloads.values()) this.#queue.add(unitKeyOfWorkload(workload))
    this.#addQueues()
  }

  #addQueues(): void {
    if (this.#engine.decider === undefined) return
    for (const { spec } of this.#caches.workloads.values()) this.#queue.add(`queue/${spec.queueName}`)
  }

  /** What is known ends with the leadership: until the next `resync` nothing is decided. */
  pause(): void {
    this.#tenure.end()
    this.#backlog.end()
    this.#latecomers.forget()
    this.#standings.rest()
  }

  async #reconcile(key: string): Promise<'done' | 'retry'> {
    const { clock, metrics } = this.#deps
    const { turn } = this.#tenure
    if (!this.#tenure.leads(turn)) return 'done'
    const started = clock.monotonic()
    const [kind = ''] = key.split('/')
    try {
      const outcome = await this.#reconcileBy(kind, key, turn)
      metrics.reconciled(kind, 'success', (clock.monotonic() - started) / 1000)
      if (outcome === 'later') this.#queue.addAfter(key, LOOK_AGAIN_MS)
      return outcome === 'again' ? 'retry' : 'done'
    } catch (error) {
      metrics.reconciled(kind, 'error', (clock.monotonic() - started) / 1000)
      throw error
    } finally {
      for (const queue of this.#backlog.looked(key)) this.#queue.add(queue)
    }
  }

  #reconcileBy(kind: string, key: string, turn: number): Promise<Outcome> {
    if (kind === 'queue') return this.#reconcileQueue(key, turn)
    if (kind === 'stray') return this.#releaseStray(key, turn)
    if (kind === 'superseded') return this.#releaseSuperseded(key, turn)
    if (isGroupedKey(kind)) return this.#grouped.reconcile(key, this.#performer, turn)
    const jobKind = jobKindOf(kind)
    const [, namespace = ''] = key.split('/')
    // Whether it is ours is known when the namespace is, and then it is looked at again.
    if (this.#deps.scope.selects(namespace) === undefined) return Promise.resolve('settled')
    return jobKind === undefined ? this.#reconcileUnit(key, turn) : this.#reconcileJob(jobKind, key, turn)
  }

  async #releaseStray(key: string, turn: number): Promise<Outcome> {
    const outcome = await this.#performer.performAll([{ kind: 'RemoveFinalizer', pod: parseStrayKey(key) }], turn)
    if (outcome === 'settled' && this.#tenure.leads(turn)) this.#strays.delete(key)
    return outcome
  }

  async #releaseSuperseded(key: string, turn: number): Promise<Outcome> {
    const [, namespace = '', name = ''] = key.split('/')
    const workload = this.#caches.superseded?.get(namespace, name)
    const { superseded } = this.#engine
    if (workload === undefined || superseded === undefined) return 'settled'
    return await this.#performer.performAll(letGoOf(workload, superseded), turn)
  }

  async #reconcileQueue(key: string, turn: number): Promise<Outcome> {
    if (this.#backlog.holdsUp(key)) return 'settled'
    const queue = key.slice('queue/'.length)
    return await this.#performer.performAll(this.#engine.decider?.decide(queue, this.#timestamp()) ?? [], turn)
  }

  async #reconcileUnit(key: string, turn: number): Promise<Outcome> {
    const started = this.#deps.clock.monotonic()
    const unit = unitFrom(key, this.#records)
    const { actions, standings, remarks = [] } = decide(unit, this.#engine, this.#timestamp(), this.#placement)
    this.#standings.tell(standings)
    this.#standings.settle(unit.pods, standings)
    this.#standings.remark(remarks)
    this.#restAfter(key, this.#deps.clock.monotonic() - started)
    this.#latecomers.looked(key, unit, unit.pods.length === 0, { actions, standings })
    return await this.#performer.performAll(actions, turn, (action, message) => refusedPods(unit, action, message))
  }

  #restAfter(key: string, tookMs: number): void {
    if (tookMs >= REST.fromMs) this.#queue.rest(key, Math.min(tookMs * REST.times, REST.mostMs))
  }

  async #reconcileJob(kind: JobKind, key: string, turn: number): Promise<Outcome> {
    const unit = jobUnitFrom(kind, key, this.#records)
    const { actions, standings } = decideJob(unit, this.#engine, this.#timestamp())
    this.#latecomers.looked(key, unit, unit.job === undefined, { actions, standings })
    this.#standings.tell(standings)
    const known = unit.job ?? unit.leftOut
    if (known !== undefined) this.#standings.settle([known], standings)
    return await this.#performer.performAll(actions, turn, (action, message) => refusedJob(unit, action, message))
  }

  #timestamp(): string {
    return new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  }
}
