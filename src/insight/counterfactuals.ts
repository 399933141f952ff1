import type { Configuration, QueueConfiguration } from '../config/configuration.ts'
import { FifoQueues, type QueueView } from '../engines/builtin/fifo.ts'
import { type Entry, keyOf, type Reckon } from '../engines/builtin/ledger.ts'
import { workloadRequests } from '../engines/builtin/requests.ts'
import { QUEUE_ORDER } from '../engines/builtin/workloads.ts'
import type { Amounts, StringMap } from '../kube/vocabulary/objects.ts'
import { matchesSelector } from '../kube/vocabulary/selectors.ts'
import type { PodSet, QueuedWorkload } from '../workload/queued-workload.ts'
import { REASONS, type Reason } from '../workload/reasons.ts'
import { add, ONE, show } from '../workload/requests.ts'
import { asksOf } from './asks.ts'
import { quantities } from './text.ts'

/** One thing that could be otherwise, and what the engine would do then. */
export interface Counterfactual {
  readonly change: 'asks' | 'queue' | 'limits'
  /** As people say it. */
  readonly text: string
  /** What it would ask for, the limits that the queue would have; or the queue that it would come to. */
  readonly to: Readonly<Record<string, string>> | string
  readonly outcome: 'starts' | 'waits' | 'never'
  /** How many would be before it, where it waits. */
  readonly before?: number
}

/** Who waits, where, and all that is known of that queue and the others. */
export interface Waiter {
  readonly workload: QueuedWorkload
  readonly queues: Configuration['queues']
  readonly workloads: readonly QueuedWorkload[]
  /** Of its namespace: some queues are not for everybody. */
  readonly namespaceLabels: StringMap | undefined
}

/** The time in what is decided on a copy: nobody reads it. */
const NEVER = '1970-01-01T00:00:00Z'

/** A queue as the engine sees it, and what it would do with one of those who wait there. */
export interface Outlook {
  readonly view: QueueView
  /** Undefined: nothing, since all that it would say is said. */
  readonly verdict: 'starts' | 'others start' | { readonly reason: Reason; readonly message: string } | undefined
}

/** Decided anew: what stands in the Workload is as old as the last decision of whoever leads, and maybe nobody does. */
export function outlookOf(
  queues: Configuration['queues'],
  workloads: Iterable<QueuedWorkload>,
  { metadata, spec }: QueuedWorkload,
): Outlook {
  const fifo = fifoOf(queues, workloads)
  const view = fifo.view(spec.queueName)
  const actions = fifo.decide(spec.queueName, NEVER).flatMap(action => (action.kind === 'SetStatus' ? [action] : []))
  const own = actions.find(
    ({ workload }) => workload.namespace === metadata.namespace && workload.name === metadata.name,
  )
  const status = own?.status
  if (status?.admission) return { view, verdict: 'starts' }
  if (actions.some(({ status }) => status.admission)) return { view, verdict: 'others start' }
  const said = status?.conditions?.find(({ type }) => type === 'QuotaReserved')
  const reason = REASONS.find(known => known === said?.reason)
  return { view, verdict: said && reason && { reason, message: said.message } }
}

function fifoOf(queues: Configuration['queues'], workloads: Iterable<QueuedWorkload>, reckon?: Reckon): FifoQueues {
  const fifo = new FifoQueues(queues, reckon)
  for (const workload of workloads) fifo.observe(workload, false)
  return fifo
}

/**
 * What would change it, each answer by the engine's own code on a copy of what is there. In a queue that is first in,
 * first out, it helps little to ask for less when others are before it, and this says so.
 */
export function counterfactuals(waiter: Waiter, view: QueueView): readonly Counterfactual[] {
  const { workload, queues } = waiter
  const listed = queues.find(({ name }) => name === workload.spec.queueName)
  const own = [...view.pending, ...view.aside].find(({ key }) => key === keyOf(workload))
  const asks = asksOf(workload)
  if (own === undefined || listed === undefined || asks === undefined) return []
  const place = placeOf(workload, asks, listed, view)
  return [
    ...askingLess(place),
    ...queues.filter(queue => queue !== listed && isOpen(queue, waiter)).map(queue => inQueue(waiter, queue)),
    ...withLimits(place),
  ]
}

/** Where it waits now: all that its turn depends on, and no more, for there may be ten thousand others. */
interface Place {
  readonly workload: QueuedWorkload
  readonly asks: Amounts
  readonly queue: QueueConfiguration
  readonly view: QueueView
  /** Who would be before it if nobody were set aside, in their order, with what they ask for. */
  readonly before: readonly Entry[]
  /** Those, and one that holds what all who hold something do. */
  readonly others: readonly QueuedWorkload[]
  readonly reckon: Reckon
}

function placeOf(workload: QueuedWorkload, asks: Amounts, queue: QueueConfiguration, view: QueueView): Place {
  const known = new Map(view.pending.map(entry => [entry.workload, entry.requests]))
  const reckon: Reckon = (of, counting) =>
    (counting === undefined ? known.get(of) : undefined) ?? workloadRequests(of, counting)
  const waiting = [...view.pending, ...view.aside].map(entry => entry.workload)
  // Without limits nobody is set aside, and each is in the place that he has when they rise.
  const inOrder = fifoOf([], waiting, reckon).view(queue.name).pending
  const before = inOrder.slice(
    0,
    inOrder.findIndex(({ key }) => key === keyOf(workload)),
  )
  const others = [holderOf(queue.name, view.usage), ...before.map(entry => entry.workload)]
  return { workload, asks, queue, view, before, others, reckon }
}

