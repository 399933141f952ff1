import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'
import { type CoverageFacts, compareCoverage } from './coverage.ts'
import type { Finding } from './finding.ts'

export interface CoverageWatchDeps {
  readonly clock: Clock
  readonly log: Log
  /** Undefined until the caches behind it are complete: half a picture would only raise false alarms. */
  readonly facts: () => CoverageFacts | undefined
  readonly count: (kind: Finding['kind'], findings: number) => void
}

/** Namespaces and default queues come and go too; they are looked at again this often. */
const INTERVAL_MS = 30_000
const KINDS: readonly Finding['kind'][] = ['slips', 'wasted', 'blocked', 'unclear']

/** Keeps an eye on the gap between the installed webhook configuration and Muster's own, and tells when it changes. */
export class CoverageWatch {
  readonly #deps: CoverageWatchDeps
  #findings: readonly Finding[] | undefined
  #cancel: () => void = () => {}

  constructor(deps: CoverageWatchDeps) {
    this.#deps = deps
  }

  start(): void {
    this.look()
    this.#cancel = this.#deps.clock.after(INTERVAL_MS, () => this.start())
  }

  stop(): void {
    this.#cancel()
  }

  /** Called on every change of the installed configuration. */
  look(): void {
    const { facts, log, count } = this.#deps
    const now = facts()
    if (now === undefined) return
    const findings = compareCoverage(now)
    for (const kind of KINDS) count(kind, findings.filter(finding => finding.kind === kind).length)
    const known = new Set(this.#findings?.map(({ text }) => text))
    for (const { kind, text } of findings) {
      if (known.has(text)) continue
      log.warn({ coverage: kind }, `${SENTENCES[kind]}: ${text}`)
    }
    if (findings.length === 0 && (this.#findings?.length ?? 1) > 0) {
      log.info({}, 'the installed webhook configuration and the configuration of Muster agree')
    }
    this.#findings = findings
  }

  /** Ready all the same: a webhook that sees too little still serves what it sees, and the detail says what it misses. */
  readiness(): ReadinessCheck {
    const texts = (this.#findings ?? []).map(({ kind, text }) => `${SENTENCES[kind]}: ${text}`)
    return { name: 'webhook-coverage', ok: true, ...(texts.length > 0 && { reason: texts.join('; ') }) }
  }
}

const SENTENCES: Readonly<Record<Finding['kind'], string>> = {
  slips: 'some requests never reach Muster',
  wasted: 'reviews are made for nothing',
  blocked: 'requests are refused that Muster would let pass',
  unclear: 'coverage cannot be judged',
}
