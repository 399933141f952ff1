import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml'
import { assign, isObject } from '../kube/vocabulary/fields.ts'
import { MAX_DEPTH } from './limits.ts'
import { type ExactNumber, type Problem, problem, ReadError, type ReadValue } from './place.ts'
import { NOT_IN_JSON, plainKey, plainScalar } from './scalars.ts'
import { type EventText, parseYamlEvents } from './yaml-events.ts'
import {
  checkAnchor,
  checkWord,
  isMerge,
  mergeInto,
  offsetOf,
  RESOLVED_TAGS,
  type Tagged,
  VERBATIM,
} from './yaml-nodes.ts'
import { scalarText } from './yaml-texts.ts'

/** Repeating an anchor is a convenience; a text that grows past this by repetition alone is a memory bomb. */
const MAX_REPEATED = 100_000

/**
 * Reads YAML, one value per document; one that is empty gives none. The library only finds the pieces: what they mean
 * is decided here, because kubectl's rules are neither those of YAML 1.2 nor all of those of 1.1.
 */
export function readYaml(text: string): readonly (ReadValue | Problem)[] {
  const parsed = parseYamlEvents(text)
  if ('problem' in parsed) return [parsed]
  const builder = new Builder(parsed)
  const found: (ReadValue | Problem)[] = []
  while (builder.hasNext()) {
    try {
      const read = builder.document()
      if (read.value !== null) found.push({ ...read, offset: parsed.original(read.offset), end: text.length })
    } catch (error) {
      if (!(error instanceof ReadError)) throw error
      found.push(problem(error.message, parsed.original(error.offset)))
      builder.skipDocument()
    }
  }
  return found
}

/** `{a:[1]}` is a key and a list to YAML 1.2, and the word `a:` to kubectl. */
const AMBIGUOUS = /^:[[\]{},]/

/** Most documents have neither, and there are tens of thousands of them at once. */
const NO_ITEMS: ReadonlyMap<object, number> = new Map()
const NONE_EXACT: readonly ExactNumber[] = []

interface Anchored {
  readonly value: unknown
  /** How many values it has, those behind its own aliases included. */
  readonly size: number
}

class Builder {
  readonly #text: string
  readonly #events: readonly Event[]
  readonly #apostrophe: string | undefined
  readonly #original: (offset: number) => number
  #at = 0
  #start = 0
  #items: Map<object, number> | undefined
  #exact: ExactNumber[] | undefined
  #anchors: Map<string, Anchored> | undefined
  #path: (string | number)[] = []
  #values = 0
  #repeated = 0

  constructor({ text, events, apostrophe, original }: EventText) {
    this.#text = text
    this.#events = events
    this.#apostrophe = apostrophe
    this.#original = original
  }

  hasNext(): boolean {
    return this.#at < this.#events.length
  }

