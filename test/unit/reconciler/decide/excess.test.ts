import { describe, expect, it } from 'vitest'
import { CREATOR } from '../../../../src/kube/vocabulary/names.ts'
import type { PodOptions } from '../../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'

import { decide, gang, group, member, NOW, reasons } from './fixtures.ts'

const LATER = '2026-11-16T10:00:05Z'
const by = (creator: string): PodOptions => ({ annotations: { [CREATOR]: creator } })

describe('a group with more pods than it declares', () => {
  const reserved = { ...holds('QuotaReserved', 'OverQueueLimits', 'full'), status: 'False' as const }

  it('sends those away that come too late before it is admitted, and tells them', () => {
    const unit = group([...gang(3), member(3, { created: LATER })], workloadOf(gang(3), [reserved]))
    expect(decide(unit, NOW).actions).toMatchObject([{ kind: 'DeletePod', pod: { name: 'gang-3' } }])
    expect(reasons(unit)).toEqual([
      'gang-0: OverQueueLimits',
      'gang-1: OverQueueLimits',
      'gang-2: OverQueueLimits',
      'gang-3: ExcessPod',
    ])
  })

  it.each([
    ['was there before the Workload', {}, member(3)],
    ['is a stranger’s', by('alice'), member(3, { created: LATER, ...by('mallory') })],
    ['was made by nobody knows whom', by('alice'), member(3, { created: LATER })],
  ])('keeps behind the gate, and tells, a pod that %s', (_, options, surplus) => {
    for (const conditions of [[reserved], ADMITTED]) {
      const unit = group([...gang(3, options), surplus], workloadOf(gang(3, options), conditions))
      const { actions, standings } = decide(unit, NOW)
      expect(actions.map(({ kind }) => kind)).not.toContain('DeletePod')
      const told = standings.find(({ pod }) => pod === surplus)
      expect(told).toMatchObject({ reason: 'ExcessPod', note: expect.stringContaining('is not deleted') })
    }
  })

  it('deletes none of the pods whose name a stranger took first, and all that the stranger adds', () => {
    const taken = gang(3, by('mallory'))
    const rightful = [3, 4, 5].map(index => member(index, { created: LATER, ...by('alice') }))
    const more = member(6, { created: LATER, ...by('mallory') })
    const { actions } = decide(group([...taken, ...rightful, more], workloadOf(taken, [reserved])), NOW)
    expect(actions).toMatchObject([{ kind: 'DeletePod', pod: { name: 'gang-6' } }])
  })
})
