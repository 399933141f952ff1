import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/kube/objects.ts'
import {
  ADMISSION_GATE,
  CLUSTER_QUEUE_LABEL,
  GROUP_COUNT,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_ROLES,
  GROUP_SERVING,
  GROUP_SETS,
  LOCAL_QUEUE_LABEL,
  MANAGED,
  PODSET_LABEL,
  RETRIABLE_IN_GROUP,
  WORKLOAD_ANNOTATION,
} from '../../../src/names.ts'
import { decide } from '../../../src/reconciler/decide.ts'
import type { Unit } from '../../../src/reconciler/unit.ts'
import { type PodSetUpdate, RESOURCE_IN_USE, type Workload } from '../../../src/workload/workload.ts'
import { managedPod, type PodOptions } from '../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../support/workloads.ts'

const NOW = '2026-11-16T10:10:00Z'

const single = (pod: Pod | undefined, workload?: Workload, orphans: readonly Workload[] = []): Unit => ({
  kind: 'single',
  namespace: 'ml',
  name: pod?.metadata.name ?? 'train',
  pods: pod === undefined ? [] : [pod],
  workload,
  orphans,
})

const group = (pods: readonly Pod[], workload?: Workload): Unit => ({
  kind: 'group',
  namespace: 'ml',
  name: 'gang',
  pods,
  workload,
  orphans: [],
})

const member = (index: number, options: PodOptions = {}): Pod =>
  managedPod({ name: `gang-${index}`, group: 'gang', count: 3, version: String(100 + index), ...options })
const gang = (size: number, options: PodOptions = {}) => Array.from({ length: size }, (_, i) => member(i, options))
const running = (index: number, options: PodOptions = {}) =>
  member(index, { gates: [], phase: 'Running', nodeName: 'node-1', ...options })

const withNodeSelector = (pod: Pod, nodeSelector: Readonly<Record<string, string>>): Pod => ({
  ...pod,
  spec: { ...pod.spec, nodeSelector },
})
/** Admitted to run where `place` says, all podSets alike. */
const placed = (workload: Workload, place: PodSetUpdate): Workload => {
  const podSetAssignments = workload.spec.podSets.map(({ name, count }) => ({ name, count, ...place }))
  return { ...workload, status: { ...workload.status, admission: { clusterQueue: 'team-a', podSetAssignments } } }
}

const kinds = (unit: Unit) => decide(unit, NOW).actions.map(action => action.kind)
const reasons = (unit: Unit) => decide(unit, NOW).standings.map(({ pod, reason }) => `${pod.metadata.name}: ${reason}`)

