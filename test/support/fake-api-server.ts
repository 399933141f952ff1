import http from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { generate } from 'selfsigned'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
  readonly port: number
}

/** Answers instead of the server. Returns false to let the server answer after all. */
export type Script = (request: SeenRequest, response: http.ServerResponse) => boolean

interface OpenWatch {
  readonly collection: string
  readonly response: http.ServerResponse
}

/** Objects that are made while they are sent: more of them than anybody could hold. */
export interface Flood {
  readonly count: number
  /** The JSON of one of them, in pieces. */
  json(index: number): Iterable<string | Buffer>
}

interface HistoryEntry {
  readonly collection: string
  readonly version: number
  readonly event: { readonly type: string; readonly object: KubeObject }
}

/**
 * The parts of an API server that a client can trip over, on real sockets: resource versions, pages, watches with and
 * without initial events, bookmarks, compaction. Everything else about a failure is scripted.
 */
export class FakeApiServer {
  readonly requests: SeenRequest[] = []
  readonly watches = new Set<OpenWatch>()
  /** Consulted in order before the server answers; one that has answered is used up. */
  readonly scripts: Script[] = []
  /** Sent as the beginning of every list and streaming list of a collection. */
  readonly floods = new Map<string, Flood>()
  readonly sockets = new Set<Socket>()
  connections = 0
  streamingLists = true
  /** Whether lists go by selectors, for tests of who relies on that. */
  selective = false
  /** Answers nobody, as a server that is overloaded or starts. */
  away = false
  acceptedToken: string | undefined
  version = 100
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  #history: HistoryEntry[] = []
  #compacted = 0
  #uids = 0
  readonly #server: http.Server | https.Server
  readonly ca: string | undefined

  private constructor(server: http.Server | https.Server, ca: string | undefined) {
    this.#server = server
    this.ca = ca
  }

  static async start({ tls = false }: { readonly tls?: boolean } = {}): Promise<FakeApiServer> {
    const pair = tls ? await certificate() : undefined
    const server = pair ? https.createServer({ cert: pair.cert, key: pair.private }) : http.createServer()
    server.keepAliveTimeout = 60_000
    const fake = new FakeApiServer(server, pair?.cert)
    server.on('connection', (socket: Socket) => {
      fake.connections++
      fake.sockets.add(socket)
      socket.once('close', () => fake.sockets.delete(socket))
    })
    server.on('request', (request, response) => void fake.#handle(request, response))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  get url(): URL {
    const { port } = this.#server.address() as AddressInfo
    return new URL(this.ca ? `https://localhost:${port}` : `http://127.0.0.1:${port}`)
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  /** Creates or changes an object, as somebody else would, and tells the watchers. */
  put<T extends KubeObject>(collection: string, object: T): T {
    const objects = this.#collection(collection)
    const known = objects.get(keyOf(object))
    const metadata = {
      ...object.metadata,
      uid: object.metadata.uid ?? known?.metadata.uid ?? `uid-${++this.#uids}`,
      resourceVersion: String(++this.version),
    }
    const stored = { ...object, metadata }
    objects.set(keyOf(stored), stored)
    this.#publish(collection, { type: known ? 'MODIFIED' : 'ADDED', object: stored })
    return stored
  }

  remove(collection: string, namespace: string | undefined, name: string): void {
    const objects = this.#collection(collection)
    const known = objects.get(keyOf({ metadata: { name, ...(namespace !== undefined && { namespace }) } }))
    if (!known) return
    objects.delete(keyOf(known))
    const object = { ...known, metadata: { ...known.metadata, resourceVersion: String(++this.version) } }
    this.#publish(collection, { type: 'DELETED', object })
  }

  objects(collection: string): readonly KubeObject[] {
    return [...this.#collection(collection).values()]
  }

  /** Forgets history: resuming from before this moment gets 410. */
  compact(): void {
    this.#history = []
    this.#compacted = this.version
  }

  bookmark(): void {
    for (const watch of this.watches) this.write(watch, { type: 'BOOKMARK', object: bookmarkOf(this.version) })
  }

  write(watch: OpenWatch, event: unknown): void {
    watch.response.write(`${JSON.stringify(event)}\n`)
  }

  /** TCP resets, as a crashed server or a firewall would send them. */
  resetConnections(): void {
    this.watches.clear()
    for (const socket of this.sockets) socket.resetAndDestroy()
  }

  endWatches(): void {
    const ended = [...this.watches]
    this.watches.clear()
    for (const { response } of ended) response.end()
  }

  #collection(path: string): Map<string, KubeObject> {
    const found = this.#objects.get(path)
    if (found) return found
    const created = new Map<string, KubeObject>()
    this.#objects.set(path, created)
    return created
  }

  #publish(collection: string, event: HistoryEntry['event']): void {
    this.#history.push({ collection, version: this.version, event })
    for (const watch of this.watches) if (watch.collection === collection) this.write(watch, event)
  }

  async #handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'http://server')
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      port: request.socket.remotePort ?? 0,
    }
    this.requests.push(seen)
    if (this.away) {
      sendStatus(response, 503, 'ServiceUnavailable')
      return
    }
    for (const script of this.scripts) {
      if (!script(seen, response)) continue
      this.scripts.splice(this.scripts.indexOf(script), 1)
      return
    }
    if (this.acceptedToken !== undefined && seen.headers.authorization !== `Bearer ${this.acceptedToken}`) {
      sendStatus(response, 401, 'Unauthorized')
    } else if (seen.query.get('watch') === 'true') await this.#watch(seen, response)
    else if (seen.method === 'GET' && this.floods.has(seen.path)) await this.#listFlood(seen, response)
    else if (seen.method === 'GET' && this.#objects.has(seen.path)) this.#list(seen, response)
    else this.#object(seen, response)
  }

