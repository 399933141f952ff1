import { describe, expect, it } from 'vitest'
import type { KueueWorkload } from '../../../../src/engines/kueue/objects.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { decide } from '../../../../src/reconciler/decide.ts'
import type { Unit } from '../../../../src/reconciler/unit.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import type { Action } from '../../../../src/workload/actions.ts'
import { managedPod } from '../../../support/pods.ts'
import { gang, group, member, running, single } from '../../reconciler/decide/fixtures.ts'
import { errorsOf, podOf, requestOf, worldOf } from '../../webhooks/pods/fixtures.ts'
import { admission, engineWith, is, NOW, stored } from './fixtures.ts'

const engine = engineWith()
const actionsFor = (unit: Unit): readonly Action[] => decide(unit, engine, NOW).actions
const ends = (unit: Unit): readonly string[] =>
  actionsFor(unit).flatMap(action =>
    action.kind === 'SetStatus'
      ? (action.status.conditions ?? []).filter(({ type }) => type === 'Finished').map(({ reason }) => reason)
      : [],
  )

/** By their numbers in docs/kueue.md, as far as one of Kueue's Workloads is needed to show them. */
describe("the weaknesses of Kueue's own pod integration", () => {
  describe('G9: the quota of what is deleted', () => {
    const on = { gates: [], phase: 'Running', nodeName: 'node-1' }
    const workload = admission(stored(engine, [managedPod()]), {})

    it('is held by a single pod until its containers have stopped, and no longer', () => {
      expect(actionsFor(single(managedPod({ ...on, deleting: 30 }), workload))).toEqual([])
      const stopped = managedPod({ ...on, deleting: 0 })
      expect(actionsFor(single(stopped, workload))).toMatchObject([{ kind: 'RemoveFinalizer' }])
    })

    it('is held by a group until the last of its pods has stopped, whatever their grace period', () => {
      const held = admission(stored(engine, gang(3)), {})
      const evicted: KueueWorkload = {
        ...held,
        status: {
          ...held.status,
          conditions: [...(held.status?.conditions ?? []), is('Evicted', 'True', 'Preempted')],
        },
      }
      expect(actionsFor(group([running(0, { deleting: 3600 })], evicted))).toEqual([])
      const [given] = actionsFor(group([member(0)], evicted))
      expect(given).toMatchObject({ kind: 'SetStatus', status: { admission: null } })
    })
  })

  describe('G15: the end of a group', () => {
    const workload = admission(stored(engine, gang(3)), {})
    const done = (index: number, phase: 'Succeeded' | 'Failed') => final(running(index, { phase }))

    it('is a failure if a pod failed that nobody replaces', () => {
      expect(ends(group([done(0, 'Succeeded'), done(1, 'Succeeded'), done(2, 'Failed')], workload))).toEqual(['Failed'])
    })

    it('is a success if all have succeeded', () => {
      const all = [done(0, 'Succeeded'), done(1, 'Succeeded'), done(2, 'Succeeded')]
      expect(ends(group(all, workload))).toEqual(['Succeeded'])
    })
  })

  it('G21: nobody is lifted where two flavors contradict each other, in whatever order they come', () => {
    for (const flavors of [
      { cpu: 'spot', memory: 'elsewhere' },
      { cpu: 'elsewhere', memory: 'spot' },
    ]) {
      const { actions, standings } = decide(
        single(managedPod(), admission(stored(engine, [managedPod()]), flavors)),
        engine,
        NOW,
      )
      expect(actions.map(({ kind }) => kind)).not.toContain('LiftGate')
      expect(JSON.stringify([actions, standings])).toContain('conflict for nodeSelector')
    }
  })

  it.each([
    ['podset', { labels: { 'queue-name': 'q', podset: 'main' } }],
    ['local-queue-name', { labels: { 'queue-name': 'q', 'local-queue-name': 'other' } }],
    ['cluster-queue-name', { labels: { 'queue-name': 'q', 'cluster-queue-name': 'other' } }],
    ['workload', { labels: { 'queue-name': 'q' }, annotations: { workload: 'other' } }],
  ])('G22: a new pod with the mark %s of a lifted one is refused, and kills no Workload later', (mark, options) => {
    const pod = podOf(options)
    const verdicts = [reviewPodMutation(requestOf(pod), worldOf()), reviewPodValidation(requestOf(pod), worldOf())]
    expect(JSON.stringify(verdicts.flatMap(errorsOf))).toContain(`kueue.x-k8s.io/${mark}`)
  })

  it('G23: a group whose name is taken by any Workload is told so, and by which', () => {
    const job: KueueWorkload = { metadata: { name: 'gang', namespace: 'ml' }, spec: { queueName: 'q', podSets: [] } }
    const { actions, standings } = decide({ ...group(gang(3)), namesake: job }, engine, NOW)
    expect(actions).toEqual([])
    expect(standings).toHaveLength(3)
    for (const { reason, note } of standings) {
      expect(reason).toBe('InvalidGroup')
      expect(note).toContain('the name gang belongs to a Workload that is no group')
    }
  })
})

/** It will not be tried again. */
function final(pod: Pod): Pod {
  const annotations = { ...pod.metadata.annotations, 'kueue.x-k8s.io/retriable-in-group': 'false' }
  return { ...pod, metadata: { ...pod.metadata, annotations } }
}
