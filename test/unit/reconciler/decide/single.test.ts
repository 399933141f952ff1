import { describe, expect, it } from 'vitest'
import {
  CLUSTER_QUEUE_LABEL,
  LOCAL_QUEUE_LABEL,
  PODSET_LABEL,
  RESOURCE_IN_USE,
  WORKLOAD_ANNOTATION,
} from '../../../../src/kube/vocabulary/names.ts'
import { managedPod } from '../../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'

import { created, decide, kinds, NOW, placed, reasons, single, withNodeSelector } from './fixtures.ts'

describe('a single pod', () => {
  it('gets a Workload that it owns and that describes it', () => {
    const [action] = decide(single(managedPod()), NOW).actions
    const workload = created(action)
    expect(workload).toMatchObject({
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'Workload',
      metadata: {
        namespace: 'ml',
        finalizers: [RESOURCE_IN_USE],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'train', uid: 'uid-train', controller: true }],
      },
      spec: { queueName: 'team-a', podSets: [{ name: 'main', count: 1 }] },
    })
    expect(workload.metadata.name).toMatch(/^pod-train-[0-9a-f]{5}$/)
  })

  it('waits without a write while its Workload is not admitted', () => {
    const pod = managedPod()
    const reserved = { ...holds('QuotaReserved', 'OverQueueLimits', 'asks for 8 cpu'), status: 'False' as const }
    const unit = single(pod, workloadOf([pod], [reserved]))
    expect(kinds(unit)).toEqual([])
    expect(decide(unit, NOW).standings).toMatchObject([{ pod, reason: 'OverQueueLimits', note: 'asks for 8 cpu' }])
  })

  it('is lifted once its Workload is admitted', () => {
    const pod = managedPod()
    const workload = placed(workloadOf([pod], ADMITTED), {})
    expect(decide(single(pod, workload), NOW).actions).toEqual([
      {
        kind: 'LiftGate',
        pod: { namespace: 'ml', name: 'train', uid: 'uid-train' },
        add: {
          labels: { [PODSET_LABEL]: 'main', [LOCAL_QUEUE_LABEL]: 'team-a', [CLUSTER_QUEUE_LABEL]: 'team-a' },
          annotations: { [WORKLOAD_ANNOTATION]: workload.metadata.name },
          resourceVersion: '100',
        },
        admittedAt: ADMITTED[1]?.lastTransitionTime,
      },
    ])
  })

  it('ends at once, and says why, when its admission contradicts it', () => {
    const pod = withNodeSelector(managedPod(), { pool: 'cpu' })
    const workload = placed(workloadOf([pod], ADMITTED), { nodeSelector: { pool: 'gpu' } })
    const [action, ...rest] = decide(single(pod, workload), NOW).actions
    expect(rest).toEqual([])
    const end = action?.kind === 'SetStatus' ? action.status.conditions?.at(-1) : undefined
    expect(end).toMatchObject({ type: 'Finished', status: 'True', reason: 'FailedToStart' })
    expect(end?.message).toMatch(
      /^conflict for nodeSelector: pod train says pool=cpu, and its admission pool=gpu; delete/,
    )
    const after = single(pod, workloadOf([pod], [...ADMITTED, holds('Finished', 'FailedToStart', end?.message)]))
    expect(reasons(after)).toEqual(['train: LiftBlocked'])
    expect(kinds(after)).toEqual(['ReleaseWorkload'])
  })

  it('says who else holds it when a foreign gate is left', () => {
    const pod = managedPod({ gates: ['example.com/license'] })
    const decision = decide(single(pod, workloadOf([pod], ADMITTED)), NOW)
    expect(decision.actions).toEqual([])
    expect(decision.standings).toEqual([{ pod, reason: 'ForeignGates', note: 'still held by example.com/license' }])
  })

  it.each(['Succeeded', 'Failed'])('finishes its Workload truthfully when it has %s', phase => {
    const pod = managedPod({ gates: [], phase, nodeName: 'node-1' })
    const [action] = decide(single(pod, workloadOf([pod], ADMITTED)), NOW).actions
    if (action?.kind !== 'SetStatus') throw new Error(`unexpected ${action?.kind}`)
    expect(action.status.conditions).toHaveLength(3)
    expect(action.status.conditions?.[2]).toMatchObject({ type: 'Finished', status: 'True', reason: phase })
  })

  it('ends the wait of its Workload when it ends before its turn has come', () => {
    const pod = managedPod({ phase: 'Failed' })
    const workload = workloadOf([pod])
    const waiting = { queueName: 'team-a', since: NOW }
    const unit = single(pod, { ...workload, status: { ...workload.status, waiting } })
    expect(decide(unit, NOW).actions).toMatchObject([{ kind: 'SetStatus', status: { waiting: null } }])
  })

  it('loses its finalizer, and the Workload its own, when the Workload is finished', () => {
    const pod = managedPod({ gates: [], phase: 'Succeeded', nodeName: 'node-1' })
    const workload = workloadOf([pod], [...ADMITTED, holds('Finished', 'Succeeded')])
    expect(kinds(single(pod, workload))).toEqual(['RemoveFinalizer', 'ReleaseWorkload'])
  })

  it('needs nothing more after that: no write while nothing changes', () => {
    const pod = managedPod({ gates: [], phase: 'Succeeded', nodeName: 'node-1', finalizers: [] })
    const finished = workloadOf([pod], [...ADMITTED, holds('Finished', 'Succeeded')])
    const workload = { ...finished, metadata: { ...finished.metadata, finalizers: [] } }
    expect(decide(single(pod, workload), NOW)).toEqual({ actions: [], standings: [] })
  })

  it('leaves at once when it is deleted while gated, whatever its Workload says', () => {
    const pod = managedPod({ deleting: 30 })
    expect(kinds(single(pod))).toEqual(['RemoveFinalizer'])
    expect(kinds(single(pod, workloadOf([pod], ADMITTED)))).toEqual(['RemoveFinalizer'])
  })

  it('keeps its finalizer while its containers still stop, and loses it when they have', () => {
    const stopping = managedPod({ gates: [], phase: 'Running', nodeName: 'node-1', deleting: 30 })
    const stopped = managedPod({ gates: [], phase: 'Running', nodeName: 'node-1', deleting: 0 })
    expect(kinds(single(stopping, workloadOf([stopping], ADMITTED)))).toEqual([])
    expect(kinds(single(stopped, workloadOf([stopped], ADMITTED)))).toEqual(['RemoveFinalizer'])
  })

  it('is let go without a Workload when it is terminal already', () => {
    expect(kinds(single(managedPod({ gates: [], phase: 'Failed', nodeName: 'node-1' })))).toEqual(['RemoveFinalizer'])
    expect(kinds(single(managedPod({ phase: 'Failed' })))).toEqual([])
  })

  it('releases the Workload of a predecessor that the garbage collector wants to take', () => {
    const old = workloadOf([managedPod({ uid: 'gone' })])
    const deleted = { ...old, metadata: { ...old.metadata, deletionTimestamp: NOW } }
    expect(kinds(single(undefined, undefined, [deleted]))).toEqual(['ReleaseWorkload'])
    expect(kinds(single(undefined, undefined, [old]))).toEqual([])
  })

  it('is stopped when its Workload is deleted, and the Workload is held until it has', () => {
    const pod = managedPod({ gates: [], phase: 'Running', nodeName: 'node-1' })
    const admitted = workloadOf([pod], ADMITTED)
    const deleted = { ...admitted, metadata: { ...admitted.metadata, deletionTimestamp: NOW } }
    expect(kinds(single(pod, deleted))).toEqual(['DeletePod'])
    expect(reasons(single(pod, deleted))).toEqual(['train: Evicted'])
    const stopping = managedPod({ gates: [], phase: 'Running', nodeName: 'node-1', deleting: 30 })
    expect(kinds(single(stopping, deleted))).toEqual([])
  })
})
