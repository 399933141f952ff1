import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import { composeWorkload, isForGroup, QUEUE_ORDER } from '../../../src/engines/builtin/workloads.ts'
import { abandonBy, byConditions } from '../../../src/engines/conditions.ts'
import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import type { Condition } from '../../../src/kube/vocabulary/objects.ts'
import type { Engine } from '../../../src/reconciler/engine.ts'
import { targetOf } from '../../../src/workload/actions.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { asWorkload, conditionOf, exceeds, holdsQuota, limitsOf, plus, type Usage, workloadUsage } from '../facts.ts'
import { comesBefore, inTheWay, waits } from '../invariants/order.ts'
import type { ModelServer } from '../model/server.ts'
import type { Agenda } from '../time/agenda.ts'
import type { Dice } from '../time/dice.ts'
import { ignoreRaces } from './nodes.ts'

/** Workloads of another maker's kind, with another finalizer. */
export const EXTERNAL_WORKLOADS: Resource = {
  group: 'queues.example.com',
  version: 'v1',
  plural: 'workloads',
  kind: 'Workload',
  namespaced: true,
}
const FINALIZER = 'queues.example.com/in-use'
const WHO = 'system:serviceaccount:queues:controller'
/** After this nothing is evicted any more, so that a run comes to rest. */
const PEACE_MS = 40_000

/** What Muster sees of an engine that lives in another process: its objects, and nothing of its mind. */
export function externalEngine(): Engine {
  const common = byConditions({ workloads: EXTERNAL_WORKLOADS, finalizer: FINALIZER, queueOrder: QUEUE_ORDER })
  return {
    ...common,
    abandon: abandonBy(common),
    name: 'external',
    holds: ['pod'],
    compose: plan => {
      const workload = composeWorkload(plan)
      const { group, version } = EXTERNAL_WORKLOADS
      return {
        ...workload,
        apiVersion: `${group}/${version}`,
        metadata: { ...workload.metadata, finalizers: [FINALIZER] },
      }
    },
    forCache: workload => workload,
    isForGroup,
    reclaim: (workload, succeeded) => {
      const wanted = [...succeeded].filter(([, count]) => count > 0).map(([name, count]) => ({ name, count }))
      const known = workload.status?.reclaimablePods ?? []
      if (JSON.stringify(wanted) === JSON.stringify(known)) return []
      const resourceVersion = workload.metadata.resourceVersion ?? ''
      const target = { resource: EXTERNAL_WORKLOADS, workload: targetOf(workload), resourceVersion }
      return [{ kind: 'SetStatus', ...target, status: { reclaimablePods: wanted } }]
    },
  }
}

const NOTHING: Usage = { pods: 0, milliCpu: 0 }

/**
 * The other process. It admits first in, first out, in two steps, whenever it gets round to it; now and then it takes
 * an admission back and gives it again once Muster has stopped the pods.
 */
export class ExternalQueues {
  readonly #agenda: Agenda
  readonly #server: ModelServer
  readonly #dice: Dice
  readonly #queues: readonly QueueConfiguration[]

  constructor(agenda: Agenda, server: ModelServer, dice: Dice, queues: readonly QueueConfiguration[]) {
    this.#agenda = agenda
    this.#server = server
    this.#dice = dice
    this.#queues = queues
    server.subscribe(({ resource, before, after }) => {
      if (resource !== EXTERNAL_WORKLOADS) return
      const touched = new Set([before, after].flatMap(object => (object ? [asWorkload(object).spec.queueName] : [])))
      for (const queue of touched) this.#later(() => this.#decide(queue))
    })
  }

  #later(work: () => void): void {
    this.#agenda.after(20 + this.#dice.next() * this.#dice.pick([50, 400, 2000]), () => ignoreRaces(work))
  }

  #decide(queue: string): void {
    const all = this.#server.all(EXTERNAL_WORKLOADS).map(asWorkload)
    const own = all.filter(({ spec }) => spec.queueName === queue)
    const limits = limitsOf(this.#queues.find(({ name }) => name === queue)?.limits ?? {})
    let used = own.filter(holdsQuota).reduce<Usage>((sum, next) => plus(sum, workloadUsage(next)), NOTHING)
    const { waiting = [], hopeless = [] } = Object.groupBy(own.filter(waits), workload =>
      inTheWay(workload, this.#queues) ? 'waiting' : 'hopeless',
    )
    waiting.sort((a, b) => (comesBefore(a, b) ? -1 : 1))
    for (const workload of hopeless) this.#set(workload, [['QuotaReserved', 'False', 'Pending']])
    for (const [index, workload] of waiting.entries()) {
      const wanted = plus(used, workloadUsage(workload))
      if (exceeds(wanted, limits)) {
        for (const other of waiting.slice(index)) this.#set(other, [['QuotaReserved', 'False', 'Pending']])
        return
      }
      used = wanted
      this.#set(workload, [['QuotaReserved', 'True', 'QuotaReserved']])
      this.#later(() => this.#admit(workload))
    }
  }

  /** The second step: whoever was stopped or moved on in between is left alone. */
  #admit({ metadata: { namespace, name = '', uid } }: QueuedWorkload): void {
    const stored = this.#server.find(EXTERNAL_WORKLOADS, namespace, name)
    if (stored === undefined || stored.metadata.uid !== uid) return
    const workload = asWorkload(stored)
    if (!holdsQuota(workload) || workload.spec.active === false || conditionOf(workload, 'Evicted') === 'True') return
    if (conditionOf(workload, 'Admitted') === 'True') return
    const { queueName, podSets } = workload.spec
    const podSetAssignments = podSets.map(podSet => ({ name: podSet.name, count: podSet.count }))
    this.#set(workload, [['Admitted', 'True', 'Admitted']], {
      admission: { clusterQueue: queueName, podSetAssignments },
    })
    if (this.#dice.chance(0.2)) this.#agenda.after(this.#dice.next() * 8000, () => ignoreRaces(() => this.#evict(uid)))
  }

  #evict(uid: string | undefined): void {
    const stored = this.#server.all(EXTERNAL_WORKLOADS).find(({ metadata }) => metadata.uid === uid)
    if (stored === undefined || this.#agenda.now > PEACE_MS) return
    const workload = asWorkload(stored)
    if (conditionOf(workload, 'Finished') === 'True' || conditionOf(workload, 'Admitted') !== 'True') return
    this.#set(workload, [['Evicted', 'True', 'Preempted']])
  }

  #set(
    workload: QueuedWorkload,
    changes: readonly (readonly [type: string, status: Condition['status'], reason: string])[],
    more: object = {},
  ): void {
    const { namespace, name = '' } = workload.metadata
    const conditions = [...(workload.status?.conditions ?? [])]
    for (const [type, status, reason] of changes) {
      const at = conditions.findIndex(known => known.type === type)
      if (conditions[at]?.status === status) return
      const lastTransitionTime = this.#server.timestamp()
      const next = { type, status, reason, message: `${reason} by another process`, lastTransitionTime }
      if (at < 0) conditions.push(next)
      else conditions[at] = next
    }
    const ref = { ...(namespace !== undefined && { namespace }), name, subresource: 'status' }
    this.#server.patch(EXTERNAL_WORKLOADS, ref, { type: 'merge', body: { status: { conditions, ...more } } }, WHO)
  }
}
