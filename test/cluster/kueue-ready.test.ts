import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Kueue } from './support/kueue.ts'
import { clusterQueue, localQueue, resourceFlavor } from './support/kueue-objects.ts'
import { Muster } from './support/muster.ts'
import { type Scene, SETUP_MS, sceneOn } from './support/scene.ts'

/** As long as Kueue waits for pods that have been ready once, and are not any more. */
const RECOVERY_S = 15

describe('a Kueue that waits for pods to be ready', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kueue-ready', featureGates: 'none' })
    kueue = await Kueue.install(plane)
    const waitForPodsReady = { timeout: '45s', recoveryTimeout: `${RECOVERY_S}s`, blockAdmission: false }
    await kueue.start({ pods: false, config: { waitForPodsReady } })
    muster = await Muster.install(plane, { engine: 'kueue' })
    await sceneOn(plane, 'default').create([resourceFlavor('any')])
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  async function open(name: string, cpu: string): Promise<Scene> {
    const scene = sceneOn(plane, name, name)
    await plane.createNamespace(name)
    await scene.create([clusterQueue({ name, flavors: [{ name: 'any', quota: { cpu } }] }), localQueue(name, name)])
    return scene
  }

  it('G16: is told that they are, and that who has done his work is not missed', async () => {
    const scene = await open('uneven', '1')
    await scene.create(scene.gang('gang', 2))
    await scene.untilRunning('gang-0', 'gang-1')
    const started = { status: 'True', reason: 'Started' }
    await scene.untilCondition('gang', 'PodsReady', started)
    await scene.end('gang-0')
    await scene.untilPhase('gang-0', 'Succeeded')
    await sleep(2 * RECOVERY_S * 1000)
    await scene.untilRunning('gang-1')
    await scene.untilCondition('gang', 'PodsReady', started)
    await scene.end('gang-1')
    await scene.untilCondition('gang', 'Finished', { status: 'True', reason: 'Succeeded' })
    await scene.remove()
  })

  it('is told of a pod that is missing, and of the one that replaces it', async () => {
    const scene = await open('recovers', '1')
    await scene.create(scene.gang('gang', 2))
    await scene.untilCondition('gang', 'PodsReady', { status: 'True', reason: 'Started' })
    await scene.end('gang-0', 'fail')
    await scene.untilCondition('gang', 'PodsReady', { status: 'False', reason: 'WaitForRecovery' })
    await scene.create([scene.pod('spare', { group: 'gang', count: 2 })])
    await scene.untilCondition('gang', 'PodsReady', { status: 'True', reason: 'Recovered' })
    await scene.untilRunning('gang-1', 'spare')
    await scene.remove()
  })

  it('takes the place of pods that never are, and gives it to the next', async () => {
    const scene = await open('never', '200m')
    const nowhere = { nodeSelector: { 'example.com/no': 'node' } }
    await scene.create(scene.gang('stuck', 2, nowhere))
    await scene.until('they are lifted', async () => expect(await scene.lifted()).toEqual(['stuck-0', 'stuck-1']))
    await scene.create([scene.pod('next')])
    await scene.told('next', 'OverQueueLimits', 'insufficient unused quota')
    await scene.told('stuck-0', 'Evicted', 'PodsReady')
    await scene.untilRunning('next')
    await scene.until('they are gone', async () => {
      expect((await scene.pods()).map(({ metadata }) => metadata.name)).toEqual(['next'])
    })
    await scene.remove()
  })
})
