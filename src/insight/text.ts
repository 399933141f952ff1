import type { Amounts } from '../kube/vocabulary/objects.ts'
import { oneLine } from '../review/formats/formatter.ts'
import { show } from '../workload/requests.ts'

/** How a word is made to stand out. Where nobody looks, as in a pipe, it is left as it is. */
export type Paint = (text: string, colour: Colour) => string
export type Colour = 'red' | 'green' | 'yellow' | 'bold' | 'dim'

const CODES: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 }

export const inColour: Paint = (text, colour) => `\u001b[${CODES[colour]}m${text}\u001b[0m`
export const plain: Paint = text => text

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/** As kubectl writes ages: the two largest units, and only one where the second says little. */
export function age(since: string | undefined, now: number): string {
  const then = Date.parse(since ?? '')
  if (Number.isNaN(then)) return '?'
  let left = Math.max(0, Math.floor((now - then) / 1000))
  const parts: string[] = []
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(left / seconds)
    left -= count * seconds
    if (count > 0) parts.push(`${count}${unit}`)
    if (parts.length > 0 && (count >= 10 || parts.length === 2)) break
  }
  return parts.slice(0, 2).join('') || '0s'
}

/** For programs: resource to quantity, as manifests write it. */
export function quantities(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(sorted(amounts).map(([name, amount]) => [name, show(amount)]))
}

/** Limits, for programs: one of nothing is a limit, too. */
export function limitQuantities(limits: Amounts): Readonly<Record<string, string>> {
  const byName = [...limits].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(byName.map(([name, amount]) => [name, show(amount)]))
}

/** For people. */
export const quantitiesText = (amounts: Readonly<Record<string, string>>): string =>
  Object.entries(amounts)
    .map(([name, amount]) => (name === 'pods' && amount === '1' ? '1 pod' : `${amount} ${oneLine(name)}`))
    .join(', ') || 'nothing'

const sorted = (amounts: Amounts): readonly (readonly [string, bigint])[] =>
  [...amounts].filter(([, amount]) => amount > 0n).sort(([a], [b]) => (a < b ? -1 : 1))

/** Rows of which each column is as wide as it has to be. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const widths = Array.from({ length: columns }, (_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** How wide lines are where nobody looks, and at most: longer ones are hard to read. */
const WIDEST = 100
/** Narrower than this every word would be a line. */
const NARROWEST = 40

/** The width of lines on a terminal of so many columns. */
export const widthFor = (columns: number | undefined): number =>
  columns === undefined || columns === 0 ? WIDEST : Math.max(NARROWEST, Math.min(WIDEST, columns))

/** Lines of at most this many characters, broken between words. */
export function wrapped(text: string, indent: string, width = WIDEST): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of oneLine(text).split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width - indent.length) {
      lines.push(indent + line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, indent + line]
}

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
