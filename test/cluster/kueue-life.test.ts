import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAME } from '../../src/kube/vocabulary/names.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import { clusterQueue, localQueue, resourceFlavor } from './support/kueue-objects.ts'
import { type QueuedPodOptions, queuedPod } from './support/manifests.ts'
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

  const pod = (scene: Scene, name: string, options: Partial<QueuedPodOptions> = {}) =>
    queuedPod({ namespace: scene.namespace, name, ...options })
  const gang = (scene: Scene, group: string, count: number, options: Partial<QueuedPodOptions> = {}) =>
    Array.from({ length: count }, (_, index) => pod(scene, `${group}-${index}`, { ...options, group, count }))
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
    await scene.create([pod(scene, 'hello', { outcome: 'succeed' })])
    await scene.untilPhase('hello', 'Succeeded')
    await scene.remove()
  })

  it('lets everything go, in whatever order it is deleted', async () => {
    const orders = permutations(Object.keys(DELETIONS) as (keyof typeof DELETIONS)[])
    await Promise.all(
      orders.map(async order => {
        const scene = await open(`gone-${order.join('-')}`)
        await scene.create([...gang(scene, 'runs', 2), pod(scene, 'single'), pod(scene, 'waits', { queue: 'full' })])
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
    await scene.create([pod(scene, 'runs')])
    await scene.untilPhase('runs', 'Running')
    await kueue?.kill()
    // Its webhooks refuse every change of a pod while it is away, the lifts of Muster included.
    const { stderr } = await plane.kubectl(['label', 'pod', 'runs', '-n', scene.namespace, 'a=b'], REFUSED)
    expect(stderr).toContain('vpod.kb.io')
    await kueue?.start({ pods: false })
    await scene.end('runs')
    await scene.untilPhase('runs', 'Succeeded')
    await scene.create([...gang(scene, 'gang', 3), pod(scene, 'next')])
    await scene.until('all run', async () => expect(await scene.inPhase('Running')).toHaveLength(4))
    await scene.until('what ended is let go', async () => {
      const ended = (await scene.pods()).find(({ metadata }) => metadata.name === 'runs')
      expect(ended?.metadata.finalizers ?? []).toEqual([])
    })
    await scene.remove()
  })

  it('finishes a lift of 100 that a kill of Muster interrupted', async () => {
    const scene = await open('muster-away')
    await scene.create(gang(scene, 'big', 100, { cpu: '1m' }))
    await eventually('some are lifted', async () => (await scene.lifted()).length > 0, { intervalMs: 20 })
    await muster.kill()
    await muster.start()
    await muster.untilReady()
    await scene.until('all are lifted', async () => expect(await scene.lifted()).toHaveLength(100))
    await scene.remove()
  })

  it('queues the pods of a StatefulSet one by one, and lets them go with it', async () => {
    const scene = await open('stateful')
    const labels = { app: 'db', [QUEUE_NAME]: QUEUE }
    const [container] = [{ name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu: '100m' } } }]
    await scene.create([
      {
        ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: scene.namespace } },
        spec: {
          ...{ replicas: 3, serviceName: 'db', selector: { matchLabels: { app: 'db' } } },
          template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
        },
      },
    ])
    await scene.until('three run', async () => expect(await scene.inPhase('Running')).toEqual(['db-0', 'db-1', 'db-2']))
    expect(await scene.workloads()).toHaveLength(3)
    await plane.kubectl(['delete', 'pod', 'db-1', '-n', scene.namespace])
    await scene.until('its successor runs', async () => expect(await scene.inPhase('Running')).toHaveLength(3))
    await plane.kubectl(['scale', 'statefulset', 'db', '--replicas=1', '-n', scene.namespace])
    await scene.until('two have gone', async () => expect(await scene.lifted()).toEqual(['db-0']))
    await plane.kubectl(['delete', 'statefulset', 'db', '-n', scene.namespace])
    await scene.until('all have gone', async () => expect(await scene.pods()).toEqual([]))
    await scene.remove()
  })
})
