import type {
  ListOptions,
  ObjectList,
  Resource,
  Status,
  WatchEvent,
  WatchOptions,
} from '../../../src/kube/vocabulary/api.ts'
import { KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { COMPOSITE_POD_GROUPS, JOB_SETS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { SCHEDULING_GROUP } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { badRequest, expired, notFound } from './refusals.ts'
import type { Change, ModelServer, Stored } from './server.ts'
import { isWorkload } from './workload-rules.ts'

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

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** What a watch begins with: events to send at once, or the answer that the version is too old. */
export type Opening = { readonly kind: 'open'; readonly close: () => void } | { readonly kind: 'expired' }

/** The reading side of the model server: history for as long as it is kept, selectors, bookmarks, streaming lists. */
export class WatchHub {
  readonly #server: ModelServer
  readonly #composites: boolean
  readonly #history: Change[] = []
  readonly #subscriptions = new Set<Subscription>()
  #compactedTo = 0
  #rememberedFrom = 0

  /** `composites`: whether groups of groups are switched on, too. */
  constructor(server: ModelServer, composites = false) {
    this.#server = server
    this.#composites = composites
    server.subscribe(change => {
      if (!isWatched(change.resource)) return
      this.#history.push(change)
      for (const { sink, matches } of this.#subscriptions) {
        if (sink.resource === change.resource) send(sink, change, matches)
      }
    })
  }

  /** The storage forgets history. Nobody notices until the server's own memory is gone too. */
  compact(): void {
    this.#compactedTo = this.#server.version
  }

  /** The server forgets what it kept in memory: a watch that resumes from before now is told 410. */
  restart(): void {
    this.#rememberedFrom = this.#server.version
  }

  /** Nothing from before now is known to anybody. */
  forget(): void {
    this.compact()
    this.restart()
    this.#history.length = 0
  }

  /** One page, by name. All pages of a list show the moment of the first, for as long as history reaches back to it. */
  list(resource: Resource, query: ListOptions): ObjectList<Stored> {
    if (!isInstalled(resource) && !(this.#composites && resource === COMPOSITE_POD_GROUPS)) throw notFound(resource, '')
    const from = query.continue === undefined ? undefined : parseToken(query.continue)
    const exact = query.resourceVersionMatch === 'Exact' ? Number(query.resourceVersion) : this.#server.version
    const version = from?.version ?? exact
    if (version < Math.min(this.#compactedTo, this.#rememberedFrom)) throw expired()
    const rest = this.#at(version, resource)
      .filter(matcher(query))
      .sort(byKey)
      .filter(object => from === undefined || keyOf(object) > from.after)
    const items = rest.slice(0, query.limit)
    const last = items.at(-1)
    const more = last !== undefined && items.length < rest.length && { continue: `${version}:${keyOf(last)}` }
    return { metadata: { resourceVersion: String(version), ...more }, items }
  }

  open(sink: Sink, query: WatchOptions): Opening {
    const matches = matcher(query)
    const { resourceVersion, sendInitialEvents } = query
    // Whoever names no version is first shown what is there.
    if (sendInitialEvents || !resourceVersion || resourceVersion === '0') {
      for (const object of this.#server.all(sink.resource).filter(matches).sort(byKey)) {
        sink.event({ type: 'ADDED', object })
      }
      if (sendInitialEvents) sink.event(this.#bookmark({ [INITIAL_EVENTS_END]: 'true' }))
    } else {
      const from = Number(resourceVersion)
      if (from < this.#rememberedFrom) return { kind: 'expired' }
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

  /** The objects as they were: what happened since is undone, the last first. */
  #at(version: number, resource: Resource): readonly Stored[] {
    const objects = new Map(this.#server.all(resource).map(object => [keyOf(object), object]))
    for (const change of this.#history.toReversed()) {
      if (change.version <= version) break
      if (change.resource !== resource) continue
      if (change.before === undefined) objects.delete(keyOf(change.after))
      else objects.set(keyOf(change.after), change.before)
    }
    return [...objects.values()]
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

/** Kubernetes 1.37. */
const isInstalled = ({ group, version }: Resource): boolean => group !== SCHEDULING_GROUP || version === 'v1beta1'

const WATCHED: readonly Resource[] = [PODS, JOBS, JOB_SETS, KAI_POD_GROUPS]
const isWatched = (resource: Resource): boolean =>
  WATCHED.includes(resource) || resource.group === SCHEDULING_GROUP || isWorkload(resource)

const keyOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ''}/${metadata.name}`

function byKey(a: Stored, b: Stored): number {
  return keyOf(a) < keyOf(b) ? -1 : 1
}

function parseToken(token: string): { readonly version: number; readonly after: string } {
  const [, version, after = ''] = /^(\d+):(.*)$/.exec(token) ?? []
  if (version === undefined) throw badRequest('continue key is not valid')
  return { version: Number(version), after }
}

function matcher({ namespace, labelSelector, fieldSelector }: ListOptions): (object: Stored) => boolean {
  const labels = terms(labelSelector)
  const fields = terms(fieldSelector)
  return object => {
    const { metadata } = object
    return (
      (namespace === undefined || metadata.namespace === namespace) &&
      labels.every(([key, value]) => (value === undefined ? isIn(key, metadata) : metadata.labels?.[key] === value)) &&
      fields.every(([key, value]) => (fieldOf(object, key.replace(/!$/, '')) === value) === !key.endsWith('!'))
    )
  }
}

/** The fields that somebody here selects by. */
function fieldOf({ metadata, status }: Stored, key: string): unknown {
  if (key === 'status.phase') return (status as { phase?: string } | undefined)?.phase
  return key === 'metadata.name' ? metadata.name : metadata.namespace
}

const isIn = (key: string, { labels }: Stored['metadata']): boolean => labels?.[key] !== undefined

/** A key alone asks whether there is such a label, whatever its value. */
function terms(selector: string | undefined): readonly (readonly [string, string | undefined])[] {
  return (selector?.split(',') ?? []).map(term => {
    const [key = '', value] = term.split('=')
    return [key, value]
  })
}
