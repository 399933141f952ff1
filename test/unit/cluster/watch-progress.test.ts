import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSuspicious, judgeWatches, type WatchFacts } from '../../../src/cluster/watch-progress.ts'
import { tallyOf } from '../../support/tally.ts'

const watch = (lastProgressAt: number, resource = 'pods', synced = true): WatchFacts => ({
  resource,
  synced,
  lastProgressAt,
})
const answering = { answered: true, excusedUntil: 0 }

describe('a direct request', () => {
  it('is worth making when nothing was heard for 30 s on any watch', () => {
    expect(isSuspicious([watch(1_000)], 30_999)).toBe(false)
    expect(isSuspicious([watch(1_000)], 31_000)).toBe(true)
    expect(isSuspicious([watch(1_000), watch(2_000)], 31_000)).toBe(false)
  })

  it('is not worth making before anything has been read', () => {
    expect(isSuspicious([], 1e9)).toBe(false)
    expect(isSuspicious([watch(0, 'pods', false)], 1e9)).toBe(false)
  })
})

describe('the process', () => {
  it('is not healthy when nothing was heard for three minutes although the API server answers', () => {
    expect(judgeWatches([watch(0)], answering, 179_999)).toEqual({ name: 'watches', ok: true })
    expect(judgeWatches([watch(0, 'workloads'), watch(-9, 'pods'), watch(-5, 'pods')], answering, 180_000)).toEqual({
      name: 'watches',
      ok: false,
      reason:
        'nothing was heard for 180 s on any watch (pods, workloads), although the API server answers direct requests',
    })
  })

  it('is healthy in an outage, however long, and says what it sees', () => {
    expect(judgeWatches([watch(0)], { answered: false, excusedUntil: 0 }, 9e6)).toEqual({
      name: 'watches',
      ok: true,
      reason: 'nothing was heard for 9000 s on any watch, and the API server does not answer either',
    })
  })

  it('gives its watches three minutes to return after an outage', () => {
    const back = { answered: true, excusedUntil: 600_000 }
    expect(judgeWatches([watch(0)], back, 779_999)).toMatchObject({ ok: true, reason: expect.stringContaining('back') })
    expect(judgeWatches([watch(0)], back, 780_000).ok).toBe(false)
  })

  it('is not judged by caches that were never read', () => {
    expect(judgeWatches([watch(0, 'pods', false)], answering, 1e9)).toEqual({ name: 'watches', ok: true })
    const judged = judgeWatches([watch(0, 'pods'), watch(1e9, 'jobsets', false)], answering, 1e9)
    expect(judged).toMatchObject({ ok: false, reason: expect.stringContaining('(pods)') })
  })

  it('is healthy as long as one watch is, whatever the others do', () => {
    const silent = fc.array(fc.record({ lastProgressAt: fc.nat(1e6), synced: fc.boolean() }), { maxLength: 5 })
    const tried = tallyOf('alone', 'first', 'last', 'between others', 'beside one that never synced')
    fc.assert(
      fc.property(silent, fc.nat(179_999), fc.nat(5), (others, age, place) => {
        const now = 1e7
        const watches = others.map(other => ({ ...other, resource: 'jobs' }))
        watches.splice(place, 0, watch(now - age))
        expect(judgeWatches(watches, answering, now).ok).toBe(true)
        const at = Math.min(place, others.length)
        if (others.length === 0) tried.count('alone')
        else tried.count(at === 0 ? 'first' : at === others.length ? 'last' : 'between others')
        if (others.some(({ synced }) => !synced)) tried.count('beside one that never synced')
      }),
      { numRuns: 300 },
    )
    tried.expectAll()
  })
})