describe('a single pod', () => {
  it('gets a Workload that it owns and that describes it', () => {
    const [action] = decide(single(managedPod()), NOW).actions
    if (action?.kind !== 'CreateWorkload') throw new Error(`unexpected ${action?.kind}`)
    expect(action.workload).toMatchObject({
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'Workload',
      metadata: {
        namespace: 'ml',
        finalizers: [RESOURCE_IN_USE],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'train', uid: 'uid-train', controller: true }],
      },
      spec: { queueName: 'team-a', podSets: [{ name: 'main', count: 1 }] },
    })
    expect(action.workload.metadata.name).toMatch(/^pod-train-[0-9a-f]{5}$/)
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
    expect(kinds(single(managedPod({ gates: [], phase: 'Failed' })))).toEqual(['RemoveFinalizer'])
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

describe('a group', () => {
  it('waits until its last pod exists', () => {
    const unit = group(gang(2))
    expect(kinds(unit)).toEqual([])
    expect(decide(unit, NOW).standings).toHaveLength(2)
    expect(decide(unit, NOW).standings[0]).toMatchObject({
      reason: 'WaitingForPods',
      note: '2 of the 3 pods of group gang exist',
    })
  })

  it('becomes one Workload with a podSet per shape, owned by all its pods', () => {
    const pods = [member(0, { role: 'bbbb0000' }), member(1), member(2, { role: 'bbbb0000' })]
    const [action] = decide(group(pods), NOW).actions
    if (action?.kind !== 'CreateWorkload') throw new Error(`unexpected ${action?.kind}`)
    expect(action.workload.metadata.name).toBe('gang')
    expect(action.workload.spec.podSets.map(({ name, count }) => `${name}=${count}`)).toEqual([
      'bbbb0000=2',
      'dc85db45=1',
    ])
    expect(action.workload.metadata.ownerReferences?.map(owner => owner.name)).toEqual(['gang-0', 'gang-1', 'gang-2'])
    expect(action.workload.metadata.ownerReferences?.some(owner => owner.controller)).toBe(false)
  })

  it('does not count a pod that failed or is leaving before it ran', () => {
    expect(reasons(group([member(0), member(1), member(2, { phase: 'Failed', gates: [] })]))).toEqual([
      'gang-0: WaitingForPods',
      'gang-1: WaitingForPods',
    ])
    const leaving = group([member(0), member(1), member(2, { deleting: 30 })])
    expect(kinds(leaving)).toEqual(['RemoveFinalizer'])
    expect(reasons(leaving)).toEqual(['gang-0: WaitingForPods', 'gang-1: WaitingForPods'])
  })

  it.each([
    ['their queue', { queue: 'team-b' }, '"team-a" and "team-b"'],
    ['the size of the group', { count: 4 }, '"3" and "4"'],
  ])('is invalid, and says so on every pod, when its members differ in %s', (what, options, values) => {
    const { actions, standings } = decide(group([member(0), member(1), member(2, options)]), NOW)
    expect(actions).toEqual([])
    expect(standings).toHaveLength(3)
    for (const { reason, note } of standings) {
      expect(reason).toBe('InvalidGroup')
      expect(note).toContain('gang-0 and gang-2')
      expect(note).toContain(what)
      expect(note).toContain(values)
    }
  })

  it('is lifted together once it is admitted', () => {
    const pods = gang(3)
    expect(kinds(group(pods, workloadOf(pods, ADMITTED)))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
  })

  it('moves to another queue when all its pods name it, and no sooner', () => {
    const waiting = [{ ...holds('QuotaReserved', 'OverQueueLimits'), status: 'False' as const }]
    const workload = workloadOf(gang(3), waiting)
    const moved = gang(3, { queue: 'team-b' })
    expect(decide(group(moved, workload), NOW).actions).toEqual([
      {
        kind: 'SetQueue',
        workload: { namespace: 'ml', name: 'gang', uid: 'uid-gang' },
        resourceVersion: '200',
        queueName: 'team-b',
      },
    ])
    const [one, ...others] = gang(3)
    const halfway = group([member(0, { queue: 'team-b' }), ...others], workload)
    expect(kinds(halfway)).toEqual([])
    expect(reasons(halfway)).toEqual([`${one?.metadata.name}: InvalidGroup`])
  })

  it('stays in its queue once quota is reserved', () => {
    const moved = gang(3, { queue: 'team-b' })
    expect(kinds(group(moved, workloadOf(gang(3), [holds('QuotaReserved')])))).toEqual([])
  })

  it('never finishes when it serves', () => {
    const done = (marks: PodOptions) => [0, 1, 2].map(index => running(index, { phase: 'Succeeded', ...marks }))
    const serving = { annotations: { [GROUP_SERVING]: 'true' } }
    expect(kinds(group(done({}), workloadOf(gang(3), ADMITTED)))).toEqual(['SetStatus'])
    expect(kinds(group(done(serving), workloadOf(gang(3), ADMITTED)))).toEqual([])
  })

  it('is let go altogether when all of it is deleted, though a part of it had succeeded', () => {
    const succeeded = running(0, { phase: 'Succeeded', deleting: 0 })
    const pods = [succeeded, running(1, { deleting: 0 }), member(2, { deleting: 0 })]
    const unit = group(pods, workloadOf([member(0), member(1), member(2)], ADMITTED))
    expect(kinds(unit)).toEqual(['RemoveFinalizer', 'RemoveFinalizer', 'RemoveFinalizer'])
  })

  it('keeps a succeeded pod that is deleted for as long as another one may still run', () => {
    const pods = [running(0, { phase: 'Succeeded', deleting: 0 }), running(1), running(2)]
    expect(kinds(group(pods, workloadOf(gang(3), ADMITTED)))).toEqual([])
  })

  it('is not lifted at all when its admission contradicts one of its pods', () => {
    const pods = [member(0), withNodeSelector(member(1), { pool: 'cpu' }), member(2)]
    const workload = placed(workloadOf(pods, ADMITTED), { nodeSelector: { pool: 'gpu' } })
    expect(kinds(group(pods, workload))).toEqual(['SetStatus'])
  })

  it('goes on when the admission contradicts a replacement, which is told so and waits', () => {
    const pods = [running(0), running(1), withNodeSelector(member(2), { pool: 'cpu' })]
    const unit = group(pods, placed(workloadOf(pods, ADMITTED), { nodeSelector: { pool: 'gpu' } }))
    expect(kinds(unit)).toEqual([])
    expect(reasons(unit)).toEqual(['gang-2: LiftBlocked'])
  })

  it('goes on with the gates that are left after a crash in the middle', () => {
    const pods = gang(3)
    const workload = workloadOf(pods, ADMITTED)
    const { actions } = decide(group([running(0), member(1), member(2)], workload), NOW)
    expect(actions.map(action => ('pod' in action ? `${action.kind} ${action.pod.name}` : action.kind))).toEqual([
      'LiftGate gang-1',
      'LiftGate gang-2',
    ])
  })

  it('never lifts more pods of a shape than were admitted, and sends the newest away', () => {
    const pods = gang(3)
    const workload = workloadOf(pods, ADMITTED)
    const owners = [
      ...(workload.metadata.ownerReferences ?? []),
      { apiVersion: 'v1', kind: 'Pod', name: 'gang-3', uid: 'uid-gang-3' },
    ]
    const owned = { ...workload, metadata: { ...workload.metadata, ownerReferences: owners } }
    const unit = group([...pods, member(3)], owned)
    expect(kinds(unit)).toEqual(['LiftGate', 'LiftGate', 'LiftGate', 'DeletePod'])
    expect(reasons(unit)).toContain('gang-3: ExcessPod')
  })

  it('gives the place of a failed pod to its replacement, which becomes an owner first', () => {
    const pods = gang(3)
    const workload = workloadOf(pods, ADMITTED)
    const members = [
      running(0),
      running(1),
      running(2, { phase: 'Failed' }),
      member(9, { name: 'spare', uid: 'uid-spare' }),
    ]
    expect(kinds(group(members, workload))).toEqual(['AddOwners'])
    const owners = [
      ...(workload.metadata.ownerReferences ?? []),
      { apiVersion: 'v1', kind: 'Pod', name: 'spare', uid: 'uid-spare' },
    ]
    const adopted = { ...workload, metadata: { ...workload.metadata, ownerReferences: owners } }
    expect(decide(group(members, adopted), NOW).actions).toMatchObject([{ kind: 'LiftGate', pod: { name: 'spare' } }])
  })

  it('says on the Workload and on the failed pod that a replacement is wanted', () => {
    const workload = workloadOf(gang(3), ADMITTED)
    const unit = group([running(0), running(1), running(2, { phase: 'Failed' })], workload)
    const [action] = decide(unit, NOW).actions
    if (action?.kind !== 'SetStatus') throw new Error(`unexpected ${action?.kind}`)
    expect(action.status.conditions?.at(-1)).toMatchObject({ type: 'WaitingForReplacementPods', status: 'True' })
    expect(reasons(unit)).toEqual(['gang-2: WaitingForReplacement'])
  })

  it('finishes when all its pods have succeeded', () => {
    const workload = workloadOf(gang(3), ADMITTED)
    const pods = [0, 1, 2].map(index => running(index, { phase: 'Succeeded' }))
    const [action] = decide(group(pods, workload), NOW).actions
    if (action?.kind !== 'SetStatus') throw new Error(`unexpected ${action?.kind}`)
    expect(action.status.conditions?.at(-1)).toMatchObject({
      type: 'Finished',
      reason: 'Succeeded',
      message: 'Pods succeeded: 3/3.',
    })
    expect(kinds(group([running(0), ...pods.slice(1)], workload))).toEqual([])
  })

  it('has failed, not succeeded, when a pod that must not be retried failed', () => {
    const workload = workloadOf(gang(3), ADMITTED)
    const pods = [
      running(0, { phase: 'Succeeded' }),
      running(1, { phase: 'Succeeded' }),
      running(2, { phase: 'Failed', annotations: { [RETRIABLE_IN_GROUP]: 'false' } }),
    ]
    const [action] = decide(group(pods, workload), NOW).actions
    if (action?.kind !== 'SetStatus') throw new Error(`unexpected ${action?.kind}`)
    expect(action.status.conditions?.at(-1)).toMatchObject({
      type: 'Finished',
      reason: 'Failed',
      message: 'Pods succeeded: 2/3.',
    })
  })

  it('lets its pods go when it has finished, but not one that came too late', () => {
    const workload = workloadOf(gang(3), [...ADMITTED, holds('Finished', 'Succeeded')])
    const unit = group([...[0, 1, 2].map(index => running(index, { phase: 'Succeeded' })), member(3)], workload)
    expect(kinds(unit)).toEqual(['RemoveFinalizer', 'RemoveFinalizer', 'RemoveFinalizer', 'ReleaseWorkload'])
    expect(reasons(unit)).toEqual(['gang-3: Finished'])
  })

  it('refuses to take over a Workload of the same name that is no group', () => {
    const other = workloadOf([managedPod({ name: 'other' })], ADMITTED)
    const unit = group(gang(3), { ...other, metadata: { ...other.metadata, name: 'gang' } })
    expect(kinds(unit)).toEqual([])
    expect(reasons(unit)).toEqual(['gang-0: InvalidGroup', 'gang-1: InvalidGroup', 'gang-2: InvalidGroup'])
  })

  it('keeps a succeeded pod that was deleted until the group has finished, for it still counts', () => {
    const workload = workloadOf(gang(3), ADMITTED)
    const unit = group([running(0, { phase: 'Succeeded', deleting: 0 }), running(1), running(2)], workload)
    expect(kinds(unit)).toEqual([])
  })

  it('never touches gates or finalizers of others', () => {
    const pods = gang(3, { gates: ['example.com/a', ADMISSION_GATE], finalizers: ['example.com/f', MANAGED] })
    for (const action of decide(group(pods, workloadOf(pods, ADMITTED)), NOW).actions) {
      expect(JSON.stringify(action)).not.toContain('example.com')
    }
  })
})

describe('a Workload that loses its admission', () => {
  const pods = gang(3)
  const off = (workload: Workload): Workload => ({ ...workload, spec: { ...workload.spec, active: false } })
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

  it('waits again when it is active, and writes nothing more while it is not', () => {
    const withdrawn = { ...holds('QuotaReserved', 'Evicted', 'why'), status: 'False' as const }
    const refused = { ...holds('Admitted', 'Evicted', 'why'), status: 'False' as const }
    const gone = [withdrawn, refused, holds('Evicted', 'Deactivated', 'Workload gang was deactivated')]
    expect(kinds(group(gang(3), off(workloadOf(pods, gone))))).toEqual([])
    expect(conditionsAfter(group(gang(3), workloadOf(pods, gone)))).toMatchObject({ Evicted: 'False' })
  })
})

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

describe('a group in the dialect of KEP-976', () => {
  const kep = (name: string, role: string | undefined, annotations: Record<string, string>): Pod => {
    const pod = managedPod({ name, group: 'gang', annotations })
    const labels = { ...pod.metadata.labels, ...(role === undefined ? {} : { [GROUP_ROLE]: role }) }
    return { ...pod, metadata: { ...pod.metadata, labels } }
  }
  const podSets = (unit: Unit) => {
    const [action] = decide(unit, NOW).actions
    if (action?.kind !== 'CreateWorkload') throw new Error(`unexpected ${action?.kind}`)
    return action.workload.spec.podSets
  }
  const note = (unit: Unit) => decide(unit, NOW).standings[0]?.note

  it('waits for as many pods as pod-group-count says', () => {
    const pod = (index: number) => kep(`gang-${index}`, undefined, { [GROUP_COUNT]: '2' })
    expect(note(group([pod(0)]))).toBe('1 of the 2 pods of group gang exist')
    expect(podSets(group([pod(0), pod(1)])).map(({ count }) => count)).toEqual([2])
  })

  it('has a podSet per named role once every role is there in full', () => {
    const driver = kep('driver', 'driver', { [GROUP_ROLES]: '2' })
    const worker = (index: number) => kep(`w-${index}`, 'worker', { [GROUP_ROLES]: '2', [GROUP_ROLE_COUNT]: '2' })
    expect(note(group([driver]))).toBe('1 of the 2 roles of group gang have pods')
    expect(note(group([driver, worker(0)]))).toBe('1 of the 2 pods of role worker of group gang exist')
    const sets = podSets(group([driver, worker(0), worker(1)]))
    expect(sets.map(({ name, count }) => `${name}=${count}`)).toEqual(['driver=1', 'worker=2'])
  })

  it('refuses roles that contradict each other', () => {
    const worker = (index: number, count: string) =>
      kep(`w-${index}`, 'worker', { [GROUP_ROLES]: '2', [GROUP_ROLE_COUNT]: count })
    expect(note(group([worker(0, '2'), worker(1, '3')]))).toContain(
      'w-0 and w-1 differ in the size of role worker: 2 and 3',
    )
  })

  it('has the announced shapes before the workers exist, and gives each worker a place when it comes', () => {
    const sets = [
      { name: 'driver', count: 1 },
      { name: 'worker', count: 2, template: { spec: { containers: [{ name: 'w', image: 'i' }] } } },
    ]
    const driver = kep('driver', 'driver', { [GROUP_SETS]: JSON.stringify(sets) })
    const composed = podSets(group([driver]))
    expect(composed.map(({ name, count }) => `${name}=${count}`)).toEqual(['driver=1', 'worker=2'])
    expect(composed[0]?.template.spec).toBe(driver.spec)
    expect(composed[1]?.template.spec.containers?.[0]?.name).toBe('w')

    const workload = workloadOf([driver], ADMITTED)
    expect(kinds(group([driver], workload))).toEqual(['LiftGate'])
    const worker = kep('w-0', 'worker', {})
    expect(kinds(group([driver, worker], workload))).toEqual(['AddOwners'])
    const owners = [
      ...(workload.metadata.ownerReferences ?? []),
      { apiVersion: 'v1', kind: 'Pod', name: 'w-0', uid: 'uid-w-0' },
    ]
    const adopted = { ...workload, metadata: { ...workload.metadata, ownerReferences: owners } }
    expect(kinds(group([driver, worker], adopted))).toEqual(['LiftGate', 'LiftGate'])
  })
})
