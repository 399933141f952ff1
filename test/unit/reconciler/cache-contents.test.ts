import { serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { composeWorkload } from '../../../src/engines/builtin/workloads.ts'
import { TOPOLOGY_GATE } from '../../../src/kube/vocabulary/kueue.ts'
import { ADMISSION_GATE, GROUP_ROLE, GROUP_SETS, MANAGED, ROLE_HASH } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { outlined } from '../../../src/kube/vocabulary/outline.ts'
import { POD_OUTLINE, podForCache } from '../../../src/reconciler/cache-contents.ts'
import { askedBy, specOf } from '../../../src/workload/asked.ts'
import { composeSingle } from '../../../src/workload/compose.ts'
import { groupOf } from '../../../src/workload/group.ts'
import { roleNameOf } from '../../../src/workload/group-plan.ts'
import { HOSTILE_PODS } from '../../support/hostile-pods.ts'
import { managedPod } from '../../support/pods.ts'

const pod = {
  metadata: {
    name: 'train',
    namespace: 'ml',
    uid: 'u',
    labels: { 'kueue.x-k8s.io/queue-name': 'team-a', app: 'mine' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{...}', mine: 'goes' },
    finalizers: ['example.com/first', MANAGED, 'example.com/second'],
  },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'x:1',
        env: [{ name: 'A', value: 'b' }],
        resources: { requests: { cpu: '2' }, limits: { cpu: '4', 'nvidia.com/gpu': '1' } },
      },
    ],
    initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '1Gi' } } }],
    overhead: { cpu: '100m' },
    schedulingGates: [{ name: 'example.com/quota' }, { name: ADMISSION_GATE }],
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    priority: 7,
    volumes: [{ name: 'data' }],
  },
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
}

describe('what the cache keeps', () => {
  it('of a pod is what decisions look at, and what it asks for', () => {
    const kept = podForCache(pod)
    expect(kept.spec).toEqual({
      schedulingGates: [{ name: ADMISSION_GATE }, { name: 'example.com/quota' }],
      priority: 7,
    })
    expect(kept.status).toEqual({ phase: 'Pending' })
    expect(kept.metadata).toEqual({
      name: 'train',
      namespace: 'ml',
      uid: 'u',
      labels: { 'kueue.x-k8s.io/queue-name': 'team-a' },
      annotations: { [ROLE_HASH]: roleNameOf(pod) },
      finalizers: [MANAGED, 'example.com/first'],
    })
    expect(specOf(kept)).toEqual({
      containers: [{ name: 'main', resources: { requests: { cpu: '2', 'nvidia.com/gpu': '1' } } }],
      initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '1Gi' } } }],
      overhead: { cpu: '100m' },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
    })
  })

  it('of many gates are some, and always those that Muster lifts or has to find', () => {
    const others = Array.from({ length: 20 }, (_, index) => ({ name: `example.com/gate-${index}` }))
    const gates = [...others, { name: ADMISSION_GATE }, { name: TOPOLOGY_GATE }]
    const { spec } = podForCache({ ...pod, spec: { ...pod.spec, schedulingGates: gates } })
    expect(spec.schedulingGates).toHaveLength(9)
    expect(spec.schedulingGates).toEqual(expect.arrayContaining([{ name: ADMISSION_GATE }, { name: TOPOLOGY_GATE }]))
  })

  it('of a pod makes the same Workload and the same role as the pod itself', () => {
    const workloadOf = (pod: Pod) => {
      const composition = composeSingle('w', pod)
      return 'plan' in composition ? composeWorkload(composition.plan) : composition
    }
    expect(workloadOf(podForCache(pod))).toEqual(workloadOf(pod))
    expect(askedBy(podForCache(pod))).toEqual(askedBy(pod))
    expect(roleNameOf(podForCache(pod))).toBe(roleNameOf(pod))
  })

  it('of a pod that is kept already is all of it', () => {
    const kept = podForCache(managedPod({ group: 'gang', count: 3 }))
    expect(podForCache({ ...kept, spec: { ...kept.spec, ...specOf(kept) } })).toEqual(kept)
  })

  const driver = (sets: string): Pod => {
    const plain = managedPod({ group: 'gang', annotations: { [GROUP_SETS]: sets } })
    return { ...plain, metadata: { ...plain.metadata, labels: { ...plain.metadata.labels, [GROUP_ROLE]: 'driver' } } }
  }

  it('of an announcement is what the announced pods ask for', () => {
    const sets = `
- {name: driver, count: 1}
- name: worker
  count: 2
  template: {spec: {containers: [{name: main, image: large, resources: {requests: {cpu: 2}}}], volumes: [{name: v}]}}`
    expect(groupOf(podForCache(driver(sets)))?.sets).toEqual([
      { name: 'driver', count: 1 },
      {
        name: 'worker',
        count: 2,
        template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: 2 } } }] } },
      },
    ])
  })

  it('of an announcement that cannot be read is that it cannot be read', () => {
    expect(groupOf(podForCache(driver('[{]')))).toBeUndefined()
    const odd =
      '[{"name":"driver","count":1,"template":{"spec":{"containers":[{"name":"a"}],"initContainers":{"a":1}}}}]'
    expect(groupOf(podForCache(driver(odd)))).toBeUndefined()
  })

  it.each(Object.keys(HOSTILE_PODS))('of a hostile pod (%s) is little', what => {
    const hostile = HOSTILE_PODS[what]?.('bad') ?? pod
    expect(JSON.stringify(hostile).length).toBeGreaterThan(190_000)
    expect(serialize(podForCache(hostile)).length).toBeLessThan(6_000)
  })

  it('lies within what is read of a pod', () => {
    const whole = {
      ...managedPod({ group: 'gang', count: 3, nodeName: 'n', deleting: 3 }),
      ...pod,
      metadata: pod.metadata,
    }
    for (const each of [
      pod,
      whole,
      managedPod({ deleting: 3, nodeName: 'n' }),
      driver('[{"name":"driver","count":1}]'),
    ]) {
      expect(podForCache(outlined(each, POD_OUTLINE) as Pod)).toEqual(podForCache(each))
    }
  })

  it.each([
    ['metadata.finalizers', [MANAGED, 'many-more'], undefined],
    ['spec.schedulingGates', undefined, [{ name: ADMISSION_GATE }]],
  ])('takes for granted that ours is among too many %s', (path, finalizers, schedulingGates) => {
    const kept = podForCache({ metadata: { name: 'big' }, spec: {}, omitted: [path] })
    expect(kept.metadata.finalizers).toEqual(finalizers)
    expect(kept.spec.schedulingGates).toEqual(schedulingGates)
    expect(kept.excess).toBe(`pod big has more in ${path} than is read of a pod: create it with less of that`)
  })

  it('of a pod that asks for many resources is how many', () => {
    const requests = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`example.com/r${index}`, '1']))
    const greedy = { ...managedPod(), spec: { containers: [{ name: 'main', resources: { requests } }] } }
    expect(podForCache(greedy).excess).toBe(
      'pod train asks for 33 resources, and at most 32 are counted: create it with fewer',
    )
  })

  it('tells a mark that is too long from every other', () => {
    const marked = (hash: string) => podForCache(managedPod({ role: hash }))
    expect(roleNameOf(marked('a'.repeat(9999)))).toBe(roleNameOf(marked('a'.repeat(9999))))
    expect(roleNameOf(marked('a'.repeat(9999)))).not.toBe(roleNameOf(marked('a'.repeat(9998))))
  })
})
