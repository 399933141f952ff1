import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import { KUEUE_KINDS } from '../../../src/kube/vocabulary/kueue.ts'
import type { Condition } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { asWorkload, conditionOf, exceeds, holdsQuota, limitsOf, plus, type Usage, workloadUsage } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces } from './nodes.ts'

const { workloads: WORKLOADS, flavors: FLAVORS } = KUEUE_KINDS.v1beta2
const WHO = 'system:serviceaccount:kueue-system:kueue-controller-manager'
/** After this nothing is evicted any more and nobody restarts, so that a run comes to rest. */
const PEACE_MS = 40_000

/** Why it takes an admission back. Only the first comes back by itself. */
const EVICTIONS = ['Preempted', 'PodsReadyTimeout', 'AdmissionCheck', 'ClusterQueueStopped'] as const

type Changes = Readonly<Record<string, readonly [status: Condition['status'], reason: string]>>

const NOTHING: Usage = { pods: 0, milliCpu: 0 }

/**
 * Kueue, as far as its Workloads show it: a scheduler that admits whatever fits, in two steps; evictions, after which it
 * waits for whoever runs the pods to give the quota back; Workloads that come back when it says so; restarts.
 */
export class KueueProcess {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  readonly #queues: readonly QueueConfiguration[]
  /** What an earlier life had in mind is forgotten. */
  #life = 0
  #awayUntil = 0

  constructor(agenda: Agenda, server: ModelServer, dice: Dice, queues: readonly QueueConfiguration[]) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    this.#queues = queues
    for (const queue of queues) server.create(FLAVORS, flavorOf(queue), WHO)
    server.create(FLAVORS, flavorOf({ name: 'any', limits: {} }), WHO)
    server.subscribe(({ resource, before, after }) => {
      if (resource !== WORKLOADS) return
      const touched = new Set([before, after].flatMap(object => (object ? [asWorkload(object).spec.queueName] : [])))
      for (const queue of touched) this.#later(() => this.#schedule(queue))
      this.#later(() => this.#attend(after.metadata.uid))
    })
    if (dice.chance(0.3)) agenda.after(5000 + dice.next() * 20_000, () => this.#restart())
  }

