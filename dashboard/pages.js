/** @import { Placed } from '../src/insight/dashboard/waiting.ts' */

const SIZE = 100
/** As many as are kept: what was seen and is far away is asked for again. */
const MOST = 8

/** A long list of which the part that is seen is here. */
export class Pages {
  total = 0
  isKnown = false
  #changed
  #query = new URLSearchParams()
  /** @type {Map<number, { rows: readonly Placed[], isStale: boolean }>} */
  #pages = new Map()
  /** @type {Set<number>} */
  #asked = new Set()
  #turn = 0
  #from = 0
  #to = 0
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #later

  /** @param {() => void} changed */
  constructor(changed) {
    this.#changed = changed
  }

  /**
   * Another list, from its beginning.
   * @param {URLSearchParams} query
   */
  ask(query) {
    this.#turn++
    this.#query = query
    this.#asked.clear()
    this.#stale()
    clearTimeout(this.#later)
    // Whoever types is not done with the first letter.
    this.#later = setTimeout(() => void this.#read(0), 100)
  }

  /** The same list, which has changed. */
  refresh() {
    this.#stale()
    this.want(this.#from, this.#to)
    if (!this.isKnown || this.total === 0) void this.#read(0)
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  want(from, to) {
    this.#from = from
    this.#to = to
    for (let page = Math.floor(from / SIZE); page * SIZE < to; page++) {
      const known = this.#pages.get(page)
      if (known === undefined || known.isStale) void this.#read(page)
    }
  }

  /** @param {number} index */
  at(index) {
    return this.#pages.get(Math.floor(index / SIZE))?.rows[index % SIZE]
  }

  /** @param {string} id */
  indexOf(id) {
    for (const [page, { rows }] of this.#pages) {
      const at = rows.findIndex(row => row.id === id)
      if (at >= 0) return page * SIZE + at
    }
    return undefined
  }

  #stale() {
    for (const page of this.#pages.values()) page.isStale = true
  }

  /** @param {number} page */
  async #read(page) {
    if (this.#asked.has(page)) return
    this.#asked.add(page)
    const turn = this.#turn
    const query = new URLSearchParams(this.#query)
    query.set('from', String(page * SIZE))
    query.set('count', String(SIZE))
    try {
      const response = await fetch(`/waiting?${query}`)
      if (!response.ok) throw new Error(response.statusText)
      const { total, rows } = await response.json()
      if (turn !== this.#turn) return
      this.isKnown = true
      this.total = total
      this.#pages.set(page, { rows, isStale: false })
      for (const each of this.#pages.keys()) if (each * SIZE >= total) this.#pages.delete(each)
      this.#forget()
    } catch {
      // Without its server the page says so in its head, and goes on asking, but not all the time.
      await new Promise(resolve => setTimeout(resolve, 1000))
    }
    if (turn !== this.#turn) return
    this.#asked.delete(page)
    this.#changed()
  }

  /** What is farthest from what is seen goes first. */
  #forget() {
    const middle = (this.#from + this.#to) / 2 / SIZE
    const byDistance = [...this.#pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle))
    for (const page of byDistance.slice(0, Math.max(0, this.#pages.size - MOST))) this.#pages.delete(page)
  }
}
