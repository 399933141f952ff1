import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADMISSION_GATE,
  CREATOR as CREATOR_STAMP,
  MANAGED,
  MIRROR_POD,
  NAMESPACE_NAME_LABEL,
  QUEUE_NAME,
  ROLE_HASH,
  SCHEDULING,
  WORKLOAD_ANNOTATION,
} from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { isGated } from '../../../src/workload/pod-facts.ts'
import { queuedPod } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, BLUE, CLOSED, CREATOR, OWNER, patch, RED, ROOT, strategic, type User } from './support.ts'

let field: Battlefield

beforeAll(async () => {
  field = await Battlefield.open('claims', {
    queues: [
      { name: CLOSED, limits: { pods: 0 } },
      { name: 'team-a' },
      { name: 'blues', namespaces: { matchLabels: { [NAMESPACE_NAME_LABEL]: BLUE } } },
    ],
    unlistedQueues: 'refuse',
    jobs: { scheduling: { allow: { topologyKeys: [] } } },
  })
})

afterAll(async () => {
  await field?.close()
})

const create = (object: object, user: User = ADMIN): Promise<string> =>
  field.passes(user, ['create', '-f', '-'], object)
const refusedCreation = (object: object, user: User = ADMIN): Promise<string> =>
  field.refused(user, ['create', '-f', '-'], object)

/** A pod in no queue. */
const plainPod = (name: string, metadata: object = {}, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: RED, ...metadata },
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }], ...spec },
})

function waiting(name: string, metadata: object = {}): Pod {
  const pod = queuedPod({ namespace: RED, name, queue: CLOSED }) as Pod
  return { ...pod, metadata: { ...pod.metadata, ...metadata } }
}

describe('nobody is excused by an owner that he names', () => {
  const controlledBy = (apiVersion: string, kind: string, { metadata }: KubeObject) => ({
    ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }],
  })

  beforeAll(async () => {
    const spec = { suspend: true, template: { spec: (plainPod('x') as Pod).spec } }
    const metadata = { name: 'owner', namespace: RED, labels: { [QUEUE_NAME]: 'team-a' } }
    await create({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec })
    await create(queuedPod({ namespace: RED, name: 'owner' }))
  })

  it.each([
    ['a Job with a queue', 'batch/v1', 'Job'],
    ['a pod with a queue', 'v1', 'Pod'],
  ])('%s', async (_, apiVersion, kind) => {
    const owner = await field.get<KubeObject>('owner', kind.toLowerCase())
    for (const [index, user] of [ADMIN, CREATOR, OWNER].entries()) {
      const name = `claims-${kind.toLowerCase()}-${index}`
      await create(waiting(name, controlledBy(apiVersion, kind, owner)), user)
      expect(isGated(await field.get(name))).toBe(true)
    }
  })

  it('nor does a Job: it waits itself, and has no pods before', async () => {
    const { labels } = waiting('x').metadata
    const job = await field.plane.kubectl.json<KubeObject & { spec: { suspend?: boolean } }>(
      ['create', '-n', RED, '-f', '-'],
      {
        ...ADMIN,
        stdin: {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: 'labelled', labels },
          spec: { suspend: false, template: { metadata: { labels }, spec: waiting('x').spec } },
        },
      },
    )
    expect(job.spec.suspend).toBe(true)
    await eventually('its controller has seen that it is suspended', async () => {
      const { stdout } = await field.plane.kubectl(['get', 'job', 'labelled', '-n', RED, '-o', 'jsonpath={.status}'])
      return stdout.includes('JobSuspended')
    })
    const pods = ['get', 'pods', '-n', RED, '-l', 'job-name=labelled']
    expect((await field.plane.kubectl.json<{ items: Pod[] }>(pods)).items).toEqual([])
  })
})

