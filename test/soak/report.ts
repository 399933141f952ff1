import type { Failover } from './prober.ts'
import type { Blame } from './tally.ts'

export interface Figures {
  readonly minutes: number
  readonly seed: number
  readonly disturbances: ReadonlyMap<string, number>
  readonly requests: number
  readonly created: { readonly pods: number; readonly groups: number; readonly jobs: number; readonly probes: number }
  readonly updates: number
  readonly deletions: number
  readonly lifts: { readonly pods: number; readonly groups: number; readonly ofJobs: number }
  readonly rotations: { readonly announced: number; readonly promoted: number; readonly forgotten: number }
  readonly failed: Readonly<Record<Blame, readonly string[]>>
  readonly wrong: readonly string[]
  readonly leftBehind: readonly string[]
  readonly failovers: readonly Failover[]
  /** How long somebody waited for the CPU in all. */
  readonly withheldMs: number
  readonly probeWaitsMs: readonly number[]
  readonly longestPartialMs: number
  readonly memoryMb: readonly number[]
}

export const FAILOVER_MS = 20_000

interface Goal {
  readonly what: string
  readonly seen: string
  readonly wanted: string
  readonly isMet: boolean
}

/** What has to be so. `complaints` says what was not. */
export function goalsOf(figures: Figures): readonly Goal[] {
  const { failed, wrong, leftBehind, failovers } = figures
  const none = (what: string, found: readonly string[]): Goal => ({
    what,
    seen: String(found.length),
    wanted: '0',
    isMet: found.length === 0,
  })
  const slowest = Math.max(0, ...failovers.map(({ ms, withheldMs }) => ms - withheldMs))
  return [
    none('reviews that failed by Muster’s fault', failed.muster),
    none('requests that failed, and nobody knows why', failed.unknown),
    none('pods lifted wrongly', wrong),
    none('left behind', leftBehind),
    {
      what: `slowest of ${failovers.length} failovers, less what was waited for the CPU`,
      seen: seconds(slowest),
      wanted: `at most ${seconds(FAILOVER_MS)}`,
      isMet: slowest <= FAILOVER_MS,
    },
  ]
}

export function complaints({ failed, wrong, leftBehind }: Figures): readonly string[] {
  return [...failed.muster, ...failed.unknown, ...wrong, ...leftBehind]
}

/** As it is printed, and as docs/reliability.md has it. */
export function table(figures: Figures): string {
  const { created, lifts, rotations, failed, probeWaitsMs } = figures
  const waits = [...probeWaitsMs].sort((one, other) => one - other)
  const at = (share: number) => seconds(waits[Math.floor(share * (waits.length - 1))] ?? 0)
  const rows: readonly (readonly [string, string, string])[] = [
    ...goalsOf(figures).map(
      ({ what, seen, wanted, isMet }) => [what, seen, isMet ? wanted : `${wanted}: MISSED`] as const,
    ),
    ['failovers by the clock', figures.failovers.map(({ ms }) => seconds(ms)).join(', ') || 'none', ''],
    ['of that, waited for the CPU', figures.failovers.map(({ withheldMs }) => seconds(withheldMs)).join(', '), ''],
    ['waited for the CPU in all', `${Math.round(figures.withheldMs / (600 * figures.minutes))} % of the time`, ''],
    ['reviews that were late after a second or more of waiting for the CPU', String(failed.machine.length), ''],
    ['requests of clients', String(figures.requests), ''],
    ['created', `${created.pods} pods, ${created.groups} groups, ${created.jobs} Jobs, ${created.probes} probes`, ''],
    ['updated, deleted', `${figures.updates}, ${figures.deletions}`, ''],
    ['lifted', `${lifts.pods} pods, ${lifts.groups} groups begun, ${lifts.ofJobs} pods of Jobs begun`, ''],
    [
      'certificates',
      `${rotations.announced} announced, ${rotations.promoted} promoted, ${rotations.forgotten} authorities forgotten`,
      '',
    ],
    ['reviews cut by a kill -9', String(failed['kill -9'].length), ''],
    ['requests that met no API server', String(failed['api server'].length), ''],
    ['a probe waits: median, 99 %, longest', `${at(0.5)}, ${at(0.99)}, ${at(1)}`, ''],
    ['longest time a group was half lifted', seconds(figures.longestPartialMs), ''],
    ['resident memory of the replicas at the end', figures.memoryMb.map(mb => `${Math.round(mb)} MB`).join(', '), ''],
    ...[...figures.disturbances].map(([kind, count]) => [kind, `${count} times`, ''] as const),
  ]
  return [
    `| ${figures.minutes} min, seed ${figures.seed} | seen | goal |`,
    '|---|---|---|',
    ...rows.map(row => `| ${row.join(' | ')} |`),
  ].join('\n')
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
