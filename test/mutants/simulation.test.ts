import { describe, expect, it } from 'vitest'
import { hunt } from '../simulation/mutants/hunt.ts'
import { MUTANTS } from '../simulation/mutants/mutants.ts'

/** A bug that takes more runs than this to show would slip through a day's work. */
const SEEDS = 500

describe('the simulator finds planted bugs', () => {
  it.concurrent.each(MUTANTS)('$name ($from)', { timeout: 300_000 }, async mutant => {
    const { failure, tried } = await hunt(mutant, SEEDS)
    expect(failure, `no promise was broken in ${tried} runs`).toBeDefined()
  })
})
