import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Logger } from 'pino'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import { inspect, pairProblem, readPair, type ServingPair } from './authority.ts'
import type { PairFacts } from './rotation.ts'

/** A TLS server as far as the store needs it. */
export interface SecureServer {
  setSecureContext(options: SecureContextOptions): void
}

/** What the store reports of itself, in the shape of two Prometheus metrics. */
export interface StoreMetrics {
  readonly tlsNotAfter: { set(labels: { readonly certificate: 'ca' | 'leaf' }, seconds: number): void }
  readonly tlsSwapFailures: { inc(): void }
}

export interface StoreDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: StoreMetrics
  /** Names that every served certificate must carry. */
  readonly names: readonly string[]
  /** Who signs the certificates of callers, in PEM, where they need one. */
  readonly clientAuthority?: string | undefined
}

/**
 * Holds the certificate that is served now. A new one is proven before it replaces the old: whatever goes wrong
 * with a renewal, the server goes on with what it has. Connections that are open keep theirs.
 */
export class TlsStore {
  readonly #deps: StoreDeps
  readonly #servers = new Set<SecureServer>()
  #current: ServingPair
  #facts: PairFacts | undefined

  /** Throws when the first pair cannot be served: without any certificate there is nothing to go on with. */
  constructor(first: ServingPair, deps: StoreDeps) {
    const problem = servingProblem(first, deps)
    if (problem !== undefined) throw new Error(`the serving certificate cannot be used: ${problem}`)
    this.#deps = deps
    this.#current = first
    this.#publish()
  }

  get current(): ServingPair {
    return this.#current
  }

  /** Who signed what is served, and for when. */
  get facts(): PairFacts | undefined {
    return this.#facts
  }

  /** From now on the server gets every new certificate. It must have been started with the current one. */
  attach(server: SecureServer): void {
    this.#servers.add(server)
  }

  /** True when `next` is served from now on, or was already. */
  swap(next: ServingPair): boolean {
    if (isSame(next, this.#current)) return true
    const { log, metrics } = this.#deps
    const problem = servingProblem(next, this.#deps)
    if (problem !== undefined) {
      metrics.tlsSwapFailures.inc()
      log.error({ problem, keeps: inspect(this.#current.certificate).fingerprint }, 'new certificate refused')
      return false
    }
    const context = contextOf(next, this.#deps.clientAuthority)
    for (const server of this.#servers) server.setSecureContext(context)
    this.#current = next
    this.#publish()
    const { fingerprint, notAfter } = inspect(next.certificate)
    log.info({ fingerprint, notAfter: new Date(notAfter).toISOString() }, 'new certificate is served')
    return true
  }

  /** An expired certificate fails every call: better to be out of the Service than in it. */
  readiness(): ReadinessCheck {
    const reason = pairProblem(this.#current, this.#deps.names, this.#deps.clock.now())
    return reason === undefined ? { name: 'tls', ok: true } : { name: 'tls', ok: false, reason }
  }

  #publish(): void {
    const { tlsNotAfter } = this.#deps.metrics
    const facts = readPair(this.#current, this.#deps.names)
    this.#facts = typeof facts === 'object' ? facts : undefined
    const { authority } = this.#facts ?? {}
    if (authority !== undefined) tlsNotAfter.set({ certificate: 'ca' }, authority.notAfter / 1000)
    tlsNotAfter.set({ certificate: 'leaf' }, inspect(this.#current.certificate).notAfter / 1000)
  }
}

export interface RenewalOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly store: TlsStore
  /** Reads the pair that should be served, renewing it where it lies if that is due. */
  readonly load: () => Promise<ServingPair>
  readonly intervalMs?: number
}

/**
 * Looks at the wall clock every minute instead of sleeping until the renewal: a timer counts on a clock that stands
 * still while a machine is suspended (cert-manager#8464), and one of more than 24 days fires at once in Node.
 * The returned function stops it.
 */
export function startRenewal(options: RenewalOptions): () => void {
  const { clock, log, store, load } = options
  let cancel = () => {}
  let stopped = false
  const schedule = () => {
    cancel = clock.after(options.intervalMs ?? 60_000, () => {
      load()
        .then(pair => {
          if (!stopped) store.swap(pair)
        })
        .catch(error => log.error({ err: error }, 'certificate could not be checked or renewed'))
        .finally(() => {
          if (!stopped) schedule()
        })
    })
  }
  schedule()
  return () => {
    stopped = true
    cancel()
  }
}

/**
 * The floor is part of the context: a swap without it would bring TLS 1.0 back where OpenSSL allows it. So is whom we
 * believe: without it the certificates of callers would be held against all authorities that the web has.
 */
function contextOf(pair: ServingPair, ca: string | undefined): SecureContextOptions {
  return { key: pair.key, cert: pair.certificate, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) }
}

function servingProblem(pair: ServingPair, deps: StoreDeps): string | undefined {
  const problem = pairProblem(pair, deps.names, deps.clock.now())
  if (problem !== undefined) return problem
  try {
    createSecureContext(contextOf(pair, deps.clientAuthority))
    return undefined
  } catch (error) {
    return `OpenSSL refuses it: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Whom else clients trust makes no difference to what they are shown. */
function isSame(one: ServingPair, other: ServingPair): boolean {
  return one.certificate === other.certificate && one.key === other.key
}
