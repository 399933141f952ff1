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
 * Turns offsets into lines and columns. Documents are read from the top to the bottom, and what is asked for stands near
 * what was asked for last, so it goes on from there, in either direction: a table of all lines would be larger than the
 * text of many a file.
 */
export class LineCounter {
  readonly #text: string
  #line = 1
  #start = 0
  /** Of the line, looked for once: a file may be one line of 60 MB. */
  #end: number | undefined

  constructor(text: string) {
    this.#text = text
  }

  at(offset: number): Place {
    if (offset < this.#start / 2) this.#go(1, 0)
    while (offset < this.#start) this.#go(this.#line - 1, this.#text.lastIndexOf('\n', this.#start - 2) + 1)
    for (let end = this.#endOfLine(); end < offset; end = this.#endOfLine()) this.#go(this.#line + 1, end + 1)
    return { line: this.#line, column: offset - this.#start + 1 }
  }

  #go(line: number, start: number): void {
    this.#line = line
    this.#start = start
    this.#end = undefined
  }

  #endOfLine(): number {
    if (this.#end === undefined) {
      const next = this.#text.indexOf('\n', this.#start)
      this.#end = next === -1 ? Number.POSITIVE_INFINITY : next
    }
    return this.#end
  }
}
