import { describe, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

describe('every promise of the reconciler holds with Kueue as the engine', () => {
  const blocks = [1, 26]
  it.each(blocks)('in the 25 runs from seed %i', from => expectEveryPromiseKept(from, 25, { engine: 'kueue' }))
})