describe('marks are given by Muster:', () => {
  const label = { labels: { [MANAGED]: 'true' } }
  const finalizer = { finalizers: [MANAGED] }

  it.each([
    ['the label', label],
    ['the finalizer', finalizer],
    ['both', { ...label, ...finalizer }],
  ])('%s, on a pod in no queue', async (_, marks) => {
    for (const user of [CREATOR, OWNER, ROOT]) {
      expect(await refusedCreation(plainPod('marked', marks), user)).toContain(
        'is set by Muster on the pods that it queues',
      )
    }
  })

  it.each([
    ['the label', label, []],
    ['the finalizer', finalizer, []],
    ['the label, through the status', label, ['--subresource=status']],
  ])('%s, later', async (what, metadata, more) => {
    const name = `later-${what.replaceAll(/\W+/g, '-')}`
    await create(plainPod(name))
    await field.refused(OWNER, [...patch('pod', name, { metadata }), ...more])
    await field.passes(OWNER, ['label', 'pod', name, 'app=mine'])
    await field.passes(OWNER, ['delete', 'pod', name, '--wait=false'])
    await field.isGone(name)
  })

  it('a place in a queue, which nobody would count on a pod that came with the gate alone', async () => {
    const gated = { schedulingGates: [{ name: ADMISSION_GATE }] }
    await create(plainPod('gated-by-itself', {}, gated), OWNER)
    for (const more of [[], ['--subresource=status']]) {
      const change = patch('pod', 'gated-by-itself', { metadata: { labels: { [QUEUE_NAME]: 'team-a' } } })
      expect(await field.refused(OWNER, [...change, ...more])).toContain('create it anew with its queue')
    }
    await field.passes(OWNER, ['label', 'pod', 'gated-by-itself', 'app=mine'])
    await field.passes(
      OWNER,
      strategic('pod', 'gated-by-itself', { spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } }),
    )
    await create(waiting('moves'))
    await field.passes(OWNER, patch('pod', 'moves', { metadata: { labels: { [QUEUE_NAME]: 'team-a' } } }))
  })

  it('who created a pod', async () => {
    const annotations = { [CREATOR_STAMP]: '0123456789abcdef' }
    expect(await refusedCreation(waiting('another', { annotations }))).toContain('somebody else has created the pod')
    await create(waiting('stamped'))
    for (const change of [null, 'another']) {
      await field.refused(OWNER, patch('pod', 'stamped', { metadata: { annotations: { [CREATOR_STAMP]: change } } }))
    }
    await create(waiting('stamped-too'))
    await create(waiting('stamped-otherwise'), CREATOR)
    const stamps = await Promise.all(
      ['stamped', 'stamped-too', 'stamped-otherwise'].map(
        async name => (await field.get(name)).metadata.annotations?.[CREATOR_STAMP],
      ),
    )
    expect(stamps[0]).toBeDefined()
    expect(stamps[1]).toBe(stamps[0])
    expect(stamps[2]).not.toBe(stamps[0])
    expect(stamps.join()).not.toContain('admin-of-red')
  })

  it.each([
    ['a role hash', { [ROLE_HASH]: '00000000' }],
    ['a Workload', { [WORKLOAD_ANNOTATION]: 'owner' }],
  ])('%s, before the admission', async (_, annotations) => {
    await refusedCreation(waiting('claims', { annotations }))
  })

  it('and on the mirror of a static pod, which nobody may hinder, they mean nothing', async () => {
    const marks = {
      labels: { [MANAGED]: 'true', [QUEUE_NAME]: 'team-a' },
      annotations: { [MIRROR_POD]: 'x' },
      ...finalizer,
    }
    await create(plainPod('mirror', marks, { nodeName: 'node-0' }), OWNER)
    await field.runningPod('after-the-mirror')
    const workloads = await field.passes(ROOT, ['get', 'workloads.muster.dev', '-o', 'name'])
    expect(workloads).toContain('pod-after-the-mirror')
    expect(workloads).not.toContain('pod-mirror')
    await field.passes(OWNER, ['delete', 'pod', 'mirror', '--wait=false', '--grace-period=0', '--force'])
    await field.passes(OWNER, patch('pod', 'mirror', { metadata: { finalizers: null } }))
    await field.isGone('mirror')
  })

  it('none outside of its namespaces, and whoever forges them all gets no place for it', async () => {
    const forged = plainPod(
      'forged',
      {
        namespace: 'kube-system',
        labels: { [MANAGED]: 'true', [QUEUE_NAME]: 'team-a' },
        annotations: { [ROLE_HASH]: '00000000', [CREATOR_STAMP]: '0123456789abcdef' },
        finalizers: [MANAGED],
      },
      { schedulingGates: [{ name: ADMISSION_GATE }] },
    )
    const system = 'kube-system'
    await field.passes(ROOT, ['create', '-f', '-'], forged, system)
    // What comes after it is decided after it.
    await field.runningPod('after-the-forged')
    expect(isGated(await field.get('forged', 'pod', system))).toBe(true)
    expect(await field.passes(ROOT, ['get', 'workloads.muster.dev', '-o', 'name'], undefined, system)).toBe('')
    await field.passes(ROOT, ['delete', 'pod', 'forged', '--wait=false'], undefined, system)
    await field.isGone('forged', 'pod', system)
  })
})

