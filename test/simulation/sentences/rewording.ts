import { createHash } from 'node:crypto'
import type { Replacement } from '../../support/planting.ts'

/** Where sentences leave the code that makes them: what is read back after that is no longer what was said. */
export const REWORDING: readonly Replacement[] = [
  {
    name: 'what the API server refuses',
    file: 'src/kube/vocabulary/api.ts',
    find: "super(message)\n    this.name = 'ApiError'",
    replace: "super(globalThis.reworded('refusals', message))\n    this.name = 'ApiError'",
  },
  {
    name: 'what the causes of a refusal say',
    file: 'src/kube/vocabulary/api.ts',
    find: 'this.causes = details.causes ?? []',
    replace: "this.causes = globalThis.rewordedIn('causes', details.causes ?? [])",
  },
  {
    name: 'what conditions say',
    file: 'src/workload/queued-workload.ts',
    find: 'for (const change of changes) {',
    replace: "for (const change of globalThis.rewordedIn('conditions', changes)) {",
  },
  {
    name: 'what pods are told',
    file: 'src/reconciler/standings.ts',
    find: "action: 'Queue', note })",
    replace: "action: 'Queue', note: globalThis.reworded('notes', note) })",
  },
  {
    name: 'what anybody else writes',
    file: 'test/simulation/model/server.ts',
    find: 'const version = ++this.#version\n',
    replace: "object = globalThis.rewordedIn('objects', object)\n    const version = ++this.#version\n",
  },
]

const MARK = '\u2260 '
const SENTENCES: ReadonlySet<string> = new Set(['message', 'note'])

/** How many sentences of each kind were replaced. */
export type Replaced = Record<string, number>

/**
 * Gives the planted text its functions. The same sentence always becomes the same, so that saying it again is no news;
 * two different ones stay different; and what was replaced once is left alone when it is passed on.
 */
export function offerRewording(): Replaced {
  const replaced: Replaced = {}
  const reworded = (kind: string, text: string): string => {
    if (text.startsWith(MARK)) return text
    replaced[kind] = (replaced[kind] ?? 0) + 1
    return MARK + createHash('sha256').update(text).digest('hex').slice(0, 16)
  }
  const rewordedIn = (kind: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(item => rewordedIn(kind, item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        SENTENCES.has(key) && typeof item === 'string' ? reworded(kind, item) : rewordedIn(kind, item),
      ]),
    )
  }
  Object.assign(globalThis, { reworded, rewordedIn })
  return replaced
}
