import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Condition, KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { Muster } from './support/muster.ts'
import { eventually as within } from './support/wait.ts'

const NAMESPACE = 'ml'
const QUEUE = 'kueue.x-k8s.io/queue-name'

type Job = KubeObject & {
  readonly spec: {
    readonly suspend?: boolean
    readonly parallelism?: number
    readonly template: KubeObject & { spec: Pod['spec'] }
  }
  readonly status: {
    readonly active?: number
    readonly terminating?: number
    readonly conditions?: readonly Condition[]
  }
}

interface Wish {
  readonly queue?: string
  readonly parallelism?: number
  readonly outcome?: string
  readonly grace?: number
  readonly annotations?: Readonly<Record<string, string>>
  readonly requests?: object
  readonly suspend?: boolean
}

function job(
  name: string,
  { queue = 'small', parallelism = 2, outcome, grace = 1, annotations = {}, suspend, requests }: Wish = {},
) {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: NAMESPACE, labels: { [QUEUE]: queue }, annotations },
    spec: {
      ...{ parallelism, completions: parallelism, backoffLimit: 0 },
      ...(suspend !== undefined && { suspend }),
      template: {
        metadata: { annotations: { ...(outcome && { 'muster.dev/test-outcome': outcome }) } },
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: grace,
          containers: [
            { name: 'main', image: 'registry.example/none:1', ...(requests && { resources: { requests } }) },
          ],
        },
      },
    },
  }
}

/** When nothing of it throws any more. */
const eventually = <T>(what: string, look: () => Promise<T>): Promise<T> =>
  within(what, async () => ({ found: await look() })).then(({ found }) => found)