describe('queues have owners:', () => {
  it('nobody else gets in, by whatever way', async () => {
    const text = await refusedCreation(queuedPod({ namespace: RED, name: 'intruder', queue: 'blues' }))
    expect(text).toContain('blues')
    await create(waiting('turns'))
    const label = { metadata: { labels: { [QUEUE_NAME]: 'blues' } } }
    await field.refused(OWNER, patch('pod', 'turns', label))
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'enters', namespace: RED } }
    const template = { spec: (plainPod('x') as Pod).spec }
    await create({ ...job, spec: { suspend: true, template } })
    for (const more of [[], ['--subresource=status']]) {
      expect(await field.refused(OWNER, patch('job', 'enters', label, ...more))).toContain('"blues" is not for')
    }
  })

  it('a queue that is misspelt is none, and those that there are are named', async () => {
    const text = await refusedCreation(queuedPod({ namespace: RED, name: 'misspelt', queue: 'taem-a' }))
    expect(text).toContain('team-a')
    expect(text).not.toContain('blues')
  })

  it('their owner gets in', async () => {
    const pod = queuedPod({ namespace: BLUE, name: 'rightful', queue: 'blues' })
    await field.passes(ROOT, ['create', '-f', '-'], pod, BLUE)
    await eventually('it runs', async () => (await field.get('rightful', 'pod', BLUE)).status?.phase === 'Running')
  })
})

describe('a controller reference that comes and goes', () => {
  const gang = { policy: { gang: { minCount: 2 } } }
  const zone = { ...gang, constraints: { topology: [{ key: 'topology.kubernetes.io/zone' }] } }
  const job = (name: string, block: object, metadata: object = {}): object => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: RED, annotations: { [SCHEDULING]: JSON.stringify(block) }, ...metadata },
    spec: {
      suspend: true,
      parallelism: 2,
      completions: 2,
      completionMode: 'Indexed',
      template: { spec: (plainPod('x') as Pod).spec },
    },
  })
  const cronJob = (name: string, template: object): object => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: RED },
    spec: { schedule: '0 3 * * *', suspend: true, jobTemplate: template },
  })
  const reference = ({ metadata: { name, uid } }: KubeObject) => ({
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }],
  })
  let root: object

  beforeAll(async () => {
    await create(cronJob('root', { spec: { template: { spec: (plainPod('x') as Pod).spec } } }))
    root = reference(await field.get<KubeObject>('root', 'cronjob'))
  })

  it('is no way around the parallelism of a gang', async () => {
    await create(job('gang', gang))
    const smaller = { spec: { parallelism: 1, completions: 1 } }
    await field.refused(OWNER, patch('job', 'gang', smaller))
    await field.refused(OWNER, patch('job', 'gang', { ...smaller, metadata: root }))
    await field.passes(OWNER, patch('job', 'gang', { metadata: root }))
    await field.refused(OWNER, patch('job', 'gang', smaller))
  })

  it('is no way around the allow-list', async () => {
    expect(await refusedCreation(job('zoned', zone))).toContain('is not allowed here')
    expect(await refusedCreation(job('zoned', zone, root))).toContain('is not allowed here')
  })

  it('does not keep a CronJob from being deleted without its Jobs', async () => {
    const { spec, metadata } = job('x', gang) as KubeObject & { spec: object }
    await create(cronJob('nightly', { metadata: { annotations: metadata.annotations }, spec }))
    await field.passes(ADMIN, ['create', 'job', 'of-nightly', '--from=cronjob/nightly'])
    await field.passes(ADMIN, ['delete', 'cronjob', 'nightly', '--cascade=orphan', '--wait=false'])
    await field.isGone('nightly', 'cronjob')
    expect((await field.get<KubeObject>('of-nightly', 'job')).metadata.ownerReferences ?? []).toEqual([])
  })
})
