import type { Logger } from 'pino'
import { assembleController, type Controller } from '../../../src/cluster/controller.ts'
import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import { kaiCoScheduler } from '../../../src/coscheduling/kai/co-scheduler.ts'
import { kubernetesCoScheduler } from '../../../src/coscheduling/kubernetes/co-scheduler.ts'
import type { BuiltinEngine } from '../../../src/engines/builtin/builtin.ts'
import type { Clock } from '../../../src/kube/vocabulary/clock.ts'
import type { ServedScheduling } from '../../../src/kube/vocabulary/served-scheduling.ts'
import type { Engine } from '../../../src/reconciler/engine.ts'
import { EVERYWHERE } from '../../support/namespaces.ts'
import { nobody } from '../../support/observers.ts'
import type { ModelServer } from '../model/server.ts'
import type { WatchHub } from '../model/watch.ts'
import { Channel } from '../network/channel.ts'
import type { Link } from '../network/link.ts'
import type { Wire } from '../network/wire.ts'
import type { Agenda, Owner } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'

/** The machine that a replica runs on: its clock keeps its faults over restarts of the process. */
export interface Machine {
  /** How far its wall clock is off. */
  skewMs: number
  /** How fast its clocks run. */
  readonly rate: number
}

export interface ReplicaOptions {
  readonly name: string
  readonly agenda: Agenda
  readonly dice: Dice
  readonly machine: Machine
  readonly link: Link
  readonly server: ModelServer
  readonly hub: WatchHub
  readonly wire: (replica: Replica) => Wire
  readonly who: string
  readonly engine: Engine & Partial<Pick<BuiltinEngine, 'reconfigure'>>
  readonly served: ServedScheduling
  readonly onMetric: (name: string, value: number) => void
  readonly log: Logger
}

const EPOCH = Date.UTC(2026, 10, 16, 10)

/**
 * Pods, Workloads, and the Jobs and JobSets that are placed, whether they wait or not; where they wait, these once more,
 * and what their pods will ask for beside what is written in them.
 */
const WATCHES_OF_PODS = 4
const WATCHES_OF_JOBS = 7
const JOB_SET = 'jobset.x-k8s.io/jobset'
/** And what kube-scheduler places by. */
const WATCHES_OF_GROUPS = 2
/** And what KAI does, twice: for groups in queues, and with pods and their groups and topologies for those that name one. */
const WATCHES_OF_KAI = 6

/** One process of Muster, put together as it ships, on a clock and a network of the simulator. */
export class Replica implements Owner {
  readonly name: string
  readonly channel: Channel
  readonly #controller: Controller
  readonly #watches: number
  readonly #engine: ReplicaOptions['engine']
  alive = true
  pausedUntil = 0
  /** Writes that have left this process, for faults that strike at a certain one. */
  writes = 0

  constructor(options: ReplicaOptions) {
    const { name, agenda, dice, machine, link, server, hub, who, engine, served, log, onMetric } = options
    const places = served.kubernetes !== undefined
    this.name = name
    const ofEngine = (engine.background?.length ?? 0) + (engine.superseded === undefined ? 0 : 1)
    this.#engine = engine
    const watches = engine.holds.includes('batch/job') ? WATCHES_OF_JOBS : WATCHES_OF_PODS
    this.#watches =
      watches +
      ofEngine +
      (engine.holds.includes(JOB_SET) ? 1 : 0) +
      (places ? WATCHES_OF_GROUPS : 0) +
      (served.kai ? WATCHES_OF_KAI : 0)
    this.channel = new Channel({ agenda, owner: this, link, server, hub, who, wire: options.wire(this) })
    const clock = replicaClock(agenda, machine, this)
    this.#controller = assembleController({
      api: this.channel,
      clock,
      random: () => dice.next(),
      log,
      observer: nobody,
      engine,
      scope: EVERYWHERE,
      schedulers: [...(places ? [kubernetesCoScheduler] : []), ...(served.kai ? [kaiCoScheduler] : [])],
      scheduling: { served, onChange: () => () => {} },
      ...(served.kai && { kai: { naming: 'plain', enabled: true } }),
      identity: name,
      metrics: {
        reconciled: (_kind, _result, seconds) => onMetric('reconcile seconds', seconds),
        acted: () => {},
        lifted: seconds => onMetric('lift seconds', seconds),
        waiting: (reason, pods) => onMetric(`pods waiting for ${reason}`, pods),
        queue: {
          depth: keys => onMetric('queue depth', keys),
          add: () => {},
          retry: () => {},
          latency: seconds => onMetric('queue seconds', seconds),
        },
        leading: () => {},
        told: () => {},
      },
    })
  }

  get leads(): boolean {
    return this.alive && this.#controller.leads
  }

  /** All watches are there, and everything that was sent on them has arrived. */
  get watching(): boolean {
    const { streams } = this.channel
    return streams.size === this.#watches && [...streams].every(stream => stream.caughtUp)
  }

  start(): void {
    this.#controller.start()
  }

  /** It has looked at its configuration. */
  reconfigure(queues: readonly QueueConfiguration[]): void {
    this.#engine.reconfigure?.(queues)
  }

  /** The process is gone in this instant: none of its code runs again, what it has sent is on its way. */
  crash(): void {
    this.alive = false
  }

  /** As on SIGTERM. */
  async stop(): Promise<void> {
    await this.#controller.stop()
    this.alive = false
  }
}

function replicaClock(agenda: Agenda, machine: Machine, owner: Owner): Clock {
  return {
    now: () => EPOCH + agenda.now + machine.skewMs,
    monotonic: () => agenda.now * machine.rate,
    after: (ms, callback) => agenda.after(ms / machine.rate, callback, owner),
  }
}
