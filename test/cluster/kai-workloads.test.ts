import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KaiPodGroup } from '../../src/coscheduling/kai/objects.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { kubernetesVersion } from './programs/catalog.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { kaiKinds, kaiPriorities, podSpec } from './support/kai-crds.ts'
import { untilServed } from './support/kinds.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const NAMESPACE = 'ml'

/** Only 1.35 has groups within Workloads, and pods that name them there. */
describe.runIf(kubernetesVersion(process.env) === '1.35')('pods of KAI that name a Workload of Kubernetes', () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kai-workloads', featureGates: 'all' })
    await plane.createNamespace(NAMESPACE)
    await apply(...kaiKinds(), ...kaiPriorities())
    await untilServed(plane.kubectl, 'podgroups.scheduling.run.ai')
    muster = await Muster.install(plane)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const apply = (...items: readonly object[]) =>
    plane.kubectl(['create', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
  const pods = async () => (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE])).items
  const groups = async () => {
    const kind = 'podgroups.scheduling.run.ai'
    const { items } = await plane.kubectl.json<{ items: KaiPodGroup[] }>(['get', kind, '-n', NAMESPACE])
    return new Map(items.map(({ metadata, spec }) => [metadata.name, spec?.minMember]))
  }
  const member = (name: string, workload: string, podGroup: string, podGroupReplicaKey?: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      ...podSpec('100m'),
      workloadRef: { name: workload, podGroup, ...(podGroupReplicaKey && { podGroupReplicaKey }) },
    },
  })
  const workload = (name: string, podGroups: readonly object[]) => ({
    apiVersion: 'scheduling.k8s.io/v1alpha1',
    kind: 'Workload',
    metadata: { name, namespace: NAMESPACE },
    spec: { podGroups },
  })

  it('get one PodGroup for each podGroup and replica key, gangs of their own', async () => {
    await apply(
      workload('my-training', [
        { name: 'driver', policy: { gang: { minCount: 1 } } },
        { name: 'workers', policy: { gang: { minCount: 4 } } },
      ]),
      member('a', 'my-training', 'driver'),
      member('b', 'my-training', 'workers', '0'),
      member('c', 'my-training', 'workers', '1'),
    )
    await eventually('all are linked and free', async () => {
      const links = (await pods()).map(({ metadata, spec }) => [
        metadata.annotations?.['pod-group-name'],
        spec.schedulingGates ?? [],
      ])
      expect(links).toEqual([
        ['my-training-driver', []],
        ['my-training-workers-0', []],
        ['my-training-workers-1', []],
      ])
      return true
    })
    expect(await groups()).toEqual(
      new Map([
        ['my-training-driver', 1],
        ['my-training-workers-0', 4],
        ['my-training-workers-1', 4],
      ]),
    )
  })

  it('wait for a Workload that is missing, and go on when it is there', async () => {
    await apply(member('early', 'absent', 'g'))
    const early = async () => (await pods()).find(({ metadata }) => metadata.name === 'early')
    await eventually('the pod is told', async () => {
      const selector = ['--field-selector', 'involvedObject.name=early,reason=PodGrouperWarning']
      const { items } = await plane.kubectl.json<{ items: unknown[] }>(['get', 'events', '-n', NAMESPACE, ...selector])
      return items.length > 0
    })
    expect((await early())?.spec.schedulingGates).toEqual([{ name: 'muster.dev/pod-group' }])
    await apply(workload('absent', [{ name: 'g', policy: { gang: { minCount: 2 } } }]))
    await eventually('the pod is linked', async () => {
      expect((await early())?.metadata.annotations?.['pod-group-name']).toBe('absent-g')
      return true
    })
    expect((await groups()).get('absent-g')).toBe(2)
  })
})
