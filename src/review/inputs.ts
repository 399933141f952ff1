import { type ReadDocument, readDocuments } from '../documents/documents.ts'
import type { Unreadable } from '../documents/place.ts'
import { readSources, type SourceOptions, type SourceText } from '../documents/sources.ts'
import { chartOf, isTemplate, renderAdvice } from '../documents/walk.ts'

/** Documents of this much text are kept from the first reading to the second. */
const KEPT_DOCUMENTS = 6 * 1024 * 1024
/** And of this much, the text: to read a file twice takes twice the memory until somebody tidies up. */
const KEPT_TEXTS = 128 * 1024 * 1024

/**
 * The documents of the inputs, as often as they are asked for. What would take too much memory is read again from its
 * file; what can be read only once is kept as text.
 */
export class Inputs {
  readonly #names: readonly string[]
  readonly #options: SourceOptions
  readonly #once = new Map<string, SourceText | Unreadable>()
  #texts: readonly (SourceText | Unreadable)[] | undefined
  #documents: readonly (ReadDocument | Unreadable)[] | undefined

  constructor(names: readonly string[], options: SourceOptions) {
    this.#names = names
    this.#options = { ...options, kept: this.#once }
  }

  async *documents(): AsyncGenerator<ReadDocument | Unreadable> {
    if (this.#documents !== undefined) {
      yield* this.#documents
      return
    }
    let texts: (SourceText | Unreadable)[] | undefined = []
    let documents: (ReadDocument | Unreadable)[] | undefined = []
    let length = 0
    for await (const source of this.#texts ?? readSources(this.#names, this.#options)) {
      length += 'text' in source ? source.text.length : 0
      if (length > KEPT_DOCUMENTS) documents = undefined
      if (length > KEPT_TEXTS) texts = undefined
      texts?.push(source)
      for (const read of documentsIn(source)) {
        documents?.push(read)
        yield read
      }
    }
    this.#documents = documents
    this.#texts = texts
  }
}

function* documentsIn(source: SourceText | Unreadable): Generator<ReadDocument | Unreadable> {
  if ('message' in source) {
    yield source
    return
  }
  const { file, text } = source
  const chart = chartOf(file)
  if (chart !== undefined && isTemplate(text)) {
    yield { file, line: 0, column: 0, message: renderAdvice(chart) }
    return
  }
  yield* readDocuments(text, file)
}
