import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GROUP_TEMPLATE_NAME, PARENT_COMPOSITE, ROOT_GROUP, SCHEDULING } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { podGroupName, workloadName } from '../../src/workload/builder/names.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

interface Group extends KubeObject {
  readonly spec: {
    readonly schedulingPolicy?: { readonly gang?: { readonly minCount: number } }
    readonly parentCompositePodGroupName?: string
  }
}

const GANG = { schedulingPolicy: { gang: {} } }
const SLOW = { timeoutMs: 90_000 }

const podSpec = (cpu: string) => ({
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 1,
  nodeSelector: { room: 'yes' },
  containers: [{ name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu } } }],
})
const jobSpec = (size: number, cpu: string) => ({
  ...{ parallelism: size, completions: size },
  template: { spec: podSpec(cpu) },
})

describe('JobSets and children of other roots on a real control plane', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'gang-jobsets', featureGates: 'all', jobset: true })
    muster = await Muster.install(plane)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (...objects: object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const items = async <T>(kind: string, namespace: string) =>
    (await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace])).items
  const pods = (namespace: string) => items<Pod>('pods', namespace)
  const groups = (namespace: string) => items<Group>('podgroups.scheduling.k8s.io', namespace)
  const workloads = (namespace: string) => items<KubeObject>('workloads.scheduling.k8s.io', namespace)
  const composites = (namespace: string) => items<KubeObject>('compositepodgroups.scheduling.k8s.io', namespace)
  const room = (nodes: number) =>
    Promise.all(
      [0, 1].map(index =>
        plane.kubectl(['label', 'node', `node-${index}`, `room${index < nodes ? '=yes' : '-'}`, '--overwrite']),
      ),
    )
  const removed = (namespace: string) =>
    plane.kubectl(['delete', 'namespace', namespace, '--timeout=90s'], { timeoutMs: 100_000 })

  /** A driver, and two Jobs of four workers: 9 CPUs each, of which one node holds seven. */
  const jobSet = (namespace: string, annotation: object | undefined, ofWorkers?: object) => ({
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: {
      name: 'set',
      namespace,
      annotations: { ...(annotation && { [SCHEDULING]: JSON.stringify(annotation) }) },
    },
    spec: {
      replicatedJobs: [
        { name: 'driver', replicas: 1, template: { spec: jobSpec(1, '100m') } },
        {
          name: 'workers',
          replicas: 2,
          template: {
            metadata: { annotations: { ...(ofWorkers && { [SCHEDULING]: JSON.stringify(ofWorkers) }) } },
            spec: jobSpec(4, '9'),
          },
        },
      ],
    },
  })

  const OPTIONS = [
    ['option-a', { schedulingPolicy: { basic: {} } }, GANG],
    [
      'option-b',
      { schedulingPolicy: { basic: {} }, replicatedJobPolicies: [{ targetReplicatedJob: 'workers', ...GANG }] },
      undefined,
    ],
  ] as const

  it.each(OPTIONS)('places the workers of a JobSet whole, %s of KEP-6089', async (namespace, whole, ofWorkers) => {
    await room(1)
    await plane.createNamespace(namespace)
    await create(jobSet(namespace, whole, ofWorkers))
    const uid = (await plane.kubectl.json<KubeObject>(['get', 'jobset', 'set', '-n', namespace])).metadata.uid ?? ''
    const nameOf = (group: string) => podGroupName(workloadName('set', uid), group)
    await eventually('its objects are there', async () => {
      expect((await workloads(namespace)).map(({ metadata }) => metadata.name)).toEqual([workloadName('set', uid)])
      expect((await composites(namespace)).map(({ metadata }) => metadata.name)).toEqual([nameOf('set-cpgt-0')])
      const found = (await groups(namespace)).map(({ metadata, spec }) => [
        ...[metadata.name, spec.parentCompositePodGroupName, spec.schedulingPolicy?.gang?.minCount],
      ])
      expect(found.sort()).toEqual([
        [nameOf('driver'), nameOf('set-cpgt-0'), undefined],
        [nameOf('workers'), nameOf('set-cpgt-0'), 8],
      ])
      return true
    })
    const inGroup = async (group: string) =>
      (await pods(namespace)).filter(({ spec }) => spec.schedulingGroup?.podGroupName === nameOf(group))
    await eventually(
      'the pods are there, each in its group',
      async () => {
        const [driver, workers] = [await inGroup('driver'), await inGroup('workers')]
        return driver.length === 1 && workers.length === 8
      },
      SLOW,
    )
    await eventually('the driver runs', async () => (await inGroup('driver'))[0]?.status?.phase === 'Running', SLOW)
    expect((await inGroup('workers')).filter(({ spec }) => spec.nodeName !== undefined)).toEqual([])
    await room(2)
    await eventually(
      'all run',
      async () => {
        const all = await pods(namespace)
        return all.length === 9 && all.every(({ status }) => status?.phase === 'Running')
      },
      SLOW,
    )
    await plane.kubectl(['delete', 'jobset', 'set', '-n', namespace])
    await eventually(
      'nothing is left',
      async () => {
        const left = [...(await workloads(namespace)), ...(await groups(namespace)), ...(await composites(namespace))]
        return left.length === 0
      },
      SLOW,
    )
    await removed(namespace)
  })

  it('lets nobody into the groups of a JobSet but its own Jobs', async () => {
    await plane.createNamespace('strangers')
    await create(jobSet('strangers', { schedulingPolicy: { basic: {} } }, GANG))
    const { metadata } = await plane.kubectl.json<KubeObject>(['get', 'jobset', 'set', '-n', 'strangers'])
    const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'set', uid: metadata.uid }
    const stranger = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'stranger',
        namespace: 'strangers',
        annotations: { [ROOT_GROUP]: 'workers' },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: jobSpec(1, '100m'),
    }
    await expect(create(stranger)).rejects.toThrow(/muster.dev\/root-group.*is written by Muster/)
    await removed('strangers')
  })

  it('makes the group of a child from a template deep in the Workload of its root', async () => {
    await room(2)
    await plane.createNamespace('delegated')
    await create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'root', namespace: 'delegated' } })
    const root = await plane.kubectl.json<KubeObject>(['get', 'configmap', 'root', '-n', 'delegated'])
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'root', uid: root.metadata.uid, controller: true }
    const child = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'child',
        namespace: 'delegated',
        annotations: { [GROUP_TEMPLATE_NAME]: 'workers', [PARENT_COMPOSITE]: 'all' },
        ownerReferences: [owner],
      },
      spec: jobSpec(2, '1'),
    }
    // The child comes first, and waits for what its root will write.
    await create(child)
    await eventually('its pods are there', async () => (await pods('delegated')).length === 2, SLOW)
    const policy = { schedulingPolicy: { basic: {} } }
    const workload = {
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'Workload',
      metadata: { name: 'root', namespace: 'delegated', ownerReferences: [owner] },
      spec: {
        controllerRef: { kind: 'ConfigMap', name: 'root' },
        compositePodGroupTemplates: [
          {
            ...{ name: 'all', ...policy },
            podGroupTemplates: [{ name: 'workers', schedulingPolicy: { gang: { minCount: 2 } } }],
          },
        ],
      },
    }
    const composite = {
      apiVersion: 'scheduling.k8s.io/v1alpha3',
      kind: 'CompositePodGroup',
      metadata: { name: 'all', namespace: 'delegated', ownerReferences: [owner] },
      spec: { workloadRef: { workloadName: 'root', templateName: 'all' }, ...policy },
    }
    await create(workload, composite)
    await eventually('its group is made from the template', async () => {
      const [group] = await groups('delegated')
      expect(group?.spec).toMatchObject({
        parentCompositePodGroupName: 'all',
        workloadRef: { workloadName: 'root', templateName: 'workers' },
        schedulingPolicy: { gang: { minCount: 2 } },
      })
      return true
    })
    await eventually(
      'both run',
      async () => {
        const all = await pods('delegated')
        return all.length === 2 && all.every(({ status }) => status?.phase === 'Running')
      },
      SLOW,
    )
    expect((await workloads('delegated')).length).toBe(1)
    await removed('delegated')
  })
})
