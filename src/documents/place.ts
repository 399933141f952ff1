/** Input that cannot be used, where a person can find it. `line` and `column` are 0 when it is about the whole file. */
export interface Unreadable {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** `FILE:LINE:COL: message`, the form that editors and terminals turn into a link. */
export function formatUnreadable({ file, line, column, message }: Unreadable): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`
}

/** A place in a text, both numbers from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Steps from the root of a document to a value: keys of maps and indexes of lists. */
export type Path = readonly (string | number)[]

/** What a reader found wrong, at an offset of its text. Readers stop at the first problem of a document. */
export interface Problem {
  readonly problem: string
  readonly offset: number
  /** It is not even the language that it should be. */
  readonly isSyntax?: boolean
}

export const problem = (message: string, offset: number): Problem => ({ problem: message, offset })

/** Thrown and caught inside of one reader only: recursive descent has nowhere else to put a problem. */
export class ReadError extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** A whole number that a double cannot hold, as it stands in the text. */
export interface ExactNumber {
  readonly path: Path
  readonly digits: string
}

/** One value out of a text. */
export interface ReadValue {
  readonly value: unknown
  readonly offset: number
  /** Behind its last character; of YAML, the end of the text it was read from. */
  readonly end: number
  /** Where the objects in its lists called `items` begin. */
  readonly items: ReadonlyMap<object, number>
  readonly exact: readonly ExactNumber[]
  /** It is of the same list as the value before it, which is one document. */
  readonly isLaterItem?: boolean
}

/**
 * Turns offsets into lines and columns. Documents are read from the top to the bottom, so it counts on from where it
 * was asked last: a table of all lines would be larger than the text of many a file.
 */
export class LineCounter {
  readonly #text: string
  #offset = 0
  #line = 1
  #start = 0

  constructor(text: string) {
    this.#text = text
  }

  at(offset: number): Place {
    if (offset < this.#start) {
      this.#offset = 0
      this.#line = 1
      this.#start = 0
    }
    for (let next = this.#text.indexOf('\n', this.#offset); next !== -1 && next < offset; ) {
      this.#line++
      this.#start = next + 1
      this.#offset = next + 1
      next = this.#text.indexOf('\n', this.#offset)
    }
    return { line: this.#line, column: offset - this.#start + 1 }
  }
}
