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

/** What a reader found wrong, at an offset of its text. Readers stop at the first problem of a document. */
export interface Problem {
  readonly problem: string
  readonly offset: number
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

/** One value out of a text, with the offsets of the objects in its lists called `items`. */
export interface ReadValue {
  readonly value: unknown
  readonly offset: number
  readonly items: ReadonlyMap<object, number>
}

/** Turns offsets into lines and columns, both from 1. */
export function lineFinder(text: string): (offset: number) => { readonly line: number; readonly column: number } {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return offset => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
