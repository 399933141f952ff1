import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  GROUP_NAME,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_ROLES,
  GROUP_SETS,
  GROUP_TOTAL_COUNT,
  QUEUE_NAME,
  RETRIABLE_IN_GROUP,
  ROLE_HASH,
} from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import { isGated } from '../../../src/workload/pod-facts.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { queuedPod } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, CREATOR, OWNER, patch, RED, strategic, type User } from './support.ts'

/** One pod fits at a time, or one cpu. */
const ONE_POD = 'one-pod'
const ONE_CPU = 'one-cpu'
/** Two pods, on certain nodes. */
const PLACED = 'placed'

let field: Battlefield

beforeAll(async () => {
  field = await Battlefield.open('charge', {
    queues: [
      { name: 'closed', limits: { pods: 0 } },
      { name: ONE_POD, limits: { pods: 1 } },
      { name: ONE_CPU, limits: { cpu: '1' } },
      { name: PLACED, nodeLabels: { pool: 'gpu' }, limits: { pods: 2 } },
    ],
  })
})

afterAll(async () => {
  await field?.close()
})

interface Marks {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: object
}

/** A pod of a queue with whatever a tenant writes on it. */
function pod(name: string, cpu: string, { labels, annotations, spec }: Marks = {}, queue = 'team-a'): Pod {
  const plain = queuedPod({ namespace: RED, name, cpu, queue }) as Pod
  return {
    ...plain,
    metadata: {
      ...plain.metadata,
      labels: { ...plain.metadata.labels, ...labels },
      annotations: { ...plain.metadata.annotations, ...annotations },
    },
    spec: { ...plain.spec, ...spec },
  }
}

const create = (object: object, user: User = ADMIN): Promise<string> =>
  field.passes(user, ['create', '-f', '-'], object)

async function told(name: string, reason: string, text: RegExp | string): Promise<void> {
  await eventually(`${name} is told ${reason}`, async () => {
    const { items } = await field.plane.kubectl.json<{ items: { reason: string; message: string }[] }>([
      ...['get', 'events', '-n', RED, '--field-selector', `involvedObject.name=${name}`],
    ])
    const notes = items.filter(event => event.reason === reason).map(({ message }) => message)
    if (notes.length > 0) expect(notes.join('\n')).toMatch(text)
    return notes.length > 0
  })
}

const runs = (name: string): Promise<unknown> =>
  eventually(`${name} runs`, async () => (await field.get(name)).status?.phase === 'Running')
const isHeld = async (name: string): Promise<void> => expect(isGated(await field.get(name)), name).toBe(true)
const workload = (name: string): Promise<QueuedWorkload> => field.get<QueuedWorkload>(name, 'workload.muster.dev')

/** What a driver says of its workers. */
const announced = (cpu: string, count = 1): string =>
  JSON.stringify([
    { name: 'driver', count: 1 },
    {
      name: 'worker',
      count,
      template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } },
    },
  ])

