import { describe, expect, it, vi } from 'vitest'
import { kueueEngine } from '../../../../src/engines/kueue/kueue.ts'
import type { KueueWorkload } from '../../../../src/engines/kueue/objects.ts'
import type { Resource, WatchOptions } from '../../../../src/kube/vocabulary/api.ts'
import type { Condition, Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { POD_OUTLINE } from '../../../../src/reconciler/cache-contents.ts'
import { Caches } from '../../../../src/reconciler/caches.ts'
import { decide } from '../../../../src/reconciler/decide.ts'
import { type Unit, unitFrom, unitKeyOf } from '../../../../src/reconciler/unit.ts'
import { createMetrics } from '../../../../src/server/metrics.ts'
import type { Action } from '../../../../src/workload/actions.ts'
import { ownerReference } from '../../../../src/workload/compose.ts'
import { isMarkedManaged } from '../../../../src/workload/pod-facts.ts'
import { recordingLog } from '../../../support/logs.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { MemoryApi } from '../../../support/memory-api.ts'
import { nobody } from '../../../support/observers.ts'
import { managedPod } from '../../../support/pods.ts'
import { recordsOf } from '../../../support/records.ts'
import { gang, group, member, running, single } from '../../reconciler/decide/fixtures.ts'
import { admission, engineWith, is, NOW, stored } from './fixtures.ts'

const engine = engineWith()
const actionsFor = (unit: Unit): readonly Action[] => decide(unit, engine, NOW).actions
const kindsFor = (unit: Unit): readonly string[] => actionsFor(unit).map(({ kind }) => kind)
/** Admitted, for these pods and in their names. */
const held = (pods: readonly Pod[], ...more: readonly Condition[]): KueueWorkload => {
  const workload = admission(stored(engine, pods), {})
  return {
    ...workload,
    status: { ...workload.status, conditions: [...(workload.status?.conditions ?? []), ...more] },
  }
}
const labelled = (pod: Pod, labels: Readonly<Record<string, string>>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
})
const ends = (unit: Unit): readonly string[] =>
  actionsFor(unit).flatMap(action =>
    action.kind === 'SetStatus'
      ? (action.status.conditions ?? []).filter(({ type }) => type === 'Finished').map(({ reason }) => reason)
      : [],
  )

