import { describe, expect, it } from 'vitest'
import { shrink } from './runs/shrink.ts'
import { simulate } from './runs/simulate.ts'
import { Timeline } from './runs/timeline.ts'
import { generate } from './schedule/generate.ts'
import { endOf, isFault } from './schedule/schedule.ts'

describe('the simulator', () => {
  it.each([3, 77, 1234])('does the same thing twice, to the last line of the timeline (seed %i)', async seed => {
    const first = await simulate(generate(seed), { trace: Timeline })
    const second = await simulate(generate(seed), { trace: Timeline })
    expect(second.timeline).toBe(first.timeline)
    expect(second.steps).toBe(first.steps)
  })

  it('makes another run of another seed', async () => {
    const [first, second] = [
      await simulate(generate(5), { trace: Timeline }),
      await simulate(generate(6), { trace: Timeline }),
    ]
    expect(second.timeline).not.toBe(first.timeline)
  })

  it('lets every kind of fault happen within a few hundred seeds', () => {
    const kinds = new Set<string>()
    for (let seed = 1; seed <= 300; seed++)
      for (const item of generate(seed).items) if (isFault(item)) kinds.add(item.kind)
    expect(kinds.size).toBe(18)
  })

  it('ends every fault before it looks whether everything came to rest', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const schedule = generate(seed)
      const last = schedule.items.at(-1)
      expect(endOf(schedule)).toBeGreaterThanOrEqual(last?.at ?? 0)
    }
  })

  it('leaves out of a schedule what a failure does not need', async () => {
    const schedule = generate(12)
    const [needed] = schedule.items.filter(item => item.kind === 'create-pod')
    const least = await shrink(schedule, async ({ items }) => needed !== undefined && items.includes(needed))
    expect(least.items).toEqual([needed])
  })
})
