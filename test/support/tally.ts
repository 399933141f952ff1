import { expect } from 'vitest'

export interface Tally<Kind extends string> {
  count(...kinds: readonly Kind[]): void
  expectAll(): void
}

/**
 * What a property has tried, by kind. Generated inputs can pass by the very branch that a property is about, and then
 * it holds because nothing was asked of it: a kind that never came is a failure, too.
 */
export function tallyOf<Kind extends string>(...kinds: readonly Kind[]): Tally<Kind> {
  const counts = new Map(kinds.map(kind => [kind, 0]))
  return {
    count(...seen) {
      for (const kind of seen) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    },
    expectAll() {
      const never = kinds.filter(kind => counts.get(kind) === 0)
      expect(never, `never tried, of ${JSON.stringify(Object.fromEntries(counts))}`).toEqual([])
    },
  }
}
