import { describe, expect, it } from 'vitest'
import { GROUP_SERVING, RETRIABLE_IN_GROUP } from '../../../../src/kube/vocabulary/names.ts'
import type { Pod, PodStatus } from '../../../../src/kube/vocabulary/objects.ts'
import { podForCache } from '../../../../src/reconciler/cache-contents.ts'
import { ownerReference } from '../../../../src/workload/compose.ts'
import { managedPod } from '../../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'

import { decide, gang, group, kinds, member, NOW, running, single } from './fixtures.ts'

const withStatus = (pod: Pod, status: PodStatus): Pod => ({ ...pod, status })
const state = (name: 'running' | 'terminated' | 'waiting') => ({ name: 'c', state: { [name]: {} } })
const gone = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' }

const ENDS: readonly (readonly [string, PodStatus])[] = [
  ['its containers have terminated', { phase: 'Succeeded', containerStatuses: [state('terminated')] }],
  [
    'an init container failed',
    { phase: 'Failed', initContainerStatuses: [state('terminated')], containerStatuses: [state('waiting')] },
  ],
  ['the kubelet evicted it before it ran', { phase: 'Failed', reason: 'Evicted' }],
  ['the kubelet did not take it', { phase: 'Failed', reason: 'OutOfcpu', containerStatuses: [] }],
  ['its node is gone', { phase: 'Failed', conditions: [gone], containerStatuses: [state('running')] }],
]
const CLAIMS: readonly (readonly [string, PodStatus])[] = [
  ['a container runs', { phase: 'Succeeded', containerStatuses: [state('terminated'), state('running')] }],
  [
    'a sidecar runs',
    {
      phase: 'Failed',
      reason: 'Evicted',
      initContainerStatuses: [state('running')],
      containerStatuses: [state('terminated')],
    },
  ],
  [
    'a debugger runs',
    { phase: 'Failed', ephemeralContainerStatuses: [state('running')], containerStatuses: [state('terminated')] },
  ],
  ['nothing is known of its containers', { phase: 'Succeeded', reason: 'Done' }],
  ['nobody says why it failed', { phase: 'Failed' }],
  [
    'somebody evicts it for another reason',
    {
      phase: 'Failed',
      conditions: [{ ...gone, reason: 'PreemptionByScheduler' }],
      containerStatuses: [state('running')],
    },
  ],
]

describe('a pod has ended', () => {
  const pod = managedPod({ gates: [], nodeName: 'node-1' })
  const workload = workloadOf([pod], ADMITTED)

  it.each(ENDS)('when %s', (_, status) => {
    for (const ended of [withStatus(pod, status), podForCache(withStatus(pod, status))]) {
      expect(decide(single(ended, workload), NOW).actions).toMatchObject([
        { status: { conditions: [{}, {}, { type: 'Finished' }] } },
      ])
    }
  })

  it.each(CLAIMS)('not when it says so and %s', (_, status) => {
    for (const claiming of [withStatus(pod, status), podForCache(withStatus(pod, status))]) {
      expect(decide(single(claiming, workload), NOW).actions).toEqual([])
      const deleted = { ...workload, metadata: { ...workload.metadata, deletionTimestamp: NOW } }
      expect(kinds(single(claiming, deleted))).toEqual(['DeletePod'])
    }
  })

  it('not when it says so before it was on a node', () => {
    const unscheduled = managedPod({ gates: [], phase: 'Failed' })
    expect(kinds(single(unscheduled, workloadOf([unscheduled], ADMITTED)))).toEqual([])
  })
})

describe('a forged end of a member', () => {
  const forged = withStatus(running(2), { phase: 'Failed', containerStatuses: [state('running')] })
  const workload = workloadOf(gang(3), ADMITTED)

  it('frees no place', () => {
    const spare = member(9, { name: 'spare', uid: 'uid-spare' })
    expect(kinds(group([running(0), running(1), forged, spare], workload))).toEqual([])
    expect(kinds(group([running(0), running(1), running(2, { phase: 'Failed' }), spare], workload))).toEqual([
      'AddOwners',
    ])
  })

  it('does not end the group', () => {
    const succeeded = withStatus(running(2), { phase: 'Succeeded', containerStatuses: [state('running')] })
    const done = [0, 1].map(index => running(index, { phase: 'Succeeded' }))
    expect(kinds(group([...done, succeeded], workload))).toEqual([])
    const last = {
      ...forged,
      metadata: { ...forged.metadata, annotations: { ...forged.metadata.annotations, [RETRIABLE_IN_GROUP]: 'false' } },
    }
    expect(kinds(group([...done, last], workload))).toEqual([])
  })

  it('does not let a deleted pod go that still stops', () => {
    const { metadata } = running(2, { deleting: 3600 })
    expect(kinds(group([running(0), running(1), { ...forged, metadata }], workload))).toEqual([])
  })
})

