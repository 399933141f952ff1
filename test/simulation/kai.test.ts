import { describe, expect, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'
import { generate } from './schedule/generate.ts'

describe('every promise of the reconciler holds where KAI places pods', () => {
  it('in the 40 runs from seed 1', () => expectEveryPromiseKept(1, 40, { kai: true }))

  it('whatever people do to the PodGroups', () => {
    const done = new Set<string>()
    for (let seed = 1; seed <= 80; seed++) {
      for (const { kind } of generate(seed, { kai: true }).items) if (/kai|native|opt/.test(kind)) done.add(kind)
    }
    expect([...done].sort()).toEqual([
      'delete-kai-group',
      'delete-native-group',
      'opt-out',
      'take-kai-group',
      'write-native-group',
    ])
  })
})
