import { type Resource, SilenceError, type WatchEvent } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import type { Agenda, Owner } from '../time/agenda.ts'
import type { Link } from './link.ts'

type Event = WatchEvent<KubeObject>
type Parcel = { readonly at: number; readonly event: Event } | { readonly at: number; readonly end: Error | 'closed' }

/** The real client gives a silent watch up after as long as this. */
const SILENCE_MS = 90_000

/**
 * One watch as the replica sees it: events arrive in order, late by the lag of the link, and a connection can die
 * without a word.
 */
export class Stream implements AsyncIterator<Event> {
  readonly resource: Resource
  readonly #agenda: Agenda
  readonly #owner: Owner
  readonly #link: Link
  readonly #onDelivery: (event: Event) => void
  readonly #onClosed: () => void
  readonly #parcels: Parcel[] = []
  readonly #ready: Event[] = []
  #waiting: { resolve: (result: IteratorResult<Event>) => void; reject: (error: Error) => void } | undefined
  #ending: Error | 'closed' | undefined
  #lastAt = 0
  #heardAt: number
  #dead = false

  constructor(options: {
    resource: Resource
    agenda: Agenda
    owner: Owner
    link: Link
    onDelivery: (event: Event) => void
    onClosed: () => void
  }) {
    this.resource = options.resource
    this.#agenda = options.agenda
    this.#owner = options.owner
    this.#link = options.link
    this.#onDelivery = options.onDelivery
    this.#onClosed = options.onClosed
    this.#heardAt = options.agenda.now
    this.#listenForSilence()
  }

  /** Nothing is under way. */
  get caughtUp(): boolean {
    return this.#parcels.length === 0
  }

  event(event: Event): void {
    this.#send({ event })
    const { duplicates, dice } = this.#link
    const repeatable = event.type !== 'BOOKMARK' && event.type !== 'ERROR'
    if (repeatable && this.#link.holds(duplicates.until) && dice.chance(duplicates.rate)) this.#send({ event })
  }

  end(reason: Error | 'closed' = 'closed'): void {
    this.#send({ end: reason })
  }

  /** Half-open: the other end is gone and nobody says so. */
  die(): void {
    this.#dead = true
    this.#onClosed()
  }

  /** The replica closed it: what is under way is dropped. */
  abort(reason: Error): void {
    this.#dead = true
    this.#parcels.length = 0
    this.#ready.length = 0
    this.#finish(reason)
  }

  async next(): Promise<IteratorResult<Event>> {
    const event = this.#ready.shift()
    if (event !== undefined) return { value: event, done: false }
    if (this.#ending === 'closed') return { value: undefined, done: true }
    if (this.#ending !== undefined) throw this.#ending
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#dead = true
    this.#finish('closed')
    return { value: undefined, done: true }
  }

  #send(content: { event: Event } | { end: Error | 'closed' }): void {
    if (this.#dead || this.#ending !== undefined) return
    this.#lastAt = Math.max(this.#lastAt, this.#agenda.now + this.#link.watchLag(this.resource.plural))
    this.#parcels.push({ at: this.#lastAt, ...content } as Parcel)
    // Events that fall together are delivered in one go: one entry for the first of them is enough.
    if (this.#parcels.length > 1 && this.#parcels.at(-2)?.at === this.#lastAt) return
    this.#agenda.at(this.#lastAt, () => this.#deliver(), this.#owner)
  }

  #deliver(): void {
    for (let next = this.#parcels[0]; next !== undefined && next.at <= this.#agenda.now; next = this.#parcels[0]) {
      if (this.#dead) return
      this.#parcels.shift()
      this.#heardAt = this.#agenda.now
      if ('end' in next) {
        this.#finish(next.end)
        return
      }
      this.#onDelivery(next.event)
      const waiting = this.#waiting
      this.#waiting = undefined
      if (waiting) waiting.resolve({ value: next.event, done: false })
      else this.#ready.push(next.event)
    }
  }

  #finish(ending: Error | 'closed'): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.#onClosed()
    const waiting = this.#waiting
    this.#waiting = undefined
    if (ending === 'closed') waiting?.resolve({ value: undefined, done: true })
    else waiting?.reject(ending)
  }

  #listenForSilence(): void {
    this.#agenda.at(
      this.#heardAt + SILENCE_MS,
      () => {
        if (this.#ending !== undefined) return
        if (this.#agenda.now >= this.#heardAt + SILENCE_MS) {
          this.#dead = true
          this.#finish(new SilenceError(SILENCE_MS))
        } else this.#listenForSilence()
      },
      this.#owner,
    )
  }
}
