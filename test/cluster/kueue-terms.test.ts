import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KueueWorkload } from '../../src/engines/kueue/objects.ts'
import { ADMISSION_GATED_BY, PRIORITY_CLASS, QUEUE_NAME } from '../../src/kube/vocabulary/names.ts'
import { BudgetCheck } from './support/admission-check.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import {
  annotated,
  clusterQueue,
  labelled,
  localQueue,
  resourceFlavor,
  workloadPriorityClass,
} from './support/kueue-objects.ts'
import { Muster } from './support/muster.ts'
import { type Scene, SETUP_MS, sceneOn } from './support/scene.ts'

const WORKLOADS = 'workloads.kueue.x-k8s.io'

describe('what a Workload of Kueue is asked for', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue
  let muster: Muster
  let budget: BudgetCheck

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kueue-terms', featureGates: 'none' })
    kueue = await Kueue.install(plane)
    await kueue.start({ pods: false })
    muster = await Muster.install(plane, { engine: 'kueue' })
    await plane.kubectl(['label', 'node', 'node-0', 'pool=small'])
    await sceneOn(plane, 'default').create([
      resourceFlavor('small', { nodeLabels: { pool: 'small' } }),
      workloadPriorityClass('low', 10),
      workloadPriorityClass('high', 1000),
    ])
    budget = await BudgetCheck.install(plane)
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  /** A namespace of its own, with a queue of its own that has its name. */
  async function open(name: string, cpu: string, checks: readonly string[] = []): Promise<Scene> {
    const scene = sceneOn(plane, name, name)
    await plane.createNamespace(name)
    await scene.create([
      clusterQueue({ name, flavors: [{ name: 'small', quota: { cpu } }], checks }),
      localQueue(name, name),
    ])
    return scene
  }
  const label = (scene: Scene, pod: string, key: string, value: string) =>
    plane.kubectl(['label', 'pod', pod, '-n', scene.namespace, '--overwrite', `${key}=${value}`])
  const workloadOf = async (scene: Scene, pod: string): Promise<KueueWorkload> =>
    (await scene.workload(await scene.nameOfWorkloadOf(pod))) as KueueWorkload
  const untilPriority = (scene: Scene, pod: string, priority: number, name: string) =>
    scene.until(`${pod} has priority ${priority}`, async () => {
      const { spec } = await workloadOf(scene, pod)
      expect(spec).toMatchObject({ priority, priorityClassRef: { kind: 'WorkloadPriorityClass', name } })
    })

  it('follows its pods to another queue', async () => {
    const scene = await open('moves', '0')
    await scene.create([
      clusterQueue({ name: 'moves-open', flavors: [{ name: 'small', quota: { cpu: 1 } }] }),
      localQueue(scene.namespace, 'open', 'moves-open'),
    ])
    await scene.create([...scene.gang('gang', 2), scene.pod('single')])
    await scene.told('gang-1', 'OverQueueLimits', 'cpu')
    await scene.told('single', 'OverQueueLimits', 'cpu')
    await label(scene, 'single', QUEUE_NAME, 'open')
    await scene.untilRunning('single')
    await label(scene, 'gang-0', QUEUE_NAME, 'open')
    await scene.told('gang-0', 'InvalidGroup', 'its group waits in queue "moves"')
    await label(scene, 'gang-1', QUEUE_NAME, 'open')
    await scene.untilRunning('gang-0', 'gang-1', 'single')
    expect((await scene.workload('gang')).spec.queueName).toBe('open')
    await scene.remove()
  })

  it('follows its pod to another class, and keeps the priority that an administrator gives it', async () => {
    const scene = await open('classes', '100m')
    await scene.create([labelled(scene.pod('runs'), { [PRIORITY_CLASS]: 'low' })])
    await scene.untilPhase('runs', 'Running')
    const waiting = ['first', 'second', 'third']
    await scene.create(waiting.map(name => labelled(scene.pod(name), { [PRIORITY_CLASS]: 'low' })))
    for (const name of waiting) await untilPriority(scene, name, 10, 'low')
    await label(scene, 'third', PRIORITY_CLASS, 'high')
    await untilPriority(scene, 'third', 1000, 'high')
    const raised = await scene.nameOfWorkloadOf('second')
    await scene.change(WORKLOADS, raised, { spec: { priority: 500 } })
    // Whatever changes of the pod: its Workload is looked at again.
    await plane.kubectl(['annotate', 'pod', 'second', '-n', scene.namespace, 'example.com/looked=yes'])
    for (const [ended, next] of [
      ['runs', 'third'],
      ['third', 'second'],
      ['second', 'first'],
    ] as const) {
      await scene.end(ended)
      await scene.untilPhase(next, 'Running')
    }
    await untilPriority(scene, 'second', 500, 'low')
    await scene.remove()
  })

  it('follows a class to another worth, as Kueue says it', async () => {
    const scene = await open('worth', '0')
    await scene.create([workloadPriorityClass('rising', 1)])
    await scene.create([labelled(scene.pod('waits'), { [PRIORITY_CLASS]: 'rising' })])
    await untilPriority(scene, 'waits', 1, 'rising')
    await plane.kubectl(['patch', 'workloadpriorityclass', 'rising', '--type=merge', '-p', '{"value": 77}'])
    await untilPriority(scene, 'waits', 77, 'rising')
    await scene.remove()
  })

  it('waits for every consent that its pod names, and for no other', async () => {
    const scene = await open('consents', '1')
    const gates = (list: string) => ({ [ADMISSION_GATED_BY]: list })
    const consent = (pod: string, left: string) =>
      plane.kubectl([
        ...['annotate', 'pod', pod, '-n', scene.namespace, '--overwrite'],
        left === '' ? `${ADMISSION_GATED_BY}-` : `${ADMISSION_GATED_BY}=${left}`,
      ])
    const pods = [scene.pod('single'), ...scene.gang('gang', 2)]
    await scene.create(pods.map(pod => annotated(pod, gates('a.com/x,b.com/y,c.com/z'))))
    await scene.told('single', 'WaitingForAdmission', 'a.com/x,b.com/y,c.com/z')
    await scene.told('gang-1', 'WaitingForAdmission', 'a.com/x,b.com/y,c.com/z')
    for (const pod of ['single', 'gang-0', 'gang-1']) await consent(pod, 'a.com/x,c.com/z')
    await scene.until('the one between is given', async () => {
      for (const { metadata } of await scene.workloads()) {
        expect(metadata.annotations).toMatchObject(gates('a.com/x,c.com/z'))
      }
    })
    expect(await scene.lifted()).toEqual([])
    for (const pod of ['single', 'gang-0', 'gang-1']) await consent(pod, '')
    await scene.untilRunning('gang-0', 'gang-1', 'single')
    await scene.remove()
  })

  it('is given no flavor in whose place its pod may not be', async () => {
    const scene = await open('contradicts', '1')
    await scene.create([scene.pod('elsewhere', { nodeSelector: { pool: 'large' } })])
    await scene.told('elsewhere', 'OverQueueLimits', 'small')
    await scene.create([scene.pod('fits', { nodeSelector: { pool: 'small' } })])
    await scene.untilRunning('fits')
    await scene.remove()
  })

  it('keeps its quota while a check wants for a label what the pod says otherwise', async () => {
    const scene = await open('labels', '100m', BudgetCheck.checks)
    await scene.create([labelled(scene.pod('own'), { budget: 'mine' })])
    const name = await scene
      .until('its Workload has quota', async () => {
        const { status } = await workloadOf(scene, 'own')
        expect(status?.admissionChecks).toMatchObject([{ state: 'Pending' }])
      })
      .then(() => scene.nameOfWorkloadOf('own'))
    await budget.answer('labels', name, 'Ready', [{ name: 'main', labels: { budget: 'granted' } }])
    await scene.told('own', 'LiftBlocked', 'the gate could not be lifted')
    expect(await scene.gated()).toEqual(['own'])
    await scene.remove()
  })
})
