import { describe, expect, it } from 'vitest'
import type { KueueSpec } from '../../../../src/engines/kueue/objects.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { podForCache } from '../../../../src/reconciler/cache-contents.ts'
import { decide } from '../../../../src/reconciler/decide.ts'
import { unitFrom } from '../../../../src/reconciler/unit.ts'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { managedPod } from '../../../support/pods.ts'
import { recordsOf } from '../../../support/records.ts'
import { engineWith, planOf } from './fixtures.ts'

const NOW = '2026-11-16T10:00:00Z'
const engine = engineWith()
const specOf = (pods: readonly Pod[], of = engine) => of.compose(planOf(pods)).spec as KueueSpec
const labelled = (labels: Readonly<Record<string, string>>, pod = managedPod()): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
})

describe("Kueue's Workload of a single pod", () => {
  it('has the name, the marks, the finalizer and the owner that Kueue gives it', () => {
    const pod = managedPod({ name: 'unit-test', uid: 'test-uid' })
    expect(engine.compose(planOf([pod]))).toMatchObject({
      apiVersion: 'kueue.x-k8s.io/v1beta2',
      kind: 'Workload',
      metadata: {
        name: 'pod-unit-test-65369',
        namespace: 'ml',
        labels: { 'kueue.x-k8s.io/job-uid': 'test-uid' },
        annotations: { 'muster.dev/pod': 'unit-test' },
        finalizers: ['kueue.x-k8s.io/resource-in-use'],
        ownerReferences: [
          { kind: 'Pod', name: 'unit-test', uid: 'test-uid', controller: true, blockOwnerDeletion: true },
        ],
      },
      spec: { queueName: 'team-a', priority: 0, podSets: [{ name: 'main', count: 1 }] },
    })
  })

  it('says all that Kueue chooses a flavor by, also when it comes from the cache', () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] }
    const spec = {
      containers: [{ name: 'main', image: 'x:1', resources: { limits: { cpu: '2' } } }],
      initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '1Gi' } } }],
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'spot', operator: 'Exists' }],
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] },
      },
      runtimeClassName: 'kata',
      overhead: { cpu: '100m' },
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one' }],
    }
    const pod = podForCache({ ...managedPod(), spec } as Pod, engine.shapeOf)
    expect(specOf([pod]).podSets[0]?.template.spec).toEqual({
      ...spec,
      containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    })
  })

  it('has the limit on its execution time, and none that is no number', () => {
    const limited = (seconds: string) => specOf([labelled({ 'kueue.x-k8s.io/max-exec-time-seconds': seconds })])
    expect(limited('3600').maximumExecutionTimeSeconds).toBe(3600)
    for (const wrong of ['soon', '0', '-1', '4294967296']) {
      expect(limited(wrong)).not.toHaveProperty('maximumExecutionTimeSeconds')
    }
  })
})

describe("Kueue's Workload of a group", () => {
  it('has a podSet per role, all pods as owners, and the mark of groups', () => {
    const member = (index: number, role: string) => managedPod({ name: `g-${index}`, group: 'gang', count: 3, role })
    const workload = engine.compose(planOf([member(0, 'bbbbbbbb'), member(1, 'aaaaaaaa'), member(2, 'bbbbbbbb')]))
    expect(workload.metadata.name).toBe('gang')
    expect(workload.metadata.annotations).toMatchObject({ 'kueue.x-k8s.io/is-group-workload': 'true' })
    expect(workload.metadata.labels).toBeUndefined()
    expect(workload.spec.podSets.map(({ name, count }) => [name, count])).toEqual([
      ['aaaaaaaa', 1],
      ['bbbbbbbb', 2],
    ])
    expect(workload.metadata.ownerReferences?.map(({ name, controller }) => [name, controller])).toEqual([
      ['g-0', undefined],
      ['g-1', undefined],
      ['g-2', undefined],
    ])
  })
})

