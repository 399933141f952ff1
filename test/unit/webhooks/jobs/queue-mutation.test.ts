import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewJobMutation } from '../../../../src/webhooks/jobs/mutation.ts'
import { reviewQueueing } from '../../../../src/webhooks/jobs/queueing.ts'
import { existingJobScope } from '../../../../src/webhooks/jobs/scope.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { brief, controller, worldOf } from '../pods/fixtures.ts'
import { jobRequest } from './fixtures.ts'
import {
  type Asked,
  CHILD_OF,
  CRON_CONTROLLER,
  HELD,
  JOB_SET_OWNER,
  JOBSET_CONTROLLER,
  job,
  jobSet,
  MUSTER,
  mutated,
  passed,
  QUEUE,
  QUEUED,
  queuedSet,
  queueWorld,
  ROOT,
  running,
  STOPPING,
  waiting,
} from './queue-fixtures.ts'

const q = { labels: { 'queue-name': 'q' } }
const JOB_KIND = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  resource: 'jobs',
  framework: 'batch/job',
  controller: 'kubernetes.io/job-controller',
} as const
const MPI = controller('kubeflow.org/v2beta1', 'MPIJob', 'mpi', 'uid-of-mpi')
const queuedMpi = {
  apiVersion: MPI.apiVersion,
  kind: 'MPIJob',
  metadata: { name: 'mpi', uid: MPI.uid, labels: { [QUEUE]: 'q' } },
}
const withMpi: World = {
  ...worldOf({
    frameworks: ['batch/job', 'kubeflow.org/mpijob'],
    defaultQueue: true,
    objects: [queuedMpi],
    controllers: { 'kubeflow.org/mpijob': ['alice'] },
  }),
  holds: ['batch/job', 'kubeflow.org/mpijob'],
}
const child = { owners: [JOB_SET_OWNER] }

