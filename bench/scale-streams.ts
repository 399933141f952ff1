import type { ServerResponse } from 'node:http'
import type { Resource } from '../src/kube/vocabulary/api.ts'
import { NAMESPACES } from '../src/kube/vocabulary/resources.ts'
import type { Change, ModelServer, Stored } from '../test/simulation/model/server.ts'

interface Subscription {
  readonly resource: Resource
  readonly matches: (object: Stored) => boolean
  readonly response: ServerResponse
  /** What happens while the state of the beginning is on its way; undefined: that is through. */
  late: string[] | undefined
}

/** Enough for a watch that was interrupted for a moment. */
const KEPT = 20_000

/** Lists and watches of the simulator's API server as streams, at the speed of who reads. */
export class WatchStreams {
  /** What was sent to all who watch, the state of the beginning excluded. */
  events = 0
  readonly #model: ModelServer
  readonly #subscriptions = new Set<Subscription>()
  readonly #history: Change[] = []
  #forgotten = 0

  constructor(model: ModelServer) {
    this.#model = model
    model.subscribe(change => {
      this.#remember(change)
      for (const subscription of this.#subscriptions) {
        if (subscription.resource === change.resource) this.#send(subscription, change)
      }
    })
  }

  list(resource: Resource, namespace: string | undefined, query: URLSearchParams): object {
    const matches = matcher(query)
    const items = this.#model
      .all(resource)
      .filter(object => (namespace === undefined || object.metadata.namespace === namespace) && matches(object))
    const limit = Number(query.get('limit') ?? items.length)
    const start = Number(query.get('continue') ?? 0)
    const next = start + limit < items.length ? { continue: String(start + limit) } : {}
    const metadata = { resourceVersion: String(this.#model.version), ...next }
    return { kind: 'List', metadata, items: items.slice(start, start + limit) }
  }

  async watch(resource: Resource, query: URLSearchParams, response: ServerResponse): Promise<void> {
    const from = Number(query.get('resourceVersion') ?? 0)
    const initial = query.get('sendInitialEvents') === 'true'
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (!initial && from < this.#forgotten) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: EXPIRED })}\n`)
      return
    }
    const subscription: Subscription = { resource, matches: matcher(query), response, late: [] }
    this.#subscriptions.add(subscription)
    response.once('close', () => this.#subscriptions.delete(subscription))
    if (initial) await this.#sendState(subscription)
    else for (const change of this.#history) if (change.version > from) this.#sendOld(subscription, change)
    for (const line of subscription.late ?? []) response.write(line)
    subscription.late = undefined
  }

  async #sendState({ resource, matches, response }: Subscription): Promise<void> {
    const version = String(this.#model.version)
    for (const object of this.#model.all(resource)) {
      if (response.destroyed) return
      if (!matches(object) || response.write(`{"type":"ADDED","object":${JSON.stringify(object)}}\n`)) continue
      await new Promise<void>(resolve => {
        const goOn = () => {
          response.off('drain', goOn).off('close', goOn)
          resolve()
        }
        response.on('drain', goOn).on('close', goOn)
      })
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    const object = { metadata: { resourceVersion: version, annotations } }
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
  }

  #sendOld(subscription: Subscription, change: Change): void {
    if (change.resource === subscription.resource) this.#send(subscription, change)
  }

  /** To a watch with a selector, an object that stops to match is an object that is gone. */
  #send({ matches, response, late }: Subscription, { type, before, after, version }: Change): void {
    const was = before !== undefined && matches(before)
    const is = type !== 'deleted' && matches(after)
    if (!was && !is) return
    const gone = { ...(before ?? after), metadata: { ...(before ?? after).metadata, resourceVersion: String(version) } }
    const event = is ? { type: was ? 'MODIFIED' : 'ADDED', object: after } : { type: 'DELETED', object: gone }
    const line = `${JSON.stringify(event)}\n`
    this.events++
    if (late === undefined) response.write(line)
    else late.push(line)
  }

  #remember(change: Change): void {
    this.#history.push(change)
    if (this.#history.length <= KEPT) return
    for (const { version } of this.#history.splice(0, KEPT / 2)) this.#forgotten = version
  }
}

const EXPIRED = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }

/** Selectors as far as Muster uses them: a label that is there, or has a value; an object of a name. */
function matcher(query: URLSearchParams): (object: Stored) => boolean {
  const labels = terms(query.get('labelSelector'))
  const fields = terms(query.get('fieldSelector'))
  return ({ metadata }) =>
    labels.every(([key, value]) => (value === undefined ? has(metadata, key) : metadata.labels?.[key] === value)) &&
    fields.every(([key, value]) => key !== 'metadata.name' || metadata.name === value)
}

const has = ({ labels }: Stored['metadata'], key: string): boolean => labels?.[key] !== undefined

function terms(selector: string | null): readonly (readonly [string, string | undefined])[] {
  return (selector?.split(',') ?? []).map(term => {
    const [key = '', value] = term.split('=')
    return [key, value]
  })
}

/** What has to be there before anything can be created. */
export function createNamespaces(model: ModelServer, names: readonly string[]): void {
  for (const name of names) {
    const metadata = { name, labels: { 'kubernetes.io/metadata.name': name } }
    model.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata }, 'admin')
  }
}