describe('the priority of a Workload in Kueue', () => {
  const urgent = labelled({ 'kueue.x-k8s.io/priority-class': 'urgent' })
  const classed: Pod = { ...managedPod(), spec: { ...managedPod().spec, priorityClassName: 'high', priority: 7 } }

  it('is that of the WorkloadPriorityClass that the label names', () => {
    expect(specOf([urgent])).toMatchObject({
      priority: 100,
      priorityClassRef: { group: 'kueue.x-k8s.io', kind: 'WorkloadPriorityClass', name: 'urgent' },
    })
  })

  it('is else that of the pod, with its PriorityClass', () => {
    expect(specOf([classed])).toMatchObject({
      priority: 7,
      priorityClassRef: { group: 'scheduling.k8s.io', kind: 'PriorityClass', name: 'high' },
    })
    expect(specOf([managedPod()])).not.toHaveProperty('priorityClassRef')
  })

  it('is written in the older version as that has it', () => {
    const old = engineWith('v1beta1')
    expect(specOf([urgent], old)).toMatchObject({
      priority: 100,
      priorityClassName: 'urgent',
      priorityClassSource: 'kueue.x-k8s.io/workloadpriorityclass',
    })
    expect(specOf([classed], old)).toMatchObject({ priorityClassSource: 'scheduling.k8s.io/priorityclass' })
    expect(old.compose(planOf([classed])).apiVersion).toBe('kueue.x-k8s.io/v1beta1')
  })

  it('keeps a pod waiting whose class does not exist, and says so', () => {
    expect(engine.obstacle?.(planOf([labelled({ 'kueue.x-k8s.io/priority-class': 'none' })]))).toMatch(
      /^WorkloadPriorityClass none does not exist/,
    )
    expect(engine.obstacle?.(planOf([urgent]))).toBeUndefined()
  })
})

describe('where the pods of a podSet have to be, together', () => {
  const asking = (annotations: Readonly<Record<string, string>>, pod = managedPod()): Pod => {
    const keys = Object.entries(annotations).map(([key, value]) => [`kueue.x-k8s.io/podset-${key}`, value])
    const all = { ...pod.metadata.annotations, ...Object.fromEntries(keys) }
    return podForCache({ ...pod, metadata: { ...pod.metadata, annotations: all } }, engine.shapeOf)
  }
  const requested = (...pods: readonly Pod[]) => specOf(pods).podSets.map(({ topologyRequest }) => topologyRequest)
  const podIndexLabel = 'kueue.x-k8s.io/pod-group-pod-index'

  it.each([
    [{ 'required-topology': 'rack' }, { required: 'rack' }],
    [
      { 'preferred-topology': 'rack', 'group-name': 'near' },
      { preferred: 'rack', podSetGroupName: 'near' },
    ],
    [{ 'unconstrained-topology': 'true' }, { unconstrained: true }],
    [
      { 'slice-required-topology': 'host', 'slice-size': '4' },
      { podSetSliceRequiredTopology: 'host', podSetSliceSize: 4 },
    ],
  ])('is what the pod says: %j', (annotations, request) => {
    expect(requested(asking(annotations))).toEqual([{ ...request, podIndexLabel }])
  })

  it('is for each role what its own pods say, and nothing where they say nothing', () => {
    expect(requested(managedPod())).toEqual([undefined])
    const member = (name: string, role: string) => managedPod({ name, group: 'gang', count: 2, role })
    const near = asking({ 'required-topology': 'rack' }, member('g-0', 'aaaaaaaa'))
    expect(requested(near, member('g-1', 'bbbbbbbb'))).toEqual([{ required: 'rack', podIndexLabel }, undefined])
  })

  it('is kept in the cache, to tell who has asked', () => {
    const kept = engine.forCache(engine.compose(planOf([asking({ 'required-topology': 'rack' })])))
    expect(kept.spec.podSets).toMatchObject([{ topologyRequest: { required: 'rack' } }])
  })

  it('is not asked of Kueue in part', () => {
    const layers = asking({ 'slice-required-topology-constraints': '[{"topology":"rack","size":2}]' })
    expect(engine.obstacle?.(planOf([layers]))).toMatch(/^Muster does not hand .*-constraints on to Kueue/)
  })
})

