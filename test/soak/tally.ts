import type { Answer } from './api.ts'

/** Who is to blame for a request that failed. */
export type Blame = 'muster' | 'kill -9' | 'api server' | 'machine' | 'unknown'

/** A time in which something was away because it was taken away. */
interface Absence {
  readonly what: 'kill -9' | 'api server'
  readonly from: number
  until: number
}

/** What the API server says when the connection on which it asked broke. */
const BROKEN = /EOF|connection reset|connection refused|broken pipe|connection closed|use of closed/i
const WEBHOOK = /failed calling webhook|admission webhook .*(denied|refused)|x509|failed to call webhook/i
/** A server that is asked to stop gives up what it was asking, and one that starts knows no webhooks yet. */
const LEAVING = /context canceled|not yet ready|server is (currently unable|shutting down)|http2: client conn/i

/** After a process has gone, for so long somebody may still be told of it. */
const TRAIL_MS = 2000

/** What comes of an answer that is late: the API server waits for 3 s, and the balancer for an answer to its probe. */
const LATE = /deadline exceeded|Client.Timeout|i\/o timeout|TLS handshake timeout/i
/** Who waited for the CPU for so long in the time of a review cannot answer it in time. */
const STARVED_MS = 1000

/** Counts requests, and finds out whose fault the failed ones are. */
export class Tally {
  readonly #now: () => number
  readonly #absences: Absence[] = []
  readonly #deps: ConstructorParameters<typeof Tally>[1]
  readonly failures = new Map<Blame, string[]>()
  requests = 0

  constructor(
    now: () => number,
    deps: {
      /** How long the machine has kept the CPU from somebody since then. */
      readonly withheldSince: (from: number) => number
      /** Whether the balancer has found nobody ready since then. */
      readonly turnedAwaySince: (from: number) => boolean
      readonly onFailure: (blame: Blame, what: string) => void
    },
  ) {
    this.#now = now
    this.#deps = deps
  }

  /** Until the returned function is called. */
  away(what: Absence['what']): () => void {
    const absence: Absence = { what, from: this.#now(), until: Number.POSITIVE_INFINITY }
    this.#absences.push(absence)
    return () => {
      absence.until = this.#now()
    }
  }

  /** Of the time since then, how long the API server was away. */
  apiAwaySince(since: number): number {
    const now = this.#now()
    return this.#absences
      .filter(({ what }) => what === 'api server')
      .reduce((sum, { from, until }) => sum + Math.max(0, Math.min(until + TRAIL_MS, now) - Math.max(from, since)), 0)
  }

  count(blame: Blame): number {
    return this.failures.get(blame)?.length ?? 0
  }

  /** `expected`: answers that are as good as success, besides those below 300. */
  take(what: string, startedAt: number, { status, message }: Answer, expected: readonly number[] = []): boolean {
    this.requests++
    if ((status > 0 && status < 300) || expected.includes(status)) return true
    this.fail(what, startedAt, `${status} ${message}`)
    return false
  }

  fail(what: string, startedAt: number, message: string): void {
    const blame = this.#blame(startedAt, message)
    const at = new Date(this.#now()).toISOString()
    this.failures.set(blame, [...(this.failures.get(blame) ?? []), `${at} ${what}: ${message}`])
    this.#deps.onFailure(blame, `${what}: ${message}`)
  }

  #blame(startedAt: number, message: string): Blame {
    const asksMuster = WEBHOOK.test(message)
    if (this.#during('api server', startedAt) && (!asksMuster || LEAVING.test(message))) return 'api server'
    if (asksMuster && BROKEN.test(message) && this.#during('kill -9', startedAt)) return 'kill -9'
    const isLate = LATE.test(message) || (BROKEN.test(message) && this.#deps.turnedAwaySince(startedAt))
    if (asksMuster && isLate && this.#deps.withheldSince(startedAt - TRAIL_MS) >= STARVED_MS) return 'machine'
    return asksMuster ? 'muster' : 'unknown'
  }

  #during(what: Absence['what'], since: number): boolean {
    return this.#absences.some(absence => absence.what === what && since <= absence.until + TRAIL_MS)
  }
}
