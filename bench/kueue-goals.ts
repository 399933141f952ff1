import type { Goal } from './goal.ts'
import type { Load } from './kueue-loads.ts'
import type { Figures, Results } from './kueue-report.ts'
import { median, ratio } from './report.ts'

/** The loads by what they are, since a run may leave some out. */
export interface Loads {
  readonly singles?: Load
  readonly group?: Load
  readonly large?: Load
  readonly busy?: Load
}

type Name = 'plain pods' | 'raw patches' | 'Muster' | 'Muster + Kueue' | 'Kueue'

const lifted = (figures: Figures): number => figures.lifted
const afterLastCreate = (figures: Figures): number => figures.lifted - figures.created

/** What was promised, as far as it was measured. Ratios within a round, and the median of the rounds. */
export function goals(results: readonly Results[], { singles, group, large, busy }: Loads): readonly Goal[] {
  const find = (name: Name) => results.find(result => result.name === name)
  const series = (name: Name, load: Load | undefined, figure: (figures: Figures) => number = lifted): number[] =>
    ((load && find(name)?.loads.get(load)) ?? []).map(figure)
  const timesAsFast = (name: Name, load: Load | undefined, goal: number): Goal => ({
    what: `${name}: ${load?.name}, times as fast as Kueue`,
    ...atLeast(goal, ratio(series('Kueue', load), series(name, load))),
  })
  const reviews = (name: Name) => find(name)?.reviews ?? []
  const rate = (name: Name) => reviews(name).map(({ perSecond }) => perSecond)
  const p99 = (name: Name) => reviews(name).map(entry => entry.p99)
  const apiServer = (name: Name) => series(name, singles, figures => figures.apiServer)
  const memory = (name: Name) => median((find(name)?.memory ?? []).map(({ muster, kueue }) => muster + kueue))
  const each: readonly Goal[] = [
    timesAsFast('Muster', singles, 3),
    timesAsFast('Muster + Kueue', singles, 1.5),
    ...[group, large].flatMap(load => [timesAsFast('Muster', load, 2), timesAsFast('Muster + Kueue', load, 2)]),
    timesAsFast('Muster', busy, 5),
    timesAsFast('Muster + Kueue', busy, 5),
    {
      what: `Muster: ${busy?.name}, last create to last lift, times the raw patches`,
      ...atMost(1.5, ratio(series('Muster', busy, afterLastCreate), series('raw patches', busy, afterLastCreate))),
    },
    {
      what: `Muster: ${singles?.name}, of the rate of plain pods`,
      ...atLeast(0.8, ratio(series('plain pods', singles), series('Muster', singles))),
    },
    {
      what: `Muster: ${singles?.name}, CPU of the API server, times that of plain pods`,
      ...atMost(1.5, ratio(apiServer('Muster'), apiServer('plain pods'))),
    },
    { what: 'webhook: reviews/s, times those of Kueue', ...atLeast(2.5, ratio(rate('Muster'), rate('Kueue'))) },
    { what: 'webhook: p99, of that of Kueue', ...atMost(0.25, ratio(p99('Muster'), p99('Kueue'))) },
    { what: 'Muster: memory, of that of Kueue', ...atMost(1, memory('Muster') / memory('Kueue')) },
  ]
  return each.filter(({ value }) => !Number.isNaN(value))
}

const atLeast = (goal: number, value: number) => ({ value, sense: 'at least', goal }) as const
const atMost = (goal: number, value: number) => ({ value, sense: 'at most', goal }) as const
