const SEEN = 1
const REPEATED = 2
const FIRST_SLOTS = 1024

/**
 * Which texts came more than once, in sixteen bytes for each: half a million names as texts take ten times as much. Two
 * texts may share a fingerprint, so what comes out is a suspicion, and never misses one.
 */
export class Fingerprints {
  /** Two halves of a fingerprint per slot; a slot is free while its mark is 0. */
  #halves = new Uint32Array(2 * FIRST_SLOTS)
  #marks = new Uint8Array(FIRST_SLOTS)
  #count = 0

  /** Whether it is the first of its kind. */
  add(text: string): boolean {
    if (2 * (this.#count + 1) > this.#marks.length) this.#grow()
    const [high, low] = fingerprint(text)
    const slot = this.#slotOf(high, low)
    const isFirst = this.#marks[slot] === 0
    if (isFirst) this.#occupy(slot, high, low, SEEN)
    else this.#marks[slot] = REPEATED
    return isFirst
  }

  mayRepeat(text: string): boolean {
    const [high, low] = fingerprint(text)
    return this.#marks[this.#slotOf(high, low)] === REPEATED
  }

  /** Where the fingerprint is, or would be. */
  #slotOf(high: number, low: number): number {
    const mask = this.#marks.length - 1
    let slot = low & mask
    while (this.#marks[slot] !== 0 && (this.#halves[2 * slot] !== high || this.#halves[2 * slot + 1] !== low)) {
      slot = (slot + 1) & mask
    }
    return slot
  }

  #occupy(slot: number, high: number, low: number, mark: number): void {
    this.#halves[2 * slot] = high
    this.#halves[2 * slot + 1] = low
    this.#marks[slot] = mark
    this.#count++
  }

  #grow(): void {
    const [halves, marks] = [this.#halves, this.#marks]
    this.#halves = new Uint32Array(2 * halves.length)
    this.#marks = new Uint8Array(2 * marks.length)
    this.#count = 0
    for (const [slot, mark] of marks.entries()) {
      const [high = 0, low = 0] = [halves[2 * slot], halves[2 * slot + 1]]
      if (mark !== 0) this.#occupy(this.#slotOf(high, low), high, low, mark)
    }
  }
}

/** Two lanes that multiply by different odd numbers, each stirred at the end so that low bits depend on all others. */
function fingerprint(text: string): readonly [high: number, low: number] {
  let [high, low] = [0x9e3779b9, 0x85ebca6b]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x5bd1e995)
  }
  return [stirred(high ^ (low >>> 16)), stirred(low ^ (high >>> 13))]
}

function stirred(lane: number): number {
  const mixed = Math.imul(lane ^ (lane >>> 16), 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) >>> 0
}
