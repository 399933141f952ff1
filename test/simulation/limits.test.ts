import { describe, expect, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'
import { generate } from './schedule/generate.ts'

describe('every promise of the reconciler holds where limits change while everything runs', () => {
  it('in the 25 runs from seed 1', () => expectEveryPromiseKept(1, 25, { limits: true }))

  it('in the 20 runs from seed 1, with Jobs', () => expectEveryPromiseKept(1, 20, { limits: true, jobs: true }))

  it('in both queues, up and down', () => {
    const changed = new Set<string>()
    for (let seed = 1; seed <= 100; seed++) {
      const { setting, items } = generate(seed, { limits: true })
      for (const item of items) {
        if (item.kind !== 'set-limits') continue
        const before = setting.queues.find(({ name }) => name === item.queue)?.limits.pods ?? 0
        changed.add(`${item.queue} ${Number(item.limits.pods) > Number(before) ? 'up' : 'down'}`)
      }
    }
    expect([...changed].sort()).toEqual(['cpu down', 'cpu up', 'small down', 'small up'])
  })
})
