import type { Logger } from 'pino'
import { builtinFor } from '../../../src/cluster/engine.ts'
import {
  type Configuration,
  DEFAULT_CONFIGURATION,
  type QueueConfiguration,
} from '../../../src/config/configuration.ts'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { kueueEngine } from '../../../src/engines/kueue/kueue.ts'
import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { KUEUE_KINDS } from '../../../src/kube/vocabulary/kueue.ts'
import { OFFLINE_IDENTITY, SYSTEM_NAMESPACE } from '../../../src/kube/vocabulary/names.ts'
import { EVENTS, LEASES, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { NOTHING_SERVED, type ServedScheduling } from '../../../src/kube/vocabulary/served-scheduling.ts'
import type { Engine } from '../../../src/reconciler/engine.ts'
import { localWorld } from '../../../src/webhooks/local-world.ts'
import { EXTERNAL_WORKLOADS, ExternalQueues, externalEngine } from '../actors/external-engine.ts'
import { Janitors } from '../actors/janitors.ts'
import { JobController } from '../actors/job-controller.ts'
import { JobSetController } from '../actors/job-set-controller.ts'
import { Kai } from '../actors/kai.ts'
import { KueueProcess } from '../actors/kueue.ts'
import { Nodes } from '../actors/nodes.ts'
import { PodGroupProtection } from '../actors/pod-groups.ts'
import { Replacers } from '../actors/replacers.ts'
import { asPod, gatesOf, isDeleting, isGated, mayRun } from '../facts.ts'
import { watchDeletions } from '../invariants/deletions.ts'
import { watchJobs } from '../invariants/jobs.ts'
import type { Violation } from '../invariants/judge.ts'
import { watchKai } from '../invariants/kai.ts'
import { watchLifts } from '../invariants/lifts.ts'
import { watchManners } from '../invariants/manners.ts'
import { OrderWatch } from '../invariants/order.ts'
import { OwnWrites } from '../invariants/own-writes.ts'
import { watchPodGroups } from '../invariants/pod-groups.ts'
import { watchPromptness } from '../invariants/promptness.ts'
import { watchQuota } from '../invariants/quota.ts'
import { rememberLifts } from '../invariants/units.ts'
import { admissionChain } from '../model/admission.ts'
import { type AdmissionCall, ModelServer, type Stored } from '../model/server.ts'
import { WatchHub } from '../model/watch.ts'
import { Link } from '../network/link.ts'
import { isWrite, type Request, type Wire } from '../network/wire.ts'
import type { Chronicle } from '../runs/timeline.ts'
import type { Setting } from '../schedule/schedule.ts'
import { Agenda } from '../time/agenda.ts'
import { Dice } from '../time/dice.ts'
import { Queues } from './queues.ts'
import { type Machine, Replica } from './replica.ts'

/** A seat for a replica: the machine and the network stay when a process dies. */
export interface Seat {
  readonly machine: Machine
  readonly link: Link
  readonly dice: Dice
  replica: Replica
  incarnation: number
  /** The process dies at this write of its own. */
  fuse: { readonly at: number; readonly moment: 'before' | 'after'; readonly burn: () => void } | undefined
}

/** As often as a replica looks at its configuration. */
const LOOK_MS = 3_000

/** More attempts than this at one object within one run are a storm, not persistence. */
const STORM = 400

export interface ClusterOptions {
  readonly setting: Setting
  readonly timeline: Chronicle | undefined
  /** Nothing will go wrong, so nothing may take long. */
  readonly calm: boolean
}

/** Everything that lives in one run: the API server, the actors, the replicas, and those who watch them. */
export class Cluster {
  readonly agenda = new Agenda()
  readonly server: ModelServer
  readonly hub: WatchHub
  readonly nodes: Nodes
  readonly janitors: Janitors
  readonly seats: readonly Seat[]
  readonly queues: Queues
  readonly muster = OFFLINE_IDENTITY
  liftsRefusedUntil = 0
  violation: Violation | undefined
  /** Write attempts besides those on the Lease. */
  attempts = 0
  /** Of these, the ones that are no Events. */
  objectWrites = 0
  lastAttempt = ''
  readonly #options: ClusterOptions
  readonly #order: OrderWatch
  #changedAt = 0
  #attemptedAt = 0
  readonly #attemptsAt = new Map<string, number>()

  constructor(options: ClusterOptions) {
    const { setting, timeline } = options
    this.#options = options
    this.queues = new Queues(setting.queues, () => this.agenda.now)
    const dice = new Dice(setting.seed).split('cluster')
    const world = { ...localWorld(this.#config), holds: heldIn(setting), scheduling: () => servedIn(setting) }
    const watcher = { notIdempotent: (_: unknown, detail: string) => this.fail('I7', detail) }
    const chain = admissionChain(
      () => world,
      watcher,
      call => this.#refuses(call),
    )
    this.server = new ModelServer(() => this.agenda.now, chain, WORKLOADS_OF[setting.engine])
    this.hub = new WatchHub(this.server, servedIn(setting).kubernetes?.composites)
    this.server.subscribe(({ resource, before, after }) => {
      // A renewal is no news. A new leader is: it has things to tell even if nothing else happens.
      if (resource !== LEASES || holderOf(before) !== holderOf(after)) this.#changedAt = this.agenda.now
    })
    timeline?.follow(this.server, this.muster)
    const judge = { fail: (invariant: Violation['invariant'], message: string) => this.fail(invariant, message) }
    rememberLifts(this.server)
    watchQuota(this.server, this.queues, judge)
    watchLifts(this.server, this.muster, judge)
    watchManners(this.server, this.muster, judge)
    watchJobs(this.server, setting.queues, this.muster, judge)
    watchPodGroups(this.server, this.muster, judge, () => this.agenda.now)
    if (setting.kai) watchKai(this.server, this.muster, judge)
    watchDeletions(this.server, this.muster, judge, () => this.agenda.now)
    if (options.calm) watchPromptness(this.server, this.muster, judge, () => this.agenda.now)
    this.#order = new OrderWatch(this.server, this.queues, judge, () => this.agenda.now)
    this.janitors = new Janitors(this.agenda, this.server, dice.split('janitors'))
    this.nodes = new Nodes(this.agenda, this.server, dice.split('nodes'))
    new PodGroupProtection(this.agenda, this.server, dice.split('pod groups'))
    if (setting.kai) new Kai(this.agenda, this.server, dice.split('kai'))
    new JobController(this.agenda, this.server, dice.split('job controller'))
    if (setting.sets) new JobSetController(this.agenda, this.server, dice.split('jobset controller'))
    new Replacers(this.agenda, this.server, dice.split('jobs'))
    if (setting.engine === 'external') {
      new ExternalQueues(this.agenda, this.server, dice.split('queues'), setting.queues)
    }
    if (setting.engine === 'kueue') new KueueProcess(this.agenda, this.server, dice.split('queues'), setting.queues)
    for (const name of [SYSTEM_NAMESPACE, ...setting.namespaces]) this.janitors.createNamespace(name)
    this.seats = setting.replicas.map((replica, index) => {
      const link = new Link(dice.split(`link ${index}`), () => this.agenda.now, replica.watchLagMs)
      link.streaming = replica.streaming
      link.pageLimit = replica.pageLimit
      const machine = { rate: replica.rate, skewMs: replica.skewMs }
      const seat = { machine, link, dice: dice.split(`replica ${index}`), incarnation: 0, fuse: undefined }
      return this.#boot(seat as unknown as Seat, index)
    })
  }

  fail(invariant: Violation['invariant'], message: string): void {
    this.violation ??= { invariant, message, at: this.agenda.now }
  }

  note(who: string, text: string): void {
    this.#options.timeline?.add(who, text)
  }

  get #config(): Configuration {
    return { ...DEFAULT_CONFIGURATION, queues: this.queues.list }
  }

  /** The file changes, and every replica looks at it some time. */
  setLimits(queue: string, limits: QueueConfiguration['limits']): void {
    const replicas = this.seats.map(({ replica }) => replica).filter(({ alive }) => alive)
    this.queues.change(queue, limits, replicas)
    for (const { replica, dice } of this.seats) {
      const read = () => {
        replica.reconfigure(this.queues.list)
        this.queues.taken(replica)
      }
      this.agenda.after(dice.next() * LOOK_MS, read, replica)
    }
  }

  /** A new process takes the place of the old one. */
  reboot(seat: Seat): void {
    if (seat.replica.alive) return
    this.#boot(seat, this.seats.indexOf(seat))
    this.note(seat.replica.name, 'starts')
  }

  crash(seat: Seat, downMs: number): void {
    if (!seat.replica.alive) return
    this.note(seat.replica.name, 'crashes')
    seat.replica.crash()
    this.agenda.after(downMs, () => this.reboot(seat))
  }

  /** The actors have nothing to do: for so long nothing has changed, and no pod is on its way. */
  idle(ms: number): boolean {
    const restless = this.server.all(PODS).some(object => mayRun(asPod(object)) && gatesOf(asPod(object)).length === 0)
    const watching = this.seats.every(({ replica }) => replica.alive && replica.watching)
    const holder = holderOf(this.server.find(LEASES, SYSTEM_NAMESPACE, 'muster'))
    const led = this.seats.some(({ replica }) => replica.leads && replica.name === holder)
    const quietSince = Math.max(this.#changedAt, this.#attemptedAt)
    return watching && led && !restless && !this.nodes.troubled && quietSince + ms <= this.agenda.now
  }

  run(end: number): Promise<void> {
    return this.agenda.runUntil(end, () => this.violation !== undefined)
  }

  #boot(seat: Seat, index: number): Seat {
    const { setting } = this.#options
    seat.incarnation++
    seat.fuse = undefined
    seat.replica = new Replica({
      name: `replica-${index}.${seat.incarnation}`,
      agenda: this.agenda,
      dice: seat.dice.split(String(seat.incarnation)),
      machine: seat.machine,
      link: seat.link,
      server: this.server,
      hub: this.hub,
      wire: replica => this.#wire(seat, replica),
      who: this.muster,
      served: servedIn(setting),
      engine: this.#engine(),
      onMetric: (name, value) => {
        if (value < 0) this.fail('F9', `${name} is ${value}: no duration and no number of pods is negative`)
      },
      log: this.#log(`replica-${index}.${seat.incarnation}`),
    })
    const { replica } = seat
    this.agenda.after(seat.dice.next() * 50, () => replica.start(), replica)
    return seat
  }

  /** Each process has its own. */
  #engine(): Engine {
    const { setting } = this.#options
    if (setting.engine === 'external') return externalEngine()
    if (setting.engine === 'kueue') return kueueEngine('v1beta2', { waitsForPodsReady: true })
    return { ...builtinFor(this.#config), holds: heldIn(setting) }
  }

  #wire(seat: Seat, replica: Replica): Wire {
    const own = new OwnWrites(
      message => this.fail('F3', `${replica.name} ${message}`),
      () => this.agenda.now,
    )
    return {
      sending: request => {
        if (isWrite(request)) this.#count(request, seat, replica)
        own.sending(request)
        const check = this.#order.sending(replica, request)
        return result => {
          check()
          if (request.resource !== LEASES && request.verb !== 'list') {
            this.#options.timeline?.request(replica.name, request, result.error)
          }
        }
      },
      received: (resource, object) => this.#order.received(replica, resource, object),
      answered: (request, object) => own.answered(request, object),
    }
  }

  /** Nothing is created in a namespace that is going, and whoever has not tried it cannot know: no cache tells. */
  #isInVain({ verb, namespace }: Request): boolean {
    const found = verb === 'create' ? this.server.find(NAMESPACES, '', namespace ?? '') : undefined
    return found !== undefined && isDeleting(found)
  }

  #count(request: Request, seat: Seat, replica: Replica): void {
    const key = `${request.verb} ${request.resource.plural} ${request.namespace}/${request.name}`
    const attempts = (this.#attemptsAt.get(key) ?? 0) + 1
    this.#attemptsAt.set(key, attempts)
    this.attempts++
    if (request.resource !== EVENTS && !this.#isInVain(request)) this.objectWrites++
    this.#attemptedAt = this.agenda.now
    this.lastAttempt = `${replica.name}: ${key}`
    if (attempts > STORM) this.fail('I6', `${key} was tried ${attempts} times`)
    replica.writes++
    const { fuse } = seat
    if (fuse === undefined || replica !== seat.replica || replica.writes < fuse.at) return
    seat.fuse = undefined
    if (fuse.moment === 'before') fuse.burn()
    else this.agenda.after(0, fuse.burn)
  }

  /** Another admission plugin, in a bad mood: it refuses to let gates be taken off. */
  #refuses({ resource, object, oldObject }: AdmissionCall): string | undefined {
    if (this.liftsRefusedUntil <= this.agenda.now || resource !== PODS || oldObject === undefined) return undefined
    const lifts = isGated(asPod(oldObject)) && !isGated(asPod(object))
    return lifts ? 'admission webhook "policy.example.com" denied the request: not now' : undefined
  }

  #log(name: string): Logger {
    const { timeline } = this.#options
    const quiet = () => {}
    const tell = (fields: { err?: unknown }, message: string) => {
      const cause = fields.err instanceof Error ? `: ${fields.err.message}` : ''
      timeline?.add(name, `(log) ${message}${cause}`)
    }
    return { debug: quiet, trace: quiet, info: tell, warn: tell, error: tell, fatal: tell } as unknown as Logger
  }
}

const WORKLOADS_OF: Readonly<Record<Setting['engine'], Resource>> = {
  builtin: WORKLOADS,
  external: EXTERNAL_WORKLOADS,
  kueue: KUEUE_KINDS.v1beta2.workloads,
}

/** Where nobody submits Jobs, nobody watches for them: it would only make the other runs longer. */
const heldIn = ({ jobs, sets }: Setting): readonly string[] => [
  'pod',
  ...(jobs ? ['batch/job'] : []),
  ...(sets ? ['jobset.x-k8s.io/jobset'] : []),
]

/** Groups of groups in every second run with gangs: most clusters have none. */
const servedIn = ({ gangs, kai, seed }: Setting): ServedScheduling => ({
  ...NOTHING_SERVED,
  ...((gangs || kai) && {
    kubernetes: { version: 'v1beta1', podGroups: true, composites: gangs && seed % 2 === 0 },
  }),
  kai,
})

function holderOf(lease: Stored | undefined): string | undefined {
  return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity
}