describe('no pod is lifted beyond what was charged', () => {
  const role = (group: string, count: number): Marks => ({
    labels: { [GROUP_NAME]: group, [GROUP_ROLE]: 'worker' },
    annotations: { [GROUP_ROLES]: '1', [GROUP_ROLE_COUNT]: String(count) },
  })

  it('by a role that is only a name', async () => {
    await create(pod('named-0', '1m', role('named', 2)))
    await create(pod('named-1', '2', role('named', 2)))
    await told('named-1', 'InvalidGroup', /asks for 2 cpu, and podSet worker is charged with 1m for each/)
    for (const name of ['named-0', 'named-1']) await isHeld(name)
  })

  it('while those of one size run', async () => {
    await create(pod('equal-0', '2m', role('equal', 2)))
    await create(pod('equal-1', '2m', role('equal', 2)))
    for (const name of ['equal-0', 'equal-1']) await runs(name)
  })

  it('by a sidecar that looks like an init container to the hash', async () => {
    const marks = (more: object): Marks => ({
      labels: { [GROUP_NAME]: 'sidecars' },
      annotations: { [GROUP_TOTAL_COUNT]: '2' },
      spec: {
        initContainers: [
          { name: 'side', image: 'registry.example/none:1', resources: { requests: { cpu: '1' } }, ...more },
        ],
      },
    })
    await create(pod('sidecars-0', '1', marks({})))
    await create(pod('sidecars-1', '1', marks({ restartPolicy: 'Always' })))
    const [first, second] = [await field.get('sidecars-0'), await field.get('sidecars-1')]
    expect(first.metadata.annotations?.[ROLE_HASH]).toBe(second.metadata.annotations?.[ROLE_HASH])
    await told('sidecars-1', 'InvalidGroup', /asks for 2 cpu, and podSet .* is charged with 1 for each/)
    for (const name of ['sidecars-0', 'sidecars-1']) await isHeld(name)
  })

  const driver = (group: string, sets: string): Pod =>
    pod(`${group}-driver`, '1m', {
      labels: { [GROUP_NAME]: group, [GROUP_ROLE]: 'driver' },
      annotations: { [GROUP_SETS]: sets },
    })
  const worker = (group: string, index: number, cpu: string): Pod =>
    pod(`${group}-${index}`, cpu, { labels: { [GROUP_NAME]: group, [GROUP_ROLE]: 'worker' } })

  it('by a worker that is larger than announced', async () => {
    await create(driver('spark', announced('1m')))
    await runs('spark-driver')
    await create(worker('spark', 0, '2'))
    await told('spark-0', 'InvalidGroup', /asks for 2 cpu, and podSet worker is charged with 1m for each/)
    await isHeld('spark-0')
  })

  it('while one as announced takes the place', async () => {
    await create(worker('spark', 1, '1m'))
    await runs('spark-1')
    await isHeld('spark-0')
  })

  it.each([
    ['below nothing', announced('-1'), /pod-group-sets.*requests\[cpu\].*greater than or equal to 0/s],
    ['that nobody can read', announced('lots'), /pod-group-sets.*requests\[cpu\]/s],
    ['of more pods than there are numbers', announced('1m', 2_147_483_647), /counts add up to more than/],
  ])('by an announcement %s', async (_, sets, text) => {
    expect(await field.refused(ADMIN, ['create', '-f', '-'], driver('minted', sets))).toMatch(text)
  })

  it('by a pod that grows', async () => {
    // Lifted, and on no node: the nodes of this plane resize nothing.
    await create(queuedPod({ namespace: RED, name: 'grows', gates: ['example.com/holds'] }))
    await told('grows', 'ForeignGates', /example.com\/holds/)
    const size = (cpu: string): readonly string[] =>
      strategic('pod', 'grows', { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } })
    expect(await field.refused(OWNER, [...size('2'), '--subresource=resize'])).toContain(
      'has 100m cpu of its queue and would use 2',
    )
    await field.passes(OWNER, [...size('50m'), '--subresource=resize'])
    expect((await field.get('grows')).spec.containers?.[0]?.resources?.requests?.cpu).toBe('50m')
  })
})

describe('a lifted pod keeps its place', () => {
  beforeAll(async () => {
    await create(queuedPod({ namespace: RED, name: 'seated', queue: ONE_POD }))
    await runs('seated')
    await create(queuedPod({ namespace: RED, name: 'next', queue: ONE_POD }))
    await told('next', 'OverQueueLimits', /one-pod/)
  })

  const elsewhere = { metadata: { labels: { [QUEUE_NAME]: 'team-a' } } }
  it.each([
    ['its queue', elsewhere, []],
    ['its queue, through its status', elsewhere, ['--subresource=status']],
    ['its group', { metadata: { labels: { [GROUP_NAME]: 'other' } } }, []],
    ['its hash', { metadata: { annotations: { [ROLE_HASH]: '00000000' } } }, []],
    ['its count', { metadata: { annotations: { [GROUP_TOTAL_COUNT]: '9' } } }, []],
  ])('whoever writes another on it: %s', async (_, change, more) => {
    await field.refused(OWNER, [...patch('pod', 'seated', change), ...more])
    await isHeld('next')
  })

  it('until it is gone, also where its Workload is left behind', async () => {
    const own = await field.workloadOf(await field.get('seated'))
    await field.passes(OWNER, ['delete', 'pod', 'seated', '--cascade=orphan', '--wait=false'])
    await runs('next')
    await field.isGone(own.metadata.name ?? '', 'workload.muster.dev')
  })
})

