import { type Fields, isObject } from '../kube/vocabulary/fields.ts'

/**
 * JSON exactly as Go's encoding/json writes it for typed values: structs in declaration order, maps sorted by the
 * bytes of their keys, `omitempty`, and the five characters that Go escapes and JavaScript does not. A hash over
 * such text is equal in both languages only if every byte is.
 */
export type Encode = (value: unknown) => string

/** When a struct field is left out: never, when it has its zero value (`omitempty`), or when its pointer is nil. */
export type Omit = 'never' | 'zero' | 'nil'

export type Field = readonly [name: string, encode: Encode, omit: Omit]

/** Printable ASCII that both languages write as it is: without `"`, `\`, `<`, `>` and `&`. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/
const ESCAPED = /[<>&\u2028\u2029]/g

export const text: Encode = value => (typeof value === 'string' ? quoted(value) : '""')

function quoted(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  // A lone surrogate can't come out of Go's decoder: it has become U+FFFD there.
  return JSON.stringify(value.toWellFormed()).replace(ESCAPED, unicodeEscape)
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export const integer: Encode = value => (typeof value === 'number' ? String(value) : '0')

/** A nil slice is `null`, an empty one `[]`: Go keeps the difference, and so does the hash. */
export function list(encode: Encode): Encode {
  return value => {
    if (!Array.isArray(value)) return 'null'
    let out = ''
    for (const item of value) out += out === '' ? encode(item) : `,${encode(item)}`
    return `[${out}]`
  }
}

export function map(encode: Encode): Encode {
  return value => {
    if (!isObject(value)) return 'null'
    let out = ''
    for (const key of sortedKeys(value)) out += `${out === '' ? '' : ','}${quoted(key)}:${encode(value[key])}`
    return `{${out}}`
  }
}

export function pointer(encode: Encode): Encode {
  return value => (value === undefined || value === null ? 'null' : encode(value))
}

export function struct(...fields: readonly Field[]): Encode {
  const written = fields.map(([name, encode, omit]) => ({ name, encode, omit, prefix: `"${name}":` }))
  return value => {
    const source = isObject(value) ? value : {}
    let out = ''
    for (const field of written) {
      const item = source[field.name]
      if (field.omit !== 'never' && (item === undefined || item === null)) continue
      if (field.omit === 'zero' && isZero(item)) continue
      out += `${out === '' ? '' : ','}${field.prefix}${field.encode(item)}`
    }
    return `{${out}}`
  }
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === false
}

/** UTF-8 sorts by code point. JavaScript sorts by UTF-16 unit, which differs above U+FFFF. */
function sortedKeys(value: Fields): readonly string[] {
  const keys = Object.keys(value)
  if (keys.length < 2) return keys
  return keys.every(key => PLAIN.test(key)) ? keys.sort() : sortedByCodePoint(keys)
}

function sortedByCodePoint(keys: readonly string[]): readonly string[] {
  const encoded = keys.map(key => ({ key, bytes: Buffer.from(key) }))
  return encoded.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ key }) => key)
}
