import type { Server } from 'node:https'
import type { FastifyInstance } from 'fastify'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { type AdmissionOptions, buildAdmissionApp } from './admission-app.ts'
import { Drain, type DrainOptions } from './drain.ts'
import { buildHealthApp } from './health-app.ts'
import type { ReviewerDeps } from './reviewer.ts'

export interface ServerDeps extends ReviewerDeps {
  readonly webhooks: readonly Webhook[]
  readonly ready: () => readonly ReadinessCheck[]
  readonly alive: () => readonly ReadinessCheck[]
}

export interface MusterServer {
  /** HTTPS: the webhooks. */
  readonly admission: FastifyInstance
  /** The HTTPS server behind `admission`, for whoever swaps its certificate. */
  readonly secure: Server
  /** Plain HTTP: /healthz, /readyz and /metrics. Close it after the drain, so that probes see what happens. */
  readonly health: FastifyInstance
  /** Turns readiness off at once, keeps answering for a while, then closes the admission side. */
  drain(options?: DrainOptions): Promise<void>
}

/** Builds both servers; nothing listens until `listen` is called on them. */
export function buildServer(deps: ServerDeps, options: AdmissionOptions): MusterServer {
  const drain = new Drain(deps.clock, deps.log)
  const admission = buildAdmissionApp(deps.webhooks, deps, drain, options)
  drain.watch(admission)
  return {
    admission,
    // Fastify types its server as plain HTTP unless every plugin is typed for TLS.
    secure: admission.server as Server,
    health: buildHealthApp(deps, drain),
    drain: drainOptions => drain.begin(admission, drainOptions),
  }
}
