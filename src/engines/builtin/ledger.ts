import type { Amounts } from '../../kube/vocabulary/objects.ts'
import { condition, isTrue, type QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import { add } from '../../workload/requests.ts'
import { subtract, workloadRequests } from './requests.ts'
import { QUEUE_ORDER } from './workloads.ts'

/** A Workload as its queue sees it. */
export interface Entry {
  readonly key: string
  readonly queue: string
  readonly workload: QueuedWorkload
  readonly requests: Amounts
  readonly state: 'pending' | 'holding' | 'unreadable'
  /** Why it can never be admitted, if it is `unreadable`. */
  readonly problem?: string
}

interface Queue {
  /** First in, first out. */
  readonly pending: Entry[]
  /** Pending entries that have not been told yet that they wait. */
  readonly untold: Set<string>
  /** Their requests are no quantities. They hold nothing and nobody waits for them. */
  readonly unreadable: Set<string>
  readonly usage: Map<string, bigint>
  /** In the order in which they came. */
  readonly holding: Entry[]
}

/** What the engine says to those who wait. Anything else, or nothing, is what somebody said before their turn came. */
const TOLD: ReadonlySet<string | undefined> = new Set<Reason>(['OverQueueLimits', 'WaitingForAdmission'])

/**
 * Who waits and who holds what in every queue, kept up to date Workload by Workload, so that an event costs the
 * same whether ten or ten thousand others are there. It remembers nothing of its own: replaying the Workloads
 * after a restart gives the same ledger.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>()
  readonly #queues = new Map<string, Queue>()

  /** Takes the Workload as it is now; returns the queues whose next decision may differ. */
  update(workload: QueuedWorkload): readonly string[] {
    const touched = this.remove(workload)
    const state = stateOf(workload)
    if (state === undefined) return touched
    const entry = entryOf(workload, state)
    const { key } = entry
    const queue = this.#queue(entry.queue)
    this.#entries.set(key, entry)
    if (entry.state === 'unreadable') {
      queue.unreadable.add(key)
    } else if (entry.state === 'holding') {
      add(queue.usage, entry.requests)
      queue.holding.splice(position(queue.holding, entry), 0, entry)
    } else {
      queue.pending.splice(position(queue.pending, entry), 0, entry)
      if (!isTold(entry)) queue.untold.add(key)
    }
    return [...new Set([...touched, entry.queue])]
  }

  remove(workload: QueuedWorkload): readonly string[] {
    const key = keyOf(workload)
    const entry = this.#entries.get(key)
    if (entry === undefined) return []
    this.#entries.delete(key)
    const queue = this.#queue(entry.queue)
    if (entry.state === 'unreadable') {
      queue.unreadable.delete(key)
    } else if (entry.state === 'holding') {
      subtract(queue.usage, entry.requests)
      queue.holding.splice(position(queue.holding, entry) - 1, 1)
    } else {
      queue.pending.splice(position(queue.pending, entry) - 1, 1)
      queue.untold.delete(key)
    }
    if (queue.holding.length + queue.pending.length + queue.unreadable.size === 0) this.#queues.delete(entry.queue)
    return [entry.queue]
  }

  pending(queue: string): readonly Entry[] {
    return this.#queues.get(queue)?.pending ?? []
  }

  /** How many wait before this one. */
  before(entry: Entry): number {
    return position(this.pending(entry.queue), entry) - 1
  }

  holding(queue: string): readonly Entry[] {
    return this.#queues.get(queue)?.holding ?? []
  }

  untold(queue: string): readonly Entry[] {
    return this.#entriesOf(this.#queues.get(queue)?.untold)
  }

  unreadable(queue: string): readonly Entry[] {
    return this.#entriesOf(this.#queues.get(queue)?.unreadable)
  }

  usage(queue: string): Amounts {
    return this.#queues.get(queue)?.usage ?? new Map()
  }

  #entriesOf(keys: Iterable<string> = []): readonly Entry[] {
    return [...keys].flatMap(key => this.#entries.get(key) ?? [])
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name)
    if (known !== undefined) return known
    const queue: Queue = { pending: [], untold: new Set(), unreadable: new Set(), usage: new Map(), holding: [] }
    this.#queues.set(name, queue)
    return queue
  }
}

/** What was said in another queue does not count in this one. */
function isTold({ workload, queue }: Entry): boolean {
  return TOLD.has(condition(workload, 'QuotaReserved')?.reason) && workload.status?.waiting?.queueName === queue
}

/** A template can hold anything: the API server does not check what is inside it. */
function entryOf(workload: QueuedWorkload, state: 'pending' | 'holding'): Entry {
  const known = { key: keyOf(workload), queue: workload.spec.queueName, workload }
  try {
    return { ...known, requests: workloadRequests(workload), state }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { ...known, requests: new Map(), state: 'unreadable', problem }
  }
}

/** Usage is held from the reservation until the Workload has finished or is gone, also while it is being evicted. */
function stateOf(workload: QueuedWorkload): 'pending' | 'holding' | undefined {
  if (isTrue(workload, 'Finished')) return undefined
  if (isTrue(workload, 'QuotaReserved')) return 'holding'
  if (workload.metadata.deletionTimestamp != null || workload.spec.active === false) return undefined
  return 'pending'
}

export function keyOf(workload: QueuedWorkload): string {
  return `${workload.metadata.namespace}/${workload.metadata.name}`
}

/** Where the entry belongs: behind itself if it is there already. */
function position(pending: readonly Entry[], entry: Entry): number {
  let low = 0
  let high = pending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = pending[middle]
    if (other !== undefined && comesBefore(entry, other)) high = middle
    else low = middle + 1
  }
  return low
}

/** By creation, then by the resource version at which the unit was complete, then by name: a total order. */
function comesBefore(a: Entry, b: Entry): boolean {
  const [atA, atB] = [a.workload.metadata.creationTimestamp ?? '', b.workload.metadata.creationTimestamp ?? '']
  if (atA !== atB) return atA < atB
  const [orderA, orderB] = [orderOf(a.workload), orderOf(b.workload)]
  if (orderA !== orderB) return orderA < orderB
  return a.key < b.key
}

function orderOf(workload: QueuedWorkload): number {
  const order = Number(workload.metadata.annotations?.[QUEUE_ORDER] ?? 0)
  return Number.isFinite(order) ? order : 0
}
