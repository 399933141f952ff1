import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { letGoOf, supersededForCache, supersededKeyOf } from '../../../src/reconciler/superseded.ts'

describe('a Workload of an engine that is not in use any more', () => {
  const superseded = { workloads: WORKLOADS, finalizer: 'muster.dev/resource-in-use' }
  const workload = {
    metadata: {
      ...{ name: 'gang', namespace: 'ml', uid: 'u', resourceVersion: '7' },
      finalizers: ['example.com/theirs', 'muster.dev/resource-in-use'],
      annotations: { long: 'x' },
    },
  }

  it('loses our finalizer and no other, and is deleted', () => {
    expect(letGoOf(workload, superseded)).toEqual([
      {
        kind: 'ReleaseWorkload',
        resource: WORKLOADS,
        workload: { namespace: 'ml', name: 'gang', uid: 'u' },
        finalizer: 'muster.dev/resource-in-use',
        finalizerIndex: 1,
      },
      { kind: 'DeleteWorkload', resource: WORKLOADS, workload: { namespace: 'ml', name: 'gang', uid: 'u' } },
    ])
  })

  it('that is on its way is not deleted again', () => {
    const going = { metadata: { ...workload.metadata, finalizers: [], deletionTimestamp: '2026-11-16T10:00:00Z' } }
    expect(letGoOf(going, superseded)).toEqual([])
  })

  it('is known by its name, and by little else', () => {
    expect(supersededKeyOf(workload)).toBe('superseded/ml/gang')
    const { annotations: _, ...metadata } = workload.metadata
    expect(supersededForCache(workload)).toEqual({ metadata })
  })
})
