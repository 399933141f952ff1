import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  PODSET_GROUP,
  PREFERRED_TOPOLOGY,
  REQUIRED_TOPOLOGY,
  SLICE_SIZE,
  SLICE_TOPOLOGY,
  UNCONSTRAINED_TOPOLOGY,
} from '../../src/kube/vocabulary/names.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import { annotated, clusterQueue, labelled, localQueue, resourceFlavor, topology } from './support/kueue-objects.ts'
import { Muster } from './support/muster.ts'
import { type Scene, SETUP_MS, sceneOn } from './support/scene.ts'

const RACK = 'example.com/rack'
const INDEX = 'kueue.x-k8s.io/pod-group-pod-index'

/** Two nodes of 64 CPUs in each: one pod of this size fills more than half of one. */
const RACKS: Readonly<Record<string, string>> = { 'node-0': 'r0', 'node-1': 'r0', 'node-2': 'r1', 'node-3': 'r1' }
const LARGE = { cpu: '40' }

describe('pods that Kueue places by topology', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kueue-topology', featureGates: 'none', nodes: 4 })
    kueue = await Kueue.install(plane)
    await kueue.start({ pods: false })
    muster = await Muster.install(plane, { engine: 'kueue' })
    for (const [node, rack] of Object.entries(RACKS)) {
      await plane.kubectl(['label', 'node', node, 'fleet=near', `${RACK}=${rack}`])
    }
    await sceneOn(plane, 'default').create([
      topology('racks', [RACK, 'kubernetes.io/hostname']),
      resourceFlavor('near', { nodeLabels: { fleet: 'near' }, topologyName: 'racks' }),
      clusterQueue({ name: 'near', flavors: [{ name: 'near', quota: { cpu: 1000 } }] }),
    ])
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  async function open(name: string): Promise<Scene> {
    const scene = sceneOn(plane, name, 'near')
    await plane.createNamespace(name)
    await scene.create([localQueue(name, 'near')])
    return scene
  }
  const each = (pods: readonly object[], annotations: Readonly<Record<string, string>>) =>
    pods.map(pod => annotated(pod, annotations))
  /** The rack of each pod that runs. */
  const racks = async (scene: Scene): Promise<Readonly<Record<string, string | undefined>>> => {
    const running = (await scene.pods()).filter(({ status }) => status?.phase === 'Running')
    return Object.fromEntries(running.map(({ metadata, spec }) => [metadata.name, RACKS[spec.nodeName ?? '']]))
  }
  const counts = async (scene: Scene): Promise<readonly number[]> =>
    [...Map.groupBy(Object.values(await racks(scene)), rack => rack).values()].map(pods => pods.length).sort()

  it('are near each other where they prefer it, and elsewhere if there is no room', async () => {
    const scene = await open('preferred')
    await scene.create(each(scene.gang('two', 2, LARGE), { [PREFERRED_TOPOLOGY]: RACK }))
    await scene.untilRunning('two-0', 'two-1')
    expect(await counts(scene)).toEqual([2])
    await scene.remove()
    const wide = await open('preferred-wide')
    await wide.create(each(wide.gang('three', 3, LARGE), { [PREFERRED_TOPOLOGY]: RACK }))
    await wide.untilRunning('three-0', 'three-1', 'three-2')
    expect(await counts(wide)).toEqual([1, 2])
    await wide.remove()
  })

  it('are near each other slice by slice', async () => {
    const scene = await open('slices')
    const slices = { [SLICE_TOPOLOGY]: RACK, [SLICE_SIZE]: '2' }
    await scene.create(each(scene.gang('sliced', 4, LARGE), slices))
    await scene.untilRunning('sliced-0', 'sliced-1', 'sliced-2', 'sliced-3')
    expect(await counts(scene)).toEqual([2, 2])
    await scene.remove()
  })

  it('stand in the order of their index', async () => {
    const scene = await open('ranks')
    // Made in another order than that of their ranks.
    const ranked = scene
      .gang('ranked', 4, LARGE)
      .map((pod, index) => labelled(pod, { [INDEX]: String(index) }))
      .reverse()
    await scene.create(each(ranked, { [UNCONSTRAINED_TOPOLOGY]: 'true' }))
    await scene.untilRunning('ranked-0', 'ranked-1', 'ranked-2', 'ranked-3')
    const where = await racks(scene)
    expect([where['ranked-0'], where['ranked-2']]).toEqual([where['ranked-1'], where['ranked-3']])
    await scene.remove()
  })

  it('share one place with those of another shape who name the same group of podSets', async () => {
    const scene = await open('together')
    const together = { [REQUIRED_TOPOLOGY]: RACK, [PODSET_GROUP]: 'all' }
    const leader = scene.pod('leader', { group: 'team', count: 3, cpu: '20' })
    const workers = ['worker-0', 'worker-1'].map(name => scene.pod(name, { group: 'team', count: 3, ...LARGE }))
    await scene.create(each([leader, ...workers], together))
    await scene.untilRunning('leader', 'worker-0', 'worker-1')
    expect(await counts(scene)).toEqual([3])
    await scene.remove()
  })

  it('are replaced where there is room for them', async () => {
    const scene = await open('replaced')
    await scene.create(each(scene.gang('gang', 2, LARGE), { [REQUIRED_TOPOLOGY]: RACK }))
    await scene.untilRunning('gang-0', 'gang-1')
    const before = await racks(scene)
    await scene.end('gang-0', 'fail')
    await scene.untilCondition('gang', 'WaitingForReplacementPods', { status: 'True' })
    const [spare = {}] = each([scene.pod('spare', { group: 'gang', count: 2, ...LARGE })], {
      [REQUIRED_TOPOLOGY]: RACK,
    })
    await scene.create([spare])
    await scene.untilRunning('gang-1', 'spare')
    expect((await racks(scene)).spare).toBe(before['gang-0'])
    await scene.remove()
  })

  it('are placed anew when they are admitted again', async () => {
    const scene = await open('again')
    const make = () => scene.create(each(scene.gang('gang', 2, LARGE), { [REQUIRED_TOPOLOGY]: RACK }))
    await make()
    await scene.untilRunning('gang-0', 'gang-1')
    await scene.change('workloads.kueue.x-k8s.io', 'gang', { spec: { active: false } })
    await scene.until('all are gone', async () => expect(await scene.pods()).toEqual([]))
    await make()
    await scene.untilRunning('gang-0', 'gang-1')
    expect(await counts(scene)).toEqual([2])
    await scene.remove()
  })

  it('and did not ask for it, end as what cannot start and say why', async () => {
    const scene = await open('unasked')
    await scene.create([scene.pod('plain'), ...scene.gang('gang', 2)])
    for (const pod of ['plain', 'gang-0']) await scene.told(pod, 'LiftBlocked', 'kueue.x-k8s.io/topology')
    await scene.untilCondition('gang', 'Finished', { status: 'True', reason: 'FailedToStart' })
    expect(await scene.lifted()).toEqual([])
    await scene.remove()
  })
})
