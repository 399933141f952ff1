import type { ServerResponse } from 'node:http'
import { changeBetween } from '../insight/dashboard/changes.ts'
import type { Overview } from '../insight/dashboard/overview.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'

/** What a reader who was away for a moment is told afterwards; who was away longer gets everything anew. */
const REMEMBERED = 64
const REMEMBERED_BYTES = 1 << 20
/** Who does not read is let go: his browser comes back by itself, and catches up. */
const MOST_UNREAD = 4 << 20
const MOST_READERS = 16
/** Proxies and browsers take silence for death. */
const HEARTBEAT_MS = 15_000

interface Told {
  readonly number: number
  readonly text: string
}

/**
 * Tells every open page what has changed, as server-sent events: everything first, then changes, each with a number. A
 * browser that reconnects names the last number that it has seen, and gets what came after it where that is remembered.
 */
export class Stream {
  readonly #clock: Clock
  /** Of this process: numbers of another one say nothing here. */
  readonly #epoch: string
  readonly #readers = new Set<ServerResponse>()
  #told: Told[] = []
  #bytes = 0
  #number = 0
  #last: Overview | undefined
  #stopBeating: (() => void) | undefined

  constructor(clock: Clock, epoch: string) {
    this.#clock = clock
    this.#epoch = epoch
  }

  get readers(): number {
    return this.#readers.size
  }

  /** False: there are enough readers already. */
  join(response: ServerResponse, lastEventId: string, overview: Overview): boolean {
    // Gone while its first look was being taken: its `close` has been heard already.
    if (response.destroyed) return true
    if (this.#readers.size >= MOST_READERS) return false
    this.publish(overview)
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write('retry: 1000\n\n')
    response.write(this.#missedBy(lastEventId) ?? this.#event('whole', this.#number, overview))
    this.#readers.add(response)
    response.once('close', () => {
      this.#readers.delete(response)
      if (this.#readers.size === 0) this.#stopBeating?.()
    })
    if (this.#readers.size === 1) this.#beat()
    return true
  }

  publish(overview: Overview): void {
    const change = this.#last && changeBetween(this.#last, overview)
    const isFirst = this.#last === undefined
    this.#last = overview
    if (isFirst || change === undefined) return
    const text = this.#event('change', ++this.#number, change)
    this.#remember({ number: this.#number, text })
    for (const reader of this.#readers) this.#tell(reader, text)
  }

  close(): void {
    this.#stopBeating?.()
    for (const reader of this.#readers) reader.end()
  }

  #tell(reader: ServerResponse, text: string): void {
    if (reader.writableLength > MOST_UNREAD) reader.destroy()
    else reader.write(text)
  }

  #missedBy(lastEventId: string): string | undefined {
    const [epoch, number] = lastEventId.split('.')
    if (epoch !== this.#epoch || !/^\d{1,15}$/.test(number ?? '')) return undefined
    const seen = Number(number)
    const missed = this.#told.filter(told => told.number > seen)
    return missed.length === this.#number - seen ? missed.map(({ text }) => text).join('') : undefined
  }

  #remember(told: Told): void {
    this.#told.push(told)
    this.#bytes += told.text.length
    while (this.#told.length > REMEMBERED || (this.#bytes > REMEMBERED_BYTES && this.#told.length > 1)) {
      this.#bytes -= this.#told.shift()?.text.length ?? 0
    }
  }

  /** JSON has no line breaks of its own, which would end an event. */
  #event(name: string, number: number, data: unknown): string {
    return `event: ${name}\nid: ${this.#epoch}.${number}\ndata: ${JSON.stringify(data)}\n\n`
  }

  #beat(): void {
    this.#stopBeating = this.#clock.after(HEARTBEAT_MS, () => {
      for (const reader of this.#readers) this.#tell(reader, ': still here\n\n')
      this.#beat()
    })
  }
}
