import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { KaiPodGroup } from '../../src/coscheduling/kai/objects.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts'
import { gang, kaiJob, kaiPod, queuedKaiPod } from '../cluster/support/kai-crds.ts'
import { Muster } from '../cluster/support/muster.ts'
import { eventually } from '../cluster/support/wait.ts'
import { Kai } from './support/kai.ts'

const NAMESPACE = 'ml'
const LINK = 'pod-group-name'

interface Told {
  readonly reason: string
  readonly message: string
  readonly involvedObject: { readonly name: string }
}

/** The real KAI 0.12.0 beside Muster, on a real control plane: who is placed, and who is not. */
describe('KAI', () => {
  let plane: ControlPlane
  let kai: Kai
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'kai', featureGates: 'all', nodes: 1 })
    await plane.createNamespace(NAMESPACE)
    kai = await Kai.install(plane)
    await kai.start('kai-scheduler')
    await kai.start('kai-binder')
    muster = await Muster.install(plane)
  })

  afterAll(async () => {
    await muster?.stop()
    await kai?.stop()
    await plane?.stop()
  })

  afterEach(async () => {
    const kinds = 'jobs.batch,pods,podgroups.scheduling.k8s.io,podgroups.scheduling.run.ai'
    await plane.kubectl(['delete', kinds, '--all', '-n', NAMESPACE, '--wait=false'])
    await eventually('nothing is left', async () => (await pods()).length === 0 && (await kaiGroups()).length === 0)
  })

  const create = (...items: readonly object[]) =>
    plane.kubectl(['create', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
  const pods = async () => (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE])).items
  const kaiGroups = async () =>
    (await plane.kubectl.json<{ items: KaiPodGroup[] }>(['get', 'podgroups.scheduling.run.ai', '-n', NAMESPACE])).items
  const bound = async () => (await pods()).filter(({ spec }) => spec.nodeName).length
  const links = async () => new Set((await pods()).map(({ metadata }) => metadata.annotations?.[LINK]))
  const member = (name: string, group: string, cpu = '100m') => kaiPod({ namespace: NAMESPACE, name, group, cpu })
  const four = (group: string, cpu?: string) => [0, 1, 2, 3].map(index => member(`${group}-${index}`, group, cpu))
  /** Events of the pods and PodGroups whose names begin like this: those of earlier tests are still there. */
  const told = async (prefix: string) => {
    const { items } = await plane.kubectl.json<{ items: Told[] }>(['get', 'events', '-n', NAMESPACE])
    return items.filter(({ involvedObject }) => involvedObject.name.startsWith(prefix))
  }
  const saysWhyItWaits = (prefix: string) =>
    eventually('KAI says why it waits', async () =>
      (await told(prefix)).some(({ message }) => message.includes('found for 3 pods while 4 are required')),
    )
  const grows = (cpu: string) => {
    const change = { status: { allocatable: { cpu }, capacity: { cpu } } }
    return plane.kubectl([
      'patch',
      'node',
      'node-0',
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify(change),
    ])
  }

  it('binds none of a gang of four where three have room, and all when there is room', async () => {
    await create(gang({ namespace: NAMESPACE, name: 'wide', minCount: 4 }), ...four('wide', '20'))
    await eventually('all four are linked and free', async () => {
      expect((await pods()).map(({ spec }) => spec.schedulingGates ?? [])).toEqual([[], [], [], []])
      return true
    })
    expect(await links()).toEqual(new Set(['wide']))
    await saysWhyItWaits('wide')
    expect(await bound()).toBe(0)
    await grows('96')
    try {
      await eventually('all four are bound', async () => (await bound()) === 4, { timeoutMs: 60_000 })
    } finally {
      await grows('64')
    }
  })

  it('waits for a PodGroup that is missing, and binds when it appears', async () => {
    await create(...four('missing'))
    await eventually('the pods are told', async () =>
      (await told('missing')).some(
        ({ reason, message }) => reason === 'PodGrouperWarning' && message.includes('"missing"'),
      ),
    )
    expect([await bound(), (await kaiGroups()).length]).toEqual([0, 0])
    await create(gang({ namespace: NAMESPACE, name: 'missing', minCount: 4 }))
    await eventually('all four are bound', async () => (await bound()) === 4, { timeoutMs: 60_000 })
  })

  it('gets one PodGroup for the pods of a Job, and minMember follows minCount', async () => {
    await create(
      gang({ namespace: NAMESPACE, name: 'job-gang', minCount: 4 }),
      kaiJob({ namespace: NAMESPACE, name: 'train', group: 'job-gang', parallelism: 4 }),
    )
    await eventually('all four are bound, or have run', async () => (await bound()) === 4, { timeoutMs: 60_000 })
    expect(await links()).toEqual(new Set(['job-gang']))
    const groups = await kaiGroups()
    expect(groups.map(({ metadata, spec }) => [metadata.name, spec?.minMember])).toEqual([['job-gang', 4]])
    const change = JSON.stringify({ spec: { schedulingPolicy: { gang: { minCount: 3 } } } })
    const native = 'podgroups.scheduling.k8s.io'
    await plane.kubectl(['patch', native, 'job-gang', '-n', NAMESPACE, '--type=merge', '-p', change])
    await eventually('minMember follows', async () => (await kaiGroups())[0]?.spec?.minMember === 3)
  })

  it('binds a group in a queue as a whole, or not at all', async () => {
    const names = [0, 1, 2, 3].map(index => `queued-${index}`)
    const member = { namespace: NAMESPACE, group: 'queued', count: 4, cpu: '20' }
    await create(...names.map(name => queuedKaiPod({ ...member, name })))
    await saysWhyItWaits('queued')
    expect(await bound()).toBe(0)
    await eventually('all four are told by Muster what KAI says', async () => {
      const waiting = (await told('queued')).filter(({ reason }) => reason === 'WaitingForScheduler')
      expect(waiting.map(({ involvedObject }) => involvedObject.name).sort()).toEqual(names)
      return waiting.every(({ message }) => message.includes('found for 3 pods while 4 are required'))
    })
    await grows('96')
    try {
      await eventually('all four are bound', async () => (await bound()) === 4, { timeoutMs: 60_000 })
    } finally {
      await grows('64')
    }
  })

  describe('with its own pod-grouper beside Muster', () => {
    beforeAll(async () => {
      await kai.start('kai-podgrouper')
    })

    afterAll(async () => {
      await kai.halt('kai-podgrouper')
    })

    it('places the pods of a Job as the group that they name, although the pod-grouper regroups them', async () => {
      await create(kaiJob({ namespace: NAMESPACE, name: 'beside', group: 'beside', parallelism: 4 }))
      // While they wait it makes a PodGroup for each of them, which has no members and never will.
      await eventually('the pod-grouper has seen them', async () => (await kaiGroups()).length === 4, {
        timeoutMs: 60_000,
      })
      expect(await links()).toEqual(new Set([undefined]))
      expect(await bound()).toBe(0)
      await create(gang({ namespace: NAMESPACE, name: 'beside', minCount: 4 }))
      await eventually('all four are bound', async () => (await bound()) === 4, { timeoutMs: 60_000 })
      expect(await links()).toEqual(new Set(['beside']))
    })

    it('binds none of such a Job where only three of four have room', async () => {
      const job = kaiJob({ namespace: NAMESPACE, name: 'narrow', group: 'narrow', parallelism: 4, cpu: '20' })
      await create(gang({ namespace: NAMESPACE, name: 'narrow', minCount: 4 }), job)
      await saysWhyItWaits('narrow')
      expect([await bound(), await links()]).toEqual([0, new Set(['narrow'])])
      // It tries once for every change of a pod, and its own try is none: they do not drive each other on.
      const tries = () => muster.log().split('"reason":"LinkRestored"').length
      const before = tries()
      await sleep(5000)
      expect(tries() - before).toBeLessThanOrEqual(4)
    })

    it('groups a pod that opts out by itself, whether its PodGroup exists or not', async () => {
      const annotations = { 'kai.scheduler/ignore-workload-api': 'true' }
      await create(kaiJob({ namespace: NAMESPACE, name: 'out', group: 'absent', parallelism: 1, annotations }))
      await eventually('the pod is bound', async () => (await bound()) === 1, { timeoutMs: 60_000 })
      const [pod] = await pods()
      const job = await plane.kubectl.json<Pod>(['get', 'job', 'out', '-n', NAMESPACE])
      expect(pod?.metadata.annotations?.[LINK]).toBe(`pg-${pod?.metadata.name}-${job.metadata.uid}`)
    })
  })
})
