import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_GROUP_WORKLOAD, TOPOLOGY_GATE } from '../../src/kube/vocabulary/kueue.ts'
import {
  ADMISSION_GATE,
  GROUP_FAST_ADMISSION,
  GROUP_NAME,
  GROUP_SERVING,
  GROUP_TOTAL_COUNT,
  PREBUILT_WORKLOAD,
  QUEUE_NAME,
  REQUIRED_TOPOLOGY,
  ROLE_HASH,
  UNCONSTRAINED_TOPOLOGY,
} from '../../src/kube/vocabulary/names.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import {
  annotated,
  clusterQueue,
  labelled,
  localQueue,
  prebuiltWorkload,
  resourceFlavor,
  topology,
} from './support/kueue-objects.ts'
import { statefulSet } from './support/manifests.ts'
import { Muster, refuses } from './support/muster.ts'
import { type Scene, SETUP_MS, sceneOn } from './support/scene.ts'
import { eventually } from './support/wait.ts'

const QUEUE = 'team-a'
const REFUSED = { expectFailure: true }

/** What is deleted while a group runs and a pod waits: all orders of these. */
const DELETIONS = {
  pods: ['pods', '--all'],
  workloads: ['workloads.kueue.x-k8s.io', '--all'],
  queue: ['localqueues', '--all'],
} as const

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items]
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map(rest => [item, ...rest]))
}