describe('a pod that names a prebuilt Workload', () => {
  const prebuilt = { 'kueue.x-k8s.io/prebuilt-workload-name': 'gang' }

  it('waits for it, and gets no other', () => {
    const member = labelled(prebuilt, managedPod({ group: 'gang', count: 1 }))
    expect(engine.obstacle?.(planOf([member]))).toMatch(/^prebuilt Workload gang does not exist/)
    const alone = engine.obstacle?.(planOf([labelled(prebuilt)]))
    expect(alone).toBe('prebuilt Workload gang does not exist: create it, with a single podSet with count 1')
  })

  describe('as a single pod', () => {
    const pod = labelled(prebuilt, managedPod({ name: 'solo' }))
    const made = engine.compose(planOf([managedPod({ name: 'solo' })]))
    const ahead = (metadata: object = {}, spec: object = {}) =>
      engine.forCache({
        ...made,
        metadata: { name: 'gang', namespace: 'ml', uid: 'uid-w', resourceVersion: '7', ...metadata },
        spec: { ...made.spec, ...spec },
      })
    const unitWith = (...workloads: readonly QueuedWorkload[]) =>
      unitFrom('single/ml/solo', recordsOf([pod], workloads, undefined, engine.prebuiltOf))
    const owner = (uid: string) => [{ apiVersion: 'v1', kind: 'Pod', name: 'solo', uid, controller: true }]

    it('makes it its own, and is admitted with it', () => {
      const { actions } = decide(unitWith(ahead()), engine, NOW)
      expect(actions).toMatchObject([
        {
          kind: 'AddOwners',
          resourceVersion: '7',
          ownerReferences: [{ name: 'solo', uid: 'uid-solo', controller: true }],
        },
      ])
      const taken = ahead({ ownerReferences: owner('uid-solo') })
      expect(unitWith(taken)).toMatchObject({ workload: taken, orphans: [] })
    })

    it.each([
      ['another has it', ahead({ ownerReferences: owner('uid-other') }), 'belongs to another'],
      ['it is deleted', ahead({ deletionTimestamp: NOW }), 'is being deleted'],
      ["it is a group's", ahead({ annotations: { 'kueue.x-k8s.io/is-group-workload': 'true' } }), 'is not for one pod'],
      [
        'it has more places',
        ahead({}, { podSets: made.spec.podSets.map(set => ({ ...set, count: 2 })) }),
        'is not for',
      ],
    ])('waits and says why when %s', (_, workload, why) => {
      const { actions, standings } = decide(unitWith(workload), engine, NOW)
      expect(actions).toEqual([])
      expect(standings).toMatchObject([{ reason: 'InvalidGroup', note: expect.stringContaining(why) }])
    })

    it('keeps the Workload that it was given before it named one', () => {
      const own = engine.compose(planOf([pod]))
      expect(unitWith(own, ahead()).workload).toBe(own)
      expect(unitWith(own, ahead()).prebuilt).toBeUndefined()
    })
  })

  it('is admitted with it when it is there', () => {
    const member = labelled(prebuilt, managedPod({ name: 'g-0', group: 'gang', count: 1 }))
    const made = engine.compose(planOf([member]))
    const metadata = { name: 'gang', namespace: 'ml', annotations: { 'kueue.x-k8s.io/is-group-workload': 'true' } }
    const workload = engine.forCache({ ...made, metadata })
    expect(unitFrom('group/ml/gang', recordsOf([member], [workload])).workload).toBe(workload)
    expect(engine.isForGroup(workload)).toBe(true)
  })
})

describe("what the cache keeps of Kueue's Workloads", () => {
  it('is of those of Jobs that they are there, and have a queue', () => {
    const workload = {
      metadata: {
        name: 'job-train-12345',
        namespace: 'ml',
        labels: { mine: 'x' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u', controller: true }],
      },
      spec: { queueName: 'team-a', podSets: [{ name: 'main', count: 1000, template: { spec: { containers: [] } } }] },
      status: { conditions: [] },
    }
    const { ownerReferences } = workload.metadata
    expect(engine.forCache(workload)).toEqual({
      metadata: { name: 'job-train-12345', namespace: 'ml', ownerReferences },
      spec: { queueName: 'team-a', podSets: [] },
    })
  })
})
