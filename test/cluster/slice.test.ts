import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ADMISSION_GATE, MANAGED, ROLE_HASH } from '../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const NAMESPACE = 'ml'

describe.each(['none', 'all'] as const)('from kubectl create to a finished pod, workload feature gates: %s', gates => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: `slice-${gates}`, featureGates: gates })
    await plane.createNamespace(NAMESPACE)
    muster = await Muster.install(plane, { queues: [{ name: 'closed', limits: { pods: 0 } }] })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  afterEach(async () => {
    await plane.kubectl(['delete', 'pods', '--all', '-n', NAMESPACE, '--wait=false'])
    await nothingIsLeft()
  })

  const create = (object: object) => plane.kubectl.json<Pod>(['create', '-f', '-'], { stdin: object })
  const pod = (name: string) => plane.kubectl.json<Pod>(['get', 'pod', name, '-n', NAMESPACE])
  const pods = async () => (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE])).items
  const workloads = async () =>
    (await plane.kubectl.json<{ items: QueuedWorkload[] }>(['get', 'workloads.muster.dev', '-n', NAMESPACE])).items
  const gatesOf = ({ spec }: Pod) => (spec.schedulingGates ?? []).map(gate => gate.name)
  const conditionsOf = ({ status }: QueuedWorkload) =>
    (status?.conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type)
  const reasonsOf = async (name: string) => {
    const events = await plane.kubectl.json<{ items: { reason: string }[] }>([
      ...['get', 'events', '-n', NAMESPACE, '--field-selector', `involvedObject.name=${name}`],
    ])
    return events.items.map(({ reason }) => reason)
  }
  const nothingIsLeft = () =>
    eventually('no pod and no Workload is left', async () => {
      expect((await pods()).map(({ metadata }) => metadata.name)).toEqual([])
      expect((await workloads()).map(({ metadata }) => metadata.name)).toEqual([])
      return true
    })

  it('takes a single pod from creation to its end', async () => {
    const created = await create(queuedPod({ namespace: NAMESPACE, name: 'train', outcome: 'succeed' }))
    expect(gatesOf(created)).toEqual([ADMISSION_GATE])
    expect(created.metadata.labels?.[MANAGED]).toBe('true')
    expect(created.metadata.finalizers).toContain(MANAGED)
    expect(created.metadata.annotations?.[ROLE_HASH]).toMatch(/^[0-9a-f]{8}$/)

    const done = await eventually('the pod has succeeded and is free of us', async () => {
      const current = await pod('train')
      expect(current.status?.phase).toBe('Succeeded')
      expect(current.metadata.finalizers ?? []).toEqual([])
      return current
    })
    expect(gatesOf(done)).toEqual([])
    expect(done.spec.nodeName).toMatch(/^node-/)
    const [workload, ...others] = await workloads()
    expect(others).toEqual([])
    expect(workload?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([created.metadata.uid])
    expect(workload && conditionsOf(workload)).toEqual(['QuotaReserved', 'Admitted', 'Finished'])
    expect(workload?.metadata.finalizers ?? []).toEqual([])
    expect(workload?.status?.admission).toEqual({
      clusterQueue: 'team-a',
      podSetAssignments: [{ name: 'main', count: 1 }],
    })
    await eventually('the pod was told', async () => (await reasonsOf('train')).includes('Lifting'))
    const { stdout } = await plane.kubectl(['get', 'workloads.muster.dev', '-n', NAMESPACE])
    expect(stdout.split('\n')[0]?.trim().split(/\s+/)).toEqual(['NAME', 'QUEUE', 'PODS', 'ADMITTED', 'FINISHED', 'AGE'])
    expect(stdout.split('\n')[1]?.trim().split(/\s+/).slice(1, 5)).toEqual(['team-a', '1', 'True', 'True'])
  })

  it('holds a group of ten at nine, and starts all of it with the tenth', async () => {
    const members = Array.from({ length: 10 }, (_, index) =>
      queuedPod({ namespace: NAMESPACE, name: `gang-${index}`, group: 'gang', count: 10, outcome: 'succeed' }),
    )
    await plane.kubectl(['create', '-f', '-'], { stdin: list(members.slice(0, 9)) })
    await eventually('nine pods are told to wait', async () => {
      for (let index = 0; index < 9; index++) expect(await reasonsOf(`gang-${index}`)).toContain('WaitingForPods')
      return true
    })
    expect(await workloads()).toEqual([])
    expect((await pods()).map(gatesOf)).toEqual(Array.from({ length: 9 }, () => [ADMISSION_GATE]))

    await create(members[9] ?? {})
    await eventually('all ten have succeeded', async () => {
      const all = await pods()
      expect(all.map(({ status }) => status?.phase)).toEqual(Array.from({ length: 10 }, () => 'Succeeded'))
      expect(all.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
      return true
    })
    const [workload, ...others] = await workloads()
    expect(others).toEqual([])
    expect(workload?.metadata.name).toBe('gang')
    expect(workload?.spec.podSets.map(({ count }) => count)).toEqual([10])
    expect(workload?.status?.conditions?.find(({ type }) => type === 'Finished')).toMatchObject({
      reason: 'Succeeded',
      message: 'Pods succeeded: 10/10.',
    })
  })

  it('lets a pod go at once that is deleted while it waits', async () => {
    await create(queuedPod({ namespace: NAMESPACE, name: 'waits', queue: 'closed' }))
    await eventually('its Workload waits', async () => {
      const [workload] = await workloads()
      expect(workload?.status?.conditions?.[0]).toMatchObject({ type: 'QuotaReserved', reason: 'OverQueueLimits' })
      return true
    })
    await eventually('the pod was told why', async () => (await reasonsOf('waits')).includes('OverQueueLimits'))
    expect(gatesOf(await pod('waits'))).toEqual([ADMISSION_GATE])
    const started = performance.now()
    await plane.kubectl(['delete', 'pod', 'waits', '-n', NAMESPACE, '--timeout=10s'])
    // kubectl itself takes most of it: the finalizer goes within milliseconds.
    expect(performance.now() - started).toBeLessThan(3_000)
    await nothingIsLeft()
  })

  it('lifts its own gate and leaves a foreign one', async () => {
    const foreign = 'example.com/license'
    await create(queuedPod({ namespace: NAMESPACE, name: 'licensed', gates: [foreign], outcome: 'succeed' }))
    const lifted = await eventually('only the foreign gate is left', async () => {
      const current = await pod('licensed')
      expect(gatesOf(current)).toEqual([foreign])
      return current
    })
    expect(lifted.spec.nodeName).toBeUndefined()
    await eventually('the pod was told', async () => (await reasonsOf('licensed')).includes('ForeignGates'))
    const remove = JSON.stringify({ spec: { schedulingGates: [{ $patch: 'delete', name: foreign }] } })
    await plane.kubectl(['patch', 'pod', 'licensed', '-n', NAMESPACE, '-p', remove])
    await eventually('it runs to its end', async () => (await pod('licensed')).status?.phase === 'Succeeded')
  })

  it('leaves a namespace out of scope alone', async () => {
    const created = await create(queuedPod({ namespace: 'kube-system', name: 'outside', outcome: 'succeed' }))
    expect(gatesOf(created)).toEqual([])
    expect(created.metadata.finalizers).toBeUndefined()
    expect(created.metadata.labels?.[MANAGED]).toBeUndefined()
    await plane.kubectl(['delete', 'pod', 'outside', '-n', 'kube-system', '--wait=false'])
  })

  it('goes on where it was when it is killed and started again in the middle', async () => {
    const member = (index: number) =>
      queuedPod({ namespace: NAMESPACE, name: `twin-${index}`, group: 'twins', count: 2, outcome: 'succeed' })
    await create(member(0))
    await eventually('the first one waits', async () => (await reasonsOf('twin-0')).includes('WaitingForPods'))
    await muster.kill()
    // Fail-closed: without Muster a pod that asks for a queue is not created, and the answer says who is missing.
    const { stderr } = await plane.kubectl(['create', '-f', '-'], { stdin: member(1), expectFailure: true })
    expect(stderr).toContain('failed calling webhook')
    expect(gatesOf(await pod('twin-0'))).toEqual([ADMISSION_GATE])
    // Deletion and everything else that does not ask for a queue goes on without Muster.
    await create(plainPod('plain'))
    await muster.start()
    await create(member(1))
    await eventually('both have succeeded', async () => {
      const twins = (await pods()).filter(({ metadata }) => metadata.name?.startsWith('twin-'))
      expect(twins.map(({ status }) => status?.phase)).toEqual(['Succeeded', 'Succeeded'])
      expect(twins.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
      return true
    })
  })

  it('goes on when the API server is restarted in the middle', async () => {
    await create(queuedPod({ namespace: NAMESPACE, name: 'early', group: 'pair', count: 2, outcome: 'succeed' }))
    await eventually('the first one waits', async () => (await reasonsOf('early')).includes('WaitingForPods'))
    await plane.restartApiServer()
    await eventually('the second one is created', async () => {
      await create(queuedPod({ namespace: NAMESPACE, name: 'late', group: 'pair', count: 2, outcome: 'succeed' }))
      return true
    })
    await eventually(
      'both have succeeded',
      async () => {
        const pair = await pods()
        expect(pair.map(({ status }) => status?.phase)).toEqual(['Succeeded', 'Succeeded'])
        expect(pair.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
        return true
      },
      { timeoutMs: 60_000 },
    )
  })

  it('stops in order when it is asked to', async () => {
    expect(await muster.stop()).toBe(0)
    expect(muster.log()).toContain('"msg":"stopped"')
    await muster.start()
  })
})

function plainPod(name: string): object {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE }, spec }
}
