import { describe, expect, it } from 'vitest'
import type { AdmissionCheckState, KueueWorkload } from '../../../../src/engines/kueue/objects.ts'
import type { Condition } from '../../../../src/kube/vocabulary/objects.ts'
import { additionsTo, conflictWith } from '../../../../src/workload/pod-set-update.ts'
import { managedPod } from '../../../support/pods.ts'
import { admission, engineWith, is, NOW, stored } from './fixtures.ts'

const engine = engineWith()
const waiting = stored(engine, [managedPod()])
const under = (...conditions: readonly Condition[]): KueueWorkload => ({ ...waiting, status: { conditions } })
const main = (workload: KueueWorkload) => workload.spec.podSets[0] ?? { name: '', count: 0, template: { spec: {} } }

describe('what Kueue says of a Workload', () => {
  it.each([
    ['Pending', 'OverQueueLimits'],
    ['WaitingForQuota', 'OverQueueLimits'],
    ['ExceedsMaxQuota', 'OverQueueLimits'],
    ['NoMatchingFlavor', 'OverQueueLimits'],
    ['Inadmissible', 'WaitingForAdmission'],
    ['Misconfigured', 'WaitingForAdmission'],
    ['Suspended', 'WaitingForAdmission'],
    ['PendingEvaluation', 'WaitingForAdmission'],
  ])('with QuotaReserved False, %s, its pods are told as %s, in the words of Kueue', (reason, expected) => {
    const message = "couldn't assign flavors to pod set main: insufficient unused quota"
    expect(engine.read(under(is('QuotaReserved', 'False', reason, message)))).toEqual({
      kind: 'waiting',
      told: { reason: expected, message, ...(expected === 'OverQueueLimits' && { steady: reason }) },
    })
  })

  it('is nothing before Kueue has looked at it', () => {
    expect(engine.read(waiting)).toEqual({ kind: 'waiting' })
  })

  it('names the checks for which it waits when its quota is reserved', () => {
    const workload = admission(waiting, {})
    const admissionChecks: readonly AdmissionCheckState[] = [
      { name: 'budget', state: 'Pending', message: 'ask finance' },
      { name: 'capacity', state: 'Ready' },
    ]
    const conditions = [is('QuotaReserved', 'True'), is('Admitted', 'False')]
    const reserved: KueueWorkload = { ...workload, status: { ...workload.status, conditions, admissionChecks } }
    expect(engine.read(reserved)).toMatchObject({
      kind: 'waiting',
      told: {
        reason: 'WaitingForAdmission',
        message: 'quota is reserved in ClusterQueue cluster-a; waits for budget (Pending: ask finance)',
      },
    })
  })

  it('lifts gates when it is Admitted', () => {
    expect(engine.read(admission(waiting, {}))).toEqual({
      kind: 'admitted',
      queue: 'cluster-a',
      since: '2026-11-16T10:00:02Z',
    })
  })

  it('stops pods when it is Evicted, as long as it holds quota; afterwards it waits', () => {
    const evicted = is('Evicted', 'True', 'Preempted', 'make room')
    expect(engine.read(under(is('QuotaReserved', 'True'), is('Admitted', 'True'), evicted))).toEqual({
      kind: 'evicted',
      why: 'make room',
      inactive: false,
    })
    expect(engine.read(under(is('QuotaReserved', 'False', 'PendingEvaluation', 'make room'), evicted)).kind).toBe(
      'waiting',
    )
  })

  it('holds it off as long as it is switched off', () => {
    const off = { ...waiting, spec: { ...waiting.spec, active: false } }
    expect(engine.read(off)).toMatchObject({ kind: 'evicted', inactive: true })
  })
})

