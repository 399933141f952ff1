import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MIN_PARALLELISM, QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { condition, type QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { queuedJob } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, CLOSED, CREATOR, OWNER, patch, RED, type User } from './support.ts'

/** Where one pod of one cpu has room. */
const SMALL = 'small'

interface Job extends KubeObject {
  readonly spec: { readonly suspend?: boolean; readonly parallelism?: number }
}

let field: Battlefield

beforeAll(async () => {
  const queues = [
    { name: CLOSED, limits: { pods: 0 } },
    { name: SMALL, limits: { pods: 2, cpu: '1' } },
  ]
  field = await Battlefield.open('queued-amounts', { queues })
})

afterAll(async () => {
  await field?.close()
})

interface Options {
  readonly queue?: string
  readonly spec?: object
  readonly podSpec?: object
  readonly resources?: object
  readonly annotations?: object
}

function job(name: string, { queue = SMALL, spec, podSpec, resources, annotations }: Options = {}): object {
  const made = queuedJob({ namespace: RED, name, queue }) as {
    metadata: object
    spec: { template: { spec: { containers: object[] } } }
  }
  Object.assign(made.metadata, { annotations })
  Object.assign(made.spec, spec)
  Object.assign(made.spec.template.spec, podSpec)
  if (resources) Object.assign(made.spec.template.spec.containers[0] ?? {}, { resources })
  return made
}

const create = (object: object, user: User = OWNER) => field.passes(user, ['create', '-f', '-'], object)
const jobOf = (name: string) => field.get<Job>(name, 'job')
const podsOf = async (name: string): Promise<readonly Pod[]> =>
  (await field.plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', RED, '-l', `job-name=${name}`])).items
const workloadOf = (name: string) =>
  eventually(`${name} has a Workload`, async () => {
    const args = ['get', 'workloads.muster.dev', '-n', RED]
    const { items } = await field.plane.kubectl.json<{ items: QueuedWorkload[] }>(args)
    return items.find(({ metadata }) => metadata.ownerReferences?.some(owner => owner.name === name))
  })
const told = (name: string, reason: string) =>
  eventually(`${name} is told ${reason}`, async () => {
    const said = condition(await workloadOf(name), 'QuotaReserved')
    return said?.reason === reason ? said.message : undefined
  })
const starts = (name: string) => eventually(`${name} starts`, async () => (await jobOf(name)).spec.suspend === false)
const away = async (...names: string[]) => {
  await field.passes(OWNER, ['delete', 'job', ...names, '--cascade=foreground'])
  for (const name of names) await field.isGone(name, 'job')
}

describe('who asks for what cannot be counted', () => {
  it.each<[string, Options, RegExp]>([
    [
      'as many pods as there are numbers',
      { spec: { parallelism: 2_147_483_647, completions: 2_147_483_647 } },
      /OverQueueLimits|InvalidGroup/,
    ],
    [
      'more cpu than there are numbers',
      { spec: { parallelism: 2_000_000_000, completions: 2_000_000_000 }, resources: { requests: { cpu: '9E' } } },
      /OverQueueLimits|InvalidGroup/,
    ],
    ['a trifle too much, in exponents', { resources: { requests: { cpu: '1000000001e-9' } } }, /OverQueueLimits/],
    [
      'it in a sidecar',
      {
        podSpec: {
          initContainers: [
            { name: 'side', image: 'x', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } },
          ],
        },
      },
      /OverQueueLimits/,
    ],
    [
      'it in an init container',
      { podSpec: { initContainers: [{ name: 'init', image: 'x', resources: { limits: { cpu: '2' } } }] } },
      /OverQueueLimits/,
    ],
    ['it for the pod as a whole', { podSpec: { resources: { requests: { cpu: '2' } } } }, /OverQueueLimits/],
    ['it as a limit alone', { resources: { limits: { cpu: '2' } } }, /OverQueueLimits/],
    [
      'at least two of too many',
      { spec: { parallelism: 9, completions: 9 }, annotations: { [MIN_PARALLELISM]: '3' } },
      /OverQueueLimits/,
    ],
  ])('is set aside, and nobody waits for him: %s', async (what, options, reason) => {
    const name = `much-${what.length}`
    await create(job(name, options))
    await eventually(`${name} is told`, async () => {
      const said = condition(await workloadOf(name), 'QuotaReserved')
      return reason.test(said?.reason ?? '')
    })
    await create(job(`${name}-twin`))
    await starts(`${name}-twin`)
    expect((await jobOf(name)).spec.suspend).toBe(true)
    expect(await podsOf(name)).toEqual([])
    await away(name, `${name}-twin`)
  })
})

