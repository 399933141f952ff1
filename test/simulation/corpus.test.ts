import { describe, it } from 'vitest'
import { CORPUS } from './runs/corpus.ts'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'

describe('seeds of bugs that were fixed', () => {
  it.each(CORPUS)('$seed: $bug', ({ seed, jobs = false, gangs = false, kai = false }) =>
    expectEveryPromiseKept(seed, 1, { jobs, gangs, kai }),
  )
})
