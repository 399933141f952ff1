import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Census, census, populate, runToTheEnd } from './support/census.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import { clusterQueue, localQueue, resourceFlavor } from './support/kueue-objects.ts'
import { queuedPod } from './support/manifests.ts'
import { Muster, refuses } from './support/muster.ts'
import { KUEUE_WORKLOADS, OWN_WORKLOADS, type Scene, SETUP_MS, sceneOn } from './support/scene.ts'

describe('a change of the one who queues a hundred pods', { timeout: 300_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue
  let muster: Muster | undefined

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kueue-migration', featureGates: 'none', nodes: 4 })
    kueue = await Kueue.install(plane)
    await kueue.start({ pods: true })
    await sceneOn(plane, 'default').create([
      resourceFlavor('any'),
      clusterQueue({ name: 'team-a', flavors: [{ name: 'any', quota: { cpu: 100 } }] }),
    ])
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  /** A namespace with room, and with none until somebody makes it. */
  async function open(name: string): Promise<Scene & { makeRoom(): Promise<unknown> }> {
    await plane.createNamespace(name)
    const scene = sceneOn(plane, name)
    const full = (cpu: number) => clusterQueue({ name, flavors: [{ name: 'any', quota: { cpu } }] })
    await scene.create([full(0), localQueue(name, 'team-a'), localQueue(name, 'full', name)])
    return { ...scene, makeRoom: () => plane.kubectl(['apply', '-f', '-'], { stdin: full(100) }) }
  }
  const unchanged = async (scene: Scene, before: Census) => expect(await census(scene)).toEqual(before)

  it('begins with Kueue alone, which admits a plain pod and a group and ends what has ended', async () => {
    const scene = await open('alone')
    const member = { namespace: 'alone', group: 'gang', count: 3 }
    await scene.create([
      queuedPod({ namespace: 'alone', name: 'single', outcome: 'succeed' }),
      ...[0, 1].map(index => queuedPod({ ...member, name: `gang-${index}` })),
    ])
    await scene.untilPhase('single', 'Succeeded')
    expect(await scene.gated()).toEqual(['gang-0', 'gang-1'])
    await scene.create([queuedPod({ ...member, name: 'gang-2' })])
    for (const index of [0, 1, 2]) await scene.untilPhase(`gang-${index}`, 'Running')
    // First the end: alone, Kueue holds the pods of a group that are deleted while it runs, and waits for others.
    await scene.endAll()
    await scene.untilCondition('gang', 'Finished', { status: 'True', message: 'Pods succeeded: 3/3.' })
    await scene.remove()
  })

  it('from the pod integration of Kueue to Muster, which lifts nothing as long as that is on', async () => {
    const scene = await open('to-muster')
    const before = await populate(scene)
    muster = await Muster.install(plane, { engine: 'kueue' }, { awaitReady: false })
    await refuses(muster, /pod integration/)
    await unchanged(scene, before)
    await kueue.stop()
    await kueue.start({ pods: false })
    await muster.untilReady()
    await unchanged(scene, before)
    await runToTheEnd(scene, scene.makeRoom)
    await scene.remove()
  })

  it('from Muster back to the pod integration of Kueue', async () => {
    const scene = await open('to-kueue')
    const before = await populate(scene)
    await muster?.withdraw(plane)
    await kueue.stop()
    await kueue.start({ pods: true })
    await unchanged(scene, before)
    await runToTheEnd(scene, scene.makeRoom)
    await scene.remove()
  })

  it('from the built-in engine to Kueue', async () => {
    await kueue.stop()
    await kueue.start({ pods: false })
    const queues = [{ name: 'full', limits: { pods: 0 } }]
    const builtin = await Muster.install(plane, { engine: 'builtin', queues })
    const scene = await open('from-builtin')
    const before = await populate(scene)
    await builtin.stop()
    muster = await Muster.install(plane, { engine: 'kueue' })
    await unchanged(scene, before)
    await runToTheEnd(scene, scene.makeRoom)
    await scene.remove()
  })

  it('from Kueue to the built-in engine', async () => {
    const scene = await open('to-builtin')
    const before = await populate(scene)
    await muster?.stop()
    const withRoom = async (pods: number): Promise<void> => {
      await muster?.stop()
      muster = await Muster.install(plane, { engine: 'builtin', queues: [{ name: 'full', limits: { pods } }] })
    }
    await withRoom(0)
    await unchanged(scene, before)
    // As docs/kueue.md has it: what Kueue holds for pods that it does not admit any more.
    for (const { metadata } of await scene.workloads()) {
      await scene.change(KUEUE_WORKLOADS, metadata.name ?? '', { metadata: { finalizers: null } })
      await plane.kubectl(['delete', KUEUE_WORKLOADS, metadata.name ?? '', '-n', scene.namespace, '--ignore-not-found'])
    }
    await unchanged(scene, before)
    await runToTheEnd(scene, () => withRoom(1000), OWN_WORKLOADS)
    expect(await scene.workloads()).toEqual([])
    await scene.remove()
  })
})
