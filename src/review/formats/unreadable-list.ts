import type { Unreadable } from '../../documents/place.ts'

/** Numbers of one entry: its file, its message, line and column. */
const NUMBERS = 4

/**
 * What could not be read, until the end of a report that tells it last. Files and messages are mostly the same few texts,
 * so an entry is four numbers: half a million of them take less than the input that they come from.
 */
export class UnreadableList {
  readonly #texts: string[] = []
  readonly #indexes = new Map<string, number>()
  #numbers = new Float64Array(NUMBERS * 16)
  #count = 0

  add({ file, line, column, message }: Unreadable): void {
    const at = NUMBERS * this.#count++
    if (at === this.#numbers.length) {
      const larger = new Float64Array(2 * at)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers.set([this.#indexOf(file), this.#indexOf(message), line, column], at)
  }

  *[Symbol.iterator](): Generator<Unreadable> {
    for (let at = 0; at < NUMBERS * this.#count; at += NUMBERS) {
      const [file = 0, message = 0, line = 0, column = 0] = this.#numbers.subarray(at, at + NUMBERS)
      yield { file: this.#texts[file] ?? '', line, column, message: this.#texts[message] ?? '' }
    }
  }

  #indexOf(text: string): number {
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    this.#indexes.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }
}
