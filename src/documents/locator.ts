import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml'
import type { Path } from './place.ts'
import { plainKey } from './scalars.ts'
import { type EventText, parseYamlEvents } from './yaml-events.ts'
import { offsetOf } from './yaml-nodes.ts'
import { scalarText } from './yaml-texts.ts'

/**
 * Finds values of a document in its text, YAML or JSON. Nothing is noted for it while documents are read, since most
 * have no errors: the text is taken apart once more when the first one is asked for.
 */
export class Locator {
  readonly #text: string
  readonly #document: number
  #parsed: Parsed | undefined

  /** `document`: which one, of several in the text. */
  constructor(text: string, document: number) {
    this.#text = text
    this.#document = document
  }

  /** Where a value stands, or the nearest thing around it that is there. */
  find(path: Path): number {
    this.#parsed ??= parse(this.#text, this.#document)
    const { source, root } = this.#parsed
    if (source === undefined) return 0
    return source.original(locate(this.#parsed as Required<Parsed>, root, path))
  }
}

interface Parsed {
  readonly source?: EventText
  /** For each event, the one behind it and all that belongs to it. */
  readonly after: Int32Array
  readonly root: number
}

function parse(text: string, document: number): Parsed {
  const source = parseYamlEvents(text)
  if ('problem' in source) return { after: new Int32Array(), root: 0 }
  const after = new Int32Array(source.events.length)
  const open: number[] = []
  const roots: number[] = []
  for (const [index, { type }] of source.events.entries()) {
    if (type === EVENT_ID.POP) {
      after[open.pop() ?? 0] = index + 1
      after[index] = index + 1
    } else if (type === EVENT_ID.SCALAR || type === EVENT_ID.ALIAS) after[index] = index + 1
    else {
      if (type === EVENT_ID.DOCUMENT) roots.push(index + 1)
      open.push(index)
    }
  }
  return { source, after, root: roots[document] ?? 0 }
}

function locate({ source, after }: Required<Parsed>, root: number, path: Path): number {
  let index = root
  let offset = offsetOf(source.events[root] as Event)
  for (const [depth, step] of path.entries()) {
    const event = source.events[index] as Event
    if (event.type === EVENT_ID.SCALAR) return within(source.text, event, path.slice(depth), offset)
    const child =
      event.type === EVENT_ID.MAPPING
        ? childOf(source, after, index, String(step))
        : event.type === EVENT_ID.SEQUENCE
          ? itemOf(source, after, index, Number(step))
          : undefined
    if (child === undefined) return offset
    index = child.value
    offset = placeOf(source.events[child.key] as Event, source.events[index] as Event)
  }
  return offset
}

/** A word or a text stands for itself; what goes over several lines is found by its key. */
function placeOf(key: Event, value: Event): number {
  const isWord = value.type === EVENT_ID.SCALAR && value.valueStart !== -1 && value.style <= SCALAR_STYLE.DOUBLE_QUOTED
  return offsetOf(isWord || value.type === EVENT_ID.ALIAS ? value : key)
}

interface Child {
  readonly key: number
  readonly value: number
}

function childOf({ text, events }: EventText, after: Int32Array, map: number, name: string): Child | undefined {
  for (let key = map + 1; events[key]?.type !== EVENT_ID.POP; ) {
    const value = after[key] ?? 0
    const event = events[key] as Event
    if (event.type === EVENT_ID.SCALAR && nameOf(text, event) === name) return { key, value }
    key = after[value] ?? 0
  }
  return undefined
}

function nameOf(text: string, event: ScalarEvent): string | undefined {
  const written = getScalarValue(text, event)
  return event.style === SCALAR_STYLE.PLAIN ? plainKey(written) : written
}

function itemOf({ events }: EventText, after: Int32Array, list: number, wanted: number): Child | undefined {
  let item = list + 1
  for (let index = 0; events[item]?.type !== EVENT_ID.POP; index++) {
    if (index === wanted) return { key: item, value: item }
    item = after[item] ?? 0
  }
  return undefined
}

/** In a text that is YAML or JSON itself, as annotations hold it. */
function within(text: string, event: ScalarEvent, path: Path, whole: number): number {
  const inner = scalarText(text, event)
  if (!inner.includes(':')) return whole
  const parsed = parse(inner, 0)
  if (parsed.source === undefined) return whole
  const offset = parsed.source.original(locate(parsed as Required<Parsed>, parsed.root, path))
  return outerOffset(text, event, inner, offset) ?? whole
}

/** From an offset in what a text means to one in how it is written. */
function outerOffset(text: string, event: ScalarEvent, inner: string, offset: number): number | undefined {
  const { valueStart, style, indent, fast } = event
  if (fast) return valueStart + offset
  if (style === SCALAR_STYLE.LITERAL_BLOCK) {
    const before = inner.slice(0, offset)
    const lines = before.split('\n').length - 1
    let start = valueStart
    for (let line = 0; line < lines; line++) start = text.indexOf('\n', start) + 1
    return start + Math.max(indent, 0) + (offset - (before.lastIndexOf('\n') + 1))
  }
  if (inner.includes('\n') && style !== SCALAR_STYLE.DOUBLE_QUOTED) return undefined
  return style === SCALAR_STYLE.PLAIN ? undefined : escapedOffset(text, event, offset)
}

/** Steps over what is escaped, character by character. */
function escapedOffset(text: string, { valueStart, valueEnd, style }: ScalarEvent, offset: number): number | undefined {
  let at = valueStart
  for (let read = 0; read < offset && at < valueEnd; read++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || code === 0x0d) return undefined
    if (style === SCALAR_STYLE.SINGLE_QUOTED) at += code === 0x27 ? 2 : 1
    else at += code === 0x5c ? (ESCAPED[text[at + 1] ?? ''] ?? 2) : 1
  }
  return at
}

const ESCAPED: Readonly<Record<string, number | undefined>> = { x: 4, u: 6, U: 10 }
