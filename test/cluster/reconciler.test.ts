import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADMISSION_GATE,
  CLUSTER_QUEUE_LABEL,
  LOCAL_QUEUE_LABEL,
  MANAGED,
  PODSET_LABEL,
  WORKLOAD_ANNOTATION,
} from '../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, type QueuedPodOptions, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const SLOW = { timeoutMs: 90_000 }

describe('the reconciler', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'reconciler', featureGates: 'none' })
    muster = await Muster.install(plane, {
      guard: { exemptUsers: ['kubernetes-admin'] },
      queues: [
        { name: 'one', limits: { pods: 1 } },
        { name: 'two', limits: { cpu: '200m' } },
        { name: 'three', limits: { pods: 3, cpu: '1' } },
        { name: 'closed', limits: { pods: 0 } },
        {
          name: 'placed',
          nodeLabels: { 'kubernetes.io/hostname': 'node-1' },
          tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
        },
      ],
    })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (objects: readonly object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const pods = async (namespace: string) =>
    (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', namespace])).items
  const workload = (namespace: string, name: string) =>
    plane.kubectl.json<QueuedWorkload>(['get', 'workloads.muster.dev', name, '-n', namespace])
  const isGated = ({ spec }: Pod) => (spec.schedulingGates ?? []).some(({ name }) => name === ADMISSION_GATE)
  const trueConditions = ({ status }: QueuedWorkload) =>
    (status?.conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type)
  const members = (count: number, options: Omit<QueuedPodOptions, 'name'>) =>
    Array.from({ length: count }, (_, index) => queuedPod({ ...options, name: `${options.group}-${index}`, count }))
  const removed = async (namespace: string) => {
    await plane.kubectl(['delete', 'namespace', namespace, '--timeout=90s'], { timeoutMs: 100_000 })
  }

  it('gives the place of a failed pod to its replacement, and ends with what really happened', async () => {
    await plane.createNamespace('retry')
    const gang = members(3, { namespace: 'retry', group: 'gang' })
    await create(gang)
    await eventually('all run', async () => {
      const all = await pods('retry')
      expect(all.map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running'])
      return true
    })
    await plane.kubectl(['annotate', 'pod', 'gang-1', '-n', 'retry', 'muster.dev/test-outcome=fail'])
    await eventually('a replacement is wanted', async () => {
      expect(trueConditions(await workload('retry', 'gang'))).toContain('WaitingForReplacementPods')
      return true
    })
    await create([queuedPod({ namespace: 'retry', name: 'spare', group: 'gang', count: 3 })])
    await eventually('the spare runs', async () => {
      const spare = (await pods('retry')).find(({ metadata }) => metadata.name === 'spare')
      return spare?.status?.phase === 'Running'
    })
    expect(trueConditions(await workload('retry', 'gang'))).not.toContain('WaitingForReplacementPods')
    for (const name of ['gang-0', 'gang-2', 'spare']) {
      await plane.kubectl(['annotate', 'pod', name, '-n', 'retry', 'muster.dev/test-outcome=succeed'])
    }
    await eventually('the group has finished', async () => {
      const finished = (await workload('retry', 'gang')).status?.conditions?.find(({ type }) => type === 'Finished')
      expect(finished).toMatchObject({ status: 'True', reason: 'Succeeded', message: 'Pods succeeded: 3/3.' })
      expect((await pods('retry')).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
      return true
    })
    await removed('retry')
  })

  it('sends a pod away that its group has no place for', async () => {
    await plane.createNamespace('excess')
    await create(members(2, { namespace: 'excess', group: 'pair' }))
    await eventually('both run', async () => (await pods('excess')).every(({ status }) => status?.phase === 'Running'))
    await create([queuedPod({ namespace: 'excess', name: 'third', group: 'pair', count: 2 })])
    await eventually('the third is gone', async () => {
      expect((await pods('excess')).map(({ metadata }) => metadata.name)).toEqual(['pair-0', 'pair-1'])
      return true
    })
    await eventually('it is told so', async () => (await eventsIn('excess', 'ExcessPod')).includes('pod/third'))
    await removed('excess')
  })

  it('lifts a pod and says where it may run in one write', async () => {
    await plane.createNamespace('placed')
    await create([queuedPod({ namespace: 'placed', name: 'train', queue: 'placed' })])
    await eventually('it runs where its queue runs', async () => {
      const [pod] = await pods('placed')
      expect(pod?.status?.phase).toBe('Running')
      expect(pod?.spec).toMatchObject({ nodeName: 'node-1', nodeSelector: { 'kubernetes.io/hostname': 'node-1' } })
      expect(pod?.spec.tolerations).toContainEqual({ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' })
      const [made] = await workloadsIn('placed')
      expect(pod?.metadata.labels).toMatchObject({
        [PODSET_LABEL]: 'main',
        [LOCAL_QUEUE_LABEL]: 'placed',
        [CLUSTER_QUEUE_LABEL]: 'placed',
      })
      expect(pod?.metadata.annotations?.[WORKLOAD_ANNOTATION]).toBe(made?.metadata.name)
      return true
    })
    await removed('placed')
  })

  it('ends a group that its queue contradicts before any of it starts, and says why', async () => {
    await plane.createNamespace('contradicted')
    const [first, ...rest] = members(3, { namespace: 'contradicted', group: 'gang', queue: 'placed' })
    const elsewhere = { 'kubernetes.io/hostname': 'node-0' }
    const other = { namespace: 'contradicted', group: 'gang', queue: 'placed', count: 3 }
    await create([first ?? {}, ...rest.slice(1), queuedPod({ ...other, name: 'odd', nodeSelector: elsewhere })])
    await eventually('its Workload has ended', async () => {
      const end = (await workload('contradicted', 'gang')).status?.conditions?.find(({ type }) => type === 'Finished')
      expect(end).toMatchObject({ status: 'True', reason: 'FailedToStart' })
      expect(end?.message).toContain('pod odd says kubernetes.io/hostname=node-0')
      return true
    })
    expect((await pods('contradicted')).every(isGated)).toBe(true)
    await eventually('it is told so', async () => (await eventsIn('contradicted', 'LiftBlocked')).includes('pod/odd'))
    await removed('contradicted')
  })

  it('drains three queues that are over their limits, each in the order of arrival', async () => {
    await plane.createNamespace('drain')
    const queues = ['one', 'two', 'three']
    for (let index = 0; index < 5; index++) {
      await create(
        queues.map(queue => queuedPod({ namespace: 'drain', name: `${queue}-${index}`, queue, cpu: '200m' })),
      )
    }
    const lifted = async (queue: string) =>
      (await pods('drain'))
        .filter(pod => pod.metadata.name?.startsWith(`${queue}-`) && !isGated(pod))
        .map(({ metadata }) => metadata.name)
    const holds: Readonly<Record<string, number>> = { one: 1, two: 1, three: 3 }
    for (let index = 0; index < 5; index++) {
      for (const queue of queues) {
        const expected = Array.from({ length: Math.min(5, index + (holds[queue] ?? 0)) }, (_, at) => `${queue}-${at}`)
        await eventually(`${queue} has let ${expected.length} through`, async () => {
          expect(await lifted(queue)).toEqual(expected)
          return true
        })
      }
      for (const queue of queues) {
        await plane.kubectl(['annotate', 'pod', `${queue}-${index}`, '-n', 'drain', 'muster.dev/test-outcome=succeed'])
      }
    }
    await removed('drain')
  })

  it('takes an admission back when the Workload is switched off', async () => {
    await plane.createNamespace('evict')
    await create(members(2, { namespace: 'evict', group: 'pair' }))
    await eventually('both run', async () => (await pods('evict')).every(({ status }) => status?.phase === 'Running'))
    const patch = (active: boolean) =>
      plane.kubectl([
        'patch',
        'workloads.muster.dev',
        'pair',
        '-n',
        'evict',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { active } }),
      ])
    await create([queuedPod({ namespace: 'evict', name: 'other', queue: 'team-b' })])
    await patch(false)
    await eventually('the pods of the group are gone', async () => {
      expect((await pods('evict')).map(({ metadata }) => metadata.name)).toEqual(['other'])
      return true
    })
    await removed('evict')
  })

  it('finishes a lift of 200 that a kill interrupted', async () => {
    await plane.createNamespace('killed')
    const gang = members(200, { namespace: 'killed', group: 'big', cpu: '1m' })
    await create(gang.slice(0, 199))
    await create(gang.slice(199))
    await eventually('some are lifted', async () => (await pods('killed')).some(pod => !isGated(pod)), {
      intervalMs: 20,
    })
    await muster.kill()
    await muster.start()
    await eventually(
      'all are lifted',
      async () => {
        const all = await pods('killed')
        expect(all).toHaveLength(200)
        expect(all.filter(isGated)).toHaveLength(0)
        return true
      },
      SLOW,
    )
    await removed('killed')
  })

  it('lets a namespace with 50 waiting pods go', async () => {
    await plane.createNamespace('doomed')
    await create(
      Array.from({ length: 50 }, (_, index) => queuedPod({ namespace: 'doomed', name: `p-${index}`, queue: 'closed' })),
    )
    await removed('doomed')
  })

  it('lets go of a pod whose label somebody exempt takes away', async () => {
    await plane.createNamespace('stray')
    await create([queuedPod({ namespace: 'stray', name: 'freed', queue: 'closed' })])
    await eventually('it waits', async () => (await workloadsIn('stray')).length === 1)
    await plane.kubectl(['label', 'pod', 'freed', '-n', 'stray', `${MANAGED}-`])
    await eventually('our finalizer is gone', async () => (await pods('stray'))[0]?.metadata.finalizers === undefined)
    await plane.kubectl(['delete', 'pod', 'freed', '-n', 'stray', '--timeout=5s'])
    await removed('stray')
  })

  it('lets a namespace go whose group is half done', async () => {
    await plane.createNamespace('halfway')
    await create(members(2, { namespace: 'halfway', group: 'pair' }))
    await eventually('both run', async () => (await pods('halfway')).every(({ status }) => status?.phase === 'Running'))
    await plane.kubectl(['annotate', 'pod', 'pair-0', '-n', 'halfway', 'muster.dev/test-outcome=succeed'])
    await eventually('one is done', async () => (await pods('halfway'))[0]?.status?.phase === 'Succeeded')
    await removed('halfway')
  })

  it('catches up with what came and went while it was away', async () => {
    await plane.createNamespace('away')
    await create(members(2, { namespace: 'away', group: 'pair' }).slice(0, 1))
    await create([
      queuedPod({ namespace: 'away', name: 'leaves', queue: 'closed' }),
      queuedPod({ namespace: 'away', name: 'ends' }),
    ])
    await eventually('one runs', async () => (await pods('away')).some(({ status }) => status?.phase === 'Running'))
    await muster.kill()
    await plane.kubectl(['delete', 'pod', 'leaves', '-n', 'away', '--wait=false'])
    await plane.kubectl(['delete', 'pod', 'ends', '-n', 'away', '--wait=false'])
    await new Promise(resolve => setTimeout(resolve, 60_000))
    expect((await pods('away')).map(({ metadata }) => metadata.name).sort()).toEqual(['ends', 'leaves', 'pair-0'])
    await muster.start()
    await eventually('they are gone', async () => (await pods('away')).length === 1, SLOW)
    await create(members(2, { namespace: 'away', group: 'pair' }).slice(1))
    await eventually('the pair runs', async () =>
      (await pods('away')).every(({ status }) => status?.phase === 'Running'),
    )
    await removed('away')
  })

  it('writes nothing while nothing changes', async () => {
    await plane.createNamespace('quiet')
    await create([queuedPod({ namespace: 'quiet', name: 'waits', queue: 'closed' })])
    const writes = async () =>
      (await muster.health('/metrics')).body
        .split('\n')
        .filter(
          line =>
            /^muster_api_requests_total\{verb="(create|update|patch|delete)"/.test(line) && !line.includes('leases'),
        )
        .sort()
    await eventually('it waits', async () => (await workloadsIn('quiet')).length === 1)
    await eventually('it is told so', async () => (await eventsIn('quiet', 'OverQueueLimits')).includes('pod/waits'))
    const before = await writes()
    await new Promise(resolve => setTimeout(resolve, 10_000))
    expect(await writes()).toEqual(before)
    await removed('quiet')
  })

  async function eventsIn(namespace: string, reason: string): Promise<string> {
    return (await plane.kubectl(['get', 'events', '-n', namespace, '--field-selector', `reason=${reason}`])).stdout
  }

  async function workloadsIn(namespace: string): Promise<readonly QueuedWorkload[]> {
    return (await plane.kubectl.json<{ items: QueuedWorkload[] }>(['get', 'workloads.muster.dev', '-n', namespace]))
      .items
  }
})
