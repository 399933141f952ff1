import { describe, expect, it } from 'vitest'
import { CREATOR, GROUP_NAME } from '../../../../src/kube/vocabulary/names.ts'
import { controllerStamp } from '../../../../src/workload/creator.ts'
import type { PodOptions } from '../../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../../support/workloads.ts'

import { decide, gang, group, member, NOW, reasons } from './fixtures.ts'

const LATER = '2026-11-16T10:00:05Z'
const by = (creator: string): PodOptions => ({ annotations: { [CREATOR]: creator } })

describe('a group with more pods than it declares', () => {
  const reserved = { ...holds('QuotaReserved', 'OverQueueLimits', 'full'), status: 'False' as const }

  it('sends those away that come too late before it is admitted, and tells them', () => {
    const unit = group([...gang(3), member(3, { created: LATER })], workloadOf(gang(3), [reserved]))
    expect(decide(unit, NOW).actions).toMatchObject([
      {
        ...{ kind: 'WhileSeated', labelSelector: `${GROUP_NAME}=gang` },
        seated: [{ uid: 'uid-gang-0' }, { uid: 'uid-gang-1' }, { uid: 'uid-gang-2' }],
        actions: [{ kind: 'DeletePod', pod: { name: 'gang-3' } }],
      },
    ])
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
      expect(actions.map(({ kind }) => kind)).not.toContain('WhileSeated')
      const told = standings.find(({ pod }) => pod === surplus)
      expect(told).toMatchObject({ reason: 'ExcessPod', note: expect.stringContaining('is not deleted') })
    }
  })

  it('keeps as many as there are who leave, for their places, and gives them these when they are free', () => {
    const running = { gates: [], nodeName: 'node-1', phase: 'Running' as const }
    const [first, second] = [member(0, running), member(1, running)]
    const leaving = member(2, { ...running, deleting: 1 })
    const [next, surplus] = [member(3, { created: LATER }), member(4, { created: LATER })]
    const workload = workloadOf([first, second, leaving], ADMITTED)
    const unit = group([first, second, leaving, next, surplus], workload)
    const { actions, standings } = decide(unit, NOW)
    expect(actions).toMatchObject([{ actions: [{ kind: 'DeletePod', pod: { name: 'gang-4' } }] }])
    const noteOf = (pod: typeof next) => standings.find(standing => standing.pod === pod)?.note
    expect(noteOf(next)).toContain('takes the place of one that is being deleted')
    const without = [first, second, next]
    expect(decide(group(without, workloadOf(without, ADMITTED)), NOW).actions).toContainEqual(
      expect.objectContaining({ kind: 'LiftGate', pod: expect.objectContaining({ name: 'gang-3' }) }),
    )
  })

  it('keeps nobody for a place that was used up: who has succeeded and is deleted leaves none', () => {
    const running = { gates: [], nodeName: 'node-1', phase: 'Running' as const }
    const done = member(2, { ...running, phase: 'Succeeded', deleting: 1 })
    const members = [member(0, running), member(1, running), done]
    const late = member(3, { created: LATER })
    const { actions } = decide(group([...members, late], workloadOf(members, ADMITTED)), NOW)
    expect(actions).toContainEqual(
      expect.objectContaining({
        actions: [expect.objectContaining({ pod: expect.objectContaining({ name: 'gang-3' }) })],
      }),
    )
  })

  it('keeps what a controller made, which would only make another', () => {
    const made = by(controllerStamp('job-controller', 'uid-of-ml', 'uid-of-job'))
    const unit = group(
      [...gang(3, made), member(3, { created: LATER, ...made })],
      workloadOf(gang(3, made), [reserved]),
    )
    expect(decide(unit, NOW).actions).toEqual([])
    expect(reasons(unit)).toContain('gang-3: ExcessPod')
  })

  it('deletes nothing of a role in which a stranger has taken a place', () => {
    const taken = [...gang(2, by('alice')), member(2, by('mallory'))]
    const late = member(3, { created: LATER, ...by('alice') })
    expect(decide(group([...taken, late], workloadOf(taken, ADMITTED)), NOW).actions).not.toContainEqual(
      expect.objectContaining({ kind: 'WhileSeated' }),
    )
  })

  it('gives a place to whoever made the first pod before a stranger who came earlier', () => {
    const [first, second] = [member(0, by('alice')), member(1, by('alice'))]
    const stranger = member(2, { version: '101', ...by('mallory') })
    const own = member(3, { version: '109', ...by('alice') })
    const { actions } = decide(group([first, second, stranger, own], workloadOf([first, second, own], ADMITTED)), NOW)
    const lifted = actions.flatMap(action => (action.kind === 'LiftGate' ? [action.pod.name] : []))
    expect(lifted).toEqual(['gang-0', 'gang-1', 'gang-3'])
  })

  it('deletes none of the pods whose name a stranger took first, and all that the stranger adds', () => {
    const taken = gang(3, by('mallory'))
    const rightful = [3, 4, 5].map(index => member(index, { created: LATER, ...by('alice') }))
    const more = member(6, { created: LATER, ...by('mallory') })
    const { actions } = decide(group([...taken, ...rightful, more], workloadOf(taken, [reserved])), NOW)
    expect(actions).toMatchObject([{ actions: [{ kind: 'DeletePod', pod: { name: 'gang-6' } }] }])
  })
})
