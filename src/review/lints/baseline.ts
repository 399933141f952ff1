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

  reasonOf({ code }: Pick<Finding, 'code'>, { kind, namespace, name, source }: About): string | undefined {
    return this.#known.get(keyOf(code, kind, namespace, name, source.path))
  }

  /** Entries that nothing answers to any more: they can go. */
  get stale(): number {
    return this.#known.size - this.#used.size
  }
}

/** What somebody wrote as the reason in the baseline before stays. */
export function baselineDocument(findings: readonly (readonly [Finding, About])[], before?: Baseline): object {
  const entries = findings.map(([{ code }, { kind, namespace, name, source }]) => ({
    code,
    kind,
    namespace,
    name,
    ...(source.path === undefined ? {} : { path: source.path }),
    reason: before?.reasonOf({ code }, { kind, namespace, name, source }) ?? 'was there when the baseline was written',
  }))
  return { apiVersion: BASELINE_VERSION, kind: 'Baseline', findings: entries }
}
