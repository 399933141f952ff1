const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Finds the end of a JSON string that arrives in chunks, at the speed of a search for quotes. */
export class TextEnd {
  #open = false
  /** The last byte of the chunk before was a backslash that escapes the first one of this. */
  #escaped = false

  get open(): boolean {
    return this.#open
  }

  /** After the opening quote. */
  begin(): void {
    this.#open = true
    this.#escaped = false
  }

  /** Where the text ends, behind its closing quote; the end of the chunk, and still open, if that is not in it. */
  find(chunk: Buffer, from: number): number {
    let start = this.#escaped ? from + 1 : from
    for (;;) {
      const quote = chunk.indexOf(QUOTE, start)
      const end = quote < 0 ? chunk.length : quote
      let slashes = 0
      while (end - 1 - slashes >= start && chunk[end - 1 - slashes] === BACKSLASH) slashes++
      this.#escaped = quote < 0 && slashes % 2 === 1
      if (quote < 0) return chunk.length
      if (slashes % 2 === 0) {
        this.#open = false
        return quote + 1
      }
      start = quote + 1
    }
  }
}