describe('a cluster with Kueue', { timeout: 300_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue | undefined
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kueue-life', featureGates: 'none' })
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  async function open(name: string): Promise<Scene> {
    await plane.createNamespace(name)
    const scene = sceneOn(plane, name)
    await scene.create([localQueue(name, QUEUE), localQueue(name, 'full')])
    return scene
  }

  it('is not ready without Kueue and says so, and is ready when Kueue has come', async () => {
    muster = await Muster.install(plane, { engine: 'kueue' }, { awaitReady: false })
    await refuses(muster, /kueue/i)
    kueue = await Kueue.install(plane)
    await kueue.start({ pods: false })
    await muster.untilReady()
    await sceneOn(plane, 'default').create([
      resourceFlavor('any'),
      clusterQueue({ name: QUEUE, flavors: [{ name: 'any', quota: { cpu: 40 } }] }),
      clusterQueue({ name: 'full', flavors: [{ name: 'any', quota: { cpu: 0 } }] }),
    ])
    const scene = await open('first')
    await scene.create([scene.pod('hello', { outcome: 'succeed' })])
    await scene.untilPhase('hello', 'Succeeded')
    await scene.remove()
  })

  it('lets everything go, in whatever order it is deleted', async () => {
    const orders = permutations(Object.keys(DELETIONS) as (keyof typeof DELETIONS)[])
    await Promise.all(
      orders.map(async order => {
        const scene = await open(`gone-${order.join('-')}`)
        await scene.create([...scene.gang('runs', 2), scene.pod('single'), scene.pod('waits', { queue: 'full' })])
        await scene.until('three run', async () => expect(await scene.inPhase('Running')).toHaveLength(3))
        for (const what of order) {
          const patience = ['--timeout=90s', '-n', scene.namespace]
          await plane.kubectl(['delete', ...DELETIONS[what], ...patience], { timeoutMs: 100_000 })
        }
        await scene.until('nothing is left', async () => {
          expect(await scene.pods()).toEqual([])
          expect(await scene.workloads()).toEqual([])
        })
        await scene.remove()
      }),
    )
  })

  it('goes on where it was when Kueue was away', async () => {
    const scene = await open('kueue-away')
    await scene.create([scene.pod('runs')])
    await scene.untilPhase('runs', 'Running')
    await kueue?.kill()
    // Its webhooks refuse every change of a pod while it is away, the lifts of Muster included.
    const { stderr } = await plane.kubectl(['label', 'pod', 'runs', '-n', scene.namespace, 'a=b'], REFUSED)
    expect(stderr).toContain('vpod.kb.io')
    await kueue?.start({ pods: false })
    await scene.end('runs')
    await scene.untilPhase('runs', 'Succeeded')
    await scene.create([...scene.gang('gang', 3), scene.pod('next')])
    await scene.until('all run', async () => expect(await scene.inPhase('Running')).toHaveLength(4))
    await scene.until('what ended is let go', async () => {
      const ended = (await scene.pods()).find(({ metadata }) => metadata.name === 'runs')
      expect(ended?.metadata.finalizers ?? []).toEqual([])
    })
    await scene.remove()
  })

  it('finishes a lift of 100 that a kill of Muster interrupted', async () => {
    const scene = await open('muster-away')
    await scene.create(scene.gang('big', 100, { cpu: '1m' }))
    await eventually('some are lifted', async () => (await scene.lifted()).length > 0, { intervalMs: 20 })
    await muster.kill()
    await muster.start()
    await muster.untilReady()
    await scene.until('all are lifted', async () => expect(await scene.lifted()).toHaveLength(100))
    await scene.remove()
  })

  it('queues the pods of StatefulSets one by one, or as a group that is admitted ahead, and lets them go with it', async () => {
    const scene = await open('stateful')
    await scene.create([
      statefulSet(scene.namespace, 'db', { [QUEUE_NAME]: QUEUE }),
      statefulSet(
        scene.namespace,
        'web',
        { [QUEUE_NAME]: QUEUE, [GROUP_NAME]: 'web' },
        { [GROUP_TOTAL_COUNT]: '3', [GROUP_FAST_ADMISSION]: 'true', [GROUP_SERVING]: 'true' },
      ),
    ])
    const all = ['db-0', 'db-1', 'db-2', 'web-0', 'web-1', 'web-2']
    await scene.untilRunning(...all)
    expect(await scene.workloads()).toHaveLength(4)
    await plane.kubectl(['delete', 'pods', 'db-1', 'web-1', '-n', scene.namespace])
    await scene.untilRunning(...all)
    await plane.kubectl(['scale', 'statefulset', 'db', 'web', '--replicas=1', '-n', scene.namespace])
    await scene.until('four have gone', async () => expect(await scene.lifted()).toEqual(['db-0', 'web-0']))
    await plane.kubectl(['delete', 'statefulsets', '--all', '-n', scene.namespace])
    await scene.until('all have gone', async () => expect(await scene.pods()).toEqual([]))
    await scene.remove()
  })

  it('lets pods into the Workloads that somebody made ahead for them, and into none that is charged for less', async () => {
    const scene = await open('ahead')
    const named = (pod: object, workload: string) => labelled(pod, { [PREBUILT_WORKLOAD]: workload })
    await scene.create([
      named(scene.pod('solo'), 'made-for-solo'),
      named(scene.pod('large', { cpu: '200m' }), 'made-for-large'),
      ...scene.gang('gang', 2).map(pod => named(pod, 'gang')),
    ])
    await scene.told('solo', 'InvalidGroup', 'prebuilt Workload made-for-solo does not exist')
    await scene.told('gang-1', 'InvalidGroup', 'prebuilt Workload gang does not exist')
    expect(await scene.workloads()).toEqual([])
    const [member] = (await scene.pods()).filter(({ metadata }) => metadata.name === 'gang-0')
    const role = member?.metadata.annotations?.[ROLE_HASH] ?? ''
    const made = (name: string, podSet: string, count: number) =>
      prebuiltWorkload({ namespace: scene.namespace, name, queue: QUEUE, podSet, count, cpu: '100m' })
    await scene.create([
      made('made-for-solo', 'main', 1),
      made('made-for-large', 'main', 1),
      annotated(made('gang', role, 2), { [IS_GROUP_WORKLOAD]: 'true' }),
    ])
    await scene.untilRunning('gang-0', 'gang-1', 'solo')
    await scene.told('large', 'InvalidGroup', 'cpu')
    expect(await scene.gated()).toEqual(['large'])
    const names = (await scene.workloads()).map(({ metadata }) => metadata.name)
    expect(names.sort()).toEqual(['gang', 'made-for-large', 'made-for-solo'])
    await scene.endAll()
    for (const name of ['made-for-solo', 'gang']) {
      await scene.untilCondition(name, 'Finished', { status: 'True', reason: 'Succeeded' })
    }
    await scene.remove()
  })

  it('leaves it to Kueue to place pods that ask to be close together', async () => {
    for (const index of [0, 1]) {
      await plane.kubectl(['label', 'node', `node-${index}`, 'fleet=near', `example.com/rack=r${index}`])
    }
    await sceneOn(plane, 'default').create([
      topology('racks', ['example.com/rack', 'kubernetes.io/hostname']),
      resourceFlavor('near', { nodeLabels: { fleet: 'near' }, topologyName: 'racks' }),
      clusterQueue({ name: 'near', flavors: [{ name: 'near', quota: { cpu: 1000 } }] }),
    ])
    const scene = await open('close')
    await scene.create([localQueue(scene.namespace, 'near')])
    const rack = { [REQUIRED_TOPOLOGY]: 'example.com/rack' }
    const close = (group: string, cpu: string) =>
      scene.gang(group, 2, { cpu, queue: 'near' }).map(pod => annotated(pod, rack))
    await scene.create(close('fits', '25'))
    await scene.create(close('wide', '40'))
    await scene.untilRunning('fits-0', 'fits-1')
    const pods = await scene.pods()
    const where = pods.filter(({ spec }) => spec.nodeName !== undefined)
    expect(new Set(where.map(({ spec }) => spec.nodeName)).size).toBe(1)
    for (const { spec } of where) {
      expect(spec.nodeSelector).toMatchObject({ fleet: 'near', 'kubernetes.io/hostname': spec.nodeName })
    }
    await scene.told('wide-0', 'OverQueueLimits', 'topology')
    const held = pods.find(({ metadata }) => metadata.name === 'wide-0')
    expect(held?.spec.schedulingGates).toEqual([{ name: ADMISSION_GATE }, { name: TOPOLOGY_GATE }])
    await scene.create([annotated(scene.pod('anywhere', { queue: 'near' }), { [UNCONSTRAINED_TOPOLOGY]: 'true' })])
    await scene.untilPhase('anywhere', 'Running')
    await scene.endAll()
    await scene.untilCondition('fits', 'Finished', { status: 'True', reason: 'Succeeded' })
    await scene.remove()
  })
})
