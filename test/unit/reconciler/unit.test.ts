import { describe, expect, it } from 'vitest'
import { MANAGED } from '../../../src/kube/vocabulary/names.ts'
import { isStray, parseStrayKey, parseUnitKey, strayKeyOf, unitKeyOf } from '../../../src/reconciler/unit.ts'
import { managedPod } from '../../support/pods.ts'

describe('keys of the work queue', () => {
  it('name a single pod by its name and a member by its group', () => {
    expect(parseUnitKey(unitKeyOf(managedPod()))).toEqual({ kind: 'single', namespace: 'ml', name: 'train' })
    const member = managedPod({ group: 'gang' })
    expect(parseUnitKey(unitKeyOf(member))).toEqual({ kind: 'group', namespace: 'ml', name: 'gang' })
  })

  it('name a stray pod in one life', () => {
    expect(parseStrayKey(strayKeyOf(managedPod()))).toEqual({ namespace: 'ml', name: 'train', uid: 'uid-train' })
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
