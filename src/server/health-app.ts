import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import type { Lifecycle } from './admission-app.ts'
import type { Metrics } from './metrics.ts'

export interface HealthDeps {
  readonly ready: () => readonly ReadinessCheck[]
  /** What a restart would put right, and nothing else: the kubelet acts on it. */
  readonly alive: () => readonly ReadinessCheck[]
  readonly metrics: Metrics
}

/** The plain HTTP side, for the kubelet and Prometheus. It keeps answering while the HTTPS side drains. */
export function buildHealthApp(deps: HealthDeps, lifecycle: Lifecycle): FastifyInstance {
  const app = fastify({
    logger: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 10_000,
  })

  app.get('/healthz', (_request, reply) => report(reply, deps.alive()))

  app.get('/readyz', (_request, reply) => {
    const draining: readonly ReadinessCheck[] = lifecycle.draining
      ? [{ name: 'shutdown', ok: false, reason: 'draining' }]
      : []
    return report(reply, [...draining, ...deps.ready()])
  })

  app.get('/metrics', async (_request, reply) => {
    const { registry } = deps.metrics
    return reply.header('content-type', registry.contentType).send(await registry.metrics())
  })

  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'there are GET /healthz, /readyz and /metrics' }),
  )
  return app
}

function line(check: ReadinessCheck): string {
  if (check.ok) return `[+]${check.name} ok${check.reason === undefined ? '' : `: ${check.reason}`}\n`
  return `[-]${check.name}: ${check.reason ?? 'not ready'}\n`
}

function report(reply: FastifyReply, checks: readonly ReadinessCheck[]): FastifyReply {
  const status = checks.every(check => check.ok) ? 200 : 503
  const body = checks.length === 0 ? 'ok\n' : checks.map(line).join('')
  return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(body)
}
