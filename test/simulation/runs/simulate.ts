import { Cluster } from '../cluster/cluster.ts'
import { unfinished } from '../invariants/final.ts'
import type { Violation } from '../invariants/judge.ts'
import { apply } from '../schedule/apply.ts'
import { endOf, isFault, type Schedule } from '../schedule/schedule.ts'
import type { Chronicle } from './timeline.ts'

export interface Result {
  readonly violation: Violation | undefined
  readonly steps: number
  readonly virtualMs: number
  readonly timeline: string
}

export interface RunOptions {
  /** Who writes down what happens. */
  readonly trace?: new (
    now: () => number,
  ) => Chronicle
  /** Whoever else wants to see it. */
  readonly onCluster?: (cluster: Cluster) => void
}

/** A calm cluster that has not come to rest after this long never will. */
const PATIENCE_MS = 900_000
const STRIDE_MS = 10_000
/** Longer than any key backs off. */
const REST_MS = 90_000
const FRESH_MS = 30_000

/** Who takes the name of a PodGroup holds its group up for as long as he has it. */
const TAKES_A_NAME: ReadonlySet<string> = new Set(['take-pod-group', 'take-kai-group'])

/** One run from beginning to end. The same schedule gives the same run, step by step. */
export async function simulate(schedule: Schedule, options: RunOptions = {}): Promise<Result> {
  const timeline: Chronicle | undefined = options.trace && new options.trace(() => cluster.agenda.now)
  const calm = !schedule.items.some(item => isFault(item) || TAKES_A_NAME.has(item.kind))
  const cluster = new Cluster({ setting: schedule.setting, timeline, calm })
  options.onCluster?.(cluster)
  for (const item of schedule.items) cluster.agenda.at(item.at, () => apply(item, cluster))
  const end = endOf(schedule)
  await cluster.run(end)
  settle(cluster)
  await comeToRest(cluster, end, schedule)
  for (const { replica } of cluster.seats) replica.crash()
  const { violation, agenda } = cluster
  return { violation, steps: agenda.steps, virtualMs: agenda.now, timeline: timeline?.toString() ?? '' }
}

function settle(cluster: Cluster): void {
  cluster.note('', '---- nothing goes wrong from here on ----')
  for (const seat of cluster.seats) seat.fuse = undefined
}

/** I4: all that can be done is done in the end. I6: and then nobody writes any more. */
async function comeToRest(cluster: Cluster, end: number, { setting }: Schedule): Promise<void> {
  let left: readonly string[] = []
  for (let now = end; now < end + PATIENCE_MS && !cluster.violation; ) {
    now += STRIDE_MS
    await cluster.run(now)
    left = unfinished(cluster.server, cluster.queues.list)
    if (left.length === 0 && cluster.idle(2 * STRIDE_MS)) break
  }
  if (left.length > 0) cluster.fail('I4', left.join('; '))
  if (cluster.violation) return
  const { attempts } = cluster
  await cluster.run(cluster.agenda.now + REST_MS)
  if (cluster.attempts === attempts) {
    if (setting.seed % 4 === 0) await startAfresh(cluster)
    return
  }
  cluster.fail(
    'I6',
    `nothing changes, and ${cluster.attempts - attempts} writes were sent, the last by ${cluster.lastAttempt}`,
  )
}

/** I6: other processes that find the same objects decide the same, and so find nothing to do. */
async function startAfresh(cluster: Cluster): Promise<void> {
  cluster.note('', '---- every process is replaced by a new one ----')
  const before = cluster.objectWrites
  for (const seat of cluster.seats) cluster.crash(seat, 100)
  await cluster.run(cluster.agenda.now + FRESH_MS)
  if (cluster.objectWrites !== before) {
    cluster.fail('I6', `new processes found nothing new and still wrote: ${cluster.lastAttempt}`)
  }
}
