import { describe, expect, it } from 'vitest'
import { holds, workloadOf } from '../../../support/workloads.ts'

import { decide, gang, group, member, NOW, reasons } from './fixtures.ts'

describe('a group with more pods than it declares', () => {
  it('sends the newest away before it is admitted, and tells it', () => {
    const pods = gang(3)
    const reserved = { ...holds('QuotaReserved', 'OverQueueLimits', 'full'), status: 'False' as const }
    const workload = workloadOf(pods, [reserved])
    const owners = [
      ...(workload.metadata.ownerReferences ?? []),
      { apiVersion: 'v1', kind: 'Pod', name: 'gang-3', uid: 'uid-gang-3' },
    ]
    const unit = group([...pods, member(3)], {
      ...workload,
      metadata: { ...workload.metadata, ownerReferences: owners },
    })
    expect(decide(unit, NOW).actions).toMatchObject([{ kind: 'DeletePod', pod: { name: 'gang-3' } }])
    expect(reasons(unit)).toEqual([
      'gang-0: OverQueueLimits',
      'gang-1: OverQueueLimits',
      'gang-2: OverQueueLimits',
      'gang-3: ExcessPod',
    ])
  })
})
