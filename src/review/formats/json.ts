import type { Unreadable } from '../../documents/place.ts'
import { writeYaml } from '../../documents/yaml-writer.ts'
import type { Counts } from '../report.ts'
import { type FormatOptions, type Formatter, REPORT_VERSION, TOOL } from './formatter.ts'

/** One document: results first, as they come, and what could not be read behind them. */
export function jsonFormatter({ version }: FormatOptions): Formatter {
  const unreadable: Unreadable[] = []
  let results = 0
  return {
    begin: () => `${indented(JSON.stringify(head(version), null, 2).slice(0, -2), '')},\n  "results": [`,
    entry(entry) {
      if (entry.kind === 'unreadable') unreadable.push(entry.unreadable)
      if (entry.kind !== 'result') return ''
      const separator = results++ === 0 ? '\n    ' : ',\n    '
      return separator + indented(JSON.stringify(entry.result, null, 2), '    ')
    },
    end(counts) {
      const rest = JSON.stringify(tail(counts, unreadable), null, 2).slice(1)
      return `${results === 0 ? '' : '\n  '}],${rest}\n`
    },
  }
}

/** The same report. */
export function yamlFormatter({ version }: FormatOptions): Formatter {
  const unreadable: Unreadable[] = []
  let results = 0
  return {
    begin: () => `${writeYaml(head(version))}results:`,
    entry(entry) {
      if (entry.kind === 'unreadable') unreadable.push(entry.unreadable)
      if (entry.kind !== 'result') return ''
      results++
      return `\n  ${indented(writeYaml([entry.result]).trimEnd(), '  ').replace(/\n +$/gm, '\n')}`
    },
    end: counts => `${results === 0 ? ' []' : ''}\n${writeYaml(tail(counts, unreadable))}`,
  }
}

const head = (version: string): object => ({
  apiVersion: REPORT_VERSION,
  kind: 'ReviewReport',
  tool: { name: TOOL, version },
})

const tail = (counts: Counts, unreadable: readonly Unreadable[]): object => ({
  ...(unreadable.length > 0 ? { unreadable } : {}),
  counts,
})

/** Texts in JSON hold no line end of their own, so every line end is one between values. */
const indented = (text: string, indent: string): string => text.replaceAll('\n', `\n${indent}`)
