/** Bytes one after the other. Copied: a piece of a chunk would keep all of the chunk in memory. */
export class GrowingBuffer {
  #room = Buffer.allocUnsafe(16 * 1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  append(bytes: Buffer): void {
    const needed = this.#length + bytes.length
    if (needed > this.#room.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#room.length, needed))
      this.#room.copy(larger, 0, 0, this.#length)
      this.#room = larger
    }
    bytes.copy(this.#room, this.#length)
    this.#length = needed
  }

  /** Forgets what came after this length was reached. */
  cut(length: number): void {
    this.#length = length
  }
}
