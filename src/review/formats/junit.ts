import type { Entry } from '../report.ts'
import { complaintsOf } from './complaints.ts'
import type { Formatter } from './formatter.ts'

/** A suite says how many cases it has before it names them, so that many are kept at a time. */
const LARGEST_SUITE = 1_000

/** One case per object, a suite per file. */
export function junitFormatter(): Formatter {
  let suite: Suite | undefined
  const flush = (): string => {
    const text = suite === undefined ? '' : suiteText(suite)
    suite = undefined
    return text
  }
  return {
    begin: () => '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="muster review">\n',
    entry(entry) {
      if (entry.kind === 'failure') return ''
      const file = entry.kind === 'result' ? entry.result.source.file : entry.unreadable.file
      const isFull = suite !== undefined && (suite.file !== file || suite.cases.length >= LARGEST_SUITE)
      const before = isFull ? flush() : ''
      suite ??= { file, cases: [], failures: 0, errors: 0 }
      addCase(suite, entry)
      return before
    },
    end: () => [flush(), '</testsuites>\n'],
  }
}

interface Suite {
  readonly file: string
  readonly cases: string[]
  failures: number
  errors: number
}

function addCase(suite: Suite, entry: Exclude<Entry, { readonly kind: 'failure' }>): void {
  const complaints = complaintsOf(entry)
  const wrong = complaints.filter(({ severity }) => severity === 'error')
  const texts = complaints.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)
  const name = entry.kind === 'unreadable' ? `line ${entry.unreadable.line}` : caseName(entry)
  const attributes = `name="${escaped(name)}" classname="${escaped(suite.file)}"`
  const [first] = wrong
  if (first === undefined) {
    const output = texts.length === 0 ? '' : `\n      <system-out>${escaped(texts.join('\n'))}</system-out>\n    `
    suite.cases.push(
      output === '' ? `    <testcase ${attributes}/>\n` : `    <testcase ${attributes}>${output}</testcase>\n`,
    )
    return
  }
  const element = entry.kind === 'unreadable' ? 'error' : 'failure'
  if (element === 'error') suite.errors++
  else suite.failures++
  const body = `<${element} type="${escaped(first.rule)}" message="${escaped(first.message)}">${escaped(texts.join('\n'))}</${element}>`
  suite.cases.push(`    <testcase ${attributes}>\n      ${body}\n    </testcase>\n`)
}

function caseName({ result }: Extract<Entry, { readonly kind: 'result' }>): string {
  const { kind, namespace, name, source, operation } = result
  const path = source.path === undefined ? '' : ` ${source.path}`
  return `${operation} ${kind} ${namespace === '' ? name : `${namespace}/${name}`}${path} (line ${source.line})`
}

function suiteText({ file, cases, failures, errors }: Suite): string {
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}" skipped="0"`
  return `  <testsuite name="${escaped(file)}" ${counts}>\n${cases.join('')}  </testsuite>\n`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML has no way to write most control characters, not even escaped. */
export function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udfff](?![\udc00-\udfff])/g, '\ufffd')
      .replace(/[&<>"]/g, character => ENTITIES[character] ?? character)
  )
}
