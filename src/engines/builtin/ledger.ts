import type { Amounts } from '../../kube/vocabulary/objects.ts'
import { compareVersions } from '../../kube/vocabulary/versions.ts'
import { condition, isTrue, type QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import { add } from '../../workload/requests.ts'
import { unreadable } from './messages.ts'
import { type Counting, held, isFlexible, least, subtract, workloadRequests } from './requests.ts'
import { QUEUE_ORDER } from './workloads.ts'

/** A Workload as its queue sees it. */
export interface Entry {
  readonly key: string
  readonly queue: string
  readonly workload: QueuedWorkload
  /** When it came, as `orderOf` reads it: asked for at every comparison, and read once. */
  readonly order: string
  readonly requests: Amounts
  readonly state: 'pending' | 'holding' | 'aside'
  /** Why it is set aside. */
  readonly verdict?: Verdict
}

/**
 * Why a Workload cannot be admitted, whoever else is there: its requests are none (`InvalidGroup`), or they are more
 * than its queue has (`OverQueueLimits`).
 */
export interface Verdict {
  readonly reason: 'InvalidGroup' | 'OverQueueLimits'
  readonly message: string
}

/** What a Workload asks for. */
export type Reckon = (workload: QueuedWorkload, counting?: Counting) => Amounts

/** Why the queue can never hold so much, in words; undefined if it can. */
export type NeverFits = (queue: string, requests: Amounts) => string | undefined

interface Queue {
  /** First in, first out. */
  readonly pending: Entry[]
  /** They hold nothing, and nobody waits for them: one request that is too large must not close a queue for all. */
  readonly aside: Set<string>
  /** Those of both that have not been told yet why they wait. */
  readonly untold: Set<string>
  readonly usage: Map<string, bigint>
  /** In the order in which they came. */
  readonly holding: Entry[]
}

/** What the engine says to those behind the first. Who was first once, and is no longer, is told anew. */
const BEHIND: Reason = 'WaitingForAdmission'

/**
 * Who waits and who holds what in every queue, kept up to date Workload by Workload, so that an event costs the
 * same whether ten or ten thousand others are there. It remembers nothing of its own: replaying the Workloads
 * after a restart gives the same ledger.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>()
  readonly #queues = new Map<string, Queue>()
  readonly #neverFits: NeverFits
  readonly #reckon: Reckon

  constructor(neverFits: NeverFits = () => undefined, reckon: Reckon = workloadRequests) {
    this.#neverFits = neverFits
    this.#reckon = reckon
  }

  /** Takes the Workload as it is now; returns the queues whose next decision may differ. */
  update(workload: QueuedWorkload): readonly string[] {
    const touched = this.remove(workload)
    const state = stateOf(workload)
    if (state === undefined) return touched
    const entry = this.#entryOf(workload, state)
    const { key } = entry
    const queue = this.#queue(entry.queue)
    this.#entries.set(key, entry)
    if (entry.state === 'holding') {
      add(queue.usage, entry.requests)
      queue.holding.splice(position(queue.holding, entry), 0, entry)
    } else {
      if (entry.state === 'aside') queue.aside.add(key)
      else queue.pending.splice(position(queue.pending, entry), 0, entry)
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
    if (entry.state === 'holding') {
      subtract(queue.usage, entry.requests)
      queue.holding.splice(position(queue.holding, entry) - 1, 1)
    } else {
      if (entry.state === 'aside') queue.aside.delete(key)
      else queue.pending.splice(position(queue.pending, entry) - 1, 1)
      queue.untold.delete(key)
    }
    if (queue.holding.length + queue.pending.length + queue.aside.size === 0) this.#queues.delete(entry.queue)
    return [entry.queue]
  }

  /** What could never fit may fit now, and the other way round. */
  judgeAnew(): void {
    for (const { workload } of [...this.#entries.values()]) this.update(workload)
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

  aside(queue: string): readonly Entry[] {
    return this.#named(this.#queues.get(queue)?.aside)
  }

  untold(queue: string): readonly Entry[] {
    return this.#named(this.#queues.get(queue)?.untold)
  }

  usage(queue: string): Amounts {
    return this.#queues.get(queue)?.usage ?? new Map()
  }

  #named(keys: Iterable<string> = []): readonly Entry[] {
    return [...keys].flatMap(key => this.#entries.get(key) ?? [])
  }

  /** A template can hold anything: the API server does not check what is inside it. */
  #entryOf(workload: QueuedWorkload, state: 'pending' | 'holding'): Entry {
    const queue = workload.spec.queueName
    const known = { key: keyOf(workload), queue, workload, order: orderOf(workload) }
    const aside = (reason: Verdict['reason'], message: string): Entry => ({
      ...known,
      requests: new Map(),
      state: 'aside',
      verdict: { reason, message },
    })
    try {
      const requests = this.#reckon(workload, state === 'holding' ? held(workload) : undefined)
      const fewest = isFlexible(workload) ? this.#reckon(workload, least) : requests
      const never = state === 'pending' ? this.#neverFits(queue, fewest) : undefined
      return never === undefined ? { ...known, requests, state } : aside('OverQueueLimits', never)
    } catch (error) {
      return aside('InvalidGroup', unreadable(error instanceof Error ? error.message : String(error)))
    }
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name)
    if (known !== undefined) return known
    const queue: Queue = { pending: [], aside: new Set(), untold: new Set(), usage: new Map(), holding: [] }
    this.#queues.set(name, queue)
    return queue
  }
}

/** What was said in another queue does not count in this one. */
function isTold({ workload, queue, verdict }: Entry): boolean {
  const waits = workload.status?.waiting?.queueName === queue
  const said = condition(workload, 'QuotaReserved')
  if (verdict === undefined) return waits && said?.reason === BEHIND
  // The figures in it change with the limits of the queue and with the Workload.
  const same = said?.reason === verdict.reason && said.message === verdict.message
  return same && said?.status === 'False' && waits === (verdict.reason === 'OverQueueLimits')
}

/** Usage is held from the reservation until the Workload has finished or is gone, also while it is being evicted. */
function stateOf(workload: QueuedWorkload): 'pending' | 'holding' | undefined {
  if (isTrue(workload, 'Finished')) return undefined
  if (isTrue(workload, 'QuotaReserved')) return 'holding'
  // Switched on again, and not yet put back in the queue: the reconciler does that, and would undo an admission.
  if (isTrue(workload, 'Evicted')) return undefined
  if (workload.metadata.deletionTimestamp != null || workload.spec.active === false) return undefined
  return 'pending'
}

export function keyOf(workload: QueuedWorkload): string {
  return `${workload.metadata.namespace}/${workload.metadata.name}`
}

/** Where the entry belongs: behind itself if it is there already. */
function position(pending: readonly Entry[], entry: Entry): number {
  const last = pending.at(-1)
  // Whoever comes last is put last, which is most of them.
  if (last === undefined || !comesBefore(entry, last)) return pending.length
  let low = 0
  let high = pending.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = pending[middle]
    if (other !== undefined && comesBefore(entry, other)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * By the resource version at which the unit was complete, or came over from another queue, then by name: a total order.
 * Not by the time of creation, which says nothing about those that came over, and which no clock of ours can tell.
 */
function comesBefore(a: Entry, b: Entry): boolean {
  const order = compareVersions(a.order, b.order)
  return order === 0 ? a.key < b.key : order < 0
}

function orderOf({ metadata, status }: QueuedWorkload): string {
  const [came, back] = [version(metadata.annotations?.[QUEUE_ORDER]), version(status?.order)]
  return compareVersions(came, back) < 0 ? back : came
}

const version = (text: string | undefined): string => (text !== undefined && /^[1-9][0-9]*$/.test(text) ? text : '')
