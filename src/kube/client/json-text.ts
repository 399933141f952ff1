import { TooLargeError } from '../vocabulary/api.ts'
import type { Outline } from '../vocabulary/outline.ts'
import { Strainer } from './strainer.ts'

/** What is read of a text, which part of that is one object, and how much of it may be kept. */
export interface Reading {
  readonly text: Outline
  readonly object: Outline
  readonly most: number
}

/** One object has its own bounds, field by field. */
export const objectReading = (object: Outline): Reading => ({ text: object, object, most: Number.POSITIVE_INFINITY })
export const eventReading = (object: Outline): Reading => ({ ...objectReading(object), text: { type: true, object } })
/** What is let through is parsed at once, and reviews wait meanwhile. */
export const listReading = (object: Outline): Reading => ({
  text: { metadata: true, items: object },
  object,
  most: 4 * 1024 * 1024,
})

/** Up to this a text is read as a whole, which is the quickest way. */
const SMALL = 128 * 1024

/** A JSON text that arrives in chunks. A large one is strained on the way, where it is known what is read of it. */
export class JsonText {
  readonly #reading: Reading | undefined
  readonly #limit: number
  #chunks: Buffer[] = []
  #strainer: Strainer | undefined
  #length = 0

  constructor(limit: number, reading?: Reading) {
    this.#limit = limit
    this.#reading = reading
  }

  /** How much of it has arrived. */
  get length(): number {
    return this.#length
  }

  push(chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#length > this.#limit) throw new TooLargeError(this.#limit)
    this.#chunks.push(chunk)
    if (this.#reading !== undefined && this.#length > SMALL) this.#strain(this.#reading)
  }

  /** As bytes: a chunk may end in the middle of a character. */
  finish(): Buffer {
    return this.#strainer?.finish() ?? Buffer.concat(this.#chunks)
  }

  #strain({ text, object, most }: Reading): void {
    this.#strainer ??= new Strainer(text, object)
    for (const chunk of this.#chunks) this.#strainer.push(chunk)
    this.#chunks = []
    if (this.#strainer.length > most) throw new TooLargeError(most)
  }
}