describe('a new Job or JobSet', () => {
  it.each<[string, KubeObject, Asked, string | undefined]>([
    ['E1: that names a queue', job(q), {}, 'q'],
    ['a JobSet that names a queue', jobSet(q), {}, 'q'],
    ['E3: without a queue where all wait', job(), { world: queueWorld({ manageAll: true }) }, ''],
    [
      'E4: without a queue where there is a default one',
      job(),
      { world: queueWorld({ defaultQueue: true }) },
      'default',
    ],
    [
      'E7: of a CronJob',
      job({ ...q, owners: [controller('batch/v1', 'CronJob', 'nightly')] }),
      { user: CRON_CONTROLLER },
      'q',
    ],
    ['E8: with the queue in its template alone', job({ templateLabels: { 'queue-name': 'q' } }), {}, 'q'],
    ['that its user suspended', job({ ...q, spec: { suspend: true } }), {}, 'q'],
    ['that says that it is not suspended', job({ ...q, spec: { suspend: false } }), {}, 'q'],
    [
      'that names a queued root, which did not create it',
      job({ ...q, ...child }),
      { world: queueWorld({ objects: [queuedSet] }) },
      'q',
    ],
    ['that names its usual controller', job({ ...q, spec: { managedBy: 'kubernetes.io/job-controller' } }), {}, 'q'],
    ['of an exempt user', job(q), { world: queueWorld({ exemptUsers: ['alice'] }) }, 'q'],
  ])('waits: %s', (_what, made, asked, queue) => {
    expect(mutated(made, asked)).toMatchObject({ kind: 'allowed', reason: 'Queued' })
    const { stored, verdict } = passed(made, asked)
    expect(verdict).toMatchObject({ kind: 'allowed', warnings: [] })
    expect(stored.spec.suspend).toBe(true)
    expect(stored.metadata.annotations).toEqual({ [QUEUED]: 'true' })
    expect(stored.metadata.labels?.[QUEUE]).toBe(queue)
    // Asked again, because another webhook changed it after us.
    expect(mutated(stored, asked)).toMatchObject({ reason: 'AlreadyQueued', patch: [] })
    if (stored.kind === 'Job') {
      const scope = existingJobScope(stored, JOB_KIND, 'team-a', asked.world ?? queueWorld())
      expect(scope).toEqual({ kind: 'ours', queue })
    }
  })

  it.each<[string, KubeObject, Asked, string]>([
    ['E2: that names none', job(), {}, 'NoQueue'],
    ['whose queue has no name', job({ labels: { 'queue-name': '' } }), {}, 'NoQueue'],
    [
      'with the queue in its template, but labels of its own',
      job({ labels: { app: 'a' }, templateLabels: { 'queue-name': 'q' } }),
      {},
      'NoQueue',
    ],
    [
      'in a namespace that is not selected',
      job(q),
      { world: queueWorld({ namespaceSelector: { matchLabels: { team: 'b' } } }) },
      'NamespaceNotSelected',
    ],
    [
      'that another controller runs',
      job({ ...q, spec: { managedBy: 'example.com/far-away' } }),
      {},
      'ForeignController',
    ],
    ['where Jobs are not enabled', job(q), { world: queueWorld({ frameworks: ['pod'] }) }, 'KindNotQueued'],
    ['where the engine does not queue them', job(q), { world: { ...queueWorld(), holds: ['pod'] } }, 'KindNotQueued'],
    ['where Kueue queues them', job(q), { world: queueWorld({ engine: 'kueue' }) }, 'KindNotQueued'],
  ])('is left alone: %s', (_what, made, asked, reason) => {
    expect(mutated(made, asked)).toMatchObject({ kind: 'allowed', reason, patch: [] })
  })

  it.each<[string, KubeObject, Asked, string]>([
    ['E5: with a default queue', job({ owners: [MPI] }), { world: withMpi }, 'kubeflow.org/mpijob:mpi'],
    [
      'E6: with a queue of its own',
      job({ ...q, ...child }),
      { user: JOBSET_CONTROLLER, world: queueWorld({ objects: [queuedSet] }) },
      ROOT,
    ],
    [
      'where all wait',
      job(child),
      { user: JOBSET_CONTROLLER, world: queueWorld({ objects: [queuedSet], manageAll: true }) },
      ROOT,
    ],
  ])('is left to its queued root, and stamped: %s', (_what, made, asked, root) => {
    const { stored, verdict } = passed(made, asked)
    expect(mutated(made, asked)).toMatchObject({ reason: 'OwnerQueued' })
    expect(verdict).toMatchObject({ kind: 'allowed' })
    expect(stored.spec.suspend).toBeUndefined()
    expect(stored.metadata.annotations).toEqual({ [CHILD_OF]: root })
    expect(stored.metadata.labels).toEqual(made.metadata.labels)
    expect(mutated(stored, asked)).toMatchObject({ reason: 'OwnerQueued', patch: [] })
  })

  it('is a root when the one it names is not queued', () => {
    const { labels: _labels, ...metadata } = queuedSet.metadata
    const world = queueWorld({ objects: [{ ...queuedSet, metadata }] })
    expect(mutated(job({ ...q, ...child }), { user: JOBSET_CONTROLLER, world })).toMatchObject({ reason: 'Queued' })
  })

  it('is refused when the root that created it cannot be found', () => {
    expect(mutated(job({ ...q, ...child }), { user: JOBSET_CONTROLLER })).toMatchObject({ kind: 'denied', code: 403 })
  })

  it.each<[string, object | null, string]>([
    ['nothing', null, 'object'],
    ['labels', { metadata: { labels: { [QUEUE]: 7 } }, spec: {} }, `metadata.labels[${QUEUE}]`],
    ['suspend', { metadata: {}, spec: { suspend: 'true' } }, 'spec.suspend'],
    ['the template', { metadata: {}, spec: { template: 1 } }, 'spec.template'],
    ['its labels', { metadata: {}, spec: { template: { metadata: { labels: [] } } } }, 'spec.template.metadata.labels'],
    ['its metadata', { metadata: {}, spec: { template: { metadata: 1 } } }, 'spec.template.metadata'],
    ['no spec', { metadata: {} }, 'spec'],
    ['no metadata', { spec: {} }, 'metadata'],
  ])('is refused with words when it is none: %s', (_what, made, field) => {
    const request = { ...jobRequest(job()), object: made as KubeObject | null }
    for (const review of [reviewJobMutation, reviewQueueing]) {
      expect(brief(review(request, queueWorld())).map(error => error.split(' ')[1])).toEqual([field])
    }
  })
})

