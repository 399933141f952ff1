import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

describe('every promise of the reconciler holds with an engine that decides in another process', () => {
  const blocks = [1, 51, 101, 151, 201, 251]
  it.each(blocks)('in the 50 runs from seed %i', { timeout: 60_000 }, from =>
    expectEveryPromiseKept(from, 50, { engine: 'external' }),
  )
})
