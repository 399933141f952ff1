import { FifoQueues, type QueueView } from '../../engines/builtin/fifo.ts'
import type { Entry } from '../../engines/builtin/ledger.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { condition, isTrue, type QueuedWorkload } from '../../workload/queued-workload.ts'
import { asksOf, holdsSince, waitsSince } from '../asks.ts'
import type { Quantities } from '../explain/explanation.ts'
import type { Installation } from '../installation.ts'
import { limitQuantities, quantities } from '../text.ts'

/** The queues of a cluster, for people and for programs. */
export interface QueuesReport {
  readonly apiVersion: 'insight.muster.dev/v1alpha1'
  readonly kind: 'Queues'
  readonly queues: readonly QueueReport[]
  /** What the caller may not read: then this is not all. */
  readonly unseen: readonly string[]
}

export interface QueueReport {
  readonly name: string
  /** Empty: the queue has no limits, or nobody here knows them. */
  readonly limits: Quantities
  /** False where the configuration cannot be read, and where they are another program's. */
  readonly areLimitsKnown: boolean
  readonly usage: Quantities
  readonly holding: readonly QueueEntry[]
  /** The next one first. */
  readonly waiting: readonly QueueEntry[]
  /** More than the queue could hold if it were empty: nobody waits for them. */
  readonly aside: readonly QueueEntry[]
}

export interface QueueEntry {
  readonly workload: string
  readonly asks: Quantities
  readonly since?: string
  readonly reason?: string
  readonly message?: string
}

export function reportQueues(
  { config, engine }: Installation,
  workloads: readonly QueuedWorkload[],
  unseen: readonly string[],
): QueuesReport {
  const queues = engine.decider === undefined ? ofAnother(engine, workloads) : ofBuiltin(config?.queues, workloads)
  const sorted = queues.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { apiVersion: 'insight.muster.dev/v1alpha1', kind: 'Queues', queues: sorted, unseen }
}

function ofBuiltin(
  configured: NonNullable<Installation['config']>['queues'] | undefined,
  workloads: readonly QueuedWorkload[],
): readonly QueueReport[] {
  const listed = configured ?? []
  const fifo = new FifoQueues(listed)
  for (const workload of workloads) fifo.observe(workload, false)
  const names = new Set([...listed.map(({ name }) => name), ...workloads.map(({ spec }) => spec.queueName)])
  return [...names]
    .map(name => ({ name, view: fifo.view(name), isListed: listed.some(queue => queue.name === name) }))
    .filter(({ view, isListed }) => isListed || view.holding.length + view.pending.length + view.aside.length > 0)
    .map(({ name, view }) => ({ ...ofView(name, view), areLimitsKnown: configured !== undefined }))
}

function ofView(
  name: string,
  { limits, usage, holding, pending, aside }: QueueView,
): Omit<QueueReport, 'areLimitsKnown'> {
  return {
    name,
    limits: limitQuantities(limits),
    usage: quantities(usage),
    holding: holding.map(({ workload, requests }: Entry) =>
      entryOf(workload, quantities(requests), holdsSince(workload)),
    ),
    waiting: pending.map(({ workload, requests }) => waiterOf(workload, quantities(requests))),
    aside: aside.map(({ workload }) => waiterOf(workload, quantities(asksOf(workload) ?? new Map()))),
  }
}

/** Queues that another program decides: who is in them is in the Workloads, and what they hold is that program's. */
function ofAnother(engine: Engine, workloads: readonly QueuedWorkload[]): readonly QueueReport[] {
  const open = workloads.filter(workload => !isTrue(workload, 'Finished'))
  const byQueue = Map.groupBy(open, ({ metadata, spec }) => `${metadata.namespace}/${spec.queueName}`)
  return [...byQueue].map(([name, all]) => {
    const inOrder = all.toSorted((a, b) => (createdAt(a) < createdAt(b) ? -1 : 1))
    const { holding = [], waiting = [] } = Object.groupBy(inOrder, workload =>
      engine.holdsQuota(workload) ? 'holding' : 'waiting',
    )
    const asks = (workload: QueuedWorkload) => quantities(asksOf(workload) ?? new Map())
    return {
      ...{ name, limits: {}, areLimitsKnown: false, usage: {}, aside: [] },
      holding: holding.map(workload => entryOf(workload, asks(workload), holdsSince(workload))),
      waiting: waiting.map(workload => waiterOf(workload, asks(workload))),
    }
  })
}

const createdAt = ({ metadata }: QueuedWorkload): string => metadata.creationTimestamp ?? ''

function waiterOf(workload: QueuedWorkload, asks: Quantities): QueueEntry {
  const said = condition(workload, 'QuotaReserved')
  return {
    ...entryOf(workload, asks, waitsSince(workload)),
    ...(said && { reason: said.reason, message: said.message }),
  }
}

function entryOf({ metadata }: QueuedWorkload, asks: Quantities, since: string | undefined): QueueEntry {
  const workload = `${metadata.namespace}/${metadata.name}`
  return { workload, asks, ...(since !== undefined && { since }) }
}
