import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { createReviewDecoder } from '../admission/protocol.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { BODY_LIMIT, readBody } from './body.ts'
import { createQueryReader, type ReviewQuery } from './budget.ts'
import { Connections } from './connections.ts'
import { InFlight } from './in-flight.ts'
import { RecentRoles } from './recent-roles.ts'
import { ReviewThread } from './review-thread.ts'
import { type Answer, createReviewer, type Reviewer, type ReviewerDeps, refused } from './reviewer.ts'

export interface AdmissionOptions {
  readonly tls: { readonly key: string | Buffer; readonly cert: string | Buffer }
  /** Certificates in PEM. Only who presents one that they have signed is listened to. */
  readonly clientAuthority?: string | undefined
  readonly bodyLimit?: number
  /**
   * The API server keeps idle connections for 90 s. A server that closes them first, as Node does after 5 s, closes
   * some under a POST that Go does not send again (knative/pkg#1509): the default is 120 s.
   */
  readonly keepAliveTimeoutMs?: number
  /**
   * Node counts it from the opening of a connection. Go opens more than it has requests for, and keeps those, too: one
   * that is closed before its first request fails that request, as Go tries again only on connections that have worked.
   * So by default headers may take as long as an idle connection lives. Who takes all that time loses his place to the
   * next who needs one (`Connections`).
   */
  readonly headersTimeoutMs?: number
  /** For a whole request, from the same moment on for the first: as long again as an API server waits for an answer. */
  readonly requestTimeoutMs?: number
  /** How long a connection may stand still with a request that has begun and is not answered. */
  readonly stillnessMs?: number
  readonly maxConnections?: number
  /** Bytes of bodies that are held at once. */
  readonly maxInFlight?: number
}

export interface Lifecycle {
  readonly draining: boolean
}

const OTHER_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const HANDSHAKE_MS = 10_000
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/** The HTTPS side. Offers http/1.1 only, as the API server pins it for Services. */
export function buildAdmissionApp(
  webhooks: readonly Webhook[],
  deps: ReviewerDeps,
  lifecycle: Lifecycle,
  options: AdmissionOptions,
): FastifyInstance {
  const keepAliveTimeout = options.keepAliveTimeoutMs ?? 120_000
  const headersTimeout = options.headersTimeoutMs ?? keepAliveTimeout
  const requestTimeout = options.requestTimeoutMs ?? headersTimeout + 30_000
  // No review may take as long, so nothing that moves is cut: only who does not take his answer.
  const connectionTimeout = options.stillnessMs ?? 35_000
  const app = fastify({
    https: {
      key: options.tls.key,
      cert: options.tls.cert,
      minVersion: 'TLSv1.2',
      // Before anything of a request is read.
      ...(options.clientAuthority !== undefined && {
        ca: options.clientAuthority,
        requestCert: true,
        rejectUnauthorized: true,
      }),
      handshakeTimeout: HANDSHAKE_MS,
      headersTimeout,
      requestTimeout,
      // Node looks for overdue requests only this often; its default of 30 s would make the timeouts a fiction.
      connectionsCheckingInterval: Math.min(headersTimeout, 5_000),
    },
    logger: false,
    keepAliveTimeout,
    requestTimeout,
    connectionTimeout,
    // A 503 while closing would fail the user's request; `drain.ts` sends the clients away politely instead.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { querystringParser: createQueryReader() },
    clientErrorHandler: refuseClient,
    frameworkErrors: (_error, _request, reply) => send(reply, lifecycle, refused(400, 'the URL cannot be read')),
  }) as unknown as FastifyInstance

  // Bodies are read by `readBody`: Fastify's own parser refuses legal objects that have a `__proto__` key, and it
  // answers a large body with a bare 413 before the review's uid is known.
  for (const method of ['POST', ...OTHER_METHODS]) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })

  app.setNotFoundHandler((request, reply) =>
    send(reply, lifecycle, refused(404, `no webhook at ${request.url.slice(0, 100)}; there are ${paths(webhooks)}`)),
  )
  app.setErrorHandler((error, _request, reply) => {
    deps.log.error({ err: error }, 'request failed outside of a review')
    send(reply, lifecycle, refused(statusOf(error), 'the request could not be handled'), true)
  })

  const thread = new ReviewThread(deps.clock)
  const shared = { decode: createReviewDecoder(), thread, roles: new RecentRoles() }
  app.addHook('onClose', async () => await thread.close())
  const { webhookCuts } = deps.metrics
  const patience = { unusedMs: keepAliveTimeout, askedMs: connectionTimeout }
  const connections = new Connections(
    () => webhookCuts.inc({ reason: 'connections' }),
    patience,
    options.maxConnections,
  )
  connections.watch(app.server as unknown as Server)
  const inFlight = new InFlight(() => webhookCuts.inc({ reason: 'bytes' }), options.maxInFlight)
  const bounds = { limit: options.bodyLimit ?? BODY_LIMIT, connections, inFlight }
  for (const webhook of webhooks) {
    addWebhook(app, webhook, createReviewer(webhook, deps, shared), deps.clock, lifecycle, bounds)
  }
  return app
}

