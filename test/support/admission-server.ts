import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import type { AdmissionResponse, AdmissionReview } from '../../src/admission/review.ts'
import { DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import { NOTHING_SERVED } from '../../src/kube/vocabulary/served-scheduling.ts'
import type { AdmissionOptions } from '../../src/server/admission-app.ts'
import type { CachedWorld } from '../../src/server/asking-world.ts'
import type { LookUp } from '../../src/server/inquiry.ts'
import { createMetrics, type Metrics } from '../../src/server/metrics.ts'
import { buildServer, type MusterServer, type ServerDeps } from '../../src/server/server.ts'
import type { ServingPair } from '../../src/tls/authority.ts'
import { PLAIN_ROLES } from '../../src/webhooks/roles.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import type { World } from '../../src/webhooks/world.ts'
import { issuePair } from './tls.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface RunningServer {
  readonly server: MusterServer
  readonly port: number
  readonly healthPort: number
  readonly pair: ServingPair
  readonly metrics: Metrics
  /** Every log line so far, parsed. */
  readonly logs: readonly Record<string, unknown>[]
  /** Sends a body to the admission port. Keep-alive, unless an agent of its own says otherwise. */
  post(path: string, body: string | Buffer, options?: PostOptions): Promise<HttpAnswer>
  review(path: string, review: AdmissionReview): Promise<AdmissionResponse>
  health(path: string): Promise<HttpAnswer>
  /** The value of one series as Prometheus would read it. */
  metric(series: string): Promise<number | undefined>
  close(): Promise<void>
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly agent?: Agent
}

export const emptyWorld: World = {
  config: DEFAULT_CONFIGURATION,
  self: 'system:serviceaccount:muster-system:muster',
  holds: ['pod'],
  namespace: () => 'absent',
  owner: () => 'absent',
  hasDefaultQueue: () => false,
  scheduling: () => NOTHING_SERVED,
  roles: PLAIN_ROLES,
}

/** Caches that have seen nothing yet. */
export const unseenWorld: CachedWorld = { ...emptyWorld, namespace: () => 'unknown', owner: () => 'unknown' }

/** Every namespace exists, without labels. */
export const findNamespaces: LookUp = async lookups => lookups.map(question => ({ question, answer: {} }))

/** A real server on loopback: TLS, sockets, registry and logger are the ones of production. */
export async function startServer(
  webhooks: readonly Webhook[],
  overrides: Partial<ServerDeps> = {},
  options: Partial<AdmissionOptions> = {},
): Promise<RunningServer> {
  const pair = await issuePair()
  const logs: Record<string, unknown>[] = []
  const metrics = createMetrics({ version: '0.0.0-test', processMetrics: false })
  const server = buildServer(
    {
      webhooks,
      world: () => emptyWorld,
      log: pino({ level: 'debug', base: null }, { write: line => logs.push(JSON.parse(line)) }),
      metrics,
      clock: systemClock,
      ready: () => [],
      alive: () => [],
      ...overrides,
    },
    { tls: { key: pair.key, cert: pair.certificate }, ...options },
  )
  await server.admission.listen({ port: 0, host: '127.0.0.1' })
  await server.health.listen({ port: 0, host: '127.0.0.1' })
  const port = (server.admission.server.address() as AddressInfo).port
  const healthPort = (server.health.server.address() as AddressInfo).port
  const agent = new Agent({ keepAlive: true, ca: pair.bundle })

  const post: RunningServer['post'] = async (path, body, { headers = {}, method = 'POST', agent: own } = {}) => {
    const call = httpsRequest({
      host: '127.0.0.1',
      port,
      path,
      method,
      agent: own ?? agent,
      ca: pair.bundle,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
    })
    return await exchange(call, body)
  }
  const health = async (path: string) => await exchange(httpRequest({ host: '127.0.0.1', port: healthPort, path }), '')

  return {
    server,
    port,
    healthPort,
    pair,
    metrics,
    logs,
    post,
    health,
    review: async (path, review) => {
      const answer = await post(path, JSON.stringify(review))
      if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${answer.text}`)
      return JSON.parse(answer.text).response
    },
    metric: async series => {
      const lines = (await health('/metrics')).text.split('\n')
      const line = lines.find(candidate => candidate.startsWith(`${series} `))
      return line === undefined ? undefined : Number(line.slice(series.length + 1))
    },
    close: async () => {
      agent.destroy()
      await server.admission.close()
      await server.health.close()
    },
  }
}

async function exchange(call: ReturnType<typeof httpRequest>, body: string | Buffer): Promise<HttpAnswer> {
  call.end(body)
  const [response] = await once(call, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }
}
