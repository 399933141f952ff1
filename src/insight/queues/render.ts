import { oneLine } from '../../review/formats/formatter.ts'
import { age, aligned, type Paint, quantitiesText } from '../text.ts'
import type { QueueEntry, QueueReport, QueuesReport } from './report.ts'

const HEADINGS = ['QUEUE', 'PLACE', 'WORKLOAD', 'ASKS FOR', 'SINCE', 'REASON']

/** Of a queue as many holders, and as many who wait, as a person looks at; `all` shows the rest. */
const SHOWN = 5

export interface QueuesView {
  readonly now: number
  readonly paint: Paint
  readonly all: boolean
}

/** One line for each queue, and under it who holds it and who waits, the next one first. */
export function renderQueues({ queues, unseen }: QueuesReport, view: QueuesView): string {
  if (queues.length === 0 && unseen.length === 0) return 'There are no queues: nothing waits, and none is configured.\n'
  const rows = queues.flatMap(queue => rowsOf(queue, view))
  const lines = queues.length === 0 ? [] : aligned([HEADINGS, ...rows.map(({ cells }) => cells)])
  const painted = lines.map((line, index) => {
    if (index === 0) return view.paint(line, 'dim')
    const colour = rows[index - 1]?.colour
    return colour === undefined ? line : view.paint(line, colour)
  })
  const notes = unseen.map(what => view.paint(`not seen: ${oneLine(what)}`, 'yellow'))
  return `${[...painted, ...notes].join('\n')}\n`
}

interface Row {
  readonly cells: readonly string[]
  readonly colour?: 'bold' | 'red' | 'yellow'
}

function rowsOf(queue: QueueReport, { now, all }: QueuesView): readonly Row[] {
  const most = all ? Number.POSITIVE_INFINITY : SHOWN
  const entries = (list: readonly QueueEntry[], place: (index: number) => string, colour?: Row['colour']): Row[] => [
    ...list.slice(0, most).map((entry, index) => ({
      cells: ['', place(index), ...cellsOf(entry, now)],
      ...(colour && { colour }),
    })),
    ...(list.length > most ? [{ cells: ['', '', `and ${list.length - most} more`] }] : []),
  ]
  return [
    { cells: [oneLine(queue.name) || '(none)', '', countsOf(queue), usageOf(queue)], colour: 'bold' },
    ...entries(queue.holding, () => 'holds'),
    ...entries(queue.waiting, index => `waits ${index + 1}`, 'yellow'),
    ...entries(queue.aside, () => 'set aside', 'red'),
  ]
}

const cellsOf = ({ workload, asks, since, reason }: QueueEntry, now: number): readonly string[] => [
  oneLine(workload),
  quantitiesText(asks),
  age(since, now),
  oneLine(reason ?? ''),
]

function countsOf({ holding, waiting, aside }: QueueReport): string {
  const parts = [
    `${holding.length} hold`,
    `${waiting.length} wait`,
    ...(aside.length > 0 ? [`${aside.length} aside`] : []),
  ]
  return parts.join(', ')
}

function usageOf({ limits, areLimitsKnown, usage }: QueueReport): string {
  if (!areLimitsKnown) return 'limits unknown'
  const names = Object.keys(limits)
  if (names.length === 0) return 'no limits'
  return names.map(name => `${usage[name] ?? '0'}/${limits[name]} ${oneLine(name)}`).join(', ')
}
