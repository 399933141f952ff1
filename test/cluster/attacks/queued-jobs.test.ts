import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { isGated, queuedJob } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, CLOSED, IN_NEED, OWNER, patch, RED, ROOT } from './support.ts'

interface Job extends KubeObject {
  readonly spec: { readonly suspend?: boolean; readonly podReplacementPolicy?: string }
}

let field: Battlefield

beforeAll(async () => {
  const queues = [{ name: CLOSED, limits: { pods: 0 } }]
  field = await Battlefield.open('queued-jobs', { queues }, 'none', true)
})

afterAll(async () => {
  await field?.close()
})

const create = (object: object, user = OWNER) => field.passes(user, ['create', '-f', '-'], object)
const podsBy = async (selector: string): Promise<readonly Pod[]> =>
  (await field.plane.kubectl.json<{ items: Pod[] }>(['get', 'pods', '-n', RED, '-l', selector])).items
const jobOf = (name: string) => field.get<Job>(name, 'job')

const jobSet = (name: string, queue: string, template: object = {}) => ({
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name, namespace: RED, labels: { [QUEUE_NAME]: queue } },
  spec: {
    replicatedJobs: [
      {
        name: 'part',
        template: { spec: { ...(queuedJob({ namespace: RED, name, ...template }) as { spec: object }).spec } },
      },
    ],
  },
})

describe('nothing passes a closed queue', () => {
  beforeAll(async () => {
    await create(queuedJob({ namespace: RED, name: 'held-back', queue: CLOSED }), ADMIN)
    await create(jobSet('set', CLOSED))
    await eventually('the JobSet has its Job', async () => (await jobOf('set-part-0')).spec.suspend === true)
  })

  const APPLY = ['apply', '--server-side', '--force-conflicts', '-f', '-']

  it('by server-side apply of what is Muster’s', async () => {
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'held-back', namespace: RED } }
    const fields = {
      ...job,
      metadata: { ...job.metadata, annotations: { 'muster.dev/queued': 'true' } },
      spec: { suspend: true },
    }
    await field.passes(OWNER, APPLY, fields)
    // He is a manager of both by now, and gives them up.
    const none = { ...job, metadata: { ...job.metadata, labels: { app: 'a' } } }
    await field.passes(OWNER, APPLY, none)
    const { metadata, spec } = await jobOf('held-back')
    expect(spec.suspend).toBe(true)
    expect(metadata.annotations).toMatchObject({ 'muster.dev/queued': 'true' })
    const stopping = { ...job, metadata: { ...job.metadata, annotations: { 'muster.dev/stopping': 'true' } } }
    expect(await field.refused(OWNER, APPLY, stopping)).toContain('is written by Muster')
  })

  it.each([
    ['resumed', { spec: { suspend: false } }],
    ['set free', { metadata: { ownerReferences: null } }],
    ['larger', { spec: { parallelism: 9, completions: 9 } }],
  ])('by a Job of a JobSet that is %s', async (_, change) => {
    for (const user of [ADMIN, OWNER, ROOT]) {
      expect(await field.refused(user, patch('job', 'set-part-0', change))).toContain('jobset.x-k8s.io/jobset:set')
    }
  })

  it('by a Job of a JobSet that is set free through its status, or by the name of its owner', async () => {
    const own = (await jobOf('set-part-0')).metadata.ownerReferences ?? []
    const renamed = own.map(owner => ({ ...owner, name: 'another' }))
    for (const ownerReferences of [null, renamed]) {
      for (const more of [[], ['--subresource=status']]) {
        const change = patch('job', 'set-part-0', { metadata: { ownerReferences } }, ...more)
        expect(await field.refused(OWNER, change)).toContain('metadata.ownerReferences')
      }
    }
  })

  it('by a Job that comes into it through its status, where no webhook of ours can change it', async () => {
    await create(queuedJob({ namespace: RED, name: 'late' }))
    await field.passes(OWNER, patch('job', 'late', { spec: { suspend: true } }))
    const label = { metadata: { labels: { [QUEUE_NAME]: CLOSED } } }
    const text = await field.refused(OWNER, patch('job', 'late', label, '--subresource=status'))
    expect(text).toContain("past Muster's webhook")
    await field.passes(OWNER, patch('job', 'late', { metadata: { labels: { app: 'a' } } }, '--subresource=status'))
    await field.passes(OWNER, patch('job', 'late', label))
    await field.passes(OWNER, patch('job', 'late', { spec: { suspend: false } }))
    const { metadata, spec } = await jobOf('late')
    expect(metadata.annotations).toMatchObject({ 'muster.dev/queued': 'true' })
    expect(spec).toMatchObject({ suspend: true, podReplacementPolicy: 'Failed' })
  })

  it('by a Job of a JobSet that gets another controller', async () => {
    const { uid } = (await jobOf('held-back')).metadata
    const other = { apiVersion: 'batch/v1', kind: 'Job', name: 'held-back', uid, controller: true }
    const change = { metadata: { ownerReferences: [other] } }
    expect(await field.refused(OWNER, patch('job', 'set-part-0', change))).toContain('metadata.ownerReferences')
    const own = (await jobOf('set-part-0')).metadata.ownerReferences ?? []
    await field.passes(
      OWNER,
      patch('job', 'set-part-0', { metadata: { ownerReferences: [...own, { ...other, controller: false }] } }),
    )
    await field.passes(OWNER, patch('job', 'set-part-0', { metadata: { labels: { app: 'a' } } }))
  })

  it.each(['ReplicaSet', 'StatefulSet', 'Deployment'])('by a %s that says that what waits owns it', async kind => {
    const name = `of-a-job-${kind.toLowerCase()}`
    const { uid } = (await jobOf('held-back')).metadata
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'held-back', uid, controller: true }
    const labels = { [QUEUE_NAME]: CLOSED, app: name }
    const podSpec = { containers: [{ name: 'main', image: 'registry.example/none:1' }] }
    await create({
      ...{ apiVersion: 'apps/v1', kind, metadata: { name, namespace: RED, ownerReferences: [owner] } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels }, spec: podSpec },
      },
    })
    const [pod] = await eventually('it has a pod', async () => {
      const pods = await podsBy(`app=${name}`)
      return pods.length > 0 ? pods : undefined
    })
    expect(pod && isGated(pod)).toBe(true)
  })

  it('by a Job whose author says that a JobSet owns it', async () => {
    const { uid } = (await field.get('set', 'jobset')).metadata
    const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'set', uid, controller: true }
    const job = queuedJob({ namespace: RED, name: 'claims', queue: CLOSED }) as {
      metadata: object
      spec: { template: { metadata: object } }
    }
    await create({ ...job, metadata: { ...job.metadata, ownerReferences: [owner] } })
    expect((await jobOf('claims')).spec.suspend).toBe(true)
  })
})

