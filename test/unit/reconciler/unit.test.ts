import { describe, expect, it } from 'vitest'
import { MANAGED } from '../../../src/kube/vocabulary/names.ts'
import { isStray, parseStrayKey, strayKeyOf, unitFrom, unitKeyOf } from '../../../src/reconciler/unit.ts'
import { managedPod } from '../../support/pods.ts'
import { workloadOf } from '../../support/workloads.ts'

describe('keys of the work queue', () => {
  it('name a single pod by its name and a member by its group', () => {
    const named = { namespace: 'ml', pods: [], workload: undefined, orphans: [] }
    expect(unitFrom(unitKeyOf(managedPod()), [], [])).toEqual({ kind: 'single', name: 'train', ...named })
    expect(unitFrom(unitKeyOf(managedPod({ group: 'gang' })), [], [])).toEqual({
      kind: 'group',
      name: 'gang',
      ...named,
    })
  })

  it('name a stray pod in one life', () => {
    expect(parseStrayKey(strayKeyOf(managedPod()))).toEqual({ namespace: 'ml', name: 'train', uid: 'uid-train' })
  })
})

describe('a unit', () => {
  it('has its pods oldest first, its own Workload, and those of predecessors apart', () => {
    const pod = managedPod()
    const own = workloadOf([pod])
    const former = workloadOf([{ ...pod, metadata: { ...pod.metadata, uid: 'another-life' } }])
    expect(unitFrom(unitKeyOf(pod), [pod], [former, own])).toMatchObject({ workload: own, orphans: [former] })
    const members = ['b', 'a'].map(name => managedPod({ name, group: 'gang', count: 2 }))
    const { pods, workload } = unitFrom('group/ml/gang', members, [workloadOf(members)])
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(workload?.metadata.name).toBe('gang')
  })
})

describe('a pod that leaves our watch', () => {
  it('is a stray if it keeps our finalizer and is not deleted', () => {
    expect(isStray(managedPod())).toBe(true)
    expect(isStray(managedPod({ finalizers: ['example.com/keep', MANAGED] }))).toBe(true)
  })

  it('is none if it is really gone, or has nothing of ours', () => {
    expect(isStray(managedPod({ deleting: 0 }))).toBe(false)
    expect(isStray(managedPod({ finalizers: [] }))).toBe(false)
  })
})