describe('what the pods get with their admission', () => {
  const place = (workload: KueueWorkload) => engine.placement(workload, main(workload))

  it('is the marks of Kueue, and the labels and tolerations of each of its flavors', () => {
    expect(place(admission(waiting, { cpu: 'spot', 'nvidia.com/gpu': 'gpu', memory: 'spot' }))).toEqual({
      labels: {
        'kueue.x-k8s.io/podset': 'main',
        'kueue.x-k8s.io/local-queue-name': 'team-a',
        'kueue.x-k8s.io/cluster-queue-name': 'cluster-a',
      },
      annotations: { 'kueue.x-k8s.io/workload': waiting.metadata.name },
      nodeSelector: { pool: 'spot', accelerator: 'a100' },
      tolerations: [{ key: 'spot', operator: 'Exists' }],
      gates: ['kueue.x-k8s.io/topology'],
    })
  })

  it('is also what the admission checks add for the podSet', () => {
    const check = {
      name: 'provision',
      state: 'Ready',
      podSetUpdates: [
        { name: 'main', nodeSelector: { capacity: 'c-1' }, annotations: { ticket: '7' } },
        { name: 'other', nodeSelector: { capacity: 'c-2' } },
      ],
    }
    expect(place(admission(waiting, { cpu: 'spot' }, [check]))).toMatchObject({
      nodeSelector: { pool: 'spot', capacity: 'c-1' },
      annotations: { ticket: '7' },
    })
  })

  it('is nothing when two flavors contradict each other, and that is said', () => {
    expect(place(admission(waiting, { cpu: 'spot', memory: 'elsewhere' }))).toEqual({
      problem: 'conflict for nodeSelector: its flavors and admission checks want both pool=elsewhere and pool=spot',
    })
  })

  describe('where Kueue places by topology', () => {
    const placedBy = (topologyRequest?: object) => {
      const { spec, status, ...rest } = admission(waiting, { cpu: 'spot' })
      const assigned = (status?.admission?.podSetAssignments ?? []).map(assignment => ({
        ...assignment,
        topologyAssignment: { levels: ['rack'] },
      }))
      const podSets = spec.podSets.map(podSet => ({ ...podSet, ...(topologyRequest && { topologyRequest }) }))
      const admitted = { admission: { clusterQueue: 'c', podSetAssignments: assigned } }
      const update = place({ ...rest, spec: { ...spec, podSets }, status: admitted })
      if ('problem' in update) throw new Error(update.problem)
      return update
    }

    it('is nothing when the pod has no gate for that, and that is said', () => {
      const update = placedBy({ required: 'rack' })
      expect(conflictWith(managedPod(), update)).toMatch(/has no gate kueue.x-k8s.io\/topology/)
      const ready = managedPod({ gates: ['kueue.x-k8s.io/admission', 'kueue.x-k8s.io/topology'] })
      expect(conflictWith(ready, update)).toBeUndefined()
      expect(additionsTo(ready, update)).not.toHaveProperty('gates')
    })

    it('is also the mark by which Kueue knows pods that have not asked for it', () => {
      const unasked = { 'kueue.x-k8s.io/podset-unconstrained-topology': 'true' }
      expect(placedBy().annotations).toMatchObject(unasked)
      expect(placedBy({ podIndexLabel: 'index' }).annotations).toMatchObject(unasked)
      for (const asked of [{ required: 'rack' }, { preferred: 'rack' }, { unconstrained: true }]) {
        expect(placedBy(asked).annotations).not.toHaveProperty('kueue.x-k8s.io/podset-unconstrained-topology')
      }
    })
  })

  it('is also the fall of the second gate that Kueue itself has put on a pod', () => {
    const update = place(admission(waiting, { cpu: 'spot' }))
    if ('problem' in update) throw new Error(update.problem)
    const taken = managedPod({ gates: ['example.com/mine', 'kueue.x-k8s.io/admission', 'kueue.x-k8s.io/topology'] })
    expect(additionsTo(taken, update).gates).toEqual(['kueue.x-k8s.io/topology'])
    expect(additionsTo(managedPod(), update)).not.toHaveProperty('gates')
  })

  it('is awaited when a flavor is not known yet', () => {
    expect(place(admission(waiting, { cpu: 'new' }))).toMatchObject({ passing: true })
  })
})

describe('quota that is given back to Kueue', () => {
  const givenBack = (workload: KueueWorkload, missing = { places: 0, note: '' }) => {
    const [action, ...rest] = engine.requeue(workload, 'make room', NOW, missing)
    expect(rest).toEqual([])
    if (action?.kind !== 'SetStatus') throw new Error(`unexpected ${action?.kind}`)
    const conditions = action.status.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)
    return { ...action.status, conditions }
  }
  const evicted = (reason: string, workload = admission(waiting, {})): KueueWorkload => ({
    ...workload,
    status: {
      ...workload.status,
      conditions: [...(workload.status?.conditions ?? []), is('Evicted', 'True', reason, 'make room')],
    },
  })

  it('is given back as a whole, in one write, and the time it was used is added up', () => {
    expect(givenBack(evicted('Preempted'))).toEqual({
      admission: null,
      accumulatedPastExecutionTimeSeconds: 598,
      conditions: [
        'QuotaReserved=False PendingEvaluation',
        'Admitted=False NoReservation',
        'Evicted=True Preempted',
        'Requeued=True Preempted',
      ],
    })
  })

  it.each(['PodsReadyTimeout', 'AdmissionCheck', 'ClusterQueueStopped', 'LocalQueueStopped', 'Deactivated'])(
    'and after %s it is Kueue that says when it comes back',
    reason => {
      expect(givenBack(evicted(reason)).conditions).toContain(`Requeued=False ${reason}`)
    },
  )

  it('leaves a group that lost pods waiting for their replacements, in the same write', () => {
    const pods = [0, 1].map(index => managedPod({ name: `g-${index}`, group: 'gang', count: 2 }))
    const workload = evicted('Preempted', admission(stored(engine, pods), {}))
    expect(givenBack(workload, { places: 2, note: 'two are gone' }).conditions).toContain(
      'WaitingForReplacementPods=True WaitingForReplacement',
    )
  })

  it('is given back once', () => {
    const done = under(is('QuotaReserved', 'False', 'PendingEvaluation'), is('Evicted', 'True', 'Preempted'))
    expect(engine.requeue(done, 'make room', NOW)).toEqual([])
  })
})

