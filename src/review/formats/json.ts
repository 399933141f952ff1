import { writeYaml } from '../../documents/yaml-writer.ts'
import { type FormatOptions, type Formatter, REPORT_VERSION, TOOL } from './formatter.ts'
import { UnreadableList } from './unreadable-list.ts'

/** One document: results first, as they come, and what could not be read behind them. */
export function jsonFormatter({ version }: FormatOptions): Formatter {
  const unreadable = new UnreadableList()
  let results = 0
  return {
    begin: () => `${indented(JSON.stringify(head(version), null, 2).slice(0, -2), '')},\n  "results": [`,
    entry(entry) {
      if (entry.kind === 'unreadable') unreadable.add(entry.unreadable)
      if (entry.kind !== 'result') return ''
      const separator = results++ === 0 ? '\n    ' : ',\n    '
      return separator + indented(JSON.stringify(entry.result, null, 2), '    ')
    },
    *end(counts) {
      yield `${results === 0 ? '' : '\n  '}],`
      let count = 0
      for (const each of unreadable) {
        yield `${count++ === 0 ? '\n  "unreadable": [' : ','}\n    ${indented(JSON.stringify(each, null, 2), '    ')}`
      }
      if (count > 0) yield '\n  ],'
      yield `${JSON.stringify({ counts }, null, 2).slice(1)}\n`
    },
  }
}

/** The same report. */
export function yamlFormatter({ version }: FormatOptions): Formatter {
  const unreadable = new UnreadableList()
  let results = 0
  return {
    begin: () => `${writeYaml(head(version))}results:`,
    entry(entry) {
      if (entry.kind === 'unreadable') unreadable.add(entry.unreadable)
      if (entry.kind !== 'result') return ''
      return (results++ === 0 ? '\n' : '') + writeYaml([entry.result], '  ')
    },
    *end(counts) {
      if (results === 0) yield ' []\n'
      let count = 0
      for (const each of unreadable) yield (count++ === 0 ? 'unreadable:\n' : '') + writeYaml([each], '  ')
      yield writeYaml({ counts })
    },
  }
}

const head = (version: string): object => ({
  apiVersion: REPORT_VERSION,
  kind: 'ReviewReport',
  tool: { name: TOOL, version },
})

/** Texts in JSON hold no line end of their own, so every line end is one between values. */
const indented = (text: string, indent: string): string => text.split('\n').join(`\n${indent}`)
