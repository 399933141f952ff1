import type { Logger } from 'pino'
import type { CacheObserver } from '../kube/cache/observer.ts'
import { WorkQueue, type WorkQueueMetrics } from '../kube/cache/work-queue.ts'
import type { EventRecorder } from '../kube/coordination/events.ts'
import type { KubeApi } from '../kube/vocabulary/api.ts'
import type { Clock, Random } from '../kube/vocabulary/clock.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import type { Action } from '../workload/actions.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import { jobKindOf } from '../workload/jobs/job-kinds.ts'
import { isGated, uidOf } from '../workload/pod-facts.ts'
import { Caches } from './caches.ts'
import { decide } from './decide.ts'
import { type JobStanding, type Standing, tell } from './decision.ts'
import type { Engine } from './engine.ts'
import { decideJob } from './jobs/decide-job.ts'
import { type JobRecords, type JobUnit, jobKeyOf, jobUnitFrom } from './jobs/job-unit.ts'
import type { Lanes } from './lanes.ts'
import { type Outcome, Performer, type PerformerMetrics } from './performer.ts'
import { Standings } from './standings.ts'
import {
  isStray,
  parseStrayKey,
  type Records,
  strayKeyOf,
  type Unit,
  unitFrom,
  unitKeyOf,
  unitKeyOfWorkload,
} from './unit.ts'

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
  /** Undefined: the namespace has not been seen yet. */
  selects(namespace: string): boolean | undefined
  /** Calls when a namespace is seen for the first time, comes in or goes out. */
  onChange(changed: (namespace: string) => void): void
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

/** Watches pods, Jobs and Workloads and turns every change into one decision for the unit or the queue it concerns. */
export class Reconciler {
  readonly #deps: ReconcilerDeps
  readonly #caches: Caches
  readonly #queue: WorkQueue
  readonly #engine: Engine
  readonly #standings: Standings
  readonly #records: Records & JobRecords
  readonly #performer: Performer
  readonly #strays = new Set<string>()
  /** The caches are no older than our leadership. */
  #current = false
  #turn = 0

