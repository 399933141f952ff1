import { describe, expect, it } from 'vitest'
import { expectEveryPromiseKept } from './runs/expect-kept.ts'
import { generate } from './schedule/generate.ts'

describe('every promise of the reconciler holds where kube-scheduler places groups', () => {
  it('in the 30 runs from seed 1', () => expectEveryPromiseKept(1, 30, { gangs: true }))

  it('in the 20 runs from seed 1, with Jobs that Muster groups', () =>
    expectEveryPromiseKept(1, 20, { gangs: true, jobs: true }))

  it('whatever people do to the PodGroups', () => {
    const done = new Set<string>()
    for (let seed = 1; seed <= 200; seed++) {
      for (const { kind } of generate(seed, { gangs: true }).items) if (kind.endsWith('pod-group')) done.add(kind)
    }
    expect([...done].sort()).toEqual(['delete-pod-group', 'shrink-pod-group', 'take-pod-group'])
  })
})
