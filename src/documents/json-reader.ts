import { assign, isObject } from '../kube/vocabulary/fields.ts'
import { LARGE_LIST, MAX_DEPTH } from './limits.ts'
import { type Problem, problem, ReadError, type ReadValue } from './place.ts'
import { readYaml } from './yaml-reader.ts'

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/**
 * Reads JSON documents that follow each other, as `kubectl get -o json` and log collectors write them, up to the first
 * problem. JSON.parse would keep the last of two equal keys without a word and forget where things were.
 */
export function* readJson(text: string): Generator<ReadValue | Problem> {
  const reader = new JsonReader(text)
  try {
    while (reader.hasNext()) {
      const list = reader.largeList()
      if (list === undefined) yield reader.next()
      else yield* reader.itemsOf(list)
    }
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    yield problem(error.message, error.offset)
  }
}

/** A List whose items are read one by one. */
interface LargeList {
  readonly items: number
  readonly end: number
  /** What the items of a typed list, as PodList, leave out. */
  readonly of: { readonly apiVersion?: unknown; readonly kind?: string }
}

class JsonReader {
  readonly #text: string
  #at = 0
  #items = new Map<object, number>()
  #isExact = true

  constructor(text: string) {
    this.#text = text
  }

  hasNext(): boolean {
    this.#skipSpace()
    return this.#at < this.#text.length
  }

  next(): ReadValue {
    const offset = this.#at
    this.#items = new Map()
    this.#isExact = true
    const value = this.#value(0, '')
    return { value, offset, end: this.#at, items: this.#items, exact: this.#isExact ? [] : this.#exactNumbers(offset) }
  }

  /** Where the items of a large List are, if that is what comes next. What is wrong with it is found when it is read. */
  largeList(): LargeList | undefined {
    const start = this.#at
    if (this.#text.length - start < LARGE_LIST || this.#text.charCodeAt(start) !== 0x7b) return undefined
    const found: { items?: number; kind?: unknown; apiVersion?: unknown } = {}
    try {
      this.#enter(1)
      while (!this.#closes(0x7d)) {
        const key = this.#string()
        this.#skipSpace()
        this.#at++
        this.#skipSpace()
        if (key === 'items') found.items = this.#at
        if (key === 'kind' || key === 'apiVersion') found[key] = this.#value(1, key)
        else this.#skipValue()
        if (this.#ends(0x7d, '"," or "}"')) break
      }
      const { items, kind, apiVersion } = found
      if (items === undefined || typeof kind !== 'string' || !kind.endsWith('List')) return undefined
      return { items, end: this.#at, of: kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) } }
    } catch (error) {
      if (!(error instanceof ReadError)) throw error
      return undefined
    } finally {
      this.#at = start
    }
  }

  *itemsOf({ items, end, of }: LargeList): Generator<ReadValue> {
    this.#at = items
    this.#enter(2)
    let isLaterItem = false
    for (let isOver = this.#closes(0x5d); !isOver; isOver = this.#ends(0x5d, '"," or "]"')) {
      const read = this.next()
      yield { ...read, value: isObject(read.value) ? { ...of, ...read.value } : read.value, isLaterItem }
      isLaterItem = true
    }
    this.#at = end
  }

  /** Steps over a value without reading it. */
  #skipValue(): void {
    let depth = 0
    do {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x22) this.#string()
      else if (code === 0x7b || code === 0x5b || code === 0x7d || code === 0x5d) {
        depth += code === 0x7b || code === 0x5b ? 1 : -1
        this.#at++
      } else if (depth === 0) this.#word()
      else this.#at++
      if (this.#at >= this.#text.length) throw this.#unexpected('more')
    } while (depth > 0)
  }

  /** Numbers that a double cannot hold are rare enough to be looked for once more, by a reader that knows its way. */
  #exactNumbers(offset: number): ReadValue['exact'] {
    const [read] = readYaml(this.#text.slice(offset, this.#at))
    return read !== undefined && 'exact' in read ? read.exact : []
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
    if (Number.isInteger(number) && !Number.isSafeInteger(number)) this.#isExact = false
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
