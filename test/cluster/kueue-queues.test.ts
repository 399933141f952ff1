import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KueueStatus } from '../../src/engines/kueue/objects.ts'
import { MAX_EXEC_TIME, PRIORITY_CLASS, RETRIABLE_IN_GROUP } from '../../src/kube/vocabulary/names.ts'
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

const LARGE = { key: 'dedicated', operator: 'Equal', value: 'large', effect: 'NoSchedule' } as const

describe('queues of Kueue', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let kueue: Kueue
  let muster: Muster
  let budget: BudgetCheck

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
    ])
    budget = await BudgetCheck.install(plane)
  }, SETUP_MS)

  afterAll(async () => {
    await muster?.stop()
    await kueue?.close()
    await plane?.stop()
  })

  /** A namespace of its own, with a queue of its own that has its name. */
  async function open(name: string, queue: Omit<Parameters<typeof clusterQueue>[0], 'name'>): Promise<Scene> {
    const scene = sceneOn(plane, name, name)
    await plane.createNamespace(name)
    await scene.create([clusterQueue({ name, ...queue }), localQueue(name, name)])
    return scene
  }
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
    await scene.create(scene.gang('gang', 3, { cpu: '500m' }))
    await scene.create([scene.pod('one', { cpu: '600m' })])
    await scene.create([scene.pod('two', { cpu: '600m' })])
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
      await scene.create([scene.pod(name)])
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
    await scene.create([scene.pod('first')])
    await scene.untilPhase('first', 'Running')
    await scene.create([scene.pod('waits')])
    await scene.until('the Event has the words of Kueue', async () => {
      const [made] = (await scene.workloads()).filter(({ metadata }) => metadata.name?.startsWith('pod-waits-'))
      const told = made?.status?.conditions?.find(({ type }) => type === 'QuotaReserved')
      expect(told?.message).toMatch(/insufficient unused quota for cpu in flavor small/)
    })
    await scene.told('waits', 'OverQueueLimits', 'insufficient unused quota for cpu in flavor small')
    await scene.remove()
  })

  it('stops a group for who matters more, and starts it again when there is room and its pods have come back', async () => {
    const scene = await open('preempt', { flavors: small('200m'), preempts: true })
    await scene.create(scene.gang('low', 2))
    await scene.until('the group runs', async () => expect(await scene.inPhase('Running')).toHaveLength(2))
    await scene.create([labelled(scene.pod('urgent'), { [PRIORITY_CLASS]: 'high' })])
    await scene.untilPhase('urgent', 'Running')
    await scene.until('the group is stopped', async () => expect(await scene.lifted()).toEqual(['urgent']))
    await scene.create(scene.gang('low', 2))
    await scene.until('it waits again', async () => expect(await scene.gated()).toEqual(['low-0', 'low-1']))
    await scene.end('urgent')
    await scene.until('it runs again', async () => expect(await scene.inPhase('Running')).toEqual(['low-0', 'low-1']))
    for (const name of ['low-0', 'low-1']) await scene.end(name)
    await scene.untilCondition('low', 'Finished', { status: 'True', reason: 'Succeeded' })
    await scene.remove()
  })

  it('stops a single pod for who matters more, and lets it go', async () => {
    const scene = await open('preempt-one', { flavors: small('100m'), preempts: true })
    await scene.create([scene.pod('low')])
    await scene.untilPhase('low', 'Running')
    await scene.create([labelled(scene.pod('urgent'), { [PRIORITY_CLASS]: 'high' })])
    await scene.untilPhase('urgent', 'Running')
    await scene.until('only one is left', async () => {
      expect((await scene.pods()).map(({ metadata }) => metadata.name)).toEqual(['urgent'])
    })
    await scene.remove()
  })

  it('holds back what waits in a stopped queue, and stops what runs when it is drained', async () => {
    const scene = await open('stopped', { flavors: small('300m') })
    await scene.create(scene.gang('runs', 2))
    await scene.until('the group runs', async () => expect(await scene.inPhase('Running')).toHaveLength(2))
    await patchQueue('stopped', { stopPolicy: 'Hold' })
    await scene.create([scene.pod('waits')])
    await scene.until('its Workload is there', async () => expect(await scene.workloads()).toHaveLength(2))
    expect(await scene.inPhase('Running')).toEqual(['runs-0', 'runs-1'])
    expect(await scene.gated()).toEqual(['waits'])
    await patchQueue('stopped', { stopPolicy: 'HoldAndDrain' })
    await scene.until('nothing runs', async () => {
      expect((await scene.pods()).map(({ metadata }) => metadata.name)).toEqual(['waits'])
    })
    await scene.create(scene.gang('runs', 2))
    await patchQueue('stopped', { stopPolicy: 'None' })
    await scene.until('all run', async () =>
      expect(await scene.inPhase('Running')).toEqual(['runs-0', 'runs-1', 'waits']),
    )
    await scene.remove()
  })

  it('waits for an admission check, and gives the pods what it adds', async () => {
    const scene = await open('checked', { flavors: small('1'), checks: BudgetCheck.checks })
    await scene.create([...scene.gang('gang', 2), scene.pod('refused')])
    const untilReserved = () =>
      scene.until('both Workloads have quota, and an open check', async () => {
        const reserved = (await scene.workloads()).filter(({ status }) => isReservedAndOpen(status))
        expect(reserved).toHaveLength(2)
      })
    await untilReserved()
    expect(await scene.lifted()).toEqual([])
    await budget.answer('checked', 'gang', 'Retry')
    // Its quota is given back and reserved again within a moment, with the check to be asked anew.
    await scene.untilCondition('gang', 'Evicted', { message: expect.stringContaining('AdmissionCheck in Retry state') })
    await untilReserved()
    const [podSet] = (await scene.workload('gang')).spec.podSets
    await budget.answer('checked', 'gang', 'Ready', [
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
    for (const { metadata, spec } of (await scene.pods()).filter(({ metadata }) => metadata.name?.startsWith('gang'))) {
      expect(metadata.labels).toMatchObject({ budget: 'granted' })
      expect(metadata.annotations).toMatchObject({ 'example.com/account': '4711' })
      expect(spec.nodeSelector).toMatchObject({ pool: 'small', 'kubernetes.io/os': 'linux' })
      expect(spec.tolerations).toContainEqual({ key: 'spot', operator: 'Exists' })
    }
    const refused = await scene.nameOfWorkloadOf('refused')
    await budget.answer('checked', refused, 'Rejected')
    await scene.untilCondition(refused, 'Evicted', { status: 'True' })
    expect(await scene.gated()).toEqual(['refused'])
    await scene.remove()
  })

  it('stops what is switched off and what runs too long, and says so on the pods', async () => {
    const scene = await open('switched', { flavors: small('300m') })
    const slow = { 'muster.dev/test-termination': '5s' }
    await scene.create(scene.gang('gang', 2).map(pod => annotated(pod, slow)))
    await scene.untilRunning('gang-0', 'gang-1')
    await scene.create(scene.gang('waits', 2))
    await scene.told('waits-1', 'OverQueueLimits', 'insufficient unused quota')
    await scene.create([annotated(labelled(scene.pod('long'), { [MAX_EXEC_TIME]: '3' }), slow)])
    for (const name of ['waits', 'gang']) {
      await scene.change('workloads.kueue.x-k8s.io', name, { spec: { active: false } })
    }
    const reasons = new Map<string, string | undefined>()
    await scene.until('all are stopped, with a reason', async () => {
      for (const { metadata, status } of await scene.pods()) {
        const target = status?.conditions?.find(({ type }) => type === 'TerminationTarget')
        if (target !== undefined) reasons.set(metadata.name ?? '', target.reason)
      }
      expect([...reasons.keys()].sort()).toEqual(['gang-0', 'gang-1', 'long'])
      expect(await scene.lifted()).toEqual([])
    })
    expect(Object.fromEntries(reasons)).toEqual({
      ...{ 'gang-0': 'WorkloadEvictedDueToDeactivated', 'gang-1': 'WorkloadEvictedDueToDeactivated' },
      long: 'WorkloadEvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded',
    })
    await scene.until('with its last pod a group is gone', async () => {
      expect((await scene.workloads()).map(({ metadata }) => metadata.name)).toEqual(['waits'])
    })
    expect(await scene.gated()).toEqual(['waits-0', 'waits-1'])
    await scene.change('workloads.kueue.x-k8s.io', 'waits', { spec: { active: true } })
    await scene.untilRunning('waits-0', 'waits-1')
    await scene.remove()
  })

  it('gives back what has done its work, says what is missing, and how it ended', async () => {
    const scene = await open('ends', { flavors: small('300m') })
    await scene.create(scene.gang('gang', 3))
    await scene.untilRunning('gang-0', 'gang-1', 'gang-2')
    await scene.create([annotated(scene.pod('final', { group: 'two', count: 1 }), { [RETRIABLE_IN_GROUP]: 'false' })])
    await scene.end('gang-0')
    await scene.until('one place is given back, and taken', async () => {
      expect((await scene.workload('gang')).status?.reclaimablePods).toMatchObject([{ count: 1 }])
      expect(await scene.inPhase('Running')).toEqual(['final', 'gang-1', 'gang-2'])
    })
    await scene.end('gang-1', 'fail')
    await scene.untilCondition('gang', 'WaitingForReplacementPods', { status: 'True' })
    await scene.create([scene.pod('spare', { group: 'gang', count: 3 })])
    await scene.untilCondition('gang', 'WaitingForReplacementPods', { status: 'False' })
    await scene.untilRunning('final', 'gang-2', 'spare')
    await scene.end('final', 'fail')
    await scene.untilCondition('two', 'Finished', { status: 'True', reason: 'Failed' })
    await scene.endAll()
    await scene.untilCondition('gang', 'Finished', { status: 'True', reason: 'Succeeded' })
    await scene.remove()
  })

  it('G27: counts pods that ask for nothing, where the queue counts pods', async () => {
    const scene = await open('counted', { flavors: [{ name: 'small', quota: { cpu: 1, pods: 1 } }] })
    await scene.create([scene.pod('first', { cpu: '0' })])
    await scene.untilPhase('first', 'Running')
    await scene.create([scene.pod('second', { cpu: '0' })])
    await scene.told('second', 'OverQueueLimits', 'insufficient unused quota for pods in flavor small')
    expect(await scene.gated()).toEqual(['second'])
    await scene.remove()
  })
})

function isReservedAndOpen(status: KueueStatus | undefined): boolean {
  const reserved = status?.conditions?.find(({ type }) => type === 'QuotaReserved')?.status === 'True'
  return reserved && (status?.admissionChecks ?? []).some(({ state }) => state === 'Pending')
}
