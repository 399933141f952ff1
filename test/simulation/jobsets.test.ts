import { describe, expect, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'
import { generate } from './schedule/generate.ts'

describe('every promise of the reconciler holds where JobSets wait among Jobs and pods', () => {
  it('in the 50 runs from seed 1', () => expectEveryPromiseKept(1, 50, { sets: true }))

  it('whatever people do to their JobSets', () => {
    const done = new Set<string>()
    for (let seed = 1; seed <= 100; seed++) {
      for (const item of generate(seed, { sets: true }).items) {
        if (item.kind === 'create-set') {
          const { failurePolicy } = item.set.spec as { failurePolicy?: object }
          done.add(failurePolicy === undefined ? 'create' : 'create with restarts')
        }
        if (item.kind === 'suspend-set') done.add(item.suspend ? 'suspend' : 'resume')
        if (item.kind === 'delete-set') done.add(item.again === undefined ? 'delete' : 'delete and create again')
      }
    }
    expect([...done].sort()).toEqual([
      'create',
      'create with restarts',
      'delete',
      'delete and create again',
      'resume',
      'suspend',
    ])
  })
})
