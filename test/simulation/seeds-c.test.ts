import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

const BLOCKS = [1001, 1051, 1101, 1151, 1201, 1251, 1301, 1351, 1401, 1451]

describe('every promise of the reconciler holds', () => {
  it.each(BLOCKS)('in the 50 runs from seed %i', { timeout: 60_000 }, from => expectEveryPromiseKept(from, 50))
})
