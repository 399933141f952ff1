import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

describe('every promise of the reconciler holds with an engine that decides in another process', () => {
  const blocks = [1]
  it.each(blocks)('in the 50 runs from seed %i', from => expectEveryPromiseKept(from, 50, { engine: 'external' }))
})
