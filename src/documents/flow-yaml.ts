import { assign } from '../kube/vocabulary/fields.ts'
import { NOT_IN_JSON, plainScalar } from './scalars.ts'

/** Thrown to say: this needs the whole of YAML. One instance, because it carries nothing. */
export const UNUSUAL = new Error('YAML that the quick reader does not know')

const SINGLE = /'((?:[^'\n]|'')*)'/y
/** Only the escapes that JSON has: for these both languages mean the same. */
const DOUBLE = /"(?:[^"\\\n]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
/** In braces and brackets a plain word is read only if nothing in it could mean something else. */
const FLOW_WORD = /(?:[A-Za-z0-9_./~+$]|-(?=[A-Za-z0-9_./-]))[A-Za-z0-9_./~+$=@ -]*/y
const SPACES = / */y

/** A value and where the text goes on after it. */
export interface Read {
  readonly value: unknown
  readonly end: number
}

/** A text in quotes that ends on its line. */
export function quoted(text: string, at: number): { readonly value: string; readonly end: number } {
  const single = text.charCodeAt(at) === 0x27
  const pattern = single ? SINGLE : DOUBLE
  pattern.lastIndex = at
  const match = pattern.exec(text)
  if (match === null) throw UNUSUAL
  const raw = match[0]
  const end = at + raw.length
  if (single) return { value: raw.includes("''", 1) ? (match[1] ?? '').replaceAll("''", "'") : (match[1] ?? ''), end }
  return { value: raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1), end }
}

/** `[a, b]` or `{a: b}` on one line. */
export function flow(text: string, at: number, depth: number): Read {
  if (depth <= 0) throw UNUSUAL
  return text.charCodeAt(at) === 0x5b ? flowList(text, at, depth) : flowMap(text, at, depth)
}

function flowList(text: string, at: number, depth: number): Read {
  const list: unknown[] = []
  let next = skipSpaces(text, at + 1)
  if (text[next] === ']') return { value: list, end: next + 1 }
  for (;;) {
    const { value, end } = flowValue(text, next, depth)
    list.push(value)
    next = skipSpaces(text, end)
    if (text[next] === ']') return { value: list, end: next + 1 }
    if (text[next] !== ',') throw UNUSUAL
    next = skipSpaces(text, next + 1)
  }
}

function flowMap(text: string, at: number, depth: number): Read {
  const map: Record<string, unknown> = {}
  let next = skipSpaces(text, at + 1)
  if (text[next] === '}') return { value: map, end: next + 1 }
  for (;;) {
    const isQuoted = isQuote(text, next)
    const key = isQuoted ? quoted(text, next) : word(text, next)
    if (text[key.end] !== ':' || key.value === 'items' || Object.hasOwn(map, key.value)) throw UNUSUAL
    if (!isQuoted && text[key.end + 1] !== ' ') throw UNUSUAL
    const { value, end } = flowValue(text, skipSpaces(text, key.end + 1), depth)
    assign(map, key.value, value)
    next = skipSpaces(text, end)
    if (text[next] === '}') return { value: map, end: next + 1 }
    if (text[next] !== ',') throw UNUSUAL
    next = skipSpaces(text, next + 1)
  }
}

function flowValue(text: string, at: number, depth: number): Read {
  if (isQuote(text, at)) return quoted(text, at)
  const code = text.charCodeAt(at)
  if (code === 0x5b || code === 0x7b) return flow(text, at, depth - 1)
  const { value, end } = word(text, at)
  // Anything but the end of the item may change what the word means: `a: b`, `a #b`, `a"b"`.
  if (!/[,\]}]/.test(text[end] ?? '')) throw UNUSUAL
  return { value: resolved(value), end }
}

function word(text: string, at: number): { readonly value: string; readonly end: number } {
  FLOW_WORD.lastIndex = at
  const raw = FLOW_WORD.exec(text)?.[0] ?? ''
  const value = raw.trimEnd()
  if (value === '') throw UNUSUAL
  return { value, end: at + raw.length }
}

/** An unquoted word as kubectl reads it. */
export function resolved(text: string): unknown {
  const value = plainScalar(text)
  if (value === NOT_IN_JSON) throw UNUSUAL
  return value
}

export function isQuote(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x22 || code === 0x27
}

export function skipSpaces(text: string, at: number): number {
  SPACES.lastIndex = at
  SPACES.exec(text)
  return SPACES.lastIndex
}