describe('a stranger behind the gate', () => {
  const workload = workloadOf(gang(3), ADMITTED)
  const stranger = (options = {}) => member(7, { role: 'ffffffff', ...options })
  const lifted = [0, 1, 2].map(index => running(index))
  const failed = [0, 1].map(index => running(index, { phase: 'Succeeded' }))

  it.each([
    ['says that it has succeeded', stranger({ phase: 'Succeeded' })],
    ['has a place and says that it has succeeded', member(7, { phase: 'Succeeded' })],
    [
      'says that it has failed and must not be retried',
      stranger({ phase: 'Failed', annotations: { [RETRIABLE_IN_GROUP]: 'false' } }),
    ],
  ])('ends nobody’s group when it %s', (_, pod) => {
    expect(kinds(group([...lifted, pod], workload))).toEqual([])
    expect(kinds(group([...failed, pod], workload))).not.toContain('LiftGate')
    const [action] = decide(group([...failed, pod], workload), NOW).actions
    expect(JSON.stringify(action)).not.toContain('Finished')
  })

  it('keeps nobody’s group from its end', () => {
    const noRetry = running(2, { phase: 'Failed', annotations: { [RETRIABLE_IN_GROUP]: 'false' } })
    const serving = stranger({ annotations: { [GROUP_SERVING]: 'true' } })
    for (const pods of [
      [...failed, noRetry],
      [...failed, running(2, { phase: 'Succeeded' })],
    ]) {
      const [action] = decide(group([...pods, serving], workload), NOW).actions
      expect(JSON.stringify(action)).toContain('Finished')
    }
  })

  it('keeps nobody’s pods from leaving when their group is given up', () => {
    const done = running(0, { phase: 'Succeeded', deleting: 0 })
    const given = decide(group([done, stranger()], workload), NOW).actions
    expect(given).toContainEqual({ kind: 'RemoveFinalizer', pod: expect.objectContaining({ name: 'gang-0' }) })
    expect(given).not.toContainEqual({ kind: 'RemoveFinalizer', pod: expect.objectContaining({ name: 'gang-7' }) })
    // One that has a place is what the group waits for.
    expect(kinds(group([done, member(7)], workload))).not.toContain('RemoveFinalizer')
  })

  it('takes no place of those who are given up before they are gone', () => {
    const next = ownerReference(member(3), 'group')
    const ownerReferences = [...(workload.metadata.ownerReferences ?? []), next]
    const full = { ...workload, metadata: { ...workload.metadata, ownerReferences } }
    const done = [0, 1, 2].map(index => running(index, { phase: 'Succeeded', deleting: 0 }))
    const given = decide(group([...done, member(3)], full), NOW)
    expect(given.actions.filter(({ kind }) => kind === 'RemoveFinalizer')).toHaveLength(3)
    expect(given.actions.map(({ kind }) => kind)).not.toContain('LiftGate')
    expect(given.standings.map(({ reason }) => reason)).not.toContain('Lifting')
    expect(kinds(group([member(3)], full))).toContain('LiftGate')
    // Who never started has used none up, whatever he says.
    const forged = member(0, { phase: 'Succeeded', deleting: 0 })
    expect(kinds(group([forged, member(3)], full))).toContain('LiftGate')
  })

  it('is let go at once when it is deleted, whatever it says', () => {
    expect(kinds(group([...lifted, stranger({ phase: 'Succeeded', deleting: 0 })], workload))).toEqual([
      'RemoveFinalizer',
    ])
  })

  it('does not own the Workload', () => {
    const kept = {
      ...workload,
      metadata: { ...workload.metadata, ownerReferences: workload.metadata.ownerReferences?.slice(0, 2) ?? [] },
    }
    const [action] = decide(group([...lifted, stranger()], kept), NOW).actions
    if (action?.kind !== 'AddOwners') throw new Error(`unexpected ${action?.kind}`)
    expect(action.ownerReferences.map(({ name }) => name)).toEqual(['gang-0', 'gang-1', 'gang-2'])
  })
})

describe('a Workload without pods', () => {
  const workload = workloadOf(gang(3), ADMITTED)
  const orphaned = { ...workload, metadata: { ...workload.metadata, ownerReferences: [] } }

  it('is ended, and then deleted', () => {
    const [end] = decide(group([], orphaned), NOW).actions
    expect(end).toMatchObject({
      kind: 'SetStatus',
      status: { conditions: [{}, {}, { type: 'Finished', reason: 'Abandoned' }] },
    })
    const finished = { ...orphaned, status: { conditions: [...ADMITTED, holds('Finished', 'Abandoned')] } }
    expect(kinds(group([], finished))).toEqual(['ReleaseWorkload', 'DeleteWorkload'])
    expect(kinds(group(gang(3), finished))).toEqual(['ReleaseWorkload', 'DeleteWorkload'])
  })

  it('is not ended while one of its pods may run in a namespace that was left out', () => {
    expect(kinds({ ...group([], orphaned), outside: [running(0)] })).toEqual([])
    expect(kinds({ ...group([], orphaned), outside: [member(0)] })).toEqual(['SetStatus'])
  })

  it('is left to the garbage collector while it has owners that may only be unknown yet', () => {
    expect(kinds(group([], workload))).toEqual([])
  })

  it('is ended when all its pods have joined others', () => {
    const single = workloadOf([managedPod()])
    const unit = { ...group([], undefined), kind: 'single' as const, orphans: [single] }
    expect(kinds(unit)).toEqual([])
    expect(kinds({ ...unit, elsewhere: new Set(['uid-train']) })).toEqual(['SetStatus'])
  })

  it('has its pods again where they still stop', () => {
    const stopping = [0, 1, 2].map(index => running(index, { deleting: 30 }))
    expect(kinds(group(stopping, orphaned))).toEqual(['AddOwners'])
    const pod = managedPod({ gates: [], nodeName: 'node-1', deleting: 30 })
    const own = workloadOf([pod], ADMITTED)
    const [action] = decide(single(pod, { ...own, metadata: { ...own.metadata, ownerReferences: [] } }), NOW).actions
    expect(action).toMatchObject({ kind: 'AddOwners', ownerReferences: [{ name: 'train', controller: true }] })
  })
})
