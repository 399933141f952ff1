import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRIORITY_CLASS } from '../../src/kube/vocabulary/names.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import {
  admissionCheck,
  clusterQueue,
  labelled,
  localQueue,
  resourceFlavor,
  workloadPriorityClass,
} from './support/kueue-objects.ts'
import { type QueuedPodOptions, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { type Scene, SETUP_MS, sceneOn } from './support/scene.ts'

const LARGE = { key: 'dedicated', operator: 'Equal', value: 'large', effect: 'NoSchedule' } as const

describe('queues of Kueue', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kueue-queues', featureGates: 'none' })
    kueue = await Kueue.install(plane)
    await kueue.start({ pods: false })
    muster = await Muster.install(plane, { engine: 'kueue' })
    await plane.kubectl(['label', 'node', 'node-0', 'pool=small'])
    await plane.kubectl(['label', 'node', 'node-1', 'pool=large'])
    await plane.kubectl(['taint', 'node', 'node-1', 'dedicated=large:NoSchedule'])
    await sceneOn(plane, 'default').create([
      resourceFlavor('small', { nodeLabels: { pool: 'small' } }),
      resourceFlavor('large', { nodeLabels: { pool: 'large' }, tolerations: [LARGE] }),
      workloadPriorityClass('high', 1000),
      admissionCheck('budget'),
    ])
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  /** A namespace of its own, with a queue of its own that has its name. */
  async function open(name: string, queue: Omit<Parameters<typeof clusterQueue>[0], 'name'>): Promise<Scene> {
    const scene = sceneOn(plane, name)
    await plane.createNamespace(name)
    await scene.create([clusterQueue({ name, ...queue }), localQueue(name, name)])
    return scene
  }
  const pod = (scene: Scene, name: string, options: Partial<QueuedPodOptions> = {}) =>
    queuedPod({ namespace: scene.namespace, queue: scene.namespace, name, ...options })
  const gang = (scene: Scene, group: string, count: number, options: Partial<QueuedPodOptions> = {}) =>
    Array.from({ length: count }, (_, index) => pod(scene, `${group}-${index}`, { ...options, group, count }))
  const patchQueue = (name: string, spec: object) =>
    plane.kubectl(['patch', 'clusterqueue', name, '--type=merge', '-p', JSON.stringify({ spec })])
  const small = (cpu: string) => [{ name: 'small', quota: { cpu } }]

  it('sends single pods and groups where their flavor is', async () => {
    const scene = await open('flavors', {
      flavors: [
        { name: 'small', quota: { cpu: 1 } },
        { name: 'large', quota: { cpu: 4 } },
      ],
    })
    await scene.create(gang(scene, 'gang', 3, { cpu: '500m' }))
    await scene.create([pod(scene, 'one', { cpu: '600m' })])
    await scene.create([pod(scene, 'two', { cpu: '600m' })])
    await scene.until('all run', async () => expect(await scene.inPhase('Running')).toHaveLength(5))
    const where = Object.fromEntries((await scene.pods()).map(({ metadata, spec }) => [metadata.name, spec.nodeName]))
    expect(where).toEqual({
      ...{ 'gang-0': 'node-1', 'gang-1': 'node-1', 'gang-2': 'node-1' },
      ...{ one: 'node-0', two: 'node-1' },
    })
    for (const { metadata, spec } of await scene.pods()) {
      if (metadata.name === 'one') expect(spec.nodeSelector).toEqual({ pool: 'small' })
      else expect(spec.tolerations).toContainEqual(LARGE)
    }
    await scene.remove()
  })

  it('fills a queue and drains it, one after the other', async () => {
    const scene = await open('drain', { flavors: small('200m') })
    const order = ['a', 'b', 'c', 'd', 'e']
    for (const [index, name] of order.entries()) {
      await scene.create([pod(scene, name)])
      await scene.until(`${name} has a Workload`, async () => expect(await scene.workloads()).toHaveLength(index + 1))
      // Kueue orders by the time of creation, which has no parts of a second: of one second, anybody may be next.
      await sleep(1100)
    }
    for (const [index, name] of order.entries()) {
      const through = order.slice(0, index + 2)
      await scene.until(`${through} are lifted`, async () => expect(await scene.lifted()).toEqual(through))
      await scene.untilPhase(name, 'Running')
      await scene.end(name)
      await scene.untilPhase(name, 'Succeeded')
    }
    await scene.until('every finalizer is gone', async () => {
      expect((await scene.pods()).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
    })
    await scene.remove()
  })

  it('tells who waits what Kueue says', async () => {
    const scene = await open('told', { flavors: small('100m') })
    await scene.create([pod(scene, 'first')])
    await scene.untilPhase('first', 'Running')
    await scene.create([pod(scene, 'waits')])
    await scene.until('the Event has the words of Kueue', async () => {
      const [made] = (await scene.workloads()).filter(({ metadata }) => metadata.name?.startsWith('pod-waits-'))
      const told = made?.status?.conditions?.find(({ type }) => type === 'QuotaReserved')
      expect(told?.message).toMatch(/insufficient unused quota for cpu in flavor small/)
      const { stdout } = await plane.kubectl([
        ...['get', 'events', '-n', 'told', '--field-selector', 'reason=OverQueueLimits,involvedObject.name=waits'],
      ])
      expect(stdout).toContain('insufficient unused quota for cpu in flavor small')
    })
    await scene.remove()
  })

  it('stops a group for who matters more, and starts it again when there is room and its pods have come back', async () => {
    const scene = await open('preempt', { flavors: small('200m'), preempts: true })
    await scene.create(gang(scene, 'low', 2))
    await scene.until('the group runs', async () => expect(await scene.inPhase('Running')).toHaveLength(2))
    await scene.create([labelled(pod(scene, 'urgent'), { [PRIORITY_CLASS]: 'high' })])
    await scene.untilPhase('urgent', 'Running')
    await scene.until('the group is stopped', async () => expect(await scene.lifted()).toEqual(['urgent']))
    await scene.create(gang(scene, 'low', 2))
    await scene.until('it waits again', async () => expect(await scene.gated()).toEqual(['low-0', 'low-1']))
    await scene.end('urgent')
    await scene.until('it runs again', async () => expect(await scene.inPhase('Running')).toEqual(['low-0', 'low-1']))
    for (const name of ['low-0', 'low-1']) await scene.end(name)
    await scene.untilCondition('low', 'Finished', { status: 'True', reason: 'Succeeded' })
    await scene.remove()
  })

  it('stops a single pod for who matters more, and lets it go', async () => {
    const scene = await open('preempt-one', { flavors: small('100m'), preempts: true })
    await scene.create([pod(scene, 'low')])
    await scene.untilPhase('low', 'Running')
    await scene.create([labelled(pod(scene, 'urgent'), { [PRIORITY_CLASS]: 'high' })])
    await scene.untilPhase('urgent', 'Running')
    await scene.until('only one is left', async () => {
      expect((await scene.pods()).map(({ metadata }) => metadata.name)).toEqual(['urgent'])
    })
    await scene.remove()
  })

  it('holds back what waits in a stopped queue, and stops what runs when it is drained', async () => {
    const scene = await open('stopped', { flavors: small('300m') })
    await scene.create(gang(scene, 'runs', 2))
    await scene.until('the group runs', async () => expect(await scene.inPhase('Running')).toHaveLength(2))
    await patchQueue('stopped', { stopPolicy: 'Hold' })
    await scene.create([pod(scene, 'waits')])
    await scene.until('its Workload is there', async () => expect(await scene.workloads()).toHaveLength(2))
    expect(await scene.inPhase('Running')).toEqual(['runs-0', 'runs-1'])
    expect(await scene.gated()).toEqual(['waits'])
    await patchQueue('stopped', { stopPolicy: 'HoldAndDrain' })
    await scene.until('nothing runs', async () => {
      expect((await scene.pods()).map(({ metadata }) => metadata.name)).toEqual(['waits'])
    })
    await scene.create(gang(scene, 'runs', 2))
    await patchQueue('stopped', { stopPolicy: 'None' })
    await scene.until('all run', async () =>
      expect(await scene.inPhase('Running')).toEqual(['runs-0', 'runs-1', 'waits']),
    )
    await scene.remove()
  })

  it('waits for an admission check, and gives the pods what it adds', async () => {
    await setStatus('admissioncheck', 'budget', undefined, {
      conditions: [{ type: 'Active', status: 'True', reason: 'Test', message: '', lastTransitionTime: now() }],
    })
    const scene = await open('checked', { flavors: small('1'), checks: ['budget'] })
    await scene.create([...gang(scene, 'gang', 2), pod(scene, 'refused')])
    await scene.until('both Workloads have quota', async () => {
      const reserved = (await scene.workloads()).filter(({ status }) =>
        status?.conditions?.some(({ type, status }) => type === 'QuotaReserved' && status === 'True'),
      )
      expect(reserved).toHaveLength(2)
    })
    expect(await scene.lifted()).toEqual([])
    const [podSet] = (await scene.workload('gang')).spec.podSets
    await answer(scene, 'gang', 'Ready', [
      {
        name: podSet?.name,
        labels: { budget: 'granted' },
        annotations: { 'example.com/account': '4711' },
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'spot', operator: 'Exists' }],
      },
    ])
    await scene.until('the group runs', async () =>
      expect(await scene.inPhase('Running')).toEqual(['gang-0', 'gang-1']),
    )
    for (const { metadata, spec } of (await scene.pods()).filter(({ metadata }) => metadata.name !== 'refused')) {
      expect(metadata.labels).toMatchObject({ budget: 'granted' })
      expect(metadata.annotations).toMatchObject({ 'example.com/account': '4711' })
      expect(spec.nodeSelector).toMatchObject({ pool: 'small', 'kubernetes.io/os': 'linux' })
      expect(spec.tolerations).toContainEqual({ key: 'spot', operator: 'Exists' })
    }
    const refused = (await scene.workloads()).find(({ metadata }) => metadata.name?.startsWith('pod-refused-'))
    await answer(scene, refused?.metadata.name ?? '', 'Rejected')
    await scene.untilCondition(refused?.metadata.name ?? '', 'Evicted', { status: 'True' })
    expect(await scene.gated()).toEqual(['refused'])
    await scene.remove()
  })

  const now = () => new Date().toISOString()
  const setStatus = (kind: string, name: string, namespace: string | undefined, status: object) =>
    plane.kubectl([
      ...['patch', kind, name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })],
      ...(namespace === undefined ? [] : ['-n', namespace]),
    ])

  /** As the controller of the check would. */
  async function answer(scene: Scene, name: string, state: string, podSetUpdates: readonly object[] = []) {
    const check = { name: 'budget', state, message: 'by the test', lastTransitionTime: now(), podSetUpdates }
    await setStatus('workloads.kueue.x-k8s.io', name, scene.namespace, { admissionChecks: [check] })
  }
})
