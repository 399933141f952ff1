/**
 * Since when things have been seen without a break. What a process remembers here it may forget: it then only waits
 * longer.
 */
export class Sightings {
  #since = new Map<string, number>()

  /** What is not among them is forgotten. The returned function tells for how long one has been there. */
  see(present: Iterable<string>, at: number): (thing: string) => number {
    this.#since = new Map([...present].map(thing => [thing, this.#since.get(thing) ?? at]))
    return thing => at - (this.#since.get(thing) ?? at)
  }
}