describe('a Job that waits', () => {
  it.each([job, jobSet])('stays suspended when its user resumes it, who is told (%o)', make => {
    const { stored, verdict } = passed(running({}, make), { old: waiting({}, make) })
    expect(verdict.kind).toBe('allowed')
    expect(stored).toEqual(waiting({}, make))
    const told = mutated(running({}, make), { old: waiting({}, make) }).warnings
    expect(told).toEqual([expect.stringContaining('waits in queue "q"; it stays suspended until Muster admits it')])
  })

  it('stays suspended when its user takes the field away', () => {
    const { suspend: _suspend, ...spec } = (waiting() as { spec: { suspend?: boolean } } & KubeObject).spec
    const { stored } = passed({ ...waiting(), spec } as KubeObject, { old: waiting() })
    expect(stored.spec.suspend).toBe(true)
  })

  it('is resumed by Muster, by who is exempt, and in an emergency', () => {
    const emergency = { username: 'alice', groups: ['muster:break-glass'] }
    const exempt = queueWorld({ exemptUsers: ['alice'] })
    for (const asked of [{ user: MUSTER }, { world: exempt }, { user: emergency }]) {
      const { stored } = passed(running(), { old: waiting(), ...asked })
      expect(stored.spec.suspend).toBe(false)
    }
  })

  it('queues again when it was held and its user resumes it', () => {
    const old = waiting({ annotations: { [HELD]: 'true' } })
    const { stored, verdict } = passed(running({ annotations: { [HELD]: 'true' } }), { old })
    expect(verdict.kind).toBe('allowed')
    expect(stored).toEqual(waiting())
  })

  it('is taken in when it gets its queue while it is suspended', () => {
    const old = job({ spec: { suspend: true } })
    const made = job({ ...q, spec: { suspend: true } })
    expect(passed(made, { old })).toMatchObject({ stored: waiting(), verdict: { kind: 'allowed' } })
    // And when he means to start it in the same write.
    const stored = waiting({ spec: { podReplacementPolicy: 'Failed' } })
    expect(passed(job({ ...q, spec: { suspend: false } }), { old }).stored).toEqual(stored)
  })
})

describe('a Job that runs', () => {
  it.each([job, jobSet])('is held when its user suspends it, who is told (%o)', make => {
    const { stored, verdict } = passed(waiting({}, make), { old: running({}, make) })
    expect(verdict.kind).toBe('allowed')
    expect(stored).toEqual(waiting({ annotations: { [HELD]: 'true', [STOPPING]: 'true' } }, make))
    expect(mutated(waiting({}, make), { old: running({}, make) })).toMatchObject({
      reason: 'Held',
      warnings: [expect.stringContaining('gives its place back')],
    })
  })

  it('is held also if Muster has not taken it in yet', () => {
    const { stored } = passed(job({ ...q, spec: { suspend: true } }), { old: job({ ...q, spec: { suspend: false } }) })
    expect(stored.metadata.annotations).toEqual({ [QUEUED]: 'true', [HELD]: 'true', [STOPPING]: 'true' })
  })

  it('is known to have been stopped when its user wants it back before anybody has looked', () => {
    const { stored: held } = passed(waiting(), { old: running() })
    const { stored: back } = passed(running({ annotations: held.metadata.annotations ?? {} }), { old: held })
    expect(back).toEqual(waiting({ annotations: { [STOPPING]: 'true' } }))
  })

  it('waits when its user suspends it and names its queue at once', () => {
    const { stored } = passed(job({ ...q, spec: { suspend: true } }), { old: job() })
    expect(stored.metadata.annotations).toEqual({ [QUEUED]: 'true' })
  })

  it('is not held by Muster, which stops it', () => {
    const stopped = waiting({ annotations: { [STOPPING]: 'true' } })
    expect(passed(stopped, { old: running(), user: MUSTER }).stored).toEqual(stopped)
  })

  it.each<[string, KubeObject, KubeObject, string]>([
    ['runs on', running(), running(), 'Running'],
    ['is being deleted', running({ deletionTimestamp: 'now' }), waiting({ deletionTimestamp: 'now' }), 'Deleting'],
    ['is in no queue', job(), job({ spec: { suspend: true } }), 'NoQueue'],
    ["is its root's", job({ annotations: { [CHILD_OF]: ROOT } }), job({ spec: { suspend: true } }), 'OwnerQueued'],
  ])('is left alone when it %s', (_what, old, made, reason) => {
    expect(mutated(made, { old })).toMatchObject({ kind: 'allowed', reason, patch: [] })
  })
})
