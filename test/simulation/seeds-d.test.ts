import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

const BLOCKS = [1501, 1551, 1601, 1651, 1701, 1751, 1801, 1851, 1901, 1951]

describe('every promise of the reconciler holds', () => {
  it.each(BLOCKS)('in the 50 runs from seed %i', { timeout: 60_000 }, from => expectEveryPromiseKept(from, 50))
})
