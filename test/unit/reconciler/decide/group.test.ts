import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'
import {
  ADMISSION_GATE,
  CREATOR,
  GROUP_FAST_ADMISSION,
  GROUP_SERVING,
  MANAGED,
  RESOURCE_IN_USE,
  RETRIABLE_IN_GROUP,
} from '../../../../src/kube/vocabulary/names.ts'
import { managedPod, type PodOptions } from '../../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'

import {
  created,
  decide,
  gang,
  group,
  kinds,
  member,
  NOW,
  placed,
  reasons,
  running,
  withNodeSelector,
} from './fixtures.ts'

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
    const workload = created(action)
    expect(workload.metadata.name).toBe('gang')
    expect(workload.spec.podSets.map(({ name, count }) => `${name}=${count}`)).toEqual(['bbbb0000=2', 'dc85db45=1'])
    expect(workload.metadata.ownerReferences?.map(owner => owner.name)).toEqual(['gang-0', 'gang-1', 'gang-2'])
    expect(workload.metadata.ownerReferences?.some(owner => owner.controller)).toBe(false)
  })

  it('does not count a pod that failed or is leaving before it ran', () => {
    expect(
      reasons(group([member(0), member(1), member(2, { phase: 'Failed', gates: [], nodeName: 'node-1' })])),
    ).toEqual(['gang-0: WaitingForPods', 'gang-1: WaitingForPods'])
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
        resource: WORKLOADS,
        workload: { namespace: 'ml', name: 'gang', uid: 'uid-gang' },
        resourceVersion: '200',
        queueName: 'team-b',
        annotations: { 'muster.dev/queue-order': '102' },
      },
    ])
    const [one, ...others] = gang(3)
    const halfway = group([member(0, { queue: 'team-b' }), ...others], workload)
    expect(kinds(halfway)).toEqual([])
    const stays = others.map(({ metadata }) => `${metadata.name}: OverQueueLimits`)
    expect(reasons(halfway)).toEqual([...stays, `${one?.metadata.name}: InvalidGroup`])
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

  it('goes on without the pods of a stranger that contradict it, who is told', () => {
    const by = (creator: string): PodOptions => ({ annotations: { [CREATOR]: creator } })
    const own = gang(3, by('alice'))
    for (const other of [{ count: 99 }, { queue: 'elsewhere' }, { group: 'gang', count: 2 }]) {
      const stranger = member(9, { version: '101', ...by('mallory'), ...other })
      const { actions, standings } = decide(group([own[0], stranger, own[1], own[2]].flatMap(pod => pod ?? [])), NOW)
      expect(created(actions[0]).spec.podSets).toMatchObject([{ count: 3 }])
      expect(standings).toEqual([
        { pod: stranger, reason: 'InvalidGroup', note: expect.stringContaining('the others came first') },
      ])
    }
  })

  it('is wrong as a whole when one hand contradicts itself, or the first pod is the stranger’s', () => {
    const by = (creator: string): PodOptions => ({ annotations: { [CREATOR]: creator } })
    const same = [...gang(2, by('alice')), member(9, { ...by('alice'), count: 99 })]
    expect(decide(group(same), NOW)).toMatchObject({ actions: [], standings: [{}, {}, { reason: 'InvalidGroup' }] })
    const later = [member(9, { version: '1', ...by('mallory'), count: 99 }), ...gang(3, by('alice'))]
    expect(decide(group(later), NOW).actions).toEqual([])
  })

  it('is told whose name it has taken', () => {
    const unit = { ...group(gang(3)), namesake: workloadOf([managedPod()]) }
    expect(decide(unit, NOW)).toMatchObject({ actions: [], standings: [{ reason: 'InvalidGroup' }, {}, {}] })
  })

  it('gives back what its Workload holds when it is deleted and another’s finalizer keeps it', () => {
    const held = workloadOf(gang(3), ADMITTED)
    const deletionTimestamp = NOW
    const metadata = { ...held.metadata, deletionTimestamp, finalizers: ['example.com/mine', RESOURCE_IN_USE] }
    const deleted = { ...held, metadata }
    expect(decide(group([], deleted), NOW).actions).toMatchObject([
      { kind: 'SetStatus', status: { conditions: [{}, {}, { type: 'Finished', reason: 'Deleted' }] } },
    ])
    const ended = {
      ...deleted,
      status: { conditions: [...ADMITTED, holds('Finished', 'Deleted', 'it was deleted, and its pods have stopped')] },
    }
    expect(kinds(group([], ended))).toEqual(['ReleaseWorkload'])
  })

  it('is not lifted at all when its admission contradicts one of its pods', () => {
    const pods = [member(0), withNodeSelector(member(1), { pool: 'cpu' }), member(2)]
    const workload = placed(workloadOf(pods, ADMITTED), { nodeSelector: { pool: 'gpu' } })
    expect(kinds(group(pods, workload))).toEqual(['SetStatus'])
  })

  it('is not ended by a stranger who takes a place that was admitted ahead, but by whoever made the first pod', () => {
    const of = (creator: string) => ({ annotations: { [GROUP_FAST_ADMISSION]: 'true', [CREATOR]: creator } })
    const second = (creator: string) => [
      member(0, of('alice')),
      withNodeSelector(member(1, of(creator)), { pool: 'cpu' }),
    ]
    const unit = (creator: string) =>
      group(second(creator), placed(workloadOf(second(creator), ADMITTED), { nodeSelector: { pool: 'gpu' } }))
    expect(kinds(unit('alice'))).toEqual(['SetStatus'])
    expect(reasons(unit('mallory'))).toEqual(['gang-0: Lifting', 'gang-1: LiftBlocked'])
    expect(decide(unit('mallory'), NOW).actions).toMatchObject([{ kind: 'LiftGate', pod: { name: 'gang-0' } }])
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
    const unit = group([...pods, member(3, { created: '2026-11-16T10:00:05Z' })], owned)
    expect(kinds(unit)).toEqual(['LiftGate', 'LiftGate', 'LiftGate', 'WhileSeated'])
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
