import type { Load, Timing } from './kueue-loads.ts'
import type { Reviews } from './kueue-systems.ts'
import { median } from './report.ts'

/** What one load cost under one system. CPU in milliseconds per pod. */
export interface Figures extends Timing {
  readonly muster: number
  readonly kueue: number
  readonly apiServer: number
}

/** Everything that was measured of one system, one entry per round. */
export interface Results {
  readonly name: string
  readonly loads: ReadonlyMap<Load, Figures[]>
  readonly reviews: Reviews[]
  /** Megabytes that are resident after the loads. */
  readonly memory: { readonly muster: number; readonly kueue: number }[]
}

export const LOAD_HEAD = [
  ...['system', 'last lift s', 'pods/s', 'after last create s', 'last bound s', 'create p50 ms', 'p99 ms'],
  ...['CPU/pod Muster ms', 'Kueue ms', 'API server ms'],
]

/** One row per system. */
export function loadRows(results: readonly Results[], load: Load): readonly (readonly string[])[] {
  return results.flatMap(({ name, loads }) => {
    const rounds = loads.get(load) ?? []
    if (rounds.length === 0) return []
    const of = (figure: (figures: Figures) => number, digits = 1) => shown(median(rounds.map(figure)), digits)
    return [
      [
        name,
        of(({ lifted }) => lifted),
        of(({ lifted }) => load.pods / lifted, 0),
        of(({ lifted, created }) => lifted - created),
        of(({ bound }) => bound),
        of(({ createP50 }) => createP50, 0),
        of(({ createP99 }) => createP99, 0),
        of(({ muster }) => muster),
        of(({ kueue }) => kueue),
        of(({ apiServer }) => apiServer),
      ],
    ]
  })
}

export const SYSTEM_HEAD = ['system', 'reviews/s', 'review p99 ms', 'memory of Muster MB', 'of Kueue MB', 'together MB']

export function systemRows(results: readonly Results[]): readonly (readonly string[])[] {
  return results
    .filter(({ memory }) => memory.some(({ muster, kueue }) => muster + kueue > 0))
    .map(({ name, reviews, memory }) => [
      name,
      shown(median(reviews.map(({ perSecond }) => perSecond)), 0),
      shown(median(reviews.map(({ p99 }) => p99)), 1),
      shown(median(memory.map(({ muster }) => muster)), 0),
      shown(median(memory.map(({ kueue }) => kueue)), 0),
      shown(median(memory.map(({ muster, kueue }) => muster + kueue)), 0),
    ])
}

/** Nothing where nothing was measured. */
const shown = (value: number, digits: number): string => (value > 0 ? value.toFixed(digits) : '-')