/** What everybody who calls shares. */
interface Bounds {
  readonly limit: number
  readonly connections: Connections
  readonly inFlight: InFlight
}

function addWebhook(
  app: FastifyInstance,
  webhook: Webhook,
  reviewer: Reviewer,
  clock: Clock,
  lifecycle: Lifecycle,
  { limit, connections, inFlight }: Bounds,
): void {
  const { recorder } = reviewer

  app.post(webhook.path, (request, reply) => {
    const started = clock.monotonic()
    const type = request.headers['content-type']
    if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
      const answer = reviewer.unreadable(415, 'send the AdmissionReview with Content-Type: application/json')
      send(reply, lifecycle, answer, true)
      return
    }
    const { socket } = request.raw
    if (!connections.asked(socket)) {
      reply.hijack()
      socket.destroy()
      return
    }
    recorder.started()
    const finish = (answer: Answer, close = false) => {
      recorder.finished()
      connections.answered(socket)
      send(reply, lifecycle, answer, close)
    }
    readBody(request.raw, limit, inFlight, body => {
      if (body.kind === 'cut') return finish(reviewer.unreadable(400, 'the body is incomplete'), true)
      if (body.kind === 'crowded') return finish(reviewer.crowded(body.prefix, started), true)
      if (body.kind === 'oversized') return finish(reviewer.oversized(body.prefix, limit), !body.drained)
      const judged = (answer: Answer) => {
        body.release()
        finish(answer)
      }
      const answer = reviewer.review(body.bytes, started, (request.query as ReviewQuery).budgetMs)
      if (!(answer instanceof Promise)) return judged(answer)
      void answer.then(judged)
    })
  })

  app.route({
    method: OTHER_METHODS,
    url: webhook.path,
    handler: (_request, reply) => {
      reply.raw.setHeader('allow', 'POST')
      send(reply, lifecycle, refused(405, `${webhook.path} takes POST with an AdmissionReview`), true)
    },
  })
}

/**
 * Straight to the socket: the text is ready, and Fastify's serialisation and hooks have nothing to add to it.
 * `close` also where a body may be left unread.
 */
function send(reply: FastifyReply, lifecycle: Lifecycle, answer: Answer, close = false): void {
  reply.hijack()
  const { raw } = reply
  if (close || lifecycle.draining) raw.setHeader('connection', 'close')
  raw.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(answer.text),
  })
  raw.end(answer.text)
}

/**
 * What is no HTTP. A connection that runs into a timeout is closed without a word: Go's client may hold one that it
 * has opened and not used yet, and would take an unasked 408 for the answer to the review that it sends just then.
 */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
  const { text } = refused(400, 'this is not a readable HTTP/1.1 request')
  const headers = `content-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close`
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${text}`)
}

function paths(webhooks: readonly Webhook[]): string {
  return webhooks.map(webhook => webhook.path).join(', ')
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
