import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

const BLOCKS = [1, 51, 101]

describe('every promise of the reconciler holds', () => {
  it.each(BLOCKS)('in the 50 runs from seed %i', from => expectEveryPromiseKept(from, 50))
})
