import { assign } from '../kube/vocabulary/fields.ts'
import { MAX_DEPTH } from './limits.ts'
import { type Problem, problem, ReadError, type ReadValue } from './place.ts'

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/**
 * Reads JSON documents that follow each other, as `kubectl get -o json` and log collectors write them. JSON.parse
 * would keep the last of two equal keys without a word and forget where things were.
 */
export function readJson(text: string): { readonly values: readonly ReadValue[]; readonly failed?: Problem } {
  const values: ReadValue[] = []
  const reader = new JsonReader(text)
  try {
    for (let value = reader.next(); value !== undefined; value = reader.next()) values.push(value)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    return { values, failed: problem(error.message, error.offset) }
  }
  return { values }
}

class JsonReader {
  readonly #text: string
  #at = 0
  #items = new Map<object, number>()

  constructor(text: string) {
    this.#text = text
  }

  next(): ReadValue | undefined {
    this.#skipSpace()
    if (this.#at >= this.#text.length) return undefined
    const offset = this.#at
    this.#items = new Map()
    const value = this.#value(0, '')
    return { value, offset, items: this.#items }
  }

  #value(depth: number, key: string): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#object(depth + 1)
      case 0x5b:
        return this.#list(depth + 1, key === 'items')
      case 0x22:
        return this.#string()
      default:
        return this.#word()
    }
  }

  #object(depth: number): unknown {
    this.#enter(depth)
    const map: Record<string, unknown> = {}
    if (this.#closes(0x7d)) return map
    for (;;) {
      const keyAt = this.#at
      if (this.#text.charCodeAt(keyAt) !== 0x22) throw this.#unexpected('a key in double quotes')
      const key = this.#string()
      if (Object.hasOwn(map, key)) throw new ReadError(`the key ${shown(key)} is there twice: remove one`, keyAt)
      this.#skipSpace()
      if (this.#text.charCodeAt(this.#at) !== 0x3a) throw this.#unexpected('":"')
      this.#at++
      this.#skipSpace()
      assign(map, key, this.#value(depth, key))
      if (this.#ends(0x7d, '"," or "}"')) return map
    }
  }

  #list(depth: number, isItems: boolean): unknown {
    this.#enter(depth)
    const list: unknown[] = []
    if (this.#closes(0x5d)) return list
    for (;;) {
      const offset = this.#at
      const value = this.#value(depth, '')
      if (isItems && typeof value === 'object' && value !== null) this.#items.set(value, offset)
      list.push(value)
      if (this.#ends(0x5d, '"," or "]"')) return list
    }
  }

  /** Steps over the opening bracket. */
  #enter(depth: number): void {
    if (depth > MAX_DEPTH) throw new ReadError(`is nested deeper than ${MAX_DEPTH} levels`, this.#at)
    this.#at++
    this.#skipSpace()
  }

  #closes(bracket: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== bracket) return false
    this.#at++
    return true
  }

  #ends(bracket: number, expected: string): boolean {
    this.#skipSpace()
    if (this.#closes(bracket)) return true
    if (this.#text.charCodeAt(this.#at) !== 0x2c) throw this.#unexpected(expected)
    this.#at++
    this.#skipSpace()
    return false
  }

  #string(): string {
    const start = this.#at
    let end = start + 1
    let escaped = false
    for (;;) {
      const code = this.#text.charCodeAt(end)
      if (code === 0x22) break
      if (code === 0x5c) {
        escaped = true
        end++
      } else if (!(code >= 0x20)) throw new ReadError('a text in double quotes does not end on its line', start)
      end++
    }
    this.#at = end + 1
    if (!escaped) return this.#text.slice(start + 1, end)
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string
    } catch {
      throw new ReadError('a text has a backslash that JSON does not know: write it twice', start)
    }
  }

  #word(): unknown {
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return value
    }
    NUMBER.lastIndex = this.#at
    const digits = NUMBER.exec(this.#text)?.[0]
    if (digits === undefined) throw this.#unexpected('a value')
    const number = Number(digits)
    if (!Number.isFinite(number)) throw new ReadError(`the number ${shown(digits)} is too large`, this.#at)
    this.#at += digits.length
    return number
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #unexpected(expected: string): ReadError {
    const found = this.#text[this.#at]
    const what = found === undefined ? 'the text ends' : `there is ${JSON.stringify(found)}`
    return new ReadError(`is not valid JSON: ${what} where ${expected} should be`, this.#at)
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)
}
