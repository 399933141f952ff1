import { describe, it } from 'vitest'
import { CORPUS } from './runs/corpus.ts'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

describe('seeds of bugs that were fixed', () => {
  it.each(CORPUS)('$seed: $bug', ({ seed, bug: _, ...subject }) => expectEveryPromiseKept(seed, 1, subject))
})
