/** What all bodies together may hold. Six of the largest; reviews as they mostly are, by the thousand. */
const MAX_BYTES = 48 * 1024 * 1024

/** One body, from its second chunk to its answer. */
export interface Hold {
  grow(bytes: number): void
  /** All of it is here, and it is being judged: from now on it is not cut. */
  arrived(): void
  release(): void
}

interface Held {
  bytes: number
  readonly cut: () => void
}

/**
 * How much of the bodies of reviews is held at once. When it is too much, the one that has been arriving for the longest
 * is cut: an API server sends a body in one go, so whoever takes long over it is no API server, or has lost its network.
 */
export class InFlight {
  readonly #limit: number
  readonly #onCut: () => void
  /** Oldest first. */
  readonly #arriving = new Set<Held>()
  #bytes = 0

  constructor(onCut: () => void, limit = MAX_BYTES) {
    this.#onCut = onCut
    this.#limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `cut` is called at most once, and never after `arrived` or `release`. */
  hold(cut: () => void): Hold {
    const held: Held = { bytes: 0, cut }
    this.#arriving.add(held)
    return {
      grow: bytes => {
        if (!this.#arriving.has(held)) return
        held.bytes += bytes
        this.#bytes += bytes
        while (this.#bytes > this.#limit) this.#cutOldest()
      },
      arrived: () => this.#arriving.delete(held),
      release: () => this.#release(held),
    }
  }

  /** There always is one: whoever has just grown is arriving. */
  #cutOldest(): void {
    for (const oldest of this.#arriving) {
      this.#release(oldest)
      this.#onCut()
      oldest.cut()
      return
    }
  }

  #release(held: Held): void {
    this.#arriving.delete(held)
    this.#bytes -= held.bytes
    held.bytes = 0
  }
}