describe('the Jobs of a JobSet that runs', () => {
  const POLICY = 'muster-jobset-jobs'
  const JOB = 'runs-part-0'
  const POD = 'jobset.sigs.k8s.io/jobset-name=runs'
  /** How long the node takes to end a pod that is deleted. */
  const TERMINATION = '10s'
  const running = async () => (await podsBy(POD)).filter(({ status }) => status?.phase === 'Running')

  beforeAll(async () => {
    await create(jobSet('runs', 'team-a', { termination: TERMINATION }))
    await eventually('it runs', async () => (await running()).length === 1)
  })

  const RAW = ['delete', '--raw', `/apis/batch/v1/namespaces/${RED}/jobs/${JOB}`]
  const options = (more: object) => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...more })

  it.each<[string, readonly string[], object?]>([
    ['leaves them, as it asks for', ['delete', 'job', JOB, '--cascade=orphan']],
    ['says nothing of them', RAW],
    ['comes before their end', ['delete', 'job', JOB, '--wait=false']],
    ['comes before their end, in words of old', [...RAW, '-f', '-'], options({ orphanDependents: false })],
    ['leaves them, in words of old', [...RAW, '-f', '-'], options({ orphanDependents: true })],
  ])('do not leave their pods to run beside those of the next when a deletion %s', async (_, args, stdin) => {
    for (const user of [ADMIN, OWNER, ROOT]) expect(await field.refused(user, args, stdin)).toContain(POLICY)
  })

  it('stay with their JobSet, which would make others beside them', async () => {
    const own = (await jobOf(JOB)).metadata.ownerReferences ?? []
    const renamed = own.map(owner => ({ ...owner, name: 'another' }))
    for (const ownerReferences of [null, renamed]) {
      const free = patch('job', JOB, { metadata: { ownerReferences } }, '--subresource=status')
      expect(await field.refused(OWNER, free)).toContain('metadata.ownerReferences')
    }
  })

  it('say how they are deleted', async () => {
    expect(await field.refused(ADMIN, ['delete', 'job', JOB])).toContain('kubectl delete --cascade=foreground')
  })

  it('are deleted as they like by those who end the namespace, and in need', async () => {
    const background = ['delete', 'job', JOB, '--cascade=background', '--wait=false', '--dry-run=server']
    await field.passes({ as: 'system:serviceaccount:kube-system:namespace-controller' }, background)
    await field.passes(IN_NEED, background)
  })

  it('are counted by JobSet under no other name than theirs', async () => {
    const labels = { 'jobset.sigs.k8s.io/replicatedjob-name': 'other' }
    for (const more of [[], ['--subresource=status']]) {
      expect(await field.refused(OWNER, patch('job', JOB, { metadata: { labels } }, ...more))).toContain(POLICY)
    }
  })

  it('do not give their quota away by an end that somebody writes', async () => {
    const status = { succeeded: 1, active: 0, ready: 0 }
    expect(await field.refused(OWNER, patch('job', JOB, { status }, '--subresource=status'))).toContain(POLICY)
  })

  it('but are labelled', async () => {
    await field.passes(ADMIN, patch('job', JOB, { metadata: { labels: { app: 'a' } } }))
  })

  it('and are deleted when their pods have ended, which nobody hastens', async () => {
    const { uid } = (await jobOf(JOB)).metadata
    const [pod] = await running()
    const { name = '', ownerReferences } = pod?.metadata ?? {}
    const unblocking = ownerReferences?.map(owner => ({ ...owner, blockOwnerDeletion: false }))
    const unblocked = patch('pod', name, { metadata: { ownerReferences: unblocking } })
    for (const user of [ADMIN, OWNER]) expect(await field.refused(user, unblocked)).toContain('muster-job-pods')

    await field.passes(ADMIN, ['delete', 'job', JOB, '--cascade=foreground', '--wait=false'])
    const impatient = [
      ['delete', 'job', JOB, '--wait=false'],
      patch('job', JOB, { metadata: { finalizers: null } }),
      patch('job', JOB, { metadata: { finalizers: null } }, '--subresource=status'),
    ]
    for (const args of impatient) expect(await field.refused(OWNER, args)).toContain(POLICY)
    // Again, and without a word: it goes as it was told to.
    await field.passes(ADMIN, ['delete', 'job', JOB, '--cascade=foreground', '--wait=false'])
    await field.passes(ADMIN, RAW)

    const seen = await eventually('JobSet has made another', async () => {
      const pods = await podsBy(POD)
      expect(pods.length).toBeLessThanOrEqual(1)
      const next = pods.find(({ metadata }) => metadata.name !== name)
      return next && (await jobOf(JOB)).metadata.uid !== uid ? pods : undefined
    })
    expect(seen).toHaveLength(1)
    await eventually('it runs', async () => (await running()).length === 1)
  })

  it('go on when their JobSet is deleted without them, and neither grow nor start again on its quota', async () => {
    await field.passes(OWNER, ['delete', 'jobset', 'runs', '--cascade=orphan'])
    await eventually('nobody owns the Job', async () => (await jobOf(JOB)).metadata.ownerReferences === undefined)
    expect(await running()).toHaveLength(1)
    const owner = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      name: 'none',
      uid: 'none',
      controller: true,
    }
    const refused = async (change: object) => await field.refused(OWNER, patch('job', JOB, change))
    expect(await refused({ spec: { parallelism: 9 } })).toContain(POLICY)
    expect(await refused({ metadata: { ownerReferences: [owner] } })).toContain(POLICY)
    await field.passes(OWNER, patch('job', JOB, { spec: { suspend: true } }))
    expect(await refused({ spec: { suspend: false } })).toContain(POLICY)
    // With a queue of its own it waits for a place like any other.
    await field.passes(OWNER, patch('job', JOB, { metadata: { labels: { [QUEUE_NAME]: CLOSED } } }))
    expect(await jobOf(JOB)).toMatchObject({ metadata: { annotations: { 'muster.dev/queued': 'true' } } })
    await field.passes(ADMIN, ['delete', 'job', JOB, '--cascade=orphan'])
  })
})
