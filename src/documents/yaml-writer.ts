import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import { isExactNumber } from './raw-json.ts'
import { plainScalar } from './scalars.ts'

/** Words that mean themselves in every version of YAML, with nothing in them that could open or end something else. */
const PLAIN =
  /^[A-Za-z0-9_./-][A-Za-z0-9_./+=@~^()$;\\ -]*(?::[A-Za-z0-9_./+=@~^()$;\\-][A-Za-z0-9_./+=@~^()$;\\ -]*)*$/
/**
 * What cannot stand in a block as it is. A first line that is empty or indented would need an indicator. Looked for, and
 * not its opposite: to match all of a long text takes more stack than there is.
 */
const NOT_IN_BLOCK = /^\s|[^\n\u0020-\u007e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\uffef]/
const NOT_PRINTED = /[\u007f-\u00a0\u2028\u2029\ufeff]/g

/**
 * JSON data as block YAML that kubectl and every YAML parser read back as the same data. The library writes it too, but
 * needs seven seconds for the report of ten thousand pods. `indent`: of all of it, where it belongs to a key.
 */
export function writeYaml(value: unknown, indent = ''): string {
  const lines: string[] = []
  write(value, '', indent, lines)
  return `${lines.join('\n')}\n`
}

/** Writes a value behind `lead`, which is a key, a dash or nothing; what does not fit there goes below it. */
function write(value: unknown, lead: string, indent: string, lines: string[]): void {
  if (Array.isArray(value) && value.length > 0) {
    if (lead !== '') lines.push(lead.trimEnd())
    for (const item of value) writeItem(item, `${indent}- `, `${indent}  `, lines)
  } else if (isFilledMap(value)) {
    if (lead !== '') lines.push(lead.trimEnd())
    for (const [key, child] of Object.entries(value)) write(child, `${indent}${textOf(key)}: `, `${indent}  `, lines)
  } else if (typeof value === 'string' && value.includes('\n') && !NOT_IN_BLOCK.test(value)) {
    writeBlock(value, lead, indent, lines)
  } else lines.push(lead + scalarText(value))
}

/** A map in a list begins on the line of the dash. */
function writeItem(item: unknown, dash: string, indent: string, lines: string[]): void {
  const start = lines.length
  write(item, isFilledMap(item) ? '' : dash, indent, lines)
  if (isFilledMap(item)) lines[start] = dash + (lines[start] ?? '').slice(dash.length)
}

function isFilledMap(value: unknown): value is Fields {
  return isObject(value) && !isExactNumber(value) && Object.keys(value).length > 0
}

function writeBlock(text: string, lead: string, indent: string, lines: string[]): void {
  const body = text.replace(/\n+$/, '')
  const ends = text.length - body.length
  lines.push(`${lead}|${ends === 0 ? '-' : ends === 1 ? '' : '+'}`)
  const written = body.split('\n')
  // A text may have a million lines: they are put together at once, unless some are empty, and stay so.
  if (body.includes('\n\n')) for (const line of written) lines.push(line === '' ? '' : indent + line)
  else lines.push(indent + written.join(`\n${indent}`))
  for (let extra = 1; extra < ends; extra++) lines.push('')
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return textOf(value)
  if (Array.isArray(value)) return '[]'
  if (isObject(value) && !isExactNumber(value)) return '{}'
  return JSON.stringify(value) ?? 'null'
}

function textOf(text: string): string {
  const plain = PLAIN.test(text) && !text.endsWith(' ') && isJustText(text)
  if (plain) return text
  // YAML's double quotes know all of JSON's escapes, but some characters that JSON leaves as they are do not survive.
  return JSON.stringify(text).replace(NOT_PRINTED, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Dates, times of day and `e5` are text to kubectl, but not to every other parser. */
function isJustText(text: string): boolean {
  return plainScalar(text) === text && !/^(?:[-+.0-9]|[eE][-+0-9])/.test(text)
}
