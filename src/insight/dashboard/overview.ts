import { REASONS, type Reason } from '../../workload/reasons.ts'
import { amounts } from '../../workload/requests.ts'
import type { QueueReport, QueuesReport } from '../queues/report.ts'
import type { Admission, Minute, Timeline } from './admissions.ts'
import type { Waiter } from './waiting.ts'

/** All that the page shows without being asked for more: small, however much there is in the cluster. */
export interface Overview {
  readonly cluster: string
  readonly engine: string
  /** The only namespace whose Workloads may be read. */
  readonly namespace: string
  /** Everything has been read once. */
  readonly isComplete: boolean
  /** Counts up whenever the list of who waits has changed. */
  readonly revision: number
  readonly holding: number
  readonly waiting: number
  readonly reasons: readonly ReasonCount[]
  readonly queues: readonly QueueBars[]
  /** Queues that are not listed, for there are too many. */
  readonly moreQueues: number
  readonly minutes: readonly Minute[]
  readonly latest: readonly Admission[]
  readonly unseen: readonly string[]
  /** Why this is not what is there now, where that is so. */
  readonly trouble: string
}

export interface ReasonCount {
  readonly reason: Reason
  readonly count: number
}

export interface QueueBars {
  readonly name: string
  readonly bars: readonly Bar[]
  /** What is in use without a limit, as `128 cpu`. */
  readonly unlimited: readonly string[]
  readonly holding: number
  readonly waiting: number
  readonly aside: number
  /** Since when the one waits that waits longest. */
  readonly oldest: string
}

export interface Bar {
  readonly resource: string
  readonly used: string
  readonly limit: string
  /** Of the limit: above 1 when the limit has sunk below what is held. */
  readonly share: number
}

/** As many as somebody looks at. */
const MOST_QUEUES = 200

/** What was seen of a cluster, at one moment. */
export interface Seen {
  readonly about: Pick<Overview, 'cluster' | 'engine' | 'namespace' | 'isComplete' | 'revision' | 'trouble'>
  readonly report: QueuesReport
  readonly waiters: Iterable<Waiter>
  readonly timeline: Timeline
}

/** The page, from what was seen and nothing else. */
export function overviewOf({ about, report, waiters, timeline }: Seen): Overview {
  const byReason = new Map<Reason, number>()
  const elsewhere = new Map<string, number>()
  let waiting = 0
  for (const { reason, queue, workload } of waiters) {
    waiting++
    byReason.set(reason, (byReason.get(reason) ?? 0) + 1)
    // Who has no Workload yet is in no queue's own books.
    if (workload === undefined) elsewhere.set(queue, (elsewhere.get(queue) ?? 0) + 1)
  }
  const known = new Set(report.queues.map(({ name }) => name))
  const coming = [...elsewhere.keys()].filter(name => !known.has(name)).map(emptyQueue)
  const queues = [...report.queues, ...coming].map(queue => barsOf(queue, elsewhere.get(queue.name) ?? 0))
  const shown = queues.toSorted(byImportance).slice(0, MOST_QUEUES)
  return {
    ...about,
    holding: report.queues.reduce((sum, { holding }) => sum + holding.length, 0),
    waiting,
    reasons: REASONS.flatMap(reason => {
      const count = byReason.get(reason)
      return count === undefined ? [] : [{ reason, count }]
    }),
    queues: shown.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    moreQueues: queues.length - shown.length,
    ...timeline,
    unseen: report.unseen,
  }
}

const emptyQueue = (name: string): QueueReport => ({
  ...{ name, limits: {}, areLimitsKnown: false, usage: {}, holding: [], waiting: [], aside: [] },
})

/** What has limits is somebody's, and what has many who wait is looked for. */
const byImportance = (a: QueueBars, b: QueueBars): number =>
  Number(b.bars.length > 0) - Number(a.bars.length > 0) ||
  b.waiting + b.aside + b.holding - (a.waiting + a.aside + a.holding) ||
  (a.name < b.name ? -1 : 1)

function barsOf({ name, limits, usage, holding, waiting, aside }: QueueReport, coming: number): QueueBars {
  const used = amounts(usage)
  const bars = [...amounts(limits)].map(([resource, limit]) => ({
    resource,
    used: usage[resource] ?? '0',
    limit: limits[resource] ?? '0',
    share: shareOf(used.get(resource) ?? 0n, limit),
  }))
  const unlimited = Object.entries(usage).flatMap(([resource, amount]) =>
    Object.hasOwn(limits, resource) ? [] : [`${amount} ${resource}`],
  )
  const oldest = [...waiting, ...aside].map(({ since }) => since ?? '').filter(since => since !== '')
  return {
    ...{ name, bars, unlimited },
    holding: holding.length,
    waiting: waiting.length + coming,
    aside: aside.length,
    oldest: oldest.reduce((first, since) => (first === '' || since < first ? since : first), ''),
  }
}

/** A limit of nothing is full with nothing in it. */
function shareOf(used: bigint, limit: bigint): number {
  if (limit === 0n) return used === 0n ? 0 : 2
  return Number((used * 1000n) / limit) / 1000
}

/** Where each Workload stands in its queue, from 1 on. */
export function placesIn({ queues }: QueuesReport): ReadonlyMap<string, number> {
  return new Map(queues.flatMap(({ waiting }) => waiting.map(({ workload }, index) => [workload, index + 1] as const)))
}
