import { describe, expect, it } from 'vitest'
import {
  type Authority,
  decideRotation,
  type InstalledBundle,
  isDue,
  LEFTOVER_MS,
  LIFE_MS,
  type PairFacts,
  SPREAD_MS,
  type Stored,
  stillTrusted,
} from '../../../src/tls/rotation.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000

const authority = (fingerprint: string, from = NOW, life = LIFE_MS): Authority => ({
  fingerprint,
  notAfter: from + life,
  certificate: fingerprint,
})
const pairOf = (name: string, from = NOW): PairFacts => ({
  authority: authority(name, from),
  notBefore: from - 3_600_000,
  notAfter: from + LIFE_MS,
})
const bundle = (ageMs: number, ...authorities: readonly Authority[]): InstalledBundle => ({
  authorities: authorities.map(one => ({ ...one, ageMs })),
})
const A = pairOf('A')
const B = pairOf('B', NOW + 20 * DAY)
const steady: Stored = { ours: true, current: A, next: undefined, authorities: [A.authority], ageMs: LEFTOVER_MS }
const announced: Stored = { ...steady, next: B, authorities: [B.authority, A.authority], ageMs: 0 }
const promoted: Stored = { ...announced, current: B, next: undefined }
const old = bundle(LEFTOVER_MS, A.authority)
const DUE = NOW + 20 * DAY + 3_600_000
const nothing = { record: 'keep', publish: undefined }