  document(): Omit<ReadValue, 'end'> {
    this.#start = this.#at++
    this.#items = undefined
    this.#exact = undefined
    this.#anchors = undefined
    this.#path = []
    this.#repeated = 0
    const offset = offsetOf(this.#peek())
    const value = this.#value(0, '', 0)
    this.#at++
    return { value, offset, items: this.#items ?? NO_ITEMS, exact: this.#exact ?? NONE_EXACT }
  }

  /** To the document behind the one that could not be read. */
  skipDocument(): void {
    let open = 0
    for (this.#at = this.#start; this.#at < this.#events.length; this.#at++) {
      const { type } = this.#peek()
      if (type === EVENT_ID.POP) open--
      else if (type !== EVENT_ID.SCALAR && type !== EVENT_ID.ALIAS) open++
      if (open === 0) break
    }
    this.#at++
  }

  #peek(): Event {
    return this.#events[this.#at] as Event
  }

  /** `parent`: where the container begins, for values that are not there. */
  #value(depth: number, key: string, parent: number): unknown {
    const event = this.#peek()
    this.#at++
    const before = this.#values++
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const value = this.#scalar(event)
        if (event.anchorStart !== -1) this.#anchor(event, value, before)
        return value
      }
      case EVENT_ID.MAPPING: {
        this.#enter(depth, event.start, event, 'map')
        const value = this.#map(depth, event.start)
        if (event.anchorStart !== -1) this.#anchor(event, value, before)
        return value
      }
      case EVENT_ID.SEQUENCE: {
        this.#enter(depth, event.start, event, 'seq')
        const value = this.#list(depth, key === 'items', event.start)
        if (event.anchorStart !== -1) this.#anchor(event, value, before)
        return value
      }
      case EVENT_ID.ALIAS:
        return this.#alias(this.#text.slice(event.anchorStart, event.anchorEnd), event.anchorStart - 1)
      default:
        throw new ReadError('is not valid YAML: a value is missing', parent)
    }
  }

  #enter(depth: number, offset: number, tagged: Tagged, expected: string): void {
    if (depth >= MAX_DEPTH) throw new ReadError(`is nested deeper than ${MAX_DEPTH} levels`, offset)
    if (tagged.tagStart !== -1) this.#checkTag(tagged, expected)
  }

  #map(depth: number, start: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    const merged: (readonly [value: unknown, offset: number])[] = []
    while (this.#peek().type !== EVENT_ID.POP) {
      const event = this.#peek()
      const key = this.#key(start)
      this.#path.push(key)
      const value = this.#value(depth + 1, key, start)
      this.#path.pop()
      if (key === '<<' && isMerge(event)) merged.push([value, offsetOf(event)])
      else if (Object.hasOwn(map, key)) {
        throw new ReadError(`the key ${JSON.stringify(key)} is there twice: remove one`, offsetOf(event))
      } else assign(map, key, value)
    }
    this.#at++
    for (const [source, offset] of merged) mergeInto(map, source, offset)
    return map
  }

  #list(depth: number, isItems: boolean, start: number): unknown[] {
    const list: unknown[] = []
    while (this.#peek().type !== EVENT_ID.POP) {
      const offset = offsetOf(this.#peek())
      this.#path.push(list.length)
      const value = this.#value(depth + 1, '', start)
      this.#path.pop()
      if (isItems && isObject(value)) {
        this.#items ??= new Map()
        this.#items.set(value, this.#original(offset))
      }
      list.push(value)
    }
    this.#at++
    return list
  }

  #key(start: number): string {
    const event = this.#peek()
    if (event.type === EVENT_ID.SCALAR && event.fast && event.style === SCALAR_STYLE.PLAIN && event.tagStart === -1) {
      this.#at++
      const text = this.#text.slice(event.valueStart, event.valueEnd)
      if (event.anchorStart !== -1) this.#anchor(event, text, this.#values - 1)
      if (AMBIGUOUS.test(this.#text.slice(event.valueEnd, event.valueEnd + 2))) {
        throw new ReadError(
          '":" needs a space behind it here: without one, kubectl takes it for a part of the word',
          event.valueEnd,
        )
      }
      return this.#keyText(text, event.valueStart)
    }
    const offset = event.type === EVENT_ID.POP ? start : offsetOf(event)
    const isPlain = event.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN && event.tagStart === -1
    if (isPlain) {
      this.#at++
      return this.#keyText(getScalarValue(this.#text, event), offset)
    }
    const value = this.#value(0, '', start)
    if (typeof value === 'string') return value
    if (typeof value === 'boolean' || typeof value === 'number') return String(value)
    throw new ReadError('a key must be a text, not a list or a map', offset)
  }

  #keyText(text: string, offset: number): string {
    checkWord(text, offset)
    const key = plainKey(text)
    if (key === undefined) throw new ReadError('a key must not be empty: put it in quotes', Math.max(offset, 0))
    return key
  }

  #scalar(event: ScalarEvent): unknown {
    if (event.tagStart !== -1) return this.#taggedScalar(event)
    if (event.style !== SCALAR_STYLE.PLAIN) return this.#quoted(event)
    if (event.valueStart === -1) return null
    return this.#plain(getScalarValue(this.#text, event), event.valueStart)
  }

  #plain(text: string, offset: number): unknown {
    checkWord(text, offset)
    const value = plainScalar(text)
    if (value === NOT_IN_JSON) throw new ReadError(`${text} has no place in JSON: put it in quotes`, offset)
    if (typeof value !== 'bigint') return value
    this.#exact ??= []
    this.#exact.push({ path: [...this.#path], digits: String(value) })
    return Number(value)
  }

  #quoted(event: ScalarEvent): string {
    const text = this.#written(event)
    if (this.#apostrophe === undefined || !text.includes(this.#apostrophe)) return text
    return text.replaceAll(this.#apostrophe, event.style === SCALAR_STYLE.DOUBLE_QUOTED ? '' : '\\')
  }

  /** A block of text that ends with the file ends where the file does: without a line end there is none to keep. */
  #written(event: ScalarEvent): string {
    const text = scalarText(this.#text, event)
    const isLast = event.style >= SCALAR_STYLE.LITERAL_BLOCK && event.valueEnd === this.#text.length
    return isLast && text.endsWith('\n') && !/[\r\n]$/.test(this.#text) ? text.slice(0, -1) : text
  }

  #taggedScalar(event: ScalarEvent): unknown {
    const tag = this.#tagOf(event)
    const text = event.valueStart === -1 ? '' : this.#quoted(event)
    if (RESOLVED_TAGS.has(tag)) return event.style === SCALAR_STYLE.PLAIN ? this.#plain(text, event.valueStart) : text
    this.#checkTag(event, 'str')
    return text
  }

  #anchor(event: { readonly anchorStart: number; readonly anchorEnd: number }, value: unknown, before: number): void {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd)
    checkAnchor(name, event.anchorStart)
    this.#anchors ??= new Map()
    this.#anchors.set(name, { value, size: this.#values - before })
  }

  #alias(name: string, offset: number): unknown {
    checkAnchor(name, offset)
    const anchored = this.#anchors?.get(name)
    // An anchor that is still being read would contain itself.
    if (anchored === undefined) throw new ReadError(`the alias *${name} names no anchor before it`, offset)
    this.#values += anchored.size
    this.#repeated += anchored.size
    if (this.#repeated > MAX_REPEATED) {
      throw new ReadError(`aliases repeat more than ${MAX_REPEATED} values: write them out`, offset)
    }
    return anchored.value
  }

  #tagOf({ tagStart, tagEnd }: Tagged): string {
    const written = this.#text.slice(tagStart, tagEnd)
    if (written.startsWith('!!')) return written.slice(2)
    return written.startsWith(VERBATIM) ? written.slice(VERBATIM.length, -1) : written
  }

  #checkTag(event: Tagged, expected: string): void {
    const tag = this.#tagOf(event)
    if (tag === '!' || tag === expected) return
    const written = this.#text.slice(event.tagStart, event.tagEnd)
    throw new ReadError(`the tag ${written} is not understood here: remove it`, event.tagStart)
  }
}
