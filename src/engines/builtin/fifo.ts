import type { Configuration, QueueConfiguration } from '../../config/configuration.ts'
import type { Amounts } from '../../kube/vocabulary/objects.ts'
import type { Decider } from '../../reconciler/engine.ts'
import { type Action, targetOf } from '../../workload/actions.ts'
import {
  type ConditionChange,
  isTrue,
  notWaiting,
  type PodSetUpdate,
  podCount,
  type QueuedWorkload,
  type WorkloadStatus,
  wholeAgain,
  withConditions,
} from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import { add, amounts } from '../../workload/requests.ts'
import { type Entry, Ledger, type Reckon } from './ledger.ts'
import { behind, first, heldBy, NO_QUEUE, neverFits, shortfall } from './messages.ts'
import { type Counting, largestFit, workloadRequests } from './requests.ts'
import { WORKLOADS } from './workloads.ts'

/** A queue as it stands, for people: who has what of it, and who wants some. */
export interface QueueView {
  /** Empty: without limits. */
  readonly limits: Amounts
  readonly usage: Amounts
  /** In the order in which they came. */
  readonly holding: readonly Entry[]
  /** The next one first. */
  readonly pending: readonly Entry[]
  readonly aside: readonly Entry[]
}

/**
 * First in, first out per queue. A Workload is admitted when all before it in its queue are
 * admitted or finished and the queue's limits hold it; what it holds it keeps until it has finished.
 * What the limits could not hold even alone is set aside: it has its old place again when they rise.
 * A queue is known by its name in the whole cluster; one that the configuration does not list has no limits.
 */
export class FifoQueues implements Decider {
  readonly #ledger: Ledger
  #limits: ReadonlyMap<string, Amounts> = new Map()
  #places: ReadonlyMap<string, PodSetUpdate> = new Map()

  /** Whoever decides about copies of the same Workloads again and again reckons once what they ask for. */
  constructor(queues: Configuration['queues'], reckon: Reckon = workloadRequests) {
    this.#ledger = new Ledger((queue, requests) => neverFits(queue, requests, this.#limitsOf(queue)), reckon)
    this.reconfigure(queues)
  }

  /** Who holds something keeps it, be it beyond the new limits; who was set aside by the old ones is judged anew. */
  reconfigure(queues: Configuration['queues']): void {
    this.#limits = new Map(queues.map(queue => [queue.name, amounts(queue.limits)]))
    this.#places = new Map(queues.map(queue => [queue.name, placeOf(queue)]))
    this.#ledger.judgeAnew()
  }

  /** Takes note of a Workload; returns the queues to decide again. */
  observe(workload: QueuedWorkload, gone: boolean): readonly string[] {
    return gone ? this.#ledger.remove(workload) : this.#ledger.update(workload)
  }