  constructor(deps: ReconcilerDeps) {
    const { api, clock, random, log, observer } = deps
    this.#deps = deps
    this.#engine = deps.engine
    this.#caches = new Caches({ api, clock, random, log, observer }, deps.engine)
    const { pods, workloads, jobs } = this.#caches
    this.#records = {
      podsOf: key => pods.byIndex('unit', key),
      workloadsOf: key => workloads.byIndex('unit', key),
      workload: (namespace, name) => workloads.get(namespace, name),
      ownedBy: uid => workloads.byIndex('owner', uid),
      pod: (namespace, name) => pods.get(namespace, name),
      job: (kind, namespace, name) => jobs.get(kind)?.get(namespace, name),
      selects: namespace => deps.scope.selects(namespace) === true,
      defaultsIn: namespace => this.#caches.defaultsIn(namespace),
    }
    this.#queue = new WorkQueue({ clock, random, log, metrics: deps.metrics.queue })
    this.#standings = new Standings(deps.events, deps.metrics)
    this.#performer = new Performer({
      ...{ api, clock, log, lanes: deps.lanes, metrics: deps.metrics },
      writeBack: (resource, object) => this.#caches.offer(resource, object),
      leads: turn => this.#leads(turn),
      tell: standings => this.#standings.tell(standings),
    })
    pods.subscribe(({ object, previous, type }) => {
      if (type === 'deleted') this.#standings.forget(object)
      if (type === 'deleted' && isStray(object)) this.#remember(strayKeyOf(object))
      if (previous !== undefined) this.#queue.add(unitKeyOf(previous))
      this.#queue.add(unitKeyOf(object))
      for (const workload of this.#records.ownedBy(uidOf(object))) this.#queue.add(unitKeyOfWorkload(workload))
    })
    for (const [kind, informer] of jobs) {
      informer.subscribe(({ object, type }) => {
        if (type === 'deleted') this.#standings.forget(object)
        this.#queue.add(jobKeyOf(kind, object))
      })
    }
    deps.scope.onChange(namespace => {
      // Before that everything is looked at anyway, and there may be thousands of namespaces.
      if (this.#current) this.#addAll(({ metadata }) => metadata.namespace === namespace)
    })
    // What its pods will ask for may be another amount now.
    this.#caches.limitRanges.subscribe(({ object: { metadata } }) => {
      this.#addAll(job => job.metadata.namespace === metadata.namespace)
    })
    workloads.subscribe(({ object, type }) => {
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

  #addAll(concerns: (object: KubeObject) => boolean = () => true): void {
    for (const pod of this.#caches.pods.values()) if (concerns(pod)) this.#queue.add(unitKeyOf(pod))
    for (const [kind, informer] of this.#caches.jobs) {
      for (const job of informer.values()) if (concerns(job)) this.#queue.add(jobKeyOf(kind, job))
    }
  }

  get synced(): boolean {
    return this.#caches.synced
  }

  async start(): Promise<void> {
    this.#caches.start()
    // A decision on half a cache could take a group for incomplete or a queue for empty.
    await Promise.all([this.#caches.whenSynced(), this.#deps.scope.whenKnown()])
    this.#queue.start(WORKERS, key => this.#reconcile(key))
  }

  async stop(): Promise<void> {
    await this.#queue.stop()
    await this.#caches.stop()
  }

  /**
   * For a new leader. Its caches may lag behind the last writes of its predecessor, so they are read again before
   * anything is decided; then everything is looked at once, since it may have changed and gone undecided.
   */
  async resync(): Promise<void> {
    this.#current = false
    const turn = ++this.#turn
    await this.#caches.refresh()
    if (turn !== this.#turn) return
    this.#current = true
    this.#standings.lead(this.#deps.clock.now())
    for (const stray of this.#strays) this.#queue.add(stray)
    this.#addAll()
    for (const workload of this.#caches.workloads.values()) {
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
      const outcome = await this.#reconcileBy(kind, key, turn)
      metrics.reconciled(kind, 'success', (clock.monotonic() - started) / 1000)
      if (outcome === 'later') this.#queue.addAfter(key, LOOK_AGAIN_MS)
      return outcome === 'again' ? 'retry' : 'done'
    } catch (error) {
      metrics.reconciled(kind, 'error', (clock.monotonic() - started) / 1000)
      throw error
    }
  }

  #reconcileBy(kind: string, key: string, turn: number): Promise<Outcome> {
    if (kind === 'queue') return this.#reconcileQueue(key, turn)
    if (kind === 'stray') return this.#releaseStray(key, turn)
    const jobKind = jobKindOf(kind)
    const [, namespace = ''] = key.split('/')
    // Whether it is ours is known when the namespace is, and then it is looked at again.
    if (this.#deps.scope.selects(namespace) === undefined) return Promise.resolve('settled')
    return jobKind === undefined ? this.#reconcileUnit(key, turn) : this.#reconcileJob(jobKind, key, turn)
  }

  async #releaseStray(key: string, turn: number): Promise<Outcome> {
    const outcome = await this.#performer.performAll([{ kind: 'RemoveFinalizer', pod: parseStrayKey(key) }], turn)
    if (outcome === 'settled' && this.#leads(turn)) this.#strays.delete(key)
    return outcome
  }

  async #reconcileQueue(key: string, turn: number): Promise<Outcome> {
    const queue = key.slice('queue/'.length)
    return await this.#performer.performAll(this.#engine.decider?.decide(queue, this.#timestamp()) ?? [], turn)
  }

  async #reconcileUnit(key: string, turn: number): Promise<Outcome> {
    const unit = unitFrom(key, this.#records)
    const { actions, standings } = decide(unit, this.#engine, this.#timestamp())
    this.#standings.tell(standings)
    return await this.#performer.performAll(actions, turn, (action, message) => refusedPods(unit, action, message))
  }

  async #reconcileJob(kind: JobKind, key: string, turn: number): Promise<Outcome> {
    const unit = jobUnitFrom(kind, key, this.#records)
    const { actions, standings } = decideJob(unit, this.#engine, this.#timestamp())
    this.#standings.tell(standings)
    return await this.#performer.performAll(actions, turn, (action, message) => refusedJob(unit, action, message))
  }

  #leads(turn: number): boolean {
    return this.#deps.isLeader() && this.#current && turn === this.#turn
  }

  #timestamp(): string {
    return new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  }
}

/** What those who wait are told of an action that was refused. */
function refusedPods({ pods }: Unit, action: Action, message: string): readonly Standing[] {
  if (action.kind !== 'LiftGate' && action.kind !== 'EnsureObject') return []
  const held = action.kind === 'LiftGate' ? pods.filter(({ metadata }) => metadata.uid === action.pod.uid) : pods
  const what = action.kind === 'LiftGate' ? 'the gate could not be lifted' : 'its Workload could not be written'
  return tell(held.filter(isGated), 'LiftBlocked', `${what}: ${message}`)
}

function refusedJob({ kind, job }: JobUnit, action: Action, message: string): readonly JobStanding[] {
  if (job === undefined || (action.kind !== 'PatchJob' && action.kind !== 'EnsureObject')) return []
  const what = action.kind === 'PatchJob' ? 'it could not be started or stopped' : 'its Workload could not be written'
  return [{ kind, job, reason: 'LiftBlocked', note: `${what}: ${message}` }]
}
