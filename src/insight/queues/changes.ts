import { oneLine } from '../../review/formats/formatter.ts'
import { quantitiesText } from '../text.ts'
import type { QueueEntry, QueuesReport } from './report.ts'

type Place = 'holds' | 'waits' | 'aside'

interface Spot {
  readonly queue: string
  readonly place: Place
  readonly entry: QueueEntry
}

/** What has happened between two looks, a line for each Workload, for whoever reads a log and not a screen. */
export function changesBetween(before: QueuesReport | undefined, after: QueuesReport, now: string): readonly string[] {
  const was = before === undefined ? new Map<string, Spot>() : spotsIn(before)
  const is = spotsIn(after)
  const came = [...is].flatMap(([key, spot]) => {
    const what = wordFor(was.get(key), spot)
    return what === undefined ? [] : [lineOf(now, spot, what)]
  })
  const gone = [...was]
    .filter(([key]) => !is.has(key))
    .map(([, spot]) => lineOf(now, { ...spot, entry: { ...spot.entry, reason: '' } }, goneWord(spot)))
  return [...gone, ...came]
}

function spotsIn({ queues }: QueuesReport): ReadonlyMap<string, Spot> {
  const spots = queues.flatMap(({ name: queue, holding, waiting, aside }) => [
    ...holding.map(entry => ({ queue, place: 'holds' as const, entry })),
    ...waiting.map(entry => ({ queue, place: 'waits' as const, entry })),
    ...aside.map(entry => ({ queue, place: 'aside' as const, entry })),
  ])
  return new Map(spots.map(spot => [spot.entry.workload, spot]))
}

/** Undefined: nothing that anybody has to be told. */
function wordFor(was: Spot | undefined, { queue, place, entry }: Spot): string | undefined {
  const isSame = was?.queue === queue && was.place === place && was.entry.reason === entry.reason
  if (isSame) return undefined
  if (place === 'holds') return was === undefined ? 'holds' : 'starts'
  if (place === 'aside') return 'is set aside'
  return was?.place === 'holds' ? 'waits again' : 'waits'
}

const goneWord = ({ place }: Spot): string => (place === 'holds' ? 'ends' : 'leaves')

function lineOf(now: string, { queue, entry }: Spot, what: string): string {
  const words = [now, queue || '(none)', entry.workload, what, entry.reason ?? '', `(${quantitiesText(entry.asks)})`]
  return oneLine(words.filter(word => word !== '').join(' '))
}
