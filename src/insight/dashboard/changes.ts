import type { Overview } from './overview.ts'

/** What has changed between two looks: whole values, and of lists only the rows that are new, other or gone. */
export interface OverviewChange {
  readonly set: Partial<Omit<Overview, Listed>>
  readonly put: { readonly [List in Listed]?: Overview[List] }
  readonly gone: { readonly [List in Listed]?: readonly string[] }
}

export type Listed = 'queues' | 'minutes' | 'latest'

/** By what the rows of a list are known. */
const KEYS = {
  queues: 'name',
  minutes: 'at',
  latest: 'id',
} as const

const isListed = (key: string): key is Listed => Object.hasOwn(KEYS, key)

/** Undefined: nothing has. */
export function changeBetween(before: Overview, after: Overview): OverviewChange | undefined {
  const set: Record<string, unknown> = {}
  const put: Record<string, readonly unknown[]> = {}
  const gone: Record<string, readonly string[]> = {}
  for (const [key, value] of Object.entries(after)) {
    if (!isListed(key)) {
      if (!same(value, before[key as keyof Overview])) set[key] = value
      continue
    }
    const [old, now] = [byKey(before, key), byKey(after, key)]
    const rows = [...now].filter(([id, row]) => !same(row, old.get(id)))
    const left = [...old.keys()].filter(id => !now.has(id))
    if (rows.length > 0) put[key] = rows.map(([, row]) => row)
    if (left.length > 0) gone[key] = left
  }
  const isNothing = [set, put, gone].every(part => Object.keys(part).length === 0)
  return isNothing ? undefined : ({ set, put, gone } as OverviewChange)
}

function byKey(overview: Overview, list: Listed): ReadonlyMap<string, object> {
  return new Map(overview[list].map(row => [(row as unknown as Record<string, string>)[KEYS[list]] ?? '', row]))
}

/** Rows are small and made by one function each, so their fields come in one order. */
const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
