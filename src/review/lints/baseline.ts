import { writeYaml } from '../../documents/yaml-writer.ts'
import type { Finding, Result } from '../report.ts'

/** Findings that were there when somebody looked, and that shall not fail a build. */
export interface BaselineEntry {
  readonly code: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly path?: string
  readonly reason: string
}

export const BASELINE_VERSION = 'review.muster.dev/v1alpha1'

type About = Pick<Result, 'kind' | 'namespace' | 'name' | 'source'>

const keyOf = (code: string, kind: string, namespace: string, name: string, path = ''): string =>
  [code, kind, namespace, name, path].join('\n')

/** By object and code, not by line: lines move with every change of a file. */
export class Baseline {
  readonly #known: ReadonlyMap<string, string>
  readonly #used = new Set<string>()

  constructor(entries: readonly BaselineEntry[]) {
    this.#known = new Map(
      entries.map(({ code, kind, namespace, name, path, reason }) => [
        keyOf(code, kind, namespace, name, path),
        reason,
      ]),
    )
  }

  has({ code }: Pick<Finding, 'code'>, { kind, namespace, name, source }: About): boolean {
    const key = keyOf(code, kind, namespace, name, source.path)
    if (!this.#known.has(key)) return false
    this.#used.add(key)
    return true
  }

  reasonOf(key: string): string | undefined {
    return this.#known.get(key)
  }

  /** Entries that nothing answers to any more: they can go. */
  get stale(): number {
    return this.#known.size - this.#used.size
  }
}

/** The next baseline, of what is found now: an object and a code are there once, however often they were found. */
export class BaselineDraft {
  readonly #keys = new Set<string>()

  add({ code }: Pick<Finding, 'code'>, { kind, namespace, name, source }: About): void {
    this.#keys.add(keyOf(code, kind, namespace, name, source.path))
  }

  /** Piece by piece. What somebody wrote as the reason in the baseline before stays. */
  *text(before?: Baseline): Generator<string> {
    yield writeYaml({ apiVersion: BASELINE_VERSION, kind: 'Baseline' })
    if (this.#keys.size === 0) yield writeYaml({ findings: [] })
    else yield 'findings:\n'
    for (const key of this.#keys) {
      const [code, kind, namespace, name, path] = key.split('\n')
      const reason = before?.reasonOf(key) ?? 'was there when the baseline was written'
      const entry = { code, kind, namespace, name, ...(path === '' ? {} : { path }), reason }
      yield writeYaml([entry], '  ')
    }
  }
}