describe('a rotation of certificates', () => {
  it('has nothing to do while the pair is young, trusted and served', () => {
    expect(decideRotation(steady, [old, old], NOW, A)).toEqual({ ...nothing, serve: true })
  })

  it('begins with the announcement of a pair with an authority of its own, when a third of the life is left', () => {
    expect(decideRotation(steady, [old], DUE - DAY, A).record).toBe('keep')
    expect(decideRotation(steady, [old], DUE, A).record).toBe('announce')
  })

  it('goes on with both authorities in every bundle, before anything else', () => {
    const decided = decideRotation(announced, [old, old], DUE, A)
    expect(decided).toMatchObject({ record: 'keep', serve: true })
    expect(decided.publish?.map(({ fingerprint }) => fingerprint)).toEqual(['B', 'A'])
    const half = [bundle(LEFTOVER_MS, B.authority, A.authority), old]
    expect(decideRotation(announced, half, DUE, A)).toMatchObject({ record: 'keep', publish: decided.publish })
  })

  it('promotes the new pair when every API server has had the time to read of it', () => {
    const both = (ageMs: number) => bundle(ageMs, B.authority, A.authority)
    expect(decideRotation(announced, [both(SPREAD_MS), both(SPREAD_MS - 1)], DUE, A).record).toBe('keep')
    expect(decideRotation(announced, [both(SPREAD_MS), both(SPREAD_MS)], DUE, A).record).toBe('promote')
    expect(decideRotation(announced, undefined, DUE, A).record).toBe('keep')
  })

  it('serves nothing that a bundle does not trust, and nothing that one has trusted for a moment only', () => {
    const both = (ageMs: number) => bundle(ageMs, B.authority, A.authority)
    expect(decideRotation(promoted, [both(SPREAD_MS), old], DUE, A).serve).toBe(false)
    expect(decideRotation(promoted, [both(SPREAD_MS), both(SPREAD_MS - 1)], DUE, A).serve).toBe(false)
    expect(decideRotation(promoted, [both(SPREAD_MS), both(SPREAD_MS)], DUE, A).serve).toBe(true)
    expect(decideRotation(promoted, undefined, DUE, A).serve).toBe(false)
  })

  it('does not wait where what is served now is of no use to anybody', () => {
    const fresh = bundle(0, B.authority)
    expect(decideRotation(promoted, [fresh], DUE, A).serve).toBe(true)
    expect(decideRotation(promoted, [bundle(0, B.authority, A.authority)], A.notAfter, A).serve).toBe(true)
  })

  it('ends when the old authority expires, and with it its one certificate', () => {
    const both = bundle(LEFTOVER_MS, B.authority, A.authority)
    const later = { ...promoted, ageMs: LEFTOVER_MS }
    expect(decideRotation(later, [both], A.notAfter - 1, B)).toEqual({ ...nothing, serve: true })
    const { publish } = decideRotation(later, [both], A.notAfter, B)
    expect(publish?.map(({ fingerprint }) => fingerprint)).toEqual(['B'])
  })

  it('makes a pair at once where there is none, or none that is of use, and takes the announced one if it can', () => {
    const lost = { ...steady, current: undefined }
    expect(decideRotation(lost, undefined, NOW).record).toBe('issue')
    expect(decideRotation(steady, [old], A.notAfter, A).record).toBe('issue')
    expect(decideRotation(steady, [old], A.notBefore - 1, A).record).toBe('issue')
    expect(decideRotation({ ...announced, current: undefined }, [old], DUE, A).record).toBe('promote')
    expect(decideRotation({ ...announced, current: undefined }, [old], B.notAfter, A).record).toBe('issue')
  })

  it('announces another pair when the announced one has waited until it was due itself', () => {
    const unused = { ...announced, next: pairOf('C', NOW - 5 * DAY) }
    expect(decideRotation(unused, [old], DUE, A).record).toBe('announce')
  })

  it('writes nothing into what is somebody else’s, and serves it by the same rule', () => {
    const theirs: Stored = { ...steady, ours: false }
    for (const at of [DUE, A.notAfter]) expect(decideRotation(theirs, [old], at, A).record).toBe('keep')
    expect(decideRotation({ ...theirs, current: undefined }, [old], NOW, A).record).toBe('keep')
    const renewed = { ...theirs, current: B, authorities: [B.authority] }
    expect(decideRotation(renewed, [old], DUE, A)).toMatchObject({ serve: false })
    expect(decideRotation(renewed, [old], DUE, A).publish?.map(({ fingerprint }) => fingerprint)).toEqual(['B', 'A'])
  })

  it('leaves an authority that it cannot explain in the bundles as long as another replica may need it', () => {
    const record = { ...steady, current: B, authorities: [B.authority] }
    const left = (ageMs: number, recordAge: number) =>
      decideRotation({ ...record, ageMs: recordAge }, [bundle(ageMs, B.authority, A.authority)], DUE, B).publish
    expect(left(LEFTOVER_MS, LEFTOVER_MS - 1)).toBeUndefined()
    expect(left(LEFTOVER_MS - 1, LEFTOVER_MS)).toBeUndefined()
    expect(left(LEFTOVER_MS, LEFTOVER_MS)?.map(({ fingerprint }) => fingerprint)).toEqual(['B'])
  })

  it('writes a bundle that somebody has wiped, with what this replica serves, whatever the record says by now', () => {
    const record = { ...steady, current: B, authorities: [B.authority] }
    const { publish } = decideRotation(record, [bundle(0)], DUE, A)
    expect(publish?.map(({ fingerprint }) => fingerprint)).toEqual(['B', 'A'])
  })

  it('writes no empty bundle', () => {
    expect(decideRotation({ ...steady, current: undefined, authorities: [] }, [bundle(0)], NOW).publish).toBeUndefined()
  })
})

describe('the authorities of a record', () => {
  const longLived = authority('L', NOW, 3650 * DAY)

  it('are forgotten when they expire', () => {
    const record = { current: B, authorities: [B.authority, A.authority] }
    expect(stillTrusted(record, A.notAfter - 1)).toEqual([B.authority, A.authority])
    expect(stillTrusted(record, A.notAfter)).toEqual([B.authority])
  })

  it('are forgotten before that when they are not ours and have not signed what is served', () => {
    expect(stillTrusted({ current: A, authorities: [A.authority, longLived] }, NOW)).toEqual([A.authority])
    const theirs = { ...A, authority: longLived }
    expect(stillTrusted({ current: theirs, authorities: [longLived] }, NOW)).toEqual([longLived])
    expect(stillTrusted({ current: undefined, authorities: [longLived] }, NOW)).toEqual([longLived])
  })
})

it('a certificate is due when a third of its life is left', () => {
  const life = { notBefore: NOW, notAfter: NOW + 30 * DAY }
  expect(isDue(life, NOW + 20 * DAY - 1)).toBe(false)
  expect(isDue(life, NOW + 20 * DAY)).toBe(true)
})
