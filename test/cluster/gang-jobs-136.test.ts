import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GROUP_ROLE, GROUP_ROLE_COUNT, GROUP_SETS, GROUPED, SCHEDULING } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { kubernetesVersion } from './programs/catalog.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const SLOW = { timeoutMs: 90_000 }

/** Kubernetes 1.36 has no block: its Job controller makes gangs of Jobs by their shape, and its PodGroups never change. */
describe.runIf(kubernetesVersion(process.env) === '1.36')('gangs on Kubernetes 1.36', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'gang-jobs-136', featureGates: 'all' })
    muster = await Muster.install(plane)
    await plane.kubectl(['label', 'node', 'node-0', 'room=yes'])
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const items = async <T extends KubeObject>(kind: string, namespace: string) =>
    (await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace])).items
  const pods = (namespace: string) => items<Pod>('pods', namespace)
  const counts = async (namespace: string) => [
    (await items('workloads.scheduling.k8s.io', namespace)).length,
    (await items('podgroups.scheduling.k8s.io', namespace)).length,
  ]
  const job = (namespace: string, annotations: object, spec: object, cpu: string) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'train', namespace, annotations },
    spec: {
      ...{ parallelism: 8, completions: 8, ...spec },
      template: {
        spec: {
          ...{ restartPolicy: 'Never', nodeSelector: { room: 'yes' } },
          containers: [{ name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu } } }],
        },
      },
    },
  })
  const patch = (namespace: string, body: object, expectFailure = false) =>
    plane.kubectl(['patch', 'job', 'train', '-n', namespace, '--type=merge', '-p', JSON.stringify(body)], {
      expectFailure,
    })

  it('places a Job with the annotation whole, and refuses to change its size', async () => {
    await plane.createNamespace('annotated')
    const annotations = { [SCHEDULING]: '{"schedulingPolicy": {"gang": {"minCount": 8}}}' }
    await plane.kubectl(['create', '-f', '-'], { stdin: list([job('annotated', annotations, {}, '9')]) })
    await eventually('its objects are there', async () => {
      expect(await counts('annotated')).toEqual([1, 1])
      expect((await pods('annotated')).length).toBe(8)
      return true
    })
    await eventually(
      'the scheduler has looked at it',
      async () => {
        const [group] = await items<KubeObject & { status?: { conditions?: { status: string }[] } }>(
          ...(['podgroups.scheduling.k8s.io', 'annotated'] as const),
        )
        return group?.status?.conditions?.some(({ status }) => status === 'False')
      },
      SLOW,
    )
    expect((await pods('annotated')).filter(({ spec }) => spec.nodeName !== undefined)).toEqual([])
    const smaller = { metadata: { annotations: { [SCHEDULING]: '{"schedulingPolicy": {"gang": {"minCount": 4}}}' } } }
    expect((await patch('annotated', smaller, true)).stderr).toContain('cannot change on Kubernetes 1.36')
    await plane.kubectl(['label', 'node', 'node-1', 'room=yes'])
    await eventually(
      'all run',
      async () => {
        const all = await pods('annotated')
        return all.length === 8 && all.every(({ status }) => status?.phase === 'Running')
      },
      SLOW,
    )
    expect(await counts('annotated')).toEqual([1, 1])
    await plane.kubectl(['delete', 'namespace', 'annotated', '--timeout=90s'], { timeoutMs: 100_000 })
  })

  it('makes the PodGroup of workers that come after their driver: 1.36 takes none without a template', async () => {
    await plane.createNamespace('driver')
    const template = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m' } } }] } }
    const sets = JSON.stringify([
      { name: 'driver', count: 1 },
      { name: 'worker', count: 1, template },
    ])
    const role = (name: string, annotations: object) => {
      const pod = queuedPod({ namespace: 'driver', name, group: 'spark' }) as Pod
      const labels = { ...pod.metadata.labels, [GROUP_ROLE]: name }
      return { ...pod, metadata: { ...pod.metadata, labels, annotations } }
    }
    const runs = (count: number) =>
      eventually(
        `${count} run`,
        async () => (await pods('driver')).filter(({ status }) => status?.phase === 'Running').length === count,
        SLOW,
      )
    await plane.kubectl(['create', '-f', '-'], { stdin: list([role('driver', { [GROUP_SETS]: sets })]) })
    await runs(1)
    await plane.kubectl(['create', '-f', '-'], { stdin: list([role('worker', { [GROUP_ROLE_COUNT]: '1' })]) })
    await runs(2)
    expect(await counts('driver')).toEqual([1, 2])
    await plane.kubectl(['delete', 'namespace', 'driver', '--timeout=90s'], { timeoutMs: 100_000 })
  })

  it('leaves the gangs to the Job controller that it makes by their shape, and guards their size', async () => {
    await plane.createNamespace('shaped')
    await plane.kubectl(['create', '-f', '-'], {
      stdin: list([job('shaped', {}, { completionMode: 'Indexed' }, '1')]),
    })
    await eventually('the Job controller has made its objects', async () => {
      expect(await counts('shaped')).toEqual([1, 1])
      return true
    })
    const { metadata } = await plane.kubectl.json<KubeObject>(['get', 'job', 'train', '-n', 'shaped'])
    expect(metadata.labels?.[GROUPED]).toBeUndefined()
    const { stderr } = await patch('shaped', { spec: { parallelism: 4, completions: 4 } }, true)
    expect(stderr).toMatch(/its pods are scheduled as one gang|cannot change parallelism/)
    await eventually(
      'all run',
      async () => (await pods('shaped')).every(({ status }) => status?.phase === 'Running'),
      SLOW,
    )
    await plane.kubectl(['delete', 'namespace', 'shaped', '--timeout=90s'], { timeoutMs: 100_000 })
  })
})
