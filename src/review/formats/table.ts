import { describe } from '../../validation/field-error.ts'
import type { Result } from '../report.ts'
import { type FormatOptions, type Formatter, oneLine, summary } from './formatter.ts'

const HEADINGS = ['RESULT', 'REASON', 'KIND', 'NAMESPACE/NAME', 'WHERE']
const RED = 31
const GREEN = 32
const YELLOW = 33
/** Columns are as wide as the first rows need them; a longer word later on pushes its own row only. */
const MEASURED_ROWS = 1_000

export function tableFormatter({ colours }: FormatOptions): Formatter {
  const paint = (text: string, colour: number): string => (colours ? `\u001b[${colour}m${text}\u001b[0m` : text)
  const waiting: Result[] = []
  let widths: readonly number[] | undefined
  const flush = (): string => {
    if (waiting.length === 0) return ''
    const isFirst = widths === undefined
    widths ??= widthsOf(waiting.map(cellsOf))
    const rows = waiting.splice(0).map(result => row(result, widths ?? [], paint))
    return (isFirst ? `${aligned(HEADINGS, widths)}\n` : '') + rows.join('')
  }
  return {
    begin: () => '',
    entry(entry) {
      if (entry.kind !== 'result') return ''
      waiting.push(entry.result)
      return widths !== undefined || waiting.length >= MEASURED_ROWS ? flush() : ''
    },
    end: counts => [flush(), `${summary(counts)}\n`],
  }
}

function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  return HEADINGS.map((heading, column) =>
    rows.reduce((width, cells) => Math.max(width, cells[column]?.length ?? 0), heading.length),
  )
}

const aligned = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd()

function row(result: Result, widths: readonly number[], paint: (text: string, colour: number) => string): string {
  const { allowed, errors, findings, warnings, message, source } = result
  const cells = cellsOf(result)
  const [verdict = ''] = cells
  const lines = [paint(verdict, allowed ? GREEN : RED) + aligned(cells, widths).slice(verdict.length)]
  const where = (line: number): string => (line === source.line ? '' : ` (line ${line})`)
  for (const error of errors) {
    lines.push(paint(`  ${oneLine(`${error.field}: ${describe(error)}`)}${where(error.line)}`, RED))
  }
  if (!allowed && errors.length === 0) lines.push(paint(`  ${oneLine(message)}`, RED))
  for (const { code, severity, message: found, line } of findings) {
    lines.push(paint(`  ${severity} ${code}: ${oneLine(found)}${where(line)}`, severity === 'error' ? RED : YELLOW))
  }
  for (const warning of warnings) lines.push(paint(`  warning: ${oneLine(warning)}`, YELLOW))
  return `${lines.join('\n')}\n`
}

function cellsOf({ source, kind, namespace, name, allowed, reason }: Result): readonly string[] {
  const where = `${source.file}:${source.line}${source.path === undefined ? '' : ` ${source.path}`}`
  const path = namespace === '' ? name : `${namespace}/${name}`
  return [allowed ? 'admitted' : 'denied', reason, kind, path, where].map(oneLine)
}