/** By their numbers in docs/kueue.md, as far as one of Kueue's Workloads is needed to show them. */
describe("the weaknesses of Kueue's own pod integration", () => {
  it('G5: lifted members of a group that is not admitted are stopped, also while another one waits', () => {
    const evicted = held(gang(3), is('Evicted', 'True', 'Preempted'))
    expect(kindsFor(group([running(0), running(1), member(2)], evicted))).toEqual(['DeletePod', 'DeletePod'])
    expect(kindsFor(group(gang(3), stored(engine, gang(3))))).not.toContain('LiftGate')
  })

  describe('G9: the quota of what is deleted', () => {
    const on = { gates: [], phase: 'Running', nodeName: 'node-1' }
    const workload = admission(stored(engine, [managedPod()]), {})

    it('is held by a single pod until its containers have stopped, and no longer', () => {
      expect(actionsFor(single(managedPod({ ...on, deleting: 30 }), workload))).toEqual([])
      const stopped = managedPod({ ...on, deleting: 0 })
      expect(actionsFor(single(stopped, workload))).toMatchObject([{ kind: 'RemoveFinalizer' }])
    })

    it('is held by a group until the last of its pods has stopped, whatever their grace period', () => {
      const evicted = held(gang(3), is('Evicted', 'True', 'Preempted'))
      expect(actionsFor(group([running(0, { deleting: 3600 })], evicted))).toEqual([])
      const [given] = actionsFor(group([member(0)], evicted))
      expect(given).toMatchObject({ kind: 'SetStatus', status: { admission: null } })
    })
  })

  it('G10: who is deleted is let go, whatever became of his queue, his namespace and his Workload', () => {
    const pod = managedPod({ deleting: 0, queue: '', annotations: { 'muster.dev/creator': 'abc' } })
    const outside = unitFrom(
      unitKeyOf(pod),
      recordsOf([pod], [], () => false),
    )
    for (const unit of [single(pod), outside]) expect(kindsFor(unit)).toEqual(['RemoveFinalizer'])
  })

  it('G11: a group goes when all its pods are deleted, without successors', () => {
    const gone = gang(3).map((_, index) => running(index, { deleting: 0 }))
    expect(kindsFor(group(gone, held(gang(3))))).toEqual(Array(3).fill('RemoveFinalizer'))
  })

  it.each([
    ['two queues', [member(0), member(1), member(2, { queue: 'team-b' })]],
    ['two sizes', [member(0), member(1), member(2, { count: 4 })]],
    ['19 roles', Array.from({ length: 19 }, (_, index) => member(index, { count: 19, role: `${10_000_000 + index}` }))],
  ])('G12: whoever waits in a group with %s is told so', (_, pods) => {
    const { actions, standings } = decide(group(pods), engine, NOW)
    expect(actions).toEqual([])
    expect(standings.map(({ pod, reason }) => `${pod.metadata.name} ${reason}`)).toEqual(
      pods.map(({ metadata }) => `${metadata.name} InvalidGroup`),
    )
  })

  it('G12: who has a role that his group does not have is told so', () => {
    const { standings } = decide(group([...gang(3), member(3, { role: 'ffffffff' })], held(gang(3))), engine, NOW)
    expect(standings).toContainEqual(
      expect.objectContaining({ reason: 'InvalidGroup', note: expect.stringMatching(/shape/) }),
    )
  })

  it('G14: a failure frees its place for the first successor, whatever its kubelet calls it', () => {
    const pods = [running(0, { phase: 'Failed' }), running(1), running(2), member(3), member(4)]
    const workload = held(gang(3))
    const ownerReferences = pods.map(pod => ownerReference(pod, 'group'))
    const owned = { ...workload, metadata: { ...workload.metadata, ownerReferences } }
    const lifts = actionsFor(group(pods, owned)).flatMap(action =>
      action.kind === 'LiftGate' ? [action.pod.name] : [],
    )
    expect(lifts).toEqual(['gang-3'])
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

  it('G16: a group that ends unevenly stays ready', () => {
    const waits = kueueEngine('v1beta2', { waitsForPodsReady: true })
    const ready = held(gang(3), is('PodsReady', 'True', 'Started'))
    const up = (pod: Pod): Pod => ({ ...pod, status: { ...pod.status, ready: true } })
    const pods = [up(running(0)), up(running(1)), running(2, { phase: 'Succeeded' })]
    expect(JSON.stringify(decide(group(pods, ready), waits, NOW).actions)).not.toContain('PodsReady')
  })

  it('G17: the oldest pod speaks for the group, in whatever order they are listed', () => {
    const labels = (index: number) => ({ 'kueue.x-k8s.io/max-exec-time-seconds': String(index + 1) })
    const pods = [2, 0, 1].map(index =>
      labelled(member(index, { created: `2026-11-16T10:00:0${index}Z` }), labels(index)),
    )
    for (const listed of [pods, pods.toReversed()]) {
      const { actions } = decide(unitFrom('group/ml/gang', recordsOf(listed)), engine, NOW)
      expect(actions).toMatchObject([{ kind: 'EnsureObject', wanted: { spec: { maximumExecutionTimeSeconds: 1 } } }])
    }
  })

  it('G18: whoever is not managed is no member', () => {
    const { labels, ...rest } = member(3).metadata
    const stranger = { ...member(3), metadata: { ...rest, labels: { ...labels, 'kueue.x-k8s.io/managed': 'false' } } }
    expect(isMarkedManaged(stranger)).toBe(false)
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

  it('G24: only managed pods are read, and no more of them than decides', async () => {
    const asked: WatchOptions[] = []
    const api = new MemoryApi()
    api.watch = (_resource?: Resource, query: WatchOptions = {}) => {
      asked.push(query)
      throw new Error('that was all')
    }
    const clock = new ManualClock()
    const { pods } = new Caches({ api, clock, random: () => 0, log: recordingLog(), observer: nobody }, engine)
    pods.start()
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    expect(asked).toMatchObject([{ labelSelector: 'kueue.x-k8s.io/managed=true', outline: POD_OUTLINE }])
  })

  it('G25: how many pods wait, and why, and what became of reviews and lifts are figures', async () => {
    const text = await createMetrics({ version: 'test', processMetrics: false }).registry.metrics()
    for (const name of [
      'waiting_pods',
      'actions_total',
      'webhook_requests_total',
      'pod_scheduling_gate_removal_seconds',
    ]) {
      expect(text).toContain(`# TYPE muster_${name} `)
    }
  })
})

/** It will not be tried again. */
function final(pod: Pod): Pod {
  const annotations = { ...pod.metadata.annotations, 'kueue.x-k8s.io/retriable-in-group': 'false' }
  return { ...pod, metadata: { ...pod.metadata, annotations } }
}
