import { describe, expect, it } from 'vitest'
import { builtinEngine } from '../../../../src/engines/builtin/builtin.ts'
import { podForCache } from '../../../../src/reconciler/cache-contents.ts'
import { decide as decideWith } from '../../../../src/reconciler/decide.ts'
import type { Engine } from '../../../../src/reconciler/engine.ts'
import type { Unit } from '../../../../src/reconciler/unit.ts'
import { HOSTILE_PODS } from '../../../support/hostile-pods.ts'
import { managedPod } from '../../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../../support/workloads.ts'
import { decide, gang, group, NOW, single } from './fixtures.ts'

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
    expect(actions.map(({ kind }) => kind)).not.toContain('WhileSeated')
    expect(actions.flatMap(action => (action.kind === 'LiftGate' ? [action.pod.name] : []))).toEqual(['a'])
    expect(standings).toContainEqual({ pod: late, reason: 'InvalidGroup', note: 'too much' })
  })
})

describe('a Workload that the API server would not take', () => {
  it('is not created, and its pods learn its size', () => {
    const engine = builtinEngine([])
    const annotations = { note: 'x'.repeat(1_000_000) }
    const compose: Engine['compose'] = plan => {
      const workload = engine.compose(plan)
      return { ...workload, metadata: { ...workload.metadata, annotations } }
    }
    const { actions, standings } = decideWith(group(gang(3)), { ...engine, compose }, NOW)
    expect(actions).toEqual([])
    expect(standings.map(({ reason }) => reason)).toEqual(['InvalidGroup', 'InvalidGroup', 'InvalidGroup'])
    expect(standings[0]?.note).toMatch(/^its Workload would have \d{7} bytes, at most 1000000 are possible/)
  })
})

describe('a group of very many pods', () => {
  const count = 12_000
  const members = (options = {}) =>
    Array.from({ length: count }, (_, index) => managedPod({ name: `m-${index}`, group: 'gang', count, ...options }))

  it('has a Workload that names as many of them as keep it, and can be written again', () => {
    const workload = workloadOf(members())
    expect(workload.metadata.ownerReferences).toHaveLength(1000)
    expect(workload.spec.podSets).toMatchObject([{ count }])
  })

  it('names others in the stead of those that go, before they are gone', () => {
    const pods = members({ gates: [], phase: 'Running', nodeName: 'node-1' })
    const workload = workloadOf(members(), ADMITTED)
    const going = pods.map((pod, index) =>
      index < 1000
        ? managedPod({ name: `m-${index}`, group: 'gang', count, gates: [], nodeName: 'n', deleting: 30 })
        : pod,
    )
    const owners = (unit: Unit) =>
      decide(unit, NOW).actions.flatMap(action => (action.kind === 'AddOwners' ? [action.ownerReferences] : []))
    expect(owners(group(pods, workload))).toEqual([])
    const [more] = owners(group(going, workload))
    expect(more).toHaveLength(2000)
    const full = { ...workload, metadata: { ...workload.metadata, ownerReferences: more ?? [] } }
    expect(owners(group(going, full))).toEqual([])
  })
})
