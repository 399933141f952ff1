import { describe, expect, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'
import { generate } from './schedule/generate.ts'

describe('every promise of the reconciler holds where Jobs wait among pods', () => {
  it('in the 50 runs from seed 1', () => expectEveryPromiseKept(1, 50, { jobs: true }))

  it('whatever people do to their Jobs', () => {
    const done = new Set<string>()
    for (let seed = 1; seed <= 200; seed++) {
      for (const item of generate(seed, { jobs: true }).items) {
        if (item.kind === 'delete-job') done.add(`delete ${item.cascade}`)
        if (item.kind === 'change-job') done.add(`change ${Object.keys(item.change)}`)
        if ('unit' in item && item.unit.job !== undefined) done.add(item.kind)
        if (item.kind === 'create-job' || item.kind === 'delete-job-pod') done.add(item.kind)
      }
    }
    expect([...done].sort()).toEqual([
      'change parallelism',
      'change queue',
      'change suspend',
      'create-job',
      'delete background',
      'delete foreground',
      'delete orphan',
      'delete-job-pod',
      'delete-workload',
      'set-active',
    ])
  })
})
