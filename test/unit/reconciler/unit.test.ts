import { describe, expect, it } from 'vitest'
import { ADMISSION_GATE, CREATOR, MANAGED, MIRROR_POD } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { isStray, parseStrayKey, strayKeyOf, unitFrom, unitKeyOf } from '../../../src/reconciler/unit.ts'
import { managedPod } from '../../support/pods.ts'
import { recordsOf } from '../../support/records.ts'
import { ADMITTED, workloadOf } from '../../support/workloads.ts'
import { decide, NOW } from './decide/fixtures.ts'

describe('keys of the work queue', () => {
  it('name a single pod by its name and a member by its group', () => {
    const named = { namespace: 'ml', pods: [], workload: undefined, orphans: [], elsewhere: new Set(), outside: [] }
    expect(unitFrom(unitKeyOf(managedPod()), recordsOf([]))).toEqual({ kind: 'single', name: 'train', ...named })
    expect(unitFrom(unitKeyOf(managedPod({ group: 'gang' })), recordsOf([]))).toEqual({
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
    expect(unitFrom(unitKeyOf(pod), recordsOf([pod], [former, own]))).toMatchObject({
      workload: own,
      orphans: [former],
    })
    const members = ['b', 'a'].map(name => managedPod({ name, group: 'gang', count: 2 }))
    const { pods, workload } = unitFrom('group/ml/gang', recordsOf(members, [workloadOf(members)]))
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(workload?.metadata.name).toBe('gang')
  })
})

describe('a pod that was lifted', () => {
  const members = ['a', 'b'].map(name => managedPod({ name, group: 'gang', count: 2, gates: [], nodeName: 'n' }))
  const workload = workloadOf(members)
  const names = (key: string, pods: readonly Pod[]) =>
    unitFrom(key, recordsOf(pods, [workload])).pods.map(({ metadata }) => metadata.name)
  const relabelled = (group: string | undefined, gates: readonly string[] = []) =>
    managedPod({ name: 'b', count: 2, gates, nodeName: 'n', ...(group !== undefined && { group }) })

  it.each([
    ['another group', 'other', 'group/ml/other'],
    ['no group', undefined, 'single/ml/b'],
  ])('stays with its Workload when it names %s', (_, group, claimed) => {
    const pods = [...members.slice(0, 1), relabelled(group)]
    expect(names('group/ml/gang', pods)).toEqual(['a', 'b'])
    expect(names(claimed, pods)).toEqual([])
  })

  it('is what it says where no Workload knows it, or another one of its name', () => {
    expect(
      names('group/ml/other', [{ ...relabelled('other'), metadata: { ...relabelled('other').metadata, uid: 'new' } }]),
    ).toEqual(['b'])
  })

  it('is known from one that still waits, which may go where it wants', () => {
    const pods = [...members.slice(0, 1), relabelled('other', [ADMISSION_GATE])]
    expect(names('group/ml/other', pods)).toEqual(['b'])
    const unit = unitFrom('group/ml/gang', recordsOf(pods, [workload]))
    expect(unit.pods.map(({ metadata }) => metadata.name)).toEqual(['a'])
    expect([...unit.elsewhere]).toEqual(['uid-b'])
  })
})

describe('the Workload of a single pod', () => {
  it('is still its when the garbage collector has struck the pod off', () => {
    const pod = managedPod()
    const workload = workloadOf([pod])
    const orphaned = { ...workload, metadata: { ...workload.metadata, ownerReferences: [] } }
    expect(unitFrom(unitKeyOf(pod), recordsOf([pod], [orphaned])).workload).toBe(orphaned)
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

describe('pods with our marks that are not ours', () => {
  const nowhere = () => false
  const mirror = managedPod({ annotations: { [MIRROR_POD]: 'x' }, gates: [], nodeName: 'node-1', phase: 'Running' })

  it.each([
    ['of a namespace that is not selected', managedPod(), nowhere],
    ['that mirror a static pod', mirror, () => true],
  ])('are in no unit: those %s', (_, pod, selects) => {
    const unit = unitFrom(unitKeyOf(pod), recordsOf([pod], [], selects))
    expect(unit).toMatchObject({ pods: [], outside: [pod] })
    expect(decide(unit, NOW)).toEqual({ actions: [], standings: [] })
  })

  it('stay ours until their end once they have a Workload', () => {
    const pod = managedPod()
    const unit = unitFrom(unitKeyOf(pod), recordsOf([pod], [workloadOf([pod], ADMITTED)], nowhere))
    expect(unit).toMatchObject({ pods: [pod], outside: [] })
    expect(decide(unit, NOW).actions).toMatchObject([{ kind: 'LiftGate' }])
  })

  it('are told, and let go, if we gated them before their namespace was left out', () => {
    const annotations = { [CREATOR]: 'alice' }
    const decided = (pod: Pod) => decide(unitFrom(unitKeyOf(pod), recordsOf([pod], [], nowhere)), NOW)
    const pod = managedPod({ annotations })
    expect(decided(pod)).toEqual({
      actions: [],
      standings: [{ pod, reason: 'LiftBlocked', note: expect.stringContaining('namespace ml') }],
    })
    expect(decided(managedPod({ annotations, deleting: 30 })).actions).toMatchObject([{ kind: 'RemoveFinalizer' }])
    expect(decided(managedPod({ deleting: 30 })).actions).toEqual([])
  })
})
