import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAME } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { isGated, queuedJob } from '../support/manifests.ts'
import { eventually } from '../support/wait.ts'
import { ADMIN, Battlefield, CLOSED, OWNER, patch, RED, ROOT } from './support.ts'

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
