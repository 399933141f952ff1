import { describe, expect, it } from 'vitest'
import { kaiCoScheduler } from '../../../../src/coscheduling/kai/co-scheduler.ts'
import { podGroupName } from '../../../../src/coscheduling/kai/naming.ts'
import type { KaiPodGroup } from '../../../../src/coscheduling/kai/objects.ts'
import { KAI_POD_GROUPS } from '../../../../src/kube/vocabulary/kai.ts'
import type { KubeObject, Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { outlined } from '../../../../src/kube/vocabulary/outline.ts'
import { NOTHING_SERVED } from '../../../../src/kube/vocabulary/served-scheduling.ts'
import { POD_OUTLINE, podForCache } from '../../../../src/reconciler/cache-contents.ts'
import type { Admission } from '../../../../src/reconciler/co-scheduler.ts'
import { podGroupNameFor } from '../../../../src/workload/placement.ts'

const NAME = podGroupNameFor('ml', 'gang')
const WORKLOADS = { group: 'muster.dev', version: 'v1alpha1', plural: 'workloads', kind: 'Workload', namespaced: true }

interface MemberChange {
  readonly link?: string
  readonly nodeName?: string
  readonly phase?: string
  readonly labels?: object
  readonly spec?: object
}

/** As it comes out of the cache: no decision is made on anything else. */
const member = (name: string, change: MemberChange = {}): Pod =>
  podForCache(outlined(created(name, change), POD_OUTLINE) as Pod)

const created = (name: string, change: MemberChange): Pod => ({
  metadata: {
    name,
    namespace: 'ml',
    uid: name,
    labels: {
      'kueue.x-k8s.io/managed': 'true',
      'kueue.x-k8s.io/pod-group-name': 'gang',
      'muster.dev/pod-group': 'group',
      'kai.scheduler/queue': 'team-a',
      ...change.labels,
    },
    annotations: { 'pod-group-name': change.link ?? NAME, 'kueue.x-k8s.io/pod-group-total-count': '4' },
  },
  spec: {
    schedulerName: 'kai-scheduler',
    ...((change.nodeName || change.phase) && { nodeName: change.nodeName ?? 'node' }),
    ...change.spec,
  },
  status: change.phase ? { phase: change.phase, containerStatuses: [{ name: 'main', state: { terminated: {} } }] } : {},
})

function admission(waiting: readonly Pod[], taken: readonly Pod[] = [], vacant = 0): Admission {
  const seating = { lift: waiting.map(pod => ({ pod, podSet: {} })), taken, vacant, misfits: [] }
  const unit = { kind: 'group', namespace: 'ml', name: 'gang', pods: [...waiting, ...taken] }
  const workload = { metadata: { name: 'gang', namespace: 'ml', uid: 'w1' }, spec: { podSets: [] } }
  return { unit, workload, workloads: WORKLOADS, seating } as unknown as Admission
}

const known = (...objects: readonly KubeObject[]) => ({
  served: { ...NOTHING_SERVED, kai: true },
  find: (_: unknown, namespace: string, name: string) =>
    objects.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  named: (_: unknown, name: string) => objects.filter(({ metadata }) => metadata.name === name),
})

const made = (minMember: number, owner = { kind: 'Workload', name: 'gang', uid: 'w1' }): KaiPodGroup => ({
  metadata: {
    name: NAME,
    namespace: 'ml',
    uid: 'g1',
    ownerReferences: [{ apiVersion: 'muster.dev/v1alpha1', ...owner, controller: true }],
  },
  spec: { minMember },
})

const four = ['a', 'b', 'c', 'd'].map(name => member(name))

describe('a group in a queue that KAI places', () => {
  it('gets one PodGroup for all its pods, and none of them is lifted before it is there', () => {
    const { actions, held, standings } = kaiCoScheduler.prepare(admission(four), known())
    expect(held).toEqual(new Set(four))
    expect(standings).toEqual([])
    expect(actions).toMatchObject([
      {
        kind: 'EnsureObject',
        resource: KAI_POD_GROUPS,
        wanted: {
          metadata: {
            name: NAME,
            namespace: 'ml',
            ownerReferences: [{ kind: 'Workload', uid: 'w1', controller: true }],
          },
          spec: { minMember: 4, queue: 'team-a', priorityClassName: 'train' },
        },
      },
    ])
    expect(actions).toHaveLength(1)
  })

  it.each([
    ['its queue', { 'kai.scheduler/queue': 'team-b' }, 'team-b', undefined],
    ['its project', { 'kai.scheduler/queue': '', project: 'p' }, 'p', undefined],
    [
      'its project and pool',
      { 'kai.scheduler/queue': '', project: 'p', 'kai.scheduler/node-pool': 'np' },
      'p-np',
      'np',
    ],
    ['nothing', { 'kai.scheduler/queue': '' }, 'default-queue', undefined],
  ])('goes to the queue of KAI by %s', (_, labels, queue, pool) => {
    const { actions } = kaiCoScheduler.prepare(admission([member('a', { labels })]), known())
    const wanted = actions.flatMap(action => (action.kind === 'EnsureObject' ? [action.wanted] : []))
    expect(wanted).toMatchObject([{ spec: { queue } }])
    expect(wanted[0]?.metadata.labels?.['kai.scheduler/node-pool']).toBe(pool)
  })

  it.each([
    ['non-preemptible', 'non-preemptible'],
    ['preemptible', 'preemptible'],
    ['sometimes', undefined],
  ])('may be preempted as the label of its pods says: %s', (word, preemptibility) => {
    const pod = member('a', { labels: { 'kai.scheduler/preemptibility': word } })
    const { actions } = kaiCoScheduler.prepare(admission([pod]), known())
    const specs = actions.flatMap(action =>
      action.kind === 'EnsureObject' ? [(action.wanted as KaiPodGroup).spec] : [],
    )
    expect(specs.map(spec => spec?.preemptibility)).toEqual([preemptibility])
  })

  it('is not held for a KAI that is gone', () => {
    const { actions, held } = kaiCoScheduler.prepare(admission(four), { ...known(), served: NOTHING_SERVED })
    expect([actions.length, held.size]).toEqual([0, 0])
  })

  it('goes when it is there', () => {
    expect(kaiCoScheduler.prepare(admission(four), known(made(4)))).toMatchObject({ actions: [], standings: [] })
    expect(kaiCoScheduler.prepare(admission(four), known(made(4))).held.size).toBe(0)
  })

  it('is told when somebody else has the name, and waits', () => {
    const theirs = made(4, { kind: 'Job', name: 'other', uid: 'j1' })
    const { actions, held, standings } = kaiCoScheduler.prepare(admission(four), known(theirs))
    expect([actions.length, held.size]).toEqual([0, 4])
    expect(standings[0]).toMatchObject({ reason: 'LiftBlocked' })
    expect(standings[0]?.note).toContain('belongs to Job other')
  })

  it('waits until one of an earlier group of the name is gone: its owner is', () => {
    const old = made(4, { kind: 'Workload', name: 'gang', uid: 'w0' })
    const { actions, held } = kaiCoScheduler.prepare(admission(four), known(old))
    expect([actions.length, held.size]).toEqual([0, 4])
  })

  it('waits when the name is there in another namespace, since KAI would take the one for the other', () => {
    const group = made(4)
    const theirs = { ...made(1), metadata: { ...group.metadata, namespace: 'theirs', uid: 'g2' } }
    for (const records of [known(theirs), known(theirs, group)]) {
      const { actions, held, standings } = kaiCoScheduler.prepare(admission(four), records)
      expect([actions.length, held.size]).toEqual([0, 4])
      expect(standings[0]?.note).toContain(`PodGroup ${NAME} in namespace theirs`)
    }
    // Who runs is not stopped for it.
    const placed = four.map(({ metadata }) => member(metadata.name ?? '', { nodeName: 'n1' }))
    expect(kaiCoScheduler.prepare(admission([], placed), known(theirs, group)).held.size).toBe(0)
  })

  it('has a name that no reference of a pod arrives at', () => {
    for (const naming of ['plain', 'hashed'] as const) {
      expect(podGroupName('theirs', { kind: 'podGroup', podGroup: NAME }, naming)).not.toMatch(/^muster-group-/)
    }
  })

  it('wants all of them as long as none is placed, a replacement included', () => {
    const { actions } = kaiCoScheduler.prepare(admission([], four.slice(0, 3), 1), known(made(3)))
    expect(actions).toMatchObject([{ wanted: { spec: { minMember: 4 } } }])
  })

  it('counts a replacement that only a pod behind the gate says it does not want', () => {
    const gated = { spec: { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] } }
    const saying = (pod: Pod): Pod => {
      const annotations = { ...pod.metadata.annotations, 'kueue.x-k8s.io/retriable-in-group': 'false' }
      return { ...pod, metadata: { ...pod.metadata, annotations } }
    }
    const [a, b, c] = four.slice(0, 3) as [Pod, Pod, Pod]
    const waiting = kaiCoScheduler.prepare(admission([saying(member('c', gated))], [a, b], 1), known(made(3)))
    expect(waiting.actions).toMatchObject([{ wanted: { spec: { minMember: 4 } } }])
    expect(kaiCoScheduler.prepare(admission([], [a, b, saying(c)], 1), known(made(3))).actions).toEqual([])
  })

  it('knows that a PodGroup is held by finalizers while it goes, and does not make it again', () => {
    const [kind] = kaiCoScheduler.kinds
    if (kind === undefined) throw new Error('no kind')
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b', 'c/d'] }
    const read = outlined({ metadata: { ...made(4).metadata, ...going }, spec: { minMember: 4 } }, kind.outline)
    const stored = kind.forCache(read as KubeObject)
    expect(stored.metadata).toMatchObject({ ...going, finalizers: ['a/b'], ownerReferences: [{ name: 'gang' }] })
    const { actions, held } = kaiCoScheduler.prepare(admission(four), known(stored))
    expect([actions.length, held.size]).toEqual([0, 4])
  })

  it('wants no more than it has from when one is placed, since KAI evicts a gang that is too small', () => {
    const placed = ['a', 'b', 'c'].map(name => member(name, { nodeName: 'n1' }))
    const { actions } = kaiCoScheduler.prepare(admission([], placed, 1), known(made(4)))
    expect(actions).toMatchObject([{ kind: 'EnsureObject', wanted: { spec: { minMember: 3 } } }])
    const replaced = kaiCoScheduler.prepare(admission([member('e')], placed), known(made(3)))
    expect([replaced.actions.length, replaced.held.size]).toEqual([0, 0])
  })

  describe('that KAI holds', () => {
    const [kind] = kaiCoScheduler.kinds
    const says = (...schedulingConditions: readonly object[]) => {
      const group = outlined({ ...made(4), status: { schedulingConditions } }, kind?.outline ?? {})
      return known(kind?.forCache(group as KubeObject) ?? made(4))
    }
    const held = (message: string, status = 'True') => ({ type: 'UnschedulableOnNodePool', status, message })
    const room = held('Resources were found for 3 pods while 4 are required for gang scheduling')
    const reasons = (waiting: readonly Pod[], lifted: readonly Pod[], records = says(room)) =>
      kaiCoScheduler.prepare(admission(waiting, lifted), records).standings.map(({ reason }) => reason)

    it('is told what KAI says of its PodGroup', () => {
      const { actions, standings } = kaiCoScheduler.prepare(admission([], four), says(room))
      expect(actions).toEqual([])
      expect(standings.map(({ pod }) => pod)).toEqual(four)
      expect(standings[0]).toMatchObject({
        reason: 'WaitingForScheduler',
        note: `PodGroup ${NAME}: Resources were found for 3 pods while 4 are required for gang scheduling`,
        steady: expect.any(String),
      })
    })

    it('is told the last word of the pools, and as much of it as fits', () => {
      const { standings } = kaiCoScheduler.prepare(
        admission([], four),
        says(held('an older one'), held('x'.repeat(2000))),
      )
      expect(standings[0]?.note).toMatch(/: x{600,700}/)
      expect(standings[0]?.note.length).toBeLessThan(850)
    })

    it('is told nothing while it is behind a gate, or where KAI has not said a word, or another', () => {
      expect(reasons(four.slice(0, 1), four.slice(1))).toEqual([])
      const foreign = four.map(({ metadata }) =>
        member(metadata.name ?? '', { spec: { schedulingGates: [{ name: 'x' }] } }),
      )
      expect(reasons([], foreign)).toEqual([])
      expect(reasons([], four, says())).toEqual([])
      expect(reasons([], four, says(held('placed', 'False')))).toEqual([])
      expect(reasons([], four, says({ ...room, type: 'Other' }))).toEqual([])
    })

    it('is told nothing from when one is placed, since KAI does not take back what it said before', () => {
      const placed = member('a', { nodeName: 'n1' })
      expect(reasons([], [placed, ...four.slice(1)], says(room))).toEqual([])
      const ended = member('a', { nodeName: 'n1', phase: 'Succeeded' })
      expect(reasons([], [ended, ...four.slice(1)])).toHaveLength(3)
    })
  })

  it('needs none when all have ended', () => {
    const ended = four.map(({ metadata }) => member(metadata.name ?? '', { nodeName: 'n1', phase: 'Succeeded' }))
    expect(kaiCoScheduler.prepare(admission([], ended), known()).actions).toEqual([])
  })

  it('has no PodGroup made that a pod has linked itself to', () => {
    const strangers = four.map(({ metadata }) => member(metadata.name ?? '', { link: "victim's" }))
    expect(kaiCoScheduler.prepare(admission(strangers), known()).actions).toEqual([])
  })

  it('hears of changes of its PodGroup', () => {
    expect(kaiCoScheduler.objectsOf(member('a'))).toEqual([`scheduling.run.ai/podgroups//${NAME}`])
    const other = { ...member('a'), metadata: { ...member('a').metadata, labels: {} } }
    expect(kaiCoScheduler.objectsOf(other)).toEqual([])
  })
})
