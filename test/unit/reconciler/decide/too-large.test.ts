import { describe, expect, it } from 'vitest'
import { podForCache } from '../../../../src/reconciler/cache-contents.ts'
import { HOSTILE_PODS } from '../../../support/hostile-pods.ts'
import { managedPod } from '../../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../../support/workloads.ts'
import { decide, group, NOW, single } from './fixtures.ts'

const manyContainers = HOSTILE_PODS.containers as NonNullable<(typeof HOSTILE_PODS)[string]>

describe('a pod that asks for more than is kept of it', () => {
  const told = /^what pod big asks for .* takes \d+ characters to write down, and at most 4096 are kept/
  const big = podForCache(manyContainers('big'))

  it('gets no Workload and learns why', () => {
    const { actions, standings } = decide(single(big), NOW)
    expect(actions).toEqual([])
    expect(standings).toEqual([{ pod: big, reason: 'InvalidGroup', note: expect.stringMatching(told) }])
  })

  it('keeps its group from getting one', () => {
    const members = [big, podForCache(managedPod({ name: 'small', group: 'gang', count: 2 }))]
    const { actions, standings } = decide(group(members), NOW)
    expect(actions).toEqual([])
    expect(standings.map(({ reason, note }) => [reason, note])).toEqual(
      members.map(() => ['InvalidGroup', expect.stringMatching(told)]),
    )
  })

  it('takes no place of an admitted group, for nobody can compare what it asks for', () => {
    const [first, second] = ['a', 'b'].map(name => managedPod({ name, group: 'gang', count: 2 }))
    if (first === undefined || second === undefined) throw new Error('two were made')
    const workload = workloadOf([first, second], ADMITTED)
    const late = { ...second, excess: 'too much' }
    const { actions, standings } = decide(group([first, late], workload), NOW)
    expect(actions.map(({ kind }) => kind)).not.toContain('DeletePod')
    expect(actions.flatMap(action => (action.kind === 'LiftGate' ? [action.pod.name] : []))).toEqual(['a'])
    expect(standings).toContainEqual({ pod: late, reason: 'InvalidGroup', note: 'too much' })
  })
})

describe('a Workload that the API server would not take', () => {
  it('is not created, and its pods learn its size', () => {
    const count = 9000
    const members = Array.from({ length: count }, (_, index) =>
      managedPod({ name: `member-of-a-large-group-${index}`, group: 'gang', count }),
    )
    const { actions, standings } = decide(group(members), NOW)
    expect(actions).toEqual([])
    expect(standings).toHaveLength(count)
    expect(standings[0]?.reason).toBe('InvalidGroup')
    expect(standings[0]?.note).toMatch(/^its Workload would have \d{7} bytes, at most 1000000 are possible/)
  })
})
