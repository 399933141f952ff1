import type { Resource, Status, WatchEvent, WatchOptions } from '../../../src/kube/api.ts'
import type { KubeObject } from '../../../src/kube/objects.ts'
import { PODS, WORKLOADS } from '../../../src/kube/resources.ts'
import type { Change, ModelServer, Stored } from './server.ts'

type Event = WatchEvent<KubeObject>

/** The receiving end of a watch: told of events in order, and of the end. */
export interface Sink {
  readonly resource: Resource
  event(event: Event): void
  end(): void
}

interface Subscription {
  readonly sink: Sink
  readonly matches: (object: Stored) => boolean
}

const KEPT: ReadonlySet<Resource> = new Set([PODS, WORKLOADS])
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** What a watch begins with: events to send at once, or the answer that the version is too old. */
export type Opening = { readonly kind: 'open'; readonly close: () => void } | { readonly kind: 'expired' }

/** The reading side of the model server: history for as long as it is kept, selectors, bookmarks, streaming lists. */
export class WatchHub {
  readonly #server: ModelServer
  readonly #history: Change[] = []
  readonly #subscriptions = new Set<Subscription>()
  #compactedTo = 0

  constructor(server: ModelServer) {
    this.#server = server
    server.subscribe(change => {
      if (!KEPT.has(change.resource)) return
      this.#history.push(change)
      for (const { sink, matches } of this.#subscriptions) {
        if (sink.resource === change.resource) send(sink, change, matches)
      }
    })
  }

  /** Forgets history: a watch that resumes from before now is told 410. */
  compact(): void {
    this.#compactedTo = this.#server.version
    this.#history.length = 0
  }

  list(resource: Resource, query: WatchOptions): readonly Stored[] {
    const matches = matcher(query)
    return this.#server.all(resource).filter(matches)
  }

  open(sink: Sink, query: WatchOptions): Opening {
    const matches = matcher(query)
    if (query.sendInitialEvents) {
      for (const object of this.list(sink.resource, query)) sink.event({ type: 'ADDED', object })
      sink.event(this.#bookmark({ [INITIAL_EVENTS_END]: 'true' }))
    } else {
      const from = Number(query.resourceVersion ?? this.#server.version)
      if (from < this.#compactedTo) return { kind: 'expired' }
      for (const change of this.#history) {
        if (change.resource === sink.resource && change.version > from) send(sink, change, matches)
      }
    }
    const subscription = { sink, matches }
    this.#subscriptions.add(subscription)
    return { kind: 'open', close: () => this.#subscriptions.delete(subscription) }
  }

  bookmark(): Event {
    return this.#bookmark(undefined)
  }

  #bookmark(annotations: Readonly<Record<string, string>> | undefined): Event {
    const metadata = { resourceVersion: String(this.#server.version), ...(annotations && { annotations }) }
    return { type: 'BOOKMARK', object: { metadata } }
  }
}

export const EXPIRED: Status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }

/** To a watch with a selector, an object that stops to match is an object that is gone. */
function send(sink: Sink, change: Change, matches: (object: Stored) => boolean): void {
  const was = change.before !== undefined && matches(change.before)
  const is = change.type !== 'deleted' && matches(change.after)
  if (is) sink.event({ type: was ? 'MODIFIED' : 'ADDED', object: change.after })
  else if (was) sink.event({ type: 'DELETED', object: lastSeen(change) })
}

function lastSeen({ before, after }: Change): Stored {
  if (before === undefined) return after
  return { ...before, metadata: { ...before.metadata, resourceVersion: after.metadata.resourceVersion } as never }
}

function matcher({ namespace, labelSelector, fieldSelector }: WatchOptions): (object: Stored) => boolean {
  const labels = terms(labelSelector)
  const fields = terms(fieldSelector)
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    labels.every(([key, value]) => metadata.labels?.[key] === value) &&
    fields.every(([key, value]) => (key === 'metadata.name' ? metadata.name : metadata.namespace) === value)
}

function terms(selector: string | undefined): readonly (readonly [string, string])[] {
  return (selector?.split(',') ?? []).map(term => {
    const [key = '', value = ''] = term.split('=')
    return [key, value]
  })
}
