import { describe, expect, it } from 'vitest'
import { kubernetesCoScheduler } from '../../../../src/coscheduling/kubernetes/co-scheduler.ts'
import { ADMISSION_GATE, RETRIABLE_IN_GROUP } from '../../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED } from '../../../../src/kube/vocabulary/served-scheduling.ts'
import type { Decision } from '../../../../src/reconciler/decision.ts'
import { podGroupNameFor } from '../../../../src/workload/placement.ts'
import { gang, member, NOW, running } from '../../reconciler/decide/fixtures.ts'
import {
  decided,
  kinds,
  known,
  NAME,
  named,
  nodeless,
  OWNER,
  podGroup,
  reasons,
  says,
  served,
  WORKLOAD,
  wanted,
} from './fixtures.ts'

const members = gang(3).map(pod => named(pod))

describe('an admitted group whose pods name a PodGroup', () => {
  it('gets its Workload first, then the PodGroup, and is lifted when both are there', () => {
    expect(kinds(decided(members, []))).toEqual(['EnsureObject Workload'])
    expect(kinds(decided(members, [WORKLOAD]))).toEqual(['EnsureObject PodGroup'])
    expect(kinds(decided(members, [WORKLOAD, podGroup(3)]))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
  })

  it('wants all its pods placed together, and its objects gone with its Workload', () => {
    expect(wanted(decided(members, []))).toEqual({
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'Workload',
      metadata: { name: NAME, namespace: 'ml', ownerReferences: [OWNER] },
      spec: {
        controllerRef: { apiGroup: 'muster.dev', kind: 'Workload', name: 'gang' },
        podGroupTemplates: [{ name: 'pods', schedulingPolicy: { gang: { minCount: 3 } } }],
      },
    })
    expect(wanted(decided(members, [WORKLOAD]))).toEqual({
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: NAME, namespace: 'ml', ownerReferences: [OWNER] },
      spec: {
        workloadRef: { workloadName: NAME, templateName: 'pods' },
        schedulingPolicy: { gang: { minCount: 3 } },
      },
    })
  })

  it('says so in the words of 1.36 where that is served', () => {
    expect(wanted(decided(members, [WORKLOAD], served('v1alpha2')))).toMatchObject({
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      spec: { podGroupTemplateRef: { workload: { workloadName: NAME, podGroupTemplateName: 'pods' } } },
    })
  })

  it('has the priority of its pods, if they have one', () => {
    const withClass = (pod: Pod, priorityClassName: string): Pod => ({
      ...pod,
      spec: { ...pod.spec, priorityClassName },
    })
    const alike = members.map(pod => withClass(pod, 'high'))
    expect(wanted(decided(alike, [WORKLOAD]))).toMatchObject({ spec: { priorityClassName: 'high' } })
  })

  it('is lifted at once where no PodGroups are served any more: no scheduler waits for one', () => {
    expect(kinds(decided(members, [], NOTHING_SERVED))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
  })

  it('has nothing written where its pods name none, or that of their author', () => {
    expect(kinds(decided(gang(3), []))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
    expect(
      kinds(
        decided(
          gang(3).map(pod => named(pod, 'own')),
          [],
        ),
      ),
    ).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
  })

  it('counts those that carry the name, and warns the others', () => {
    const [first, second, third] = gang(3)
    if (!first || !second || !third) throw new Error('three')
    const decision = decided([named(first), named(second), third], [WORKLOAD])
    expect(wanted(decision).spec).toMatchObject({ schedulingPolicy: { gang: { minCount: 2 } } })
    expect(decision.remarks).toMatchObject([
      { regarding: { kind: 'Pod', name: 'gang-2' }, type: 'Warning', reason: 'NotPlacedTogether' },
    ])
    expect(kinds(decision)).toEqual(['EnsureObject PodGroup'])
  })

  it('takes no member that names another than the others', () => {
    const odd = named(member(2, { created: '2026-11-16T10:09:00Z' }), 'own')
    const decision = decided([named(running(0)), named(running(1)), odd], [WORKLOAD, podGroup(3)])
    expect(kinds(decision)).toEqual([])
    expect(reasons(decision)).toContain('gang-2: InvalidGroup')
    const strange = gang(3).map(pod => named(pod, podGroupNameFor('ml', 'other')))
    expect(kinds(decided(strange, [WORKLOAD]))).toEqual([])
  })
})

describe('what has the name of the PodGroup', () => {
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'x', controller: true }
  const note = (decision: Decision) => decision.standings.find(({ reason }) => reason === 'LiftBlocked')?.note

  it.each([
    ['a PodGroup of another owner', [WORKLOAD, known('PodGroup', {}, theirs)], 'belongs to ConfigMap theirs'],
    ['a Workload of another owner', [known('Workload', {}, theirs)], 'belongs to ConfigMap theirs'],
    ['a PodGroup of nobody', [WORKLOAD, known('PodGroup', {}, { ...OWNER, controller: false })], 'has no owner'],
    ['a PodGroup of another Workload', [WORKLOAD, known('PodGroup', {}, { ...OWNER, name: 'x' })], 'Workload x'],
    [
      'a PodGroup of a Workload of others',
      [WORKLOAD, known('PodGroup', {}, { ...OWNER, apiVersion: 'a.b/v1' })],
      'gang',
    ],
  ])('is never adopted if it is %s', (_, objects, text) => {
    const decision = decided(members, objects)
    expect(decision.actions).toEqual([])
    expect(note(decision)).toContain(text)
    expect(reasons(decision)).toEqual(members.map(({ metadata }) => `${metadata.name}: LiftBlocked`))
  })

  it('serves on if it is left from an earlier group of the name: Kubernetes keeps it while pods name it', () => {
    const old = known('PodGroup', { spec: { schedulingPolicy: { gang: { minCount: 3 } } } }, { ...OWNER, uid: 'old' })
    expect(kinds(decided(members, [WORKLOAD, old]))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
  })

  it.each([
    ['is left from an earlier group of the name', known('Workload', {}, { ...OWNER, uid: 'old' })],
    ['is being deleted', { ...WORKLOAD, metadata: { ...WORKLOAD.metadata, deletionTimestamp: NOW } }],
  ])('is waited for if it is a Workload that %s: nothing keeps that', (_, leaving) => {
    for (const objects of [[leaving], [leaving, podGroup(3)]]) {
      const decision = decided(members, objects)
      expect(decision.actions).toEqual([])
      expect(note(decision)).toContain(`Workload ${NAME} is left from an earlier group`)
    }
  })

  it('cannot serve on if that one was placed in another way', () => {
    const policy = { spec: { schedulingPolicy: { basic: {} } } }
    const left = known('PodGroup', policy, { ...OWNER, uid: 'old' })
    expect(note(decided(members, [WORKLOAD, left]))).toContain('give the group another name')
    // It was made while one of them was there, and their Workload has been made anew since.
    const later = { ...left, metadata: { ...left.metadata, creationTimestamp: '2026-11-16T10:00:01Z' } }
    expect(kinds(decided(members, [WORKLOAD, later]))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
    // Of this very group it is what its driver said, who may be gone by now.
    expect(kinds(decided(members, [WORKLOAD, known('PodGroup', policy)]))).toEqual(['LiftGate', 'LiftGate', 'LiftGate'])
  })
})

describe('a gang that has begun', () => {
  const succeeded = (index: number) => named(running(index, { phase: 'Succeeded' }))
  const failed = (index: number, annotations = {}) => named(running(index, { phase: 'Failed', annotations }))
  const spare = named(member(3))

  it('wants fewer when a replacement comes after others have succeeded', () => {
    const decision = decided([succeeded(0), failed(1), named(running(2)), spare], [WORKLOAD, podGroup(3)])
    expect(decision.actions).toMatchObject([
      {
        kind: 'EnsureObject',
        wanted: { spec: { schedulingPolicy: { gang: { minCount: 2 } } } },
        known: { metadata: { resourceVersion: '7' } },
      },
    ])
    const lowered = decided([succeeded(0), failed(1), named(running(2)), spare], [WORKLOAD, podGroup(2)])
    expect(kinds(lowered)).toEqual(['LiftGate'])
  })

  it('cannot on 1.36, and says so', () => {
    const pods = [succeeded(0), failed(1), named(running(2)), spare]
    const decision = decided(pods, [WORKLOAD, podGroup(3)], served('v1alpha2'))
    expect(decision.actions).toEqual([])
    expect(decision.standings).toMatchObject([
      { pod: spare, reason: 'LiftBlocked', note: expect.stringContaining('1.36') },
    ])
  })

  it('has nothing written while nobody waits to be placed, whatever has ended', () => {
    expect(kinds(decided([succeeded(0), named(running(1)), named(running(2))], [WORKLOAD, podGroup(3)]))).toEqual([])
    expect(kinds(decided([succeeded(0), named(running(1)), named(running(2))], []))).toEqual([])
  })

  it('counts a place that waits for its replacement, unless the group wants none', () => {
    const pods = [failed(0), nodeless(1), nodeless(2)]
    expect(kinds(decided(pods, [WORKLOAD, podGroup(3)]))).not.toContain('EnsureObject PodGroup')
    const never = [failed(0, { [RETRIABLE_IN_GROUP]: 'false' }), nodeless(1), nodeless(2)]
    expect(wanted(decided(never, [WORKLOAD, podGroup(3)])).spec).toMatchObject({
      schedulingPolicy: { gang: { minCount: 2 } },
    })
  })

  it('gets its PodGroup back while a member is on no node, and its number, whoever changed it', () => {
    const pods = [nodeless(0), nodeless(1), nodeless(2)]
    expect(kinds(decided(pods, [WORKLOAD]))).toEqual(['EnsureObject PodGroup'])
    expect(wanted(decided(pods, [WORKLOAD, podGroup(1)])).spec).toMatchObject({
      schedulingPolicy: { gang: { minCount: 3 } },
    })
  })

  it('is told what the scheduler says when all gates have fallen, and not before', () => {
    const held = podGroup(3, says('no room for all of them'))
    const all = decided([nodeless(0), nodeless(1), nodeless(2)], [WORKLOAD, held])
    expect(all.standings).toMatchObject(
      Array.from({ length: 3 }, () => ({
        reason: 'WaitingForScheduler',
        note: `PodGroup ${NAME}: no room for all of them`,
      })),
    )
    const some = decided([nodeless(0), nodeless(1), named(member(2))], [WORKLOAD, held])
    expect(reasons(some)).toEqual(['gang-2: Lifting'])
    const foreign = decided([nodeless(0), nodeless(1), nodeless(2, { gates: ['a.b/c'] })], [WORKLOAD, held])
    expect(reasons(foreign)).toContain('gang-2: ForeignGates')
    expect(reasons(foreign)).not.toContain('gang-2: WaitingForScheduler')
  })
})

describe('the objects that a pod is placed by', () => {
  it('are its PodGroup and, of Muster’s groups, their Workload', () => {
    const pod = named(member(0, { gates: [ADMISSION_GATE] }))
    expect(kubernetesCoScheduler.objectsOf(pod)).toEqual([
      `scheduling.k8s.io/podgroups/ml/${NAME}`,
      `scheduling.k8s.io/workloads/ml/${NAME}`,
    ])
    expect(kubernetesCoScheduler.objectsOf(named(member(0), 'own'))).toEqual(['scheduling.k8s.io/podgroups/ml/own'])
    expect(kubernetesCoScheduler.objectsOf(member(0))).toEqual([])
  })
})