/** As good as all who hold something: what counts is how much. */
function holderOf(queueName: string, usage: Amounts): QueuedWorkload {
  const reserved = {
    type: 'QuotaReserved',
    status: 'True',
    reason: '',
    message: '',
    lastTransitionTime: NEVER,
  } as const
  // No namespace is called so, and so it is nobody else.
  const nobody = { metadata: { namespace: '', name: '' }, spec: { queueName, podSets: [] } }
  return { ...asking(nobody, usage), status: { conditions: [reserved] } }
}

const isOpen = ({ namespaces }: QueueConfiguration, { namespaceLabels }: Waiter): boolean =>
  namespaces === undefined || (namespaceLabels !== undefined && matchesSelector(namespaces, namespaceLabels))

type Outcome = Pick<Counterfactual, 'outcome' | 'before'>

/** What the engine says of a Workload in a queue with these others. */
function outcomeOf(
  queue: QueueConfiguration,
  others: readonly QueuedWorkload[],
  own: QueuedWorkload,
  reckon?: Reckon,
): Outcome {
  const fifo = fifoOf([queue], [...others, own], reckon)
  const admitted = new Set(
    fifo
      .decide(queue.name, NEVER)
      .flatMap(action =>
        action.kind === 'SetStatus' && action.status.admission
          ? [`${action.workload.namespace}/${action.workload.name}`]
          : [],
      ),
  )
  if (admitted.has(keyOf(own))) return { outcome: 'starts' }
  const pending = fifo.view(queue.name).pending.filter(({ key }) => !admitted.has(key))
  const before = pending.findIndex(({ key }) => key === keyOf(own))
  return before < 0 ? { outcome: 'never' } : { outcome: 'waits', before }
}

/** At most what is free now; where others are before it, as little as anybody can ask for. */
function askingLess({ workload, asks, queue, others, view, reckon }: Place): readonly Counterfactual[] {
  const free = new Map([...view.limits].map(([name, limit]) => [name, limit - (view.usage.get(name) ?? 0n)]))
  const less = new Map([...asks].map(([name, amount]) => [name, smaller(amount, free.get(name) ?? amount)]))
  if ((less.get('pods') ?? 0n) < ONE) less.set('pods', ONE)
  const result = outcomeOf(queue, others, asking(workload, less), reckon)
  if (result.outcome === 'starts') {
    const changed = [...less].filter(([name, amount]) => amount !== asks.get(name))
    const parts = changed.map(([name, amount]) => `${show(amount)} ${name} (now ${show(asks.get(name) ?? 0n)})`)
    if (parts.length === 0) return []
    return [{ change: 'asks', text: `it asks for at most ${parts.join(', ')}`, to: quantities(less), ...result }]
  }
  const least = new Map([['pods', ONE]])
  const atLeast = outcomeOf(queue, others, asking(workload, least), reckon)
  return [{ change: 'asks', text: 'it asks for less', to: quantities(least), ...atLeast }]
}

const smaller = (a: bigint, b: bigint): bigint => (b < 0n ? 0n : a < b ? a : b)

function inQueue({ workload, workloads }: Waiter, queue: QueueConfiguration): Counterfactual {
  const there = workloads.filter(({ spec }) => spec.queueName === queue.name)
  const result = outcomeOf(queue, there, movedTo(workload, queue.name))
  return { change: 'queue', text: `it comes to queue ${queue.name}`, to: queue.name, ...result }
}

/** To the end of the queue, as whoever changes his label comes there. */
function movedTo({ metadata, spec, apiVersion, kind }: QueuedWorkload, queueName: string): QueuedWorkload {
  const annotations = { ...metadata.annotations, [QUEUE_ORDER]: '9'.repeat(18) }
  return { ...{ apiVersion, kind }, metadata: { ...metadata, annotations }, spec: { ...spec, queueName } }
}

/** Limits that hold all who have something, all before it, and itself: in a queue, nobody is passed over. */
function withLimits({ workload, asks, queue, view, before, others, reckon }: Place): readonly Counterfactual[] {
  const needed = new Map(view.usage)
  for (const entry of before) add(needed, entry.requests)
  add(needed, asks)
  const short = [...view.limits].filter(([name, limit]) => (needed.get(name) ?? 0n) > limit)
  if (short.length === 0) return []
  const raised = Object.fromEntries(short.map(([name]) => [name, show(needed.get(name) ?? 0n)]))
  const result = outcomeOf({ ...queue, limits: { ...queue.limits, ...raised } }, others, workload, reckon)
  const parts = short.map(([name, limit]) => `${show(needed.get(name) ?? 0n)} ${name} (now ${show(limit)})`)
  return [{ change: 'limits', text: `queue ${queue.name} holds ${parts.join(', ')}`, to: raised, ...result }]
}

/** The same Workload, asking for so much in all. One podSet bears it, and another counts the rest of the pods. */
function asking(workload: QueuedWorkload, total: Amounts): QueuedWorkload {
  const pods = Number((total.get('pods') ?? ONE) / ONE)
  const requests = Object.fromEntries(
    [...total].flatMap(([name, amount]) => (name === 'pods' ? [] : [[name, show(amount)]])),
  )
  const bearer: PodSet = {
    name: 'all',
    count: 1,
    template: { spec: { containers: [{ name: 'all', resources: { requests } }] } },
  }
  const rest: PodSet = { name: 'rest', count: pods - 1, template: { spec: {} } }
  return { ...workload, spec: { ...workload.spec, podSets: pods > 1 ? [bearer, rest] : [bearer] } }
}
