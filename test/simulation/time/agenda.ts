/** Whose code an entry runs. A dead owner's entries are dropped, a paused owner's wait until it goes on. */
export interface Owner {
  readonly alive: boolean
  readonly pausedUntil: number
}

interface Entry {
  readonly at: number
  readonly order: number
  readonly run: () => void
  readonly owner: Owner | undefined
  cancelled: boolean
}

/** More entries than this at one instant is a loop that never lets time pass. */
const SAME_INSTANT_LIMIT = 50_000

/** Virtual time: a queue of what happens next. Time moves only when nothing is left to do at its present value. */
export class Agenda {
  readonly #heap: Entry[] = []
  #order = 0
  #sameInstant = 0
  #now = 0
  steps = 0

  get now(): number {
    return this.#now
  }

  at(time: number, run: () => void, owner?: Owner): () => void {
    const entry = { at: Math.max(time, this.#now), order: this.#order++, run, owner, cancelled: false }
    this.#push(entry)
    return () => {
      entry.cancelled = true
    }
  }

  after(ms: number, run: () => void, owner?: Owner): () => void {
    return this.at(this.#now + Math.max(0, ms), run, owner)
  }

  /** Runs everything that is due until `end`. `stop` is asked after each step. */
  async runUntil(end: number, stop: () => boolean): Promise<void> {
    await settle()
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop()
      if (next.cancelled || (next.owner && !next.owner.alive)) continue
      this.#advance(next.at)
      if (next.owner && next.owner.pausedUntil > this.#now) {
        this.at(next.owner.pausedUntil, next.run, next.owner)
        continue
      }
      this.steps++
      next.run()
      // Only code under test has promises; the model is synchronous and needs no turn of the event loop.
      if (next.owner) await settle()
      if (stop()) return
    }
    this.#advance(end)
  }

  #advance(time: number): void {
    this.#sameInstant = time > this.#now ? 0 : this.#sameInstant + 1
    if (this.#sameInstant > SAME_INSTANT_LIMIT) throw new Error('the simulation does not get on: a loop without a wait')
    this.#now = time
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(entry)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !before(entry, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      let below = heap[child]
      if (below === undefined) break
      const right = heap[child + 1]
      if (right !== undefined && before(right, below)) {
        below = right
        child += 1
      }
      if (!before(below, last)) break
      heap[index] = below
      index = child
    }
    heap[index] = last
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** All promises that can go on without the clock have gone on. */
export async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}