  async #listFlood(seen: SeenRequest, response: http.ServerResponse): Promise<void> {
    const flood = this.floods.get(seen.path) ?? NOTHING
    const start = Number(seen.query.get('continue') ?? 0)
    const end = Math.min(start + Number(seen.query.get('limit') ?? flood.count), flood.count)
    const next = end < flood.count ? { continue: String(end) } : {}
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(`{"metadata":${JSON.stringify({ resourceVersion: String(this.version), ...next })},"items":[`)
    for (let index = start; index < end; index++) {
      if (index > start) response.write(',')
      for (const piece of flood.json(index)) await written(response, piece)
    }
    response.end(']}')
  }

  #list(seen: SeenRequest, response: http.ServerResponse): void {
    const stored = [...this.#collection(seen.path).values()]
    const all = this.selective ? stored.filter(object => isSelected(object, seen.query)) : stored
    const start = Number(seen.query.get('continue') ?? 0)
    const end = start + Number(seen.query.get('limit') ?? all.length)
    const next = end < all.length ? { continue: String(end) } : {}
    const items = all.slice(start, end)
    send(response, 200, { kind: 'List', metadata: { resourceVersion: String(this.version), ...next }, items })
  }

  async #watch(seen: SeenRequest, response: http.ServerResponse): Promise<void> {
    const initial = seen.query.get('sendInitialEvents') === 'true'
    if (initial && !this.streamingLists) {
      sendStatus(response, 422, 'Invalid')
      return
    }
    const from = Number(seen.query.get('resourceVersion') ?? this.version)
    if (!initial && from < this.#compacted) {
      sendStatus(response, 410, 'Expired')
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const watch: OpenWatch = { collection: seen.path, response }
    this.watches.add(watch)
    response.once('close', () => this.watches.delete(watch))
    if (initial) {
      for (const piece of inEvents(this.floods.get(seen.path))) await written(response, piece)
      for (const object of this.#collection(seen.path).values()) this.write(watch, { type: 'ADDED', object })
      this.write(watch, { type: 'BOOKMARK', object: bookmarkOf(this.version, true) })
      return
    }
    for (const entry of this.#history) {
      if (entry.collection === seen.path && entry.version > from) this.write(watch, entry.event)
    }
  }

  #object(seen: SeenRequest, response: http.ServerResponse): void {
    if (seen.method === 'POST') {
      const object = JSON.parse(seen.body) as KubeObject
      if (this.#collection(seen.path).has(keyOf(object))) sendStatus(response, 409, 'AlreadyExists')
      else send(response, 201, this.put(seen.path, object))
      return
    }
    const [collection, name = ''] = splitPath(seen.path)
    const known = [...this.#collection(collection).values()].find(object => object.metadata.name === name)
    if (!known) sendStatus(response, 404, 'NotFound')
    else if (seen.method === 'GET') send(response, 200, known)
    else if (seen.method === 'DELETE') {
      this.remove(collection, known.metadata.namespace, name)
      send(response, 200, { kind: 'Status', status: 'Success' })
    } else {
      const body = JSON.parse(seen.body) as KubeObject
      const sent = body.metadata?.resourceVersion
      if (sent !== undefined && sent !== known.metadata.resourceVersion) sendStatus(response, 409, 'Conflict')
      else {
        const merged = seen.method === 'PUT' ? body : { ...known, ...body }
        send(response, 200, this.put(collection, { ...merged, metadata: { ...known.metadata, ...body.metadata } }))
      }
    }
  }
}

/** By labels that are equal, and by the uid of what an Event is about. */
function isSelected(object: KubeObject, query: URLSearchParams): boolean {
  const labels = query.get('labelSelector')?.split(',') ?? []
  const uid = /(?:^|,)regarding\.uid=([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1]
  const about = (object as { readonly regarding?: { readonly uid?: string } }).regarding?.uid
  return (
    (uid === undefined || uid === about) &&
    labels.every(label => {
      const [key = '', value] = label.split('=')
      return object.metadata.labels?.[key] === value
    })
  )
}

const NOTHING: Flood = { count: 0, json: () => [] }

function* inEvents({ count, json }: Flood = NOTHING): Generator<string | Buffer> {
  for (let index = 0; index < count; index++) {
    yield '{"type":"ADDED","object":'
    yield* json(index)
    yield '}\n'
  }
}

/** As fast as the other side reads, and no faster. */
async function written(response: http.ServerResponse, piece: string | Buffer): Promise<void> {
  if (response.destroyed || response.write(piece)) return
  await new Promise<void>(resolve => {
    const goOn = () => {
      response.off('drain', goOn).off('close', goOn)
      resolve()
    }
    response.on('drain', goOn).on('close', goOn)
  })
}

export function send(
  response: http.ServerResponse,
  code: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
) {
  response.writeHead(code, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export function sendStatus(
  response: http.ServerResponse,
  code: number,
  reason: string,
  headers: http.OutgoingHttpHeaders = {},
): void {
  send(response, code, { kind: 'Status', code, reason, message: `${reason} from the fake server` }, headers)
}

export function bookmarkOf(version: number, endOfInitialEvents = false): KubeObject {
  const annotations = endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  return { metadata: { resourceVersion: String(version), ...annotations } }
}

function splitPath(path: string): readonly [string, string | undefined] {
  const parts = path.split('/')
  const name = parts.pop()
  return [parts.join('/'), name && decodeURIComponent(name)]
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

function certificate() {
  return generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
}
