/**
 * Seeded chance. Every part of a run draws from a stream of its own, split off by name, so that removing one fault
 * from a schedule does not reroll everything else.
 */
export class Dice {
  readonly #seed: number
  #a: number
  #b: number
  #c: number
  #count = 1

  constructor(seed: number) {
    this.#seed = seed >>> 0
    let state = this.#seed
    const mixed = () => {
      state = (state + 0x9e3779b9) >>> 0
      let z = state
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
      return (z ^ (z >>> 16)) >>> 0
    }
    this.#a = mixed()
    this.#b = mixed()
    this.#c = mixed()
    for (let round = 0; round < 12; round++) this.next()
  }

  /** In [0, 1). sfc32. */
  next(): number {
    const sum = (this.#a + this.#b + this.#count) >>> 0
    this.#count = (this.#count + 1) >>> 0
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0
    this.#b = (this.#c + (this.#c << 3)) >>> 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0
    return sum / 0x1_0000_0000
  }

  /** A whole number from `low` to `high`, both possible. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.next() * choices.length)]
    if (choice === undefined) throw new RangeError('dice: nothing to pick from')
    return choice
  }

  /** Each choice as often as its weight says. */
  weighted<T>(choices: readonly (readonly [number, T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) {
      left -= weight
      if (left < 0) return choice
    }
    return this.pick(choices.map(([, choice]) => choice))
  }

  split(label: string): Dice {
    let hash = this.#seed ^ 0x811c9dc5
    for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 0x01000193)
    return new Dice(hash)
  }
}
