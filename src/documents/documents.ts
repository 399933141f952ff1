import { readJson } from './json-reader.ts'
import { Locator } from './locator.ts'
import {
  type ExactNumber,
  LineCounter,
  type Path,
  type Place,
  type Problem,
  type ReadValue,
  type Unreadable,
} from './place.ts'
import { isTemplate, renderAdvice } from './walk.ts'
import { readYaml } from './yaml-reader.ts'

/** One document of a file. */
export interface ReadDocument {
  readonly value: unknown
  readonly source: DocumentSource
  readonly column: number
  /** The line of an object in a list called `items`; for any other object that of the document. */
  lineOf(item: unknown): number
  /** Where a value stands, or the nearest thing around it. */
  placeOf(path: Path): Place
  /** As it is written, comments included. */
  readonly text: string
  /** Whole numbers that `value` holds rounded. */
  readonly exact: readonly ExactNumber[]
}

export interface DocumentSource {
  readonly file: string
  /** Documents of a file are counted from 1; one that is empty or only a comment does not count. */
  readonly document: number
  readonly line: number
}

/** `---` and `...` at the start of a line end a document wherever they stand, in a block of text too. */
const SEPARATOR = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm
/** Directives belong to the document that follows: such a file is left whole to the parser. */
const DIRECTIVE = /^%/m

/**
 * All documents of a text, in order. One that cannot be read does not hide the others: each is read by itself.
 */
export function* readDocuments(text: string, file: string): Generator<ReadDocument | Unreadable> {
  const lines = new LineCounter(text)
  const latest: Latest = {}
  let count = 0
  for (const [chunk, start] of chunksOf(text)) {
    let index = -1
    for (const read of readChunk(chunk, file)) {
      if (!('isLaterItem' in read && read.isLaterItem)) count++
      index++
      const { line, column } = lines.at(start + read.offset)
      if ('problem' in read) {
        const message = isRendered(chunk, read) ? read.problem : renderAdvice('CHART')
        yield { file, line, column, message }
        continue
      }
      const origin = { chunk, start, index, lines, latest }
      yield new TextDocument(read, { file, document: count, line }, column, origin)
    }
  }
}

/** Whether the text is YAML at all: a template that is not rendered yet is wrong in ways that help nobody. */
function isRendered(chunk: string, { offset, isSyntax = false }: Problem): boolean {
  return !(isSyntax || chunk.startsWith('{{', offset - 1)) || !isTemplate(chunk)
}

interface Origin {
  readonly chunk: string
  readonly start: number
  /** Which of the documents in the chunk. */
  readonly index: number
  readonly lines: LineCounter
  readonly latest: Latest
}

/** Documents are asked for places one after the other, and to take all of them apart at once would take much memory. */
interface Latest {
  read?: ReadValue
  locator?: Locator
}

/** A class, because there are tens of thousands of them at once. */
class TextDocument implements ReadDocument {
  readonly value: unknown
  readonly source: DocumentSource
  readonly column: number
  readonly #read: ReadValue
  readonly #origin: Origin
  readonly #isJson: boolean

  constructor(read: ReadValue, source: DocumentSource, column: number, origin: Origin) {
    this.value = read.value
    this.source = source
    this.column = column
    this.#read = read
    this.#origin = origin
    this.#isJson = read.end < origin.chunk.length || /^\s*[{[]/.test(origin.chunk)
  }

  get exact(): readonly ExactNumber[] {
    return this.#read.exact
  }

  get text(): string {
    const { chunk } = this.#origin
    return this.#isJson ? chunk.slice(this.#read.offset, this.#read.end) : chunk
  }

  lineOf(item: unknown): number {
    const { start, lines } = this.#origin
    const offset = this.#read.items.get(item as object)
    return offset === undefined ? this.source.line : lines.at(start + offset).line
  }

  placeOf(path: Path): Place {
    const { start, lines } = this.#origin
    return lines.at(start + (this.#isJson ? this.#read.offset : 0) + this.#locator().find(path))
  }

  #locator(): Locator {
    const { latest, chunk, index } = this.#origin
    if (latest.read === this.#read && latest.locator !== undefined) return latest.locator
    latest.read = this.#read
    latest.locator = this.#isJson ? new Locator(this.text, 0) : new Locator(chunk, index)
    return latest.locator
  }
}

function* chunksOf(text: string): Generator<readonly [chunk: string, start: number]> {
  if (DIRECTIVE.test(text)) {
    yield [text, 0]
    return
  }
  let start = 0
  for (const { index } of text.matchAll(SEPARATOR)) {
    yield [text.slice(start, index), start]
    start = index + 3
  }
  yield [text.slice(start), start]
}

/** One at a time: a file of half a million small documents has room in memory, but not with all that is in them. */
function* readChunk(chunk: string, file: string): Generator<ReadValue | Problem> {
  if (/^\s*$/.test(chunk)) return
  if (/^\s*[{[]/.test(chunk)) {
    let values = 0
    for (const read of readJson(chunk)) {
      // YAML has braces too. In a file that says it is JSON, the complaint about the JSON is the useful one.
      if ('problem' in read && values === 0 && !file.endsWith('.json')) break
      values++
      yield read
    }
    if (values > 0) return
  }
  yield* readYaml(chunk)
}