describe('what a namespace adds to its pods', () => {
  const range = (name: string, defaultRequest: object) => ({
    ...{ apiVersion: 'v1', kind: 'LimitRange', metadata: { name, namespace: RED } },
    spec: { limits: [{ type: 'Container', defaultRequest }] },
  })

  it('is charged', async () => {
    await create(range('adds', { cpu: '2' }))
    await create(job('added', { resources: {} }))
    expect(await told('added', 'OverQueueLimits')).toContain('cpu')
    await field.passes(OWNER, ['delete', 'limitrange', 'adds'])
    await starts('added')
    await away('added')
  })

  it('is charged also where it is hidden behind many others', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a.example/r${index}`, '0']))
    await create(range('hides', { ...many, cpu: '2' }))
    await create(job('hidden', { resources: {} }))
    await eventually('it is told', async () => {
      const { stdout } = await field.plane.kubectl([
        'get',
        'events',
        '-n',
        RED,
        '--field-selector',
        'involvedObject.name=hidden',
      ])
      return stdout.includes('LimitRange')
    })
    expect((await jobOf('hidden')).spec.suspend).toBe(true)
    await field.passes(OWNER, ['delete', 'limitrange', 'hides'])
    await starts('hidden')
    await away('hidden')
  })
})

describe('a Job that ends otherwise than by its work', () => {
  it('leaves nothing by a dry run', async () => {
    await field.passes(OWNER, ['create', '-f', '-', '--dry-run=server'], job('dry', { queue: SMALL }))
    await field.passes(OWNER, ['apply', '--server-side', '--dry-run=server', '-f', '-'], job('dry'))
    await create(job('wet', { spec: { parallelism: 2, completions: 2 }, resources: { requests: { cpu: '500m' } } }))
    await starts('wet')
    expect(
      (await field.plane.kubectl(['get', 'workloads.muster.dev', '-n', RED, '-o', 'name'])).stdout
        .split('\n')
        .filter(line => line.includes('dry')),
    ).toEqual([])
    await away('wet')
  })

  it('holds its place while a finalizer of somebody keeps it, and pods of it run', async () => {
    await create(job('kept', { spec: { parallelism: 2, completions: 2 } }))
    await eventually(
      'it runs',
      async () => (await podsOf('kept')).filter(({ status }) => status?.phase === 'Running').length === 2,
    )
    await field.passes(OWNER, patch('job', 'kept', { metadata: { finalizers: ['example.com/mine'] } }))
    await field.passes(OWNER, ['delete', 'job', 'kept', '--cascade=orphan', '--wait=false'])
    await create(job('behind-kept'))
    await told('behind-kept', 'OverQueueLimits')
    expect((await jobOf('behind-kept')).spec.suspend).toBe(true)
    await field.plane.kubectl(['delete', 'pod', '-n', RED, '-l', 'job-name=kept', '--force', '--grace-period=0'])
    await field.passes(OWNER, patch('job', 'kept', { metadata: { finalizers: null } }))
    await starts('behind-kept')
    await away('behind-kept')
  })

  it.each([
    ['its end', { status: { conditions: [{ type: 'Complete', status: 'True' }], succeeded: 1 } }],
    ['that nothing of it is there', { status: { active: 0, terminating: 0 } }],
    ['a mark of ours', { metadata: { annotations: { 'muster.dev/stopping': 'true' } } }],
    ['another queue', { metadata: { labels: { [QUEUE_NAME]: 'team-a' } } }],
  ])('is not said to have ended through its status: %s', async (_, change) => {
    await field.plane.kubectl(['get', 'job', 'says', '-n', RED]).catch(() => create(job('says')))
    await starts('says')
    await field.refused(OWNER, patch('job', 'says', change, '--subresource=status'))
  })

  it('while his other conditions and labels are his', async () => {
    await field.passes(
      OWNER,
      patch('job', 'says', { metadata: { labels: { app: 'a' }, annotations: { 'example.com/why': 'x' } } }),
    )
    await away('says')
  })

  it('comes back with another uid, and the books are those of the new one', async () => {
    for (const round of [1, 2]) {
      await create(job('again', { spec: { parallelism: 2, completions: 2 } }))
      await starts('again')
      await field.passes(OWNER, ['delete', 'job', 'again', '--cascade=background', '--wait=false'])
      await field.isGone('again', 'job')
      expect(round).toBeGreaterThan(0)
    }
  })
})

describe('a stranger in the namespace', () => {
  it('starts nothing by a node that he names', async () => {
    const { stderr } = await field.plane.kubectl(['create', '-f', '-', '-n', RED], {
      ...CREATOR,
      expectFailure: true,
      stdin: {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'on-a-node', labels: { [QUEUE_NAME]: CLOSED } } },
        spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'x' }] },
      },
    })
    expect(stderr).toContain('nodeName')
  })

  it('is bound nowhere behind the gate', async () => {
    await field.waitingPod('gated-one')
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-0' }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'gated-one' }, target }
    const raw = ['create', '--raw', `/api/v1/namespaces/${RED}/pods/gated-one/binding`, '-f', '-']
    const { stderr } = await field.plane.kubectl([...raw], { ...ADMIN, stdin: binding, expectFailure: true })
    expect(stderr).toContain('schedulingGates')
  })
})
