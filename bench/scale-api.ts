import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { generate } from 'selfsigned'
import { WORKLOADS } from '../src/engines/builtin/workloads.ts'
import { ApiError, type Patch, type Resource } from '../src/kube/vocabulary/api.ts'
import { OFFLINE_IDENTITY } from '../src/kube/vocabulary/names.ts'
import * as known from '../src/kube/vocabulary/resources.ts'
import type { ModelServer, Stored } from '../test/simulation/model/server.ts'
import { WatchStreams } from './scale-streams.ts'

/** What a cluster without Kueue, JobSet and KAI serves, as far as Muster asks for it. */
const SERVED: readonly Resource[] = [
  ...[known.PODS, known.NAMESPACES, known.JOBS, known.SECRETS, known.LEASES, WORKLOADS],
  ...[known.LIMIT_RANGES, known.RUNTIME_CLASSES, known.PRIORITY_CLASSES],
  ...[known.MUTATING_WEBHOOKS, known.VALIDATING_WEBHOOKS],
  ...[known.VALIDATING_POLICIES, known.VALIDATING_POLICY_BINDINGS],
]
const PATH =
  /^\/(?:api|apis\/(?<group>[^/]+))\/v[^/]+(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/
const PATCH_TYPES: Readonly<Record<string, Patch['type']>> = {
  'application/strategic-merge-patch+json': 'strategic',
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
}

interface Call {
  readonly method: string
  readonly resource: Resource
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  readonly query: URLSearchParams
}

/**
 * The API server of the simulator over HTTPS: it holds more pods than a control plane on this machine, and takes next
 * to no CPU from what is measured. Its rules for writes are those that the simulator's honesty tests compare with the
 * real one. Whoever calls is Muster; no Event is kept.
 */
export class ScaleApi {
  /** Writes by what they did, as in `patch pods`. */
  readonly writes = new Map<string, number>()
  readonly streams: WatchStreams
  readonly ca: string
  readonly #model: ModelServer
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(model: ModelServer, server: Server, ca: string) {
    this.#model = model
    this.#server = server
    this.ca = ca
    this.streams = new WatchStreams(model)
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('request', (request, response) => {
      this.#answer(request, response).catch(error => refuse(response, error))
    })
  }

  static async start(model: ModelServer): Promise<ScaleApi> {
    const pair = await generate([{ name: 'commonName', value: 'localhost' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    })
    const server = createServer({ cert: pair.cert, key: pair.private, keepAliveTimeout: 60_000 })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return new ScaleApi(model, server, pair.cert)
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'https://server')
    const { method = '' } = request
    const body = chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as Stored)
    if (url.pathname === '/apis') return send(response, 200, { kind: 'APIGroupList', groups: [] })
    const { group = '', namespace, plural = '', name, subresource } = PATH.exec(url.pathname)?.groups ?? {}
    if (plural === known.SELF_SUBJECT_REVIEWS.plural) {
      return send(response, 201, { ...body, status: { userInfo: { username: OFFLINE_IDENTITY } } })
    }
    if (method !== 'GET') this.#count(method, plural, subresource)
    if (plural === known.EVENTS.plural) return send(response, method === 'POST' ? 201 : 200, body)
    const resource = SERVED.find(served => served.group === group && served.plural === plural)
    if (resource === undefined) throw new ApiError(404, 'NotFound', `nobody serves ${url.pathname}`)
    const place = { ...(namespace && { namespace }), ...(name && { name }), ...(subresource && { subresource }) }
    const call: Call = { method, resource, ...place, query: url.searchParams }
    if (method !== 'GET' || name !== undefined) {
      const type = PATCH_TYPES[request.headers['content-type'] ?? '']
      return send(response, method === 'POST' ? 201 : 200, this.#perform(call, body, type))
    }
    if (call.query.get('watch') === 'true') await this.streams.watch(resource, call.query, response)
    else send(response, 200, this.streams.list(resource, namespace, call.query))
  }

  #perform({ method, resource, name = '', ...place }: Call, body: Stored | undefined, type?: Patch['type']): unknown {
    const ref = { ...place, name }
    if (method === 'GET') return this.#model.get(resource, ref)
    if (method === 'DELETE') {
      const { preconditions } = (body ?? {}) as { preconditions?: { uid?: string } }
      this.#model.remove(resource, ref, preconditions ?? {}, OFFLINE_IDENTITY)
      return { kind: 'Status', status: 'Success' }
    }
    if (body === undefined) throw new ApiError(400, 'BadRequest', 'a write has a body')
    if (method === 'POST') return this.#model.create(resource, body, OFFLINE_IDENTITY)
    if (method === 'PUT') return this.#model.replace(resource, ref, body, OFFLINE_IDENTITY)
    if (type === undefined) throw new ApiError(415, 'UnsupportedMediaType', 'no patch that is known here')
    return this.#model.patch(resource, ref, { type, body }, OFFLINE_IDENTITY)
  }

  #count(method: string, plural: string, subresource: string | undefined): void {
    const what = `${VERBS[method] ?? method} ${plural}${subresource === undefined ? '' : `/${subresource}`}`
    this.writes.set(what, (this.writes.get(what) ?? 0) + 1)
  }
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'replace', PATCH: 'patch', DELETE: 'delete' }

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, reason, message } =
    error instanceof ApiError ? error : { status: 500, reason: 'InternalError', message: String(error) }
  send(response, status, { kind: 'Status', status: 'Failure', code: status, reason, message })
}
