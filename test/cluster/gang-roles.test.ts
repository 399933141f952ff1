import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADMISSION_GATE,
  GROUP_COUNT,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_SETS,
  REQUIRED_TOPOLOGY,
  SCHEDULING,
} from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { podGroupNameFor } from '../../src/workload/placement.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

interface Group extends KubeObject {
  readonly spec: {
    readonly schedulingPolicy: { readonly basic?: object; readonly gang?: object }
    readonly schedulingConstraints?: object
    readonly parentCompositePodGroupName?: string
  }
  readonly status?: { readonly conditions?: { status: string; message: string }[] }
}

/** A node has 64 CPUs: seven of these fit. */
const NINE_CPUS = '9'
const SLOW = { timeoutMs: 120_000 }
const WORKERS = 2

type Marks = Readonly<Record<string, string>>

describe.each(['all', 'generic'] as const)('roles, topology and priority by kube-scheduler, gates: %s', features => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: `gang-roles-${features}`, featureGates: features })
    await plane.kubectl(['label', 'node', 'node-0', 'rack=a'])
    await plane.kubectl(['label', 'node', 'node-1', 'rack=b'])
    muster = await Muster.install(plane, {})
  }, 300_000)

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  }, 120_000)

  const create = (objects: readonly object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const all = async <T extends KubeObject>(kind: string, namespace: string) =>
    (await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace])).items
  const pods = (namespace: string) => all<Pod>('pods', namespace)
  const podGroups = (namespace: string) => all<Group>('podgroups.scheduling.k8s.io', namespace)
  const allRun = (namespace: string, count: number) =>
    eventually(
      `all ${count} run`,
      async () => {
        const phases = (await pods(namespace)).map(({ status }) => status?.phase)
        expect(phases).toEqual(Array.from({ length: count }, () => 'Running'))
        return true
      },
      SLOW,
    )
  const told = async (namespace: string, name: string, reason: string) => {
    const of = ['--field-selector', `involvedObject.name=${name},reason=${reason}`]
    const { items } = await plane.kubectl.json<{ items: { message?: string }[] }>([
      'get',
      'events',
      '-n',
      namespace,
      ...of,
    ])
    return items[0]?.message ?? ''
  }
  const removed = (namespace: string) =>
    plane.kubectl(['delete', 'namespace', namespace, '--timeout=120s'], { timeoutMs: 130_000 })
  const sets = JSON.stringify([
    { name: 'driver', count: 1 },
    {
      name: 'worker',
      count: WORKERS,
      template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: NINE_CPUS } } }] } },
    },
  ])
  const marked = (pod: object, annotations: Marks, labels: Marks = {}, spec: object = {}): object => {
    const { metadata, spec: own, ...rest } = pod as Pod
    return {
      ...rest,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, ...labels },
        annotations: { ...metadata.annotations, ...annotations },
      },
      spec: { ...own, ...spec },
    }
  }
  const inRole = (namespace: string, name: string, role: string, annotations: Marks, cpu = NINE_CPUS): object =>
    marked(queuedPod({ namespace, name, group: 'spark', cpu }), annotations, { [GROUP_ROLE]: role })
  const driver = (namespace: string, more: Marks = {}) =>
    inRole(namespace, 'driver', 'driver', { [GROUP_SETS]: sets, ...more }, '100m')
  const worker = (namespace: string, name: string) =>
    inRole(namespace, name, 'worker', { [GROUP_ROLE_COUNT]: String(WORKERS) })

  it('starts a driver before its workers exist, and each worker as it comes', { timeout: 400_000 }, async () => {
    await plane.createNamespace('driver')
    await create([driver('driver')])
    await allRun('driver', 1)
    await create([worker('driver', 'worker-0')])
    await allRun('driver', 2)
    await create([worker('driver', 'worker-1')])
    await allRun('driver', 3)
    const groups = await podGroups('driver')
    expect(groups.map(({ spec }) => spec.schedulingPolicy)).toEqual([{ basic: {} }, { basic: {} }])
    if (features === 'all') {
      const [composite, ...others] = await all<Group>('compositepodgroups.scheduling.k8s.io', 'driver')
      expect(others).toEqual([])
      expect(composite?.spec.schedulingPolicy).toEqual({ basic: {} })
      const above = groups.map(({ spec }) => spec.parentCompositePodGroupName)
      expect(above).toEqual([composite?.metadata.name, composite?.metadata.name])
    } else {
      expect(groups.map(({ spec }) => spec.parentCompositePodGroupName)).toEqual([undefined, undefined])
    }
    await removed('driver')
  })

  it('places workers that all come as a gang, also after their driver has ended', { timeout: 400_000 }, async () => {
    await plane.createNamespace('promised')
    await create([driver('promised', { [GROUP_COUNT]: String(WORKERS + 1) })])
    await allRun('promised', 1)
    await create([worker('promised', 'worker-0')])
    const lifted = async (name: string) => {
      const pod = (await pods('promised')).find(({ metadata }) => metadata.name === name)
      return !(pod?.spec.schedulingGates ?? []).some(gate => gate.name === ADMISSION_GATE)
    }
    await eventually('the first worker is lifted', () => lifted('worker-0'), SLOW)
    await plane.kubectl(['annotate', 'pod', 'driver', '-n', 'promised', 'muster.dev/test-outcome=succeed'])
    await eventually(
      'the driver has ended',
      async () => {
        const found = (await pods('promised')).find(({ metadata }) => metadata.name === 'driver')
        return found?.status?.phase === 'Succeeded'
      },
      SLOW,
    )
    const [first] = (await pods('promised')).filter(({ metadata }) => metadata.name === 'worker-0')
    expect(first?.spec.nodeName).toBeUndefined()
    await create([worker('promised', 'worker-1')])
    await eventually(
      'both workers run',
      async () => {
        const phases = (await pods('promised')).map(({ status }) => status?.phase)
        expect(phases).toEqual(['Succeeded', 'Running', 'Running'])
        return true
      },
      SLOW,
    )
    await removed('promised')
  })

  const withComposites = it.runIf(features === 'all')
  withComposites('would hold a driver under a gang of groups: so theirs is none', { timeout: 400_000 }, async () => {
    await plane.createNamespace('gang-of-groups')
    const of = { namespace: 'gang-of-groups' }
    const workloadRef = { workloadName: 'none', templateName: 'none' }
    const leaf = (name: string) => ({
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { ...of, name },
      spec: { schedulingPolicy: { basic: {} }, workloadRef, parentCompositePodGroupName: 'whole' },
    })
    const whole = {
      apiVersion: 'scheduling.k8s.io/v1alpha3',
      kind: 'CompositePodGroup',
      metadata: { ...of, name: 'whole' },
      spec: { schedulingPolicy: { gang: { minGroupCount: 2 } }, workloadRef },
    }
    const pod = (name: string, podGroupName: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...of, name },
      spec: { containers: [{ name: 'main', image: 'registry.example/none:1' }], schedulingGroup: { podGroupName } },
    })
    await create([whole, leaf('drivers'), leaf('workers'), pod('driver', 'drivers')])
    // Somebody outside of it starts after it, so the scheduler has been there.
    await create([{ ...pod('other', ''), spec: { ...pod('other', '').spec, schedulingGroup: undefined } }])
    const phases = async () => (await pods('gang-of-groups')).map(({ status }) => status?.phase)
    await eventually('the other runs', async () => (await phases())[1] === 'Running', SLOW)
    expect(await phases()).toEqual(['Pending', 'Running'])
    await create([pod('worker', 'workers')])
    await eventually('all run', async () => (await phases()).every(phase => phase === 'Running'), SLOW)
    await removed('gang-of-groups')
  })

  it('keeps a group within the topology that it requires, or says that nobody does', { timeout: 400_000 }, async () => {
    await plane.createNamespace('near')
    const members = (group: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        marked(queuedPod({ namespace: 'near', name: `${group}-${index}`, group, count, cpu: NINE_CPUS }), {
          [REQUIRED_TOPOLOGY]: 'rack',
        }),
      )
    const find = async (group: string) => {
      const name = podGroupNameFor('near', group)
      return (await podGroups('near')).find(({ metadata }) => metadata.name === name)
    }
    await create(members('small', 2))
    await allRun('near', 2)
    const nodes = new Set((await pods('near')).map(({ spec }) => spec.nodeName))
    if (features === 'generic') {
      expect((await find('small'))?.spec.schedulingConstraints).toBeUndefined()
      await eventually(
        'its Workload is told',
        async () => {
          const note = await told('near', 'small', 'SchedulingDropped')
          return note.includes('TopologyAwareWorkloadScheduling')
        },
        SLOW,
      )
    } else {
      expect((await find('small'))?.spec.schedulingConstraints).toEqual({ topology: [{ key: 'rack' }] })
      expect(nodes.size).toBe(1)
      // Eight fit on both nodes together, and not in one rack.
      await create(members('large', 8))
      await eventually(
        'the scheduler holds it',
        async () => (await find('large'))?.status?.conditions?.some(({ status }) => status === 'False'),
        SLOW,
      )
      const large = (await pods('near')).filter(({ metadata }) => metadata.name?.startsWith('large'))
      expect(large.map(({ spec }) => spec.nodeName)).toEqual(Array.from({ length: 8 }, () => undefined))
      expect(await told('near', 'small', 'SchedulingDropped')).toBe('')
    }
    await removed('near')
  })

  it('says of a Job, too, what the API server has stored without', { timeout: 400_000 }, async () => {
    await plane.createNamespace('job')
    const block = {
      schedulingPolicy: { gang: {} },
      schedulingConstraints: { topology: [{ key: 'rack' }] },
      resourceClaims: [{ name: 'shared', resourceClaimTemplateName: 'none' }],
    }
    await create([
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'train', namespace: 'job', annotations: { [SCHEDULING]: JSON.stringify(block) } },
        spec: {
          parallelism: 2,
          completions: 2,
          completionMode: 'Indexed',
          template: {
            spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] },
          },
        },
      },
    ])
    await eventually(
      'it is told',
      async () => {
        const note = await told('job', 'train', 'SchedulingDropped')
        return note.includes('is stored without the')
      },
      SLOW,
    )
    await allRun('job', 2)
    await removed('job')
  })

  it('refuses a group of two priorities, which the scheduler would never place', { timeout: 400_000 }, async () => {
    await plane.createNamespace('priorities')
    const high = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 }
    const own = {
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: 'mine', namespace: 'priorities' },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    }
    const member = (group: string, index: number, spec: object) =>
      marked(queuedPod({ namespace: 'priorities', name: `${group}-${index}`, group, count: 2 }), {}, {}, spec)
    const different = (group: string, spec: object) => [
      member(group, 0, spec),
      member(group, 1, { ...spec, priorityClassName: 'high' }),
    ]
    await create([high, own])
    await create([...different('theirs', { schedulingGroup: { podGroupName: 'mine' } }), ...different('ours', {})])
    await eventually(
      'the scheduler says why it places none of them',
      async () => {
        const [found] = (await podGroups('priorities')).filter(({ metadata }) => metadata.name === 'mine')
        return found?.status?.conditions?.some(({ message }) => message.includes('same priority'))
      },
      SLOW,
    )
    await eventually(
      'the group is told before it is admitted',
      async () => {
        const note = await told('priorities', 'ours-1', 'InvalidGroup')
        return note.includes('priority class')
      },
      SLOW,
    )
    await plane.kubectl(['delete', 'priorityclass', 'high'])
    await removed('priorities')
  })
})