  #later(work: () => void): void {
    const life = this.#life
    const delay = 20 + this.#dice.next() * this.#dice.pick([50, 400, 2000])
    this.#agenda.after(Math.max(delay, this.#awayUntil - this.#agenda.now), () => {
      if (life === this.#life) ignoreRaces(work)
    })
  }

  #restart(): void {
    this.#life++
    this.#awayUntil = this.#agenda.now + 500 + this.#dice.next() * 5000
    const all = this.#server.all(WORKLOADS)
    for (const queue of new Set(all.map(object => asWorkload(object).spec.queueName))) {
      this.#later(() => this.#schedule(queue))
    }
    for (const { metadata } of all) this.#later(() => this.#attend(metadata.uid))
  }

  /** Best effort: whoever does not fit is passed over. */
  #schedule(queue: string): void {
    const own = this.#server
      .all(WORKLOADS)
      .map(asWorkload)
      .filter(({ spec }) => spec.queueName === queue)
    const limits = limitsOf(this.#queues.find(({ name }) => name === queue)?.limits ?? {})
    let used = own.filter(holdsQuota).reduce<Usage>((sum, next) => plus(sum, workloadUsage(next)), NOTHING)
    for (const workload of own.filter(isAdmissible)) {
      const wanted = plus(used, workloadUsage(workload))
      if (exceeds(wanted, limits)) {
        this.#set(workload, { QuotaReserved: ['False', 'Pending'] })
        continue
      }
      used = wanted
      this.#set(workload, reservation(workload), { admission: this.#admission(workload) })
    }
  }

  #admission({ spec }: QueuedWorkload): object {
    const flavor = this.#queues.some(({ name }) => name === spec.queueName) ? spec.queueName : 'any'
    const podSetAssignments = spec.podSets.map(({ name, count }) => ({ name, count, flavors: { cpu: flavor } }))
    return { clusterQueue: spec.queueName, podSetAssignments }
  }

  /** What the state of one Workload asks of its controller. */
  #attend(uid: string | undefined): void {
    const stored = this.#server.all(WORKLOADS).find(({ metadata }) => metadata.uid === uid)
    if (stored === undefined) return
    const workload = asWorkload(stored)
    const is = (type: string) => conditionOf(workload, type) === 'True'
    if (is('Finished')) return
    if (workload.spec.active === false) {
      if (!is('Evicted')) this.#set(workload, { Evicted: ['True', 'Deactivated'] })
      return
    }
    if (is('Evicted') && holdsQuota(workload)) return
    if (holdsQuota(workload) && !is('Admitted')) {
      this.#set(workload, { Admitted: ['True', 'Admitted'] })
      if (this.#dice.chance(0.25)) this.#agenda.after(this.#dice.next() * 8000, () => this.#evict(uid))
    }
    const back = workload.status?.conditions?.find(({ type }) => type === 'Requeued')
    if (back?.status === 'False') {
      this.#agenda.after(500 + this.#dice.next() * 3000, () => ignoreRaces(() => this.#bringBack(uid)))
    }
  }

  #bringBack(uid: string | undefined): void {
    const stored = this.#server.all(WORKLOADS).find(({ metadata }) => metadata.uid === uid)
    if (stored === undefined || asWorkload(stored).spec.active === false) return
    if (conditionOf(asWorkload(stored), 'Requeued') !== 'False') return
    this.#set(asWorkload(stored), { Requeued: ['True', 'BackoffFinished'] })
  }

  #evict(uid: string | undefined): void {
    const stored = this.#server.all(WORKLOADS).find(({ metadata }) => metadata.uid === uid)
    if (stored === undefined || this.#agenda.now > PEACE_MS) return
    const workload = asWorkload(stored)
    if (conditionOf(workload, 'Finished') === 'True' || conditionOf(workload, 'Admitted') !== 'True') return
    ignoreRaces(() => this.#set(workload, { Evicted: ['True', this.#dice.pick(EVICTIONS)] }))
  }

  /** With the version that was read, as Kueue applies its fields. */
  #set(workload: QueuedWorkload, changes: Changes, more: object = {}): void {
    const conditions = [...(workload.status?.conditions ?? [])]
    let changed = false
    for (const [type, [status, reason]] of Object.entries(changes)) {
      const at = conditions.findIndex(known => known.type === type)
      if (conditions[at]?.status === status) continue
      changed = true
      const lastTransitionTime = this.#server.timestamp()
      const next = { type, status, reason, message: `${reason} by Kueue`, lastTransitionTime }
      if (at < 0) conditions.push(next)
      else conditions[at] = next
    }
    if (!changed) return
    const { namespace, name = '', uid, resourceVersion } = workload.metadata
    const ref = { ...(namespace !== undefined && { namespace }), name, subresource: 'status' }
    const body = { metadata: { uid, resourceVersion }, status: { conditions, ...more } }
    this.#server.patch(WORKLOADS, ref, { type: 'merge', body }, WHO)
  }
}

/** As Kueue's `IsAdmissible`, and not in a backoff. */
export function isAdmissible(workload: QueuedWorkload): boolean {
  if (workload.metadata.deletionTimestamp != null || workload.spec.active === false) return false
  if (conditionOf(workload, 'Requeued') === 'False') return false
  return !['QuotaReserved', 'Finished', 'WaitingForReplacementPods'].some(
    type => conditionOf(workload, type) === 'True',
  )
}

/** What was taken back is forgotten with the next reservation. */
function reservation(workload: QueuedWorkload): Changes {
  const reserved: Changes = { QuotaReserved: ['True', 'QuotaReserved'] }
  return conditionOf(workload, 'Evicted') === 'True' ? { ...reserved, Evicted: ['False', 'QuotaReserved'] } : reserved
}

function flavorOf({ name, nodeLabels = {}, tolerations = [] }: QueueConfiguration): Stored {
  return { metadata: { name }, spec: { nodeLabels, tolerations } }
}
