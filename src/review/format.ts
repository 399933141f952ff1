import { writeYaml } from '../documents/yaml-writer.ts'
import { describe } from '../validation/field-error.ts'
import { type Report, type Reviewed, reportDocument } from './report.ts'

export const FORMATS = ['table', 'json', 'yaml'] as const
export type Format = (typeof FORMATS)[number]

export function formatReport(report: Report, format: Format, colours: boolean): string {
  if (format === 'json') return `${JSON.stringify(reportDocument(report), null, 2)}\n`
  if (format === 'yaml') return writeYaml(reportDocument(report))
  return table(report, colours)
}

const HEADINGS = ['RESULT', 'REASON', 'KIND', 'NAMESPACE/NAME', 'WHERE']
const RED = 31
const GREEN = 32
const YELLOW = 33

function table({ reviewed, unreadable }: Report, colours: boolean): string {
  const rows = reviewed.map(each => ({ each, cells: cellsOf(each) }))
  const widths = HEADINGS.map((heading, column) =>
    rows.reduce((width, { cells }) => Math.max(width, cells[column]?.length ?? 0), heading.length),
  )
  const aligned = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const paint = (text: string, colour: number): string => (colours ? `\u001b[${colour}m${text}\u001b[0m` : text)
  const lines: string[] = []
  if (rows.length > 0) lines.push(aligned(HEADINGS))
  for (const { each, cells } of rows) {
    const { allowed, errors, warnings, message } = each.result
    const line = aligned(cells)
    const [result = ''] = cells
    lines.push(paint(result, allowed ? GREEN : RED) + line.slice(result.length))
    for (const error of errors) lines.push(paint(`  ${oneLine(`${error.field}: ${describe(error)}`)}`, RED))
    if (!allowed && errors.length === 0) lines.push(paint(`  ${oneLine(message)}`, RED))
    for (const warning of warnings) lines.push(paint(`  warning: ${oneLine(warning)}`, YELLOW))
  }
  lines.push(summary(reviewed, unreadable.length))
  return `${lines.join('\n')}\n`
}

function cellsOf({ result, reason }: Reviewed): readonly string[] {
  const { source, kind, namespace, name, allowed } = result
  const where = `${source.file}:${source.line}`
  const path = namespace === '' ? name : `${namespace}/${name}`
  return [allowed ? 'admitted' : 'denied', reason, kind, path, where].map(oneLine)
}

function summary(reviewed: readonly Reviewed[], unreadable: number): string {
  const denied = reviewed.filter(({ result }) => !result.allowed).length
  const objects = `${reviewed.length} ${reviewed.length === 1 ? 'object' : 'objects'}`
  const counts = `${objects}: ${reviewed.length - denied} admitted, ${denied} denied`
  return unreadable === 0 ? counts : `${counts}; ${unreadable} unreadable`
}

/** Names come from files of others, and a terminal obeys control characters. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}