describe('a Job in a queue', () => {
  let plane: ControlPlane
  let muster: Muster
  let QUEUES: object[] = []

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'job-life', featureGates: 'none', audited: true })
    await plane.createNamespace(NAMESPACE)
    QUEUES = [
      { name: 'closed', limits: { pods: 0 } },
      {
        name: 'small',
        limits: { pods: 2 },
        nodeLabels: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
      },
      { name: 'open' },
    ]
    muster = await Muster.install(plane, { queues: QUEUES })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  afterEach(async () => {
    await plane.kubectl(['delete', 'jobs', '--all', '-n', NAMESPACE, '--wait=false'])
    await plane.kubectl(['delete', 'pods', '--all', '-n', NAMESPACE, '--wait=false'])
    await eventually('nothing is left', async () => {
      expect((await pods()).length).toBe(0)
      expect((await workloads()).map(({ metadata, status }) => [metadata, status])).toEqual([])
      return true
    })
  })

  const create = (object: object) => plane.kubectl.json<Job>(['create', '-f', '-'], { stdin: object })
  const get = (name: string) => plane.kubectl.json<Job>(['get', 'job', name, '-n', NAMESPACE])
  const pods = async () => (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE])).items
  const podsOf = async (name: string) =>
    (await plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', NAMESPACE, '-l', `job-name=${name}`])).items
  const workloads = async () =>
    (await plane.kubectl.json<{ items: QueuedWorkload[] }>(['get', 'workloads.muster.dev', '-n', NAMESPACE])).items
  const workloadOf = async (name: string) =>
    (await workloads()).find(({ metadata }) => metadata.ownerReferences?.some(owner => owner.name === name))
  const trueOf = (workload: QueuedWorkload | undefined) =>
    (workload?.status?.conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type)
  const patch = (kind: string, name: string, body: object) =>
    plane.kubectl(['patch', kind, name, '-n', NAMESPACE, '--type=merge', '-p', JSON.stringify(body)])
  const runs = (name: string, count = 2) =>
    eventually(`${name} runs`, async () => {
      const live = (await podsOf(name)).filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Running',
      )
      expect(live.length).toBe(count)
      return live
    })
  const reasonsOf = async (name: string) => {
    const events = await plane.kubectl.json<{ items: { reason: string; note?: string; message?: string }[] }>([
      ...['get', 'events', '-n', NAMESPACE, '--field-selector', `involvedObject.name=${name},involvedObject.kind=Job`],
    ])
    return events.items.map(({ reason, message }) => `${reason} ${message}`)
  }

  it('is suspended, waits with a reason, and goes to its end when there is room', async () => {
    const created = await create(job('closed', { queue: 'closed' }))
    expect(created.spec.suspend).toBe(true)
    await eventually('it is told', async () => expect((await reasonsOf('closed')).join()).toMatch(/OverQueueLimits/))
    expect(await podsOf('closed')).toEqual([])
    await create(job('first'))
    await runs('first')
    await create(job('second', { outcome: 'succeed' }))
    await eventually('second waits', async () => {
      const workload = await workloadOf('second')
      expect(workload?.status?.conditions?.[0]).toMatchObject({ reason: 'OverQueueLimits' })
    })
    const [pod] = await podsOf('first')
    expect(pod?.spec.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' })
    expect(pod?.metadata.labels).toMatchObject({ 'kueue.x-k8s.io/podset': 'main' })
    expect(pod?.spec.schedulingGates).toBeUndefined()
    await plane.kubectl([
      'annotate',
      'pods',
      '-n',
      NAMESPACE,
      '-l',
      'job-name=first',
      'muster.dev/test-outcome=succeed',
    ])
    await eventually('both have ended', async () => {
      for (const name of ['first', 'second']) {
        const workload = await workloadOf(name)
        expect(trueOf(workload)).toContain('Finished')
        expect(workload?.metadata.finalizers ?? []).toEqual([])
      }
    })
    const ended = await workloadOf('first')
    expect(ended?.status?.conditions?.find(({ type }) => type === 'Finished')).toMatchObject({ reason: 'Succeeded' })
    const ours = (await plane.audit())
      .filter(({ user, objectRef }) => user.username.endsWith(':muster') && /first/.test(objectRef?.name ?? ''))
      .map(({ verb, objectRef }) => [verb, objectRef?.resource, objectRef?.subresource].filter(Boolean).join(' '))
    // What the pod that ends first has used is given back by a write of its own, unless the other ends with it.
    const reclaim = ours.length > 5 ? ['patch workloads status'] : []
    expect(ours).toEqual([
      ...['create workloads', 'patch workloads status', 'patch jobs'],
      ...[...reclaim, 'patch workloads status', 'patch workloads'],
    ])
  })

  it('is stopped when it is evicted, and the next starts when its last pod is gone', async () => {
    await create(job('slow', { grace: 4 }))
    await runs('slow')
    await create(job('next'))
    const workload = await workloadOf('slow')
    await patch('workloads.muster.dev', workload?.metadata.name ?? '', { spec: { active: false } })
    await eventually('it is suspended', async () => expect((await get('slow')).spec.suspend).toBe(true))
    await eventually('the next runs', async () => {
      const [old, young] = [await podsOf('slow'), await podsOf('next')]
      expect(old.length === 0 || young.length === 0).toBe(true)
      expect(young.length).toBe(2)
    })
    const stopped = await get('slow')
    expect(stopped.metadata.annotations).not.toHaveProperty('muster.dev/stopping')
    expect(stopped.spec.template.spec.nodeSelector).toBeUndefined()
    expect(stopped.spec.template.metadata.labels).not.toHaveProperty('kueue.x-k8s.io/podset')
    await plane.kubectl(['delete', 'job', 'next', '-n', NAMESPACE])
    await patch('workloads.muster.dev', workload?.metadata.name ?? '', { spec: { active: true } })
    await runs('slow')
  })

  it('is held when its user suspends it, and waits again when he wants it back', async () => {
    await create(job('held'))
    await runs('held')
    await patch('job', 'held', { spec: { suspend: true } })
    await eventually('its Workload is gone', async () => expect(await workloadOf('held')).toBeUndefined())
    expect((await get('held')).metadata.annotations).toMatchObject({ 'muster.dev/held': 'true' })
    await new Promise(resolve => setTimeout(resolve, 1000))
    expect(await podsOf('held')).toEqual([])
    await patch('job', 'held', { spec: { suspend: false } })
    await runs('held')
  })

  it('waits again also when he changes his mind at once', async () => {
    await create(job('hesitant'))
    await runs('hesitant')
    const before = (await podsOf('hesitant')).map(({ metadata }) => metadata.uid)
    for (const suspend of [true, false]) await patch('job', 'hesitant', { spec: { suspend } })
    await eventually('others run in the place of its pods', async () => {
      const after = (await podsOf('hesitant')).map(({ metadata }) => metadata.uid)
      expect(after.filter(uid => before.includes(uid))).toEqual([])
      expect(after).toHaveLength(before.length)
    })
    await runs('hesitant')
    expect((await get('hesitant')).metadata.annotations).toMatchObject({ 'muster.dev/queued': 'true' })
    expect((await get('hesitant')).metadata.annotations).not.toHaveProperty('muster.dev/held')
  })

  it('is stopped when its Workload is deleted, and gets another', async () => {
    await create(job('lost'))
    await runs('lost')
    const before = await workloadOf('lost')
    await plane.kubectl(['delete', 'workloads.muster.dev', before?.metadata.name ?? '', '-n', NAMESPACE])
    await runs('lost')
    const after = await workloadOf('lost')
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid)
  })

  it('gives back its quota in whatever order it is deleted', async () => {
    await create(job('orphaned'))
    await runs('orphaned')
    await plane.kubectl(['delete', 'job', 'orphaned', '-n', NAMESPACE, '--cascade=orphan'])
    await create(job('after'))
    await new Promise(resolve => setTimeout(resolve, 3000))
    expect(await podsOf('after')).toEqual([])
    await plane.kubectl(['delete', 'pods', '-n', NAMESPACE, '-l', 'job-name=orphaned'])
    await runs('after')
    await plane.kubectl(['delete', 'job', 'after', '-n', NAMESPACE, '--cascade=foreground', '--wait=false'])
    await create(job('last'))
    await runs('last')
  })

  it('starts with fewer pods where that is enough, and follows its size while it waits', async () => {
    await create(job('flexible', { parallelism: 4, annotations: { 'kueue.x-k8s.io/job-min-parallelism': '1' } }))
    await runs('flexible', 2)
    expect((await get('flexible')).spec.parallelism).toBe(2)
    await plane.kubectl(['delete', 'job', 'flexible', '-n', NAMESPACE])
    await create(job('sized', { queue: 'closed', parallelism: 3 }))
    await eventually('its Workload has 3', async () =>
      expect((await workloadOf('sized'))?.spec.podSets[0]?.count).toBe(3),
    )
    await patch('job', 'sized', { spec: { parallelism: 2 } })
    await eventually('its Workload has 2', async () =>
      expect((await workloadOf('sized'))?.spec.podSets[0]?.count).toBe(2),
    )
    await plane.kubectl(['label', 'job', 'sized', '-n', NAMESPACE, '--overwrite', `${QUEUE}=small`])
    await runs('sized', 2)
  })

  it('goes on when it ran before Muster saw it', async () => {
    const { labels: _, ...metadata } = job('old').metadata
    await create({ ...job('old'), metadata })
    await runs('old')
    await muster.stop()
    await plane.kubectl(['delete', 'mutatingwebhookconfiguration,validatingwebhookconfiguration', 'muster'])
    await plane.kubectl(['label', 'job', 'old', '-n', NAMESPACE, `${QUEUE}=small`])
    const [before] = await podsOf('old')
    muster = await Muster.install(plane, { queues: QUEUES })
    await eventually('it counts', async () => {
      expect(trueOf(await workloadOf('old'))).toEqual(['QuotaReserved', 'Admitted'])
      expect((await get('old')).metadata.annotations).toMatchObject({ 'muster.dev/queued': 'true' })
    })
    expect((await podsOf('old'))[0]?.metadata.uid).toBe(before?.metadata.uid)
    await eventually('it is told', async () =>
      expect((await reasonsOf('old')).join()).toMatch(/it ran before it was queued/),
    )
  })
})
