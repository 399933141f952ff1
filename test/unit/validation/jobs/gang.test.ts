import { describe, expect, it } from 'vitest'
import {
  allNeedsGangErrors,
  gangSize,
  isGang,
  isImplicitGang,
  jobPolicy,
  modeThatCounts,
} from '../../../../src/validation/jobs/gang.ts'

describe('a gang', () => {
  it.each([
    ['one', { gang: {} }, true],
    ['one with a size', { gang: { minCount: 3 } }, true],
    ['no policy', undefined, false],
    ['an empty one', {}, false],
    ['basic', { basic: {} }, false],
    ['both, of which basic counts', { gang: {}, basic: {} }, false],
    ['what is no policy', 'gang', false],
  ])('is what a policy says: %s', (_name, policy, expected) => {
    expect(isGang(policy)).toBe(expected)
  })

  it('has the size that it names, or that of all that runs at a time, and never none', () => {
    expect([gangSize({ minCount: 3 }, 8), gangSize({}, 8), gangSize(undefined, 0)]).toEqual([3, 8, 1])
  })

  it('is implicit where a Job runs all its indexes at once', () => {
    const job = { indexed: true, parallelism: 2, completions: 2 }
    expect(isImplicitGang(job)).toBe(true)
    expect(isImplicitGang({ ...job, indexed: false })).toBe(false)
    expect(isImplicitGang({ ...job, completions: 3 })).toBe(false)
    expect(isImplicitGang({ ...job, completions: undefined })).toBe(false)
    expect(isImplicitGang({ ...job, parallelism: 1, completions: 1 })).toBe(false)
  })
})

describe('the disruption mode `all`', () => {
  const errors = (policy: unknown, mode: unknown) => allNeedsGangErrors(jobPolicy(policy), modeThatCounts(mode), 'here')

  it('needs a gang, and a Job without a policy has none', () => {
    const [error] = errors(undefined, { all: {} })
    expect(error).toEqual({
      field: 'here',
      type: 'Invalid',
      detail: 'the disruptionMode `all` is not supported with the Basic scheduling policy',
      value: '',
    })
    expect(errors({ basic: {} }, { all: {} })).toEqual([error])
    expect(errors({ gang: {} }, { all: {} })).toEqual([])
    expect(errors(undefined, { single: {} })).toEqual([])
  })

  it('does not count beside `single`, nor beside what is no policy: both are reported as that', () => {
    expect(errors(undefined, { all: {}, single: {} })).toEqual([])
    expect(errors('basic', { all: {} })).toEqual([])
  })
})