describe('pods of a group that have done their work', () => {
  const pods = [0, 1, 2].map(index => managedPod({ name: `g-${index}`, group: 'gang', count: 3 }))
  const workload = admission(stored(engine, pods), {})
  const role = main(workload).name
  const reclaimed = (done: number, before = 0) => {
    const reclaimablePods = before === 0 ? [] : [{ name: role, count: before }]
    const known = { ...workload, status: { ...workload.status, reclaimablePods } }
    return engine.reclaim?.(known, new Map([[role, done]])).map(action => 'status' in action && action.status)
  }

  it('give their share back, and never take it again', () => {
    expect(reclaimed(2)).toEqual([{ reclaimablePods: [{ name: role, count: 2 }] }])
    expect(reclaimed(2, 2)).toEqual([])
    expect(reclaimed(1, 2)).toEqual([])
    expect(reclaimed(9)).toEqual([{ reclaimablePods: [{ name: role, count: 3 }] }])
  })
})

describe('a Workload that waits', () => {
  const said = (labels: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}) => {
    const pod = managedPod({ annotations })
    return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } } }
  }
  const urgent = said({ 'kueue.x-k8s.io/priority-class': 'urgent' })

  it('follows its pod to another priority class', () => {
    const ref = { group: 'kueue.x-k8s.io', kind: 'WorkloadPriorityClass', name: 'urgent' }
    const terms = { priority: 100, priorityClassRef: ref }
    expect(engine.follow?.(waiting, urgent)).toMatchObject([{ kind: 'SetQueue', queueName: 'team-a', terms }])
    expect(engine.follow?.(stored(engine, [urgent]), urgent)).toEqual([])
    expect(engine.follow?.(admission(waiting, {}), urgent)).toEqual([])
  })

  it('keeps the priority that somebody else has given it within its class', () => {
    const known = stored(engine, [urgent])
    expect(engine.follow?.({ ...known, spec: { ...known.spec, priority: 7 } }, urgent)).toEqual([])
  })

  it('is free when its pod names no more consents, and waits for those that it names', () => {
    const gates = 'kueue.x-k8s.io/admission-gated-by'
    const gated = { ...waiting, metadata: { ...waiting.metadata, annotations: { [gates]: 'a.com/x,b.com/y' } } }
    expect(engine.follow?.(gated, said({}))).toMatchObject([{ annotations: { [gates]: '' } }])
    expect(engine.follow?.(gated, said({}, { [gates]: 'b.com/y' }))).toMatchObject([
      { annotations: { [gates]: 'b.com/y' } },
    ])
    expect(engine.follow?.(gated, said({}, { [gates]: 'a.com/x,b.com/y' }))).toEqual([])
    const three = { ...waiting, metadata: { ...waiting.metadata, annotations: { [gates]: 'a.com/x,b.com/y,c.com/z' } } }
    const outer = said({}, { [gates]: 'a.com/x, c.com/z' })
    expect(engine.follow?.(three, outer)).toMatchObject([{ annotations: { [gates]: 'a.com/x, c.com/z' } }])
    expect(engine.follow?.(waiting, said({}, { [gates]: 'a.com/x' }))).toEqual([])
  })
})

describe('a Workload without pods', () => {
  it('is ended and deleted if Muster made it, and left alone if not', () => {
    expect(engine.abandon?.(waiting, NOW)).toMatchObject([{ kind: 'SetStatus' }])
    const prebuilt = { ...waiting, metadata: { ...waiting.metadata, annotations: {} } }
    expect(engine.abandon?.(prebuilt, NOW)).toEqual([])
  })
})
