import type { KubeApi, Resource, WatchEvent, WatchOptions } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { Stored } from '../model/server.ts'
import { pod, workload } from './objects.ts'

export type WatchingOptions = Omit<WatchOptions, 'fieldSelector'>
type Event = WatchEvent<Stored>

const MARKER = 'marker'
const ROUND = 'example.com/round'

/**
 * A server that has just started serves a custom resource anew when it has read the definition, and ends the watches
 * it had already taken on, without a word. Any client opens such a watch again, where it began.
 */
const OPENINGS = 3

/**
 * A watch that is read as it comes. "Nothing was sent" cannot be waited for; so whoever asks what was shown up to now
 * first writes to a marker object, and everything that comes before the marker's event is the answer.
 */
export class Watching {
  readonly #api: KubeApi
  readonly #resource: Resource
  readonly #query: WatchingOptions
  readonly #marker: string
  readonly #events: Event[] = []
  readonly #stop = new AbortController()
  #failure: unknown
  #ended = false
  #wake = () => {}
  #round = 0

  constructor(api: KubeApi, resource: Resource, query: WatchingOptions, marker: number) {
    this.#api = api
    this.#resource = resource
    this.#query = query
    this.#marker = `${MARKER}-${marker}`
    void this.#read()
  }

  async upToNow(): Promise<readonly Event[]> {
    const round = String(++this.#round)
    await this.#mark(round)
    const mark = await this.#until(() => this.#events.findIndex(event => isMark(event, this.#marker, round)))
    return this.#events.splice(0, mark + 1).filter(isShown)
  }

  async toTheBookmark(): Promise<readonly Event[]> {
    const bookmark = await this.#until(() => this.#events.findIndex(isLastInitial))
    return this.#events.splice(0, bookmark + 1).filter(isShown)
  }

  async toTheEnd(): Promise<readonly Event[]> {
    await this.#until(() => (this.#ended && this.#failure === undefined ? 0 : -1))
    return this.#events.splice(0).filter(isShown)
  }

  close(): void {
    this.#stop.abort(new Error('the chapter is over'))
  }

  async #read(): Promise<void> {
    try {
      let seen = false
      for (let opened = 0; opened < OPENINGS && !seen; opened++) {
        for await (const event of this.#api.watch<Stored>(this.#resource, this.#query, this.#stop.signal)) {
          seen = true
          this.#events.push(event)
          this.#wake()
        }
      }
    } catch (error) {
      this.#failure = error
    }
    this.#ended = true
    this.#wake()
  }

  async #until(find: () => number): Promise<number> {
    for (;;) {
      const found = find()
      if (found >= 0) return found
      if (this.#failure !== undefined) throw this.#failure
      if (this.#ended) throw new Error('the watch ended')
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  async #mark(round: string): Promise<void> {
    const { namespace = '', labelSelector } = this.#query
    const [key = 'example.com/marker', value = 'yes'] = labelSelector?.split('=') ?? []
    const name = this.#marker
    const annotations = { [ROUND]: round }
    if (round !== '1') {
      const body = { metadata: { annotations } }
      await this.#api.patch(this.#resource, { namespace, name }, { type: 'merge', body })
      return
    }
    const object = this.#resource === PODS ? pod(name) : workload(name)
    const metadata = { ...object.metadata, namespace, labels: { [key]: value }, annotations }
    await this.#api.create(this.#resource, { ...object, metadata })
  }
}

function isMark(event: Event, marker: string, round: string): boolean {
  if (event.type === 'ERROR') return false
  const { name, annotations } = event.object.metadata
  return name === marker && annotations?.[ROUND] === round
}

export function isNoMarker({ metadata }: KubeObject): boolean {
  return metadata.name?.startsWith(MARKER) !== true
}

function isLastInitial(event: Event): boolean {
  return event.type === 'BOOKMARK' && event.object.metadata.annotations !== undefined
}

/** Bookmarks in between come when the server likes; only the one that ends the initial events has its place. */
function isShown(event: Event): boolean {
  if (event.type === 'BOOKMARK') return isLastInitial(event)
  return event.type === 'ERROR' || isNoMarker(event.object)
}
