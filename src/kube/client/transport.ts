import http from 'node:http'
import https from 'node:https'
import type { Access } from './access.ts'
import type { Credentials } from './credentials.ts'
import type { JsonText } from './json-text.ts'

export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Watches last minutes; on sockets of their own they cannot keep a patch waiting. */
  readonly pool: 'calls' | 'watches'
  /** Whether doing it twice does the same as doing it once. */
  readonly repeatable: boolean
}

const MAX_SOCKETS = 16
/** TCP probes start after this much silence, so that a peer that vanished is noticed by the kernel as well. */
const KEEP_ALIVE_MS = 30_000
/** Shorter than the 90 s after which the API server closes idle connections, so that it seldom closes one we reuse. */
const IDLE_MS = 60_000

/** HTTP/1.1 on sockets that are kept: one handshake per connection, not per call. */
export class Transport {
  readonly #credentials: Credentials
  readonly #secure: boolean
  readonly #agents: { readonly calls: http.Agent; readonly watches: http.Agent }

  constructor(credentials: Credentials) {
    this.#credentials = credentials
    this.#secure = credentials.server.protocol === 'https:'
    const Agent = this.#secure ? https.Agent : http.Agent
    const shared = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, timeout: IDLE_MS, scheduling: 'lifo' as const }
    this.#agents = {
      calls: new Agent({ ...shared, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_SOCKETS }),
      watches: new Agent({ ...shared, maxFreeSockets: 4 }),
    }
  }

  /**
   * Resolves with the head of the response. The server may close a kept connection just when we send on it; nobody has
   * looked at the request then, or at worst it is done a second time, so a repeatable one is sent again until it fails
   * on a connection that was new.
   */
  async send(request: HttpRequest, access: Access): Promise<http.IncomingMessage> {
    for (let left = MAX_SOCKETS; ; left--) {
      const outcome = await this.#attempt(request, access)
      if (outcome.response) return outcome.response
      if (!outcome.stale || !request.repeatable || left === 0 || request.signal.aborted) throw outcome.error
    }
  }

  destroy(): void {
    this.#agents.calls.destroy()
    this.#agents.watches.destroy()
  }

  #attempt(request: HttpRequest, access: Access): Promise<CallOutcome> {
    const { server } = this.#credentials
    const options: https.RequestOptions = {
      method: request.method,
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port || (this.#secure ? 443 : 80),
      path: server.pathname.replace(/\/$/, '') + request.path,
      headers: { ...request.headers, ...access.headers },
      agent: this.#agents[request.pool],
      signal: request.signal,
      ...(this.#secure && access.tls),
    }
    return new Promise(resolve => {
      const sent = (this.#secure ? https : http).request(options)
      sent.once('response', response => resolve({ response }))
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const reset = error.code === 'ECONNRESET' || error.code === 'EPIPE'
        resolve({ error, stale: reset && sent.reusedSocket })
      })
      sent.end(request.body)
    })
  }
}

type CallOutcome =
  | { readonly response: http.IncomingMessage }
  | { readonly response?: undefined; readonly error: Error; readonly stale: boolean }

/** Reads a body to its end; an answer that is larger than we can handle is cut off, not swallowed. */
export async function readBody(response: http.IncomingMessage, text: JsonText): Promise<string> {
  return await new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      try {
        text.push(chunk)
      } catch (error) {
        response.destroy(error as Error)
      }
    })
    response.on('end', () => {
      try {
        resolve(text.finish().toString('utf8'))
      } catch (error) {
        reject(error)
      }
    })
    response.on('error', reject)
    response.on('close', () => reject(new Error('the connection ended in the middle of an answer')))
  })
}