  /** Admits from the head of the queue what fits, and tells those who wait why. */
  decide(queue: string, now: string): readonly Action[] {
    const limits = this.#limitsOf(queue)
    const used = this.#ledger.usage(queue)
    // Of what has no limit there may be any number of names, and nobody asks how much of it is used.
    const usage = new Map([...limits.keys()].map(name => [name, used.get(name) ?? 0n]))
    const { aside = [], untold = [] } = Object.groupBy(this.#ledger.untold(queue), ({ verdict }) =>
      verdict === undefined ? 'untold' : 'aside',
    )
    const actions: Action[] = aside.flatMap(entry => setAside(entry, now))
    if (queue === '') return [...actions, ...untold.flatMap(entry => wait(entry, 'WaitingForAdmission', NO_QUEUE, now))]
    const settled = new Set<string>()
    const admitted: Entry[] = []
    for (const entry of this.#ledger.pending(queue)) {
      settled.add(entry.key)
      const missing = shortfall(usage, entry.requests, limits)
      const fits = (requests: Amounts): boolean => shortfall(usage, requests, limits).length === 0
      const reduced = missing.length > 0 ? largestFit(entry.workload, fits) : undefined
      if (missing.length > 0 && reduced === undefined) {
        const why = [first(queue), ...missing, ...heldBy(this.#ledger.holding(queue), admitted)]
        actions.push(...wait(entry, 'OverQueueLimits', why.join('; '), now))
        for (const other of untold) {
          if (settled.has(other.key)) continue
          const before = this.#ledger.before(other) - admitted.length
          actions.push(...wait(other, 'WaitingForAdmission', behind(entry.key, queue, before), now))
        }
        break
      }
      add(usage, reduced === undefined ? entry.requests : workloadRequests(entry.workload, reduced))
      admitted.push(entry)
      actions.push(...admit(entry.workload, this.#places.get(queue) ?? {}, now, reduced))
    }
    return actions
  }

  view(queue: string): QueueView {
    const ledger = this.#ledger
    const [holding, pending, aside] = [ledger.holding(queue), ledger.pending(queue), ledger.aside(queue)]
    return { limits: this.#limitsOf(queue), usage: ledger.usage(queue), holding, pending, aside }
  }

  #limitsOf(queue: string): Amounts {
    return this.#limits.get(queue) ?? new Map()
  }
}

/** Where the pods of the queue may run. It becomes part of the admission: a later change does not move them. */
function placeOf({ nodeLabels = {}, tolerations = [] }: QueueConfiguration): PodSetUpdate {
  return {
    ...(Object.keys(nodeLabels).length > 0 && { nodeSelector: nodeLabels }),
    ...(tolerations.length > 0 && { tolerations }),
  }
}

/** Without a place: what runs already stays where it is. */
export function admit(
  workload: QueuedWorkload,
  place: PodSetUpdate,
  now: string,
  counting: Counting = ({ count }) => count,
): readonly Action[] {
  const queue = workload.spec.queueName
  const changes: readonly ConditionChange[] = [
    { type: 'QuotaReserved', status: 'True', reason: 'QuotaReserved', message: `quota reserved in queue ${queue}` },
    { type: 'Admitted', status: 'True', reason: 'Admitted', message: 'the workload is admitted' },
  ]
  const podSetAssignments = workload.spec.podSets.map(podSet => {
    return { name: podSet.name, count: counting(podSet), ...place }
  })
  const admission = { clusterQueue: queue, podSetAssignments }
  return setStatus(workload, changes, now, { admission, ...wholeAgain(workload), ...notWaiting(workload) })
}

function wait({ workload, queue }: Entry, reason: Reason, message: string, now: string): readonly Action[] {
  const change: ConditionChange = { type: 'QuotaReserved', status: 'False', reason, message }
  const told = workload.status?.waiting?.queueName === queue
  return setStatus(workload, [change], now, told ? {} : { waiting: { queueName: queue, since: now } })
}

/** It is in nobody's way. What asks for too much waits until the limits rise; what asks for nonsense waits for nothing. */
function setAside(entry: Entry, now: string): readonly Action[] {
  const { workload, verdict } = entry
  if (verdict === undefined) return []
  const { reason, message } = verdict
  if (reason === 'OverQueueLimits') return wait(entry, reason, message, now)
  // What it runs on was never counted, so it stops before anything else is said about it.
  const change: ConditionChange = isTrue(workload, 'QuotaReserved')
    ? { type: 'Evicted', status: 'True', reason, message }
    : { type: 'QuotaReserved', status: 'False', reason, message }
  return setStatus(workload, [change], now, notWaiting(workload))
}

function setStatus(
  workload: QueuedWorkload,
  changes: readonly ConditionChange[],
  now: string,
  rest: Pick<WorkloadStatus, 'admission' | 'reclaimablePods' | 'waiting'>,
): readonly Action[] {
  const conditions = withConditions(workload, changes, now)
  if (conditions === undefined && rest.waiting === undefined) return []
  const resourceVersion = workload.metadata.resourceVersion ?? ''
  const status = { pods: podCount(workload), ...(conditions && { conditions }), ...rest }
  return [{ kind: 'SetStatus', resource: WORKLOADS, workload: targetOf(workload), resourceVersion, status }]
}