describe('a stranger in the namespace', () => {
  const member = (group: string, index: number, count: number, more: Marks = {}): Pod =>
    pod(
      `${group}-${index}`,
      '1m',
      {
        ...more,
        labels: { [GROUP_NAME]: group },
        annotations: { [GROUP_TOTAL_COUNT]: String(count), ...more.annotations },
      },
      'team-a',
    )
  const waitingMember = (group: string, index: number): Pod => {
    const one = member(group, index, 2)
    return { ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, [QUEUE_NAME]: 'closed' } } }
  }

  it('has nobody deleted by taking the name of his group first', async () => {
    for (const index of [0, 1]) await create(waitingMember('taken', index), CREATOR)
    await eventually('the group has its Workload', () => workload('taken'))
    for (const index of [2, 3]) await create(waitingMember('taken', index), ADMIN)
    await told('taken-3', 'ExcessPod', /is not deleted/)
    for (const index of [2, 3]) expect((await field.get(`taken-${index}`)).metadata.deletionTimestamp).toBeUndefined()
  })

  it('does not hold up a group by a pod that contradicts it', async () => {
    await create(member('apart', 0, 2))
    await create(member('apart', 8, 99), CREATOR)
    const elsewhere = waitingMember('apart', 9)
    await create(elsewhere, CREATOR)
    await create(member('apart', 1, 2))
    for (const index of [0, 1]) await runs(`apart-${index}`)
    await isHeld('apart-8')
  })

  it('keeps no pod of another from leaving', async () => {
    await create({ ...member('leaves', 0, 2), ...outcome(member('leaves', 0, 2), 'succeed') })
    await create(member('leaves', 1, 2))
    await runs('leaves-1')
    await create(member('leaves', 9, 2, { spec: otherShape() }), CREATOR)
    await told('leaves-9', 'InvalidGroup', /its shape is none of those of its group/)
    await field.passes(ADMIN, ['delete', 'pod', 'leaves-0', 'leaves-1', '--wait=false'])
    for (const index of [0, 1]) await field.isGone(`leaves-${index}`)
  })

  it('while who makes too many of his own has the last ones deleted', async () => {
    for (const index of [0, 1]) await create(waitingMember('many', index), CREATOR)
    await eventually('the group has its Workload', () => workload('many'))
    await create(waitingMember('many', 2), CREATOR)
    await field.isGone('many-2')
    for (const index of [0, 1]) await isHeld(`many-${index}`)
  })

  it('does not end a group from behind the gate', async () => {
    await create({ ...member('lives', 0, 2), ...outcome(member('lives', 0, 2), 'fail') })
    await create(member('lives', 1, 2))
    await told('lives-0', 'WaitingForReplacement', /1 pod of the group has failed/)
    await create(member('lives', 9, 2, { annotations: { [RETRIABLE_IN_GROUP]: 'false' }, spec: otherShape() }), CREATOR)
    await told('lives-9', 'InvalidGroup', /its shape is none of those of its group/)
    await field.passes(ADMIN, ['annotate', 'pod', 'lives-1', 'muster.dev/test-outcome=succeed'])
    await field.plane.kubectl(['wait', 'pod/lives-1', '-n', RED, '--for=jsonpath={.status.phase}=Succeeded'])
    await create(member('lives', 2, 2))
    await runs('lives-2')
  })

  it('does not end one by a place that contradicts his pod, where places are given ahead', async () => {
    await field.plane.kubectl(['label', 'nodes', '--all', 'pool=gpu', '--overwrite'])
    await create(queuedPod({ namespace: RED, name: 'before', queue: PLACED }))
    await runs('before')
    const labels = (role: string) => ({ [GROUP_NAME]: 'ahead', [GROUP_ROLE]: role })
    await create(
      pod('ahead-driver', '1m', { labels: labels('driver'), annotations: { [GROUP_SETS]: announced('1m') } }, PLACED),
    )
    await told('ahead-driver', 'OverQueueLimits', /placed/)
    const spec = { nodeSelector: { pool: 'cpu' } }
    await create(pod('ahead-worker', '1m', { labels: labels('worker'), spec }, PLACED), CREATOR)
    await field.passes(ADMIN, ['delete', 'pod', 'before', '--wait=false'])
    await runs('ahead-driver')
    await told('ahead-worker', 'LiftBlocked', /pool=cpu/)
  })
})

describe('what the API server completes', () => {
  it('is queued like the rest: limits of a pod without requests, a long name with a dot at the cut', async () => {
    await create(pod('pod-level', '1m', { spec: { resources: { limits: { cpu: '500m', memory: '64Mi' } } } }))
    await runs('pod-level')
    const long = `${'a'.repeat(242)}.${'b'.repeat(8)}`
    await create(queuedPod({ namespace: RED, name: long }))
    await runs(long)
  })
})

describe('nobody holds a queue up', () => {
  it('by asking for what it can never hold', async () => {
    await create(queuedPod({ namespace: RED, name: 'giant', queue: ONE_CPU, cpu: '64' }))
    await create(queuedPod({ namespace: RED, name: 'behind', queue: ONE_CPU, cpu: '500m' }))
    await told('giant', 'OverQueueLimits', /can never/)
    await runs('behind')
    await isHeld('giant')
  })

  it('by announcing more pods than it can ever hold', async () => {
    const marks = {
      labels: { [GROUP_NAME]: 'horde' },
      annotations: { [GROUP_TOTAL_COUNT]: '1000000', 'kueue.x-k8s.io/pod-group-fast-admission': 'true' },
    }
    await create(pod('horde-0', '1m', marks, ONE_CPU))
    await told('horde-0', 'OverQueueLimits', /can never/)
    await create(queuedPod({ namespace: RED, name: 'behind-the-horde', queue: ONE_CPU, cpu: '100m' }))
    await runs('behind-the-horde')
  })
})

const otherShape = (): object => ({ nodeSelector: { disk: 'ssd' } })

function outcome({ metadata }: Pod, end: 'fail' | 'succeed'): Pick<Pod, 'metadata'> {
  return { metadata: { ...metadata, annotations: { ...metadata.annotations, 'muster.dev/test-outcome': end } } }
}
