import { describe, expect, it } from 'vitest'
import type { Unit } from '../../../../src/reconciler/unit.ts'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'

import { decide, gang, group, kinds, member, NOW, reasons, running } from './fixtures.ts'

describe('a Workload that loses its admission', () => {
  const pods = gang(3)
  const off = (workload: QueuedWorkload): QueuedWorkload => ({ ...workload, spec: { ...workload.spec, active: false } })
  const conditionsAfter = (unit: Unit) => {
    const action = decide(unit, NOW).actions.find(({ kind }) => kind === 'SetStatus')
    if (action?.kind !== 'SetStatus') throw new Error('no status')
    return Object.fromEntries((action.status.conditions ?? []).map(({ type, status }) => [type, status]))
  }

  it('stops what runs and tells every pod why', () => {
    const unit = group([running(0), running(1), member(2)], off(workloadOf(pods, ADMITTED)))
    expect(kinds(unit)).toEqual(['SetStatus', 'DeletePod', 'DeletePod'])
    expect(conditionsAfter(unit)).toEqual({ QuotaReserved: 'True', Admitted: 'True', Evicted: 'True' })
    expect(reasons(unit)).toEqual(['gang-0: Evicted', 'gang-1: Evicted', 'gang-2: Evicted'])
  })

  it('keeps its quota until the last pod has stopped', () => {
    const stopping = running(0, { deleting: 30 })
    const workload = off(
      workloadOf(pods, [...ADMITTED, holds('Evicted', 'Deactivated', 'Workload gang was deactivated')]),
    )
    expect(kinds(group([stopping, member(1)], workload))).toEqual([])
    const after = group([member(1), member(2)], workload)
    expect(conditionsAfter(after)).toEqual({ QuotaReserved: 'False', Admitted: 'False', Evicted: 'True' })
    expect(decide(after, NOW).actions).toMatchObject([{ status: { admission: null } }])
  })

  it('keeps its quota until then also when it is deleted meanwhile', () => {
    const workload = off(workloadOf(pods, ADMITTED))
    const deleted = { ...workload, metadata: { ...workload.metadata, deletionTimestamp: NOW } }
    expect(kinds(group([running(0, { deleting: 30 }), member(1)], deleted))).toEqual([])
    expect(kinds(group([member(1)], deleted))).toEqual(['ReleaseWorkload'])
  })

  it('waits nowhere while it is switched off', () => {
    const waiting = { queueName: 'team-a', since: NOW }
    const workload = workloadOf(pods)
    const unit = group(gang(3), off({ ...workload, status: { ...workload.status, waiting } }))
    expect(decide(unit, NOW).actions).toMatchObject([{ kind: 'SetStatus', status: { waiting: null } }])
  })

  it('waits again when it is active, and writes nothing more while it is not', () => {
    const withdrawn = { ...holds('QuotaReserved', 'Evicted', 'why'), status: 'False' as const }
    const refused = { ...holds('Admitted', 'Evicted', 'why'), status: 'False' as const }
    const gone = [withdrawn, refused, holds('Evicted', 'Deactivated', 'Workload gang was deactivated')]
    expect(kinds(group(gang(3), off(workloadOf(pods, gone))))).toEqual([])
    expect(conditionsAfter(group(gang(3), workloadOf(pods, gone)))).toMatchObject({ Evicted: 'False' })
  })
})
