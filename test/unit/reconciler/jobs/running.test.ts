import { describe, expect, it } from 'vitest'
import type { QueuedJob } from '../../../../src/workload/jobs/queued-job.ts'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import {
  acts,
  cached,
  type JobOptions,
  jobUnit,
  NOW,
  RUNNING,
  SUSPENDED,
  startedTemplate,
  told,
  workloadFor,
} from '../../../support/jobs.ts'
import { ADMITTED, holds } from '../../../support/workloads.ts'

const PLACE = { nodeSelector: { pool: 'a' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] }
const MARKED = { 'muster.dev/queued': 'true' }
const STOPPING = { ...MARKED, 'muster.dev/stopping': 'true' }
const HELD = { ...MARKED, 'muster.dev/held': 'true' }
const evicted = [...ADMITTED, holds('Evicted', 'Preempted', 'a more important one came')]

const waiting = cached({ status: SUSPENDED })
const admitted = workloadFor(waiting, ADMITTED, { place: PLACE })

/** As the Job is after its start on the Workload. */
function started(workload: QueuedWorkload, options: JobOptions = {}): QueuedJob {
  return cached({ template: startedTemplate(workload, PLACE), ...options, spec: { ...RUNNING, ...options.spec } })
}

describe('an admitted Job', () => {
  it('is started in one write, with its place and the version that was charged (E18)', () => {
    expect(acts(jobUnit(waiting, admitted))).toEqual([
      {
        kind: 'PatchJob',
        resource: expect.objectContaining({ plural: 'jobs' }),
        job: { namespace: 'ml', name: 'train', uid: 'u1' },
        resourceVersion: '100',
        admittedAt: '2026-11-16T10:00:02Z',
        patch: {
          type: 'merge',
          body: {
            metadata: {},
            spec: {
              suspend: false,
              template: {
                metadata: {
                  labels: {
                    'kueue.x-k8s.io/podset': 'main',
                    'kueue.x-k8s.io/local-queue-name': 'team-a',
                    'kueue.x-k8s.io/cluster-queue-name': 'team-a',
                  },
                  annotations: { 'kueue.x-k8s.io/workload': admitted.metadata.name },
                },
                spec: PLACE,
              },
            },
          },
        },
      },
    ])
    expect(told(jobUnit(waiting, admitted))).toEqual(['Lifting: admitted by queue team-a; starting'])
  })

  it('may be too early before its controller has looked at it (kubernetes#139281)', () => {
    expect(acts(jobUnit(cached(), admitted))).toMatchObject([{ kind: 'PatchJob', early: true }])
  })

  it('starts with as many pods as it was admitted with (E19)', () => {
    const annotations = { ...MARKED, 'kueue.x-k8s.io/job-min-parallelism': '5' }
    const ten = { annotations, spec: { parallelism: 10, completions: 10 } }
    const body = (more: Partial<JobOptions> = {}) => {
      const of = cached({ ...ten, ...more })
      const [action] = acts(jobUnit(of, workloadFor(of, ADMITTED, { counts: [8] })))
      return action?.kind === 'PatchJob' ? action.patch.body : undefined
    }
    expect(body()).toMatchObject({ spec: { suspend: false, parallelism: 8 } })
    expect(body()).not.toHaveProperty('spec.completions')
    const follow = { ...annotations, 'kueue.x-k8s.io/job-completions-equal-parallelism': 'true' }
    expect(body({ annotations: follow })).toMatchObject({ spec: { parallelism: 8, completions: 8 } })
  })

  it('ends where its template contradicts its place, and says so (E20)', () => {
    const of = cached({ podSpec: { nodeSelector: { pool: 'b' } } })
    const workload = workloadFor(of, ADMITTED, { place: PLACE })
    const message = 'conflict for nodeSelector: Job train, podSet main, says pool=b, and its admission pool=a'
    expect(acts(jobUnit(of, workload))).toMatchObject([
      { kind: 'SetStatus', status: { conditions: [{}, {}, { type: 'Finished', reason: 'FailedToStart', message }] } },
    ])
    const failed = workloadFor(of, [...ADMITTED, holds('Finished', 'FailedToStart', message)])
    expect(told(jobUnit(of, failed))[0]).toMatch(
      /^LiftBlocked: conflict for nodeSelector: .*; correct that, and delete/,
    )
  })

  it('loses the start time of an earlier run before it is started again (kubernetes#134521)', () => {
    const of = cached({ status: { ...SUSPENDED, startTime: NOW } })
    expect(acts(jobUnit(of, admitted))).toMatchObject([
      { kind: 'PatchJob', subresource: 'status', patch: { body: { status: { startTime: null } } } },
    ])
  })

  it('is not started while the last pods of an earlier run terminate', () => {
    expect(acts(jobUnit(cached({ status: { ...SUSPENDED, terminating: 1 } }), admitted))).toEqual([])
    expect(acts(jobUnit(cached({ status: SUSPENDED }), admitted))).toHaveLength(1)
  })

  it('is cleaned of the marks of the Job that it was copied from', () => {
    const copy = cached({ template: startedTemplate({ metadata: { name: 'job-other-12345' } } as QueuedWorkload) })
    const [action] = acts(jobUnit(copy, admitted))
    expect(action).toMatchObject({
      patch: { body: { spec: { template: { metadata: { annotations: { 'kueue.x-k8s.io/workload': null } } } } } },
    })
    expect(action).not.toHaveProperty('patch.body.spec.suspend')
  })
})

describe('a running Job', () => {
  it('gives back what its pods have done (E26)', () => {
    const indexed = { parallelism: 8, completions: 8, completionMode: 'Indexed' }
    const of = started(admitted, {
      spec: indexed,
      status: { startTime: NOW, completedIndexes: '0', failedIndexes: '1' },
    })
    const workload = workloadFor(cached({ spec: indexed }), ADMITTED)
    expect(acts(jobUnit(of, workload))).toMatchObject([
      { kind: 'SetStatus', status: { reclaimablePods: [{ name: 'main', count: 2 }] } },
    ])
  })

  it('gives back what it shrinks by, and is stopped when it runs more than it was given (E25 differs)', () => {
    const smaller = (status: object) => acts(jobUnit(started(admitted, { spec: { parallelism: 3 }, status }), admitted))
    expect(smaller({ startTime: NOW, active: 3 })).toMatchObject([
      { status: { reclaimablePods: [{ name: 'main', count: 1 }] } },
    ])
    // Its controller has seen it start with 4, and is about to make them.
    expect(smaller({})).toEqual([])
    expect(smaller({ startTime: NOW, ...SUSPENDED })).toEqual([])
    const shrinking = (status: object) =>
      acts(jobUnit(started(admitted, { spec: { parallelism: 1 }, status }), admitted))
    expect(shrinking({ active: 4 })).toEqual([])
    expect(shrinking({ active: 1, terminating: 3 })).toEqual([])
    expect(shrinking({ active: 1, terminating: 1 })).toMatchObject([
      { status: { reclaimablePods: [{ name: 'main', count: 2 }] } },
    ])
    expect(shrinking({ active: 1, terminating: 8 })).toEqual([])
    const grown = jobUnit(started(admitted, { spec: { parallelism: 6, completions: 6 } }), admitted)
    expect(acts(grown)).toMatchObject([{ kind: 'PatchJob', patch: { body: { spec: { suspend: true } } } }])
    expect(told(grown)).toEqual(['Evicted: it runs 6 pods, and was admitted with 4'])
  })

  it('takes nothing back that it gave, while a lost pod terminates beside the one that replaces it', () => {
    const given = { ...admitted, status: { ...admitted.status, reclaimablePods: [{ name: 'main', count: 2 }] } }
    const two = { succeeded: 2, active: 2 }
    expect(acts(jobUnit(started(admitted, { status: two }), given))).toEqual([])
    expect(acts(jobUnit(started(admitted, { status: { ...two, terminating: 1 } }), given))).toEqual([])
    expect(acts(jobUnit(started(admitted, { status: { succeeded: 3, active: 1 } }), given))).toMatchObject([
      { status: { reclaimablePods: [{ name: 'main', count: 3 }] } },
    ])
  })

  it('is stopped when it needs what it gave, for others may have it by now', () => {
    const given = { ...admitted, status: { ...admitted.status, reclaimablePods: [{ name: 'main', count: 2 }] } }
    const again = jobUnit(started(admitted, { status: { succeeded: 1, active: 3 } }), given)
    expect(acts(again)).toMatchObject([{ kind: 'PatchJob', patch: { body: { spec: { suspend: true } } } }])
    expect(told(again)).toEqual(['Evicted: it runs 3 pods, and was admitted with 4, of which it has given back 2'])
  })

  it('writes nothing while nothing changes', () => {
    expect(acts(jobUnit(started(admitted, { status: { active: 4 } }), admitted))).toEqual([])
  })

  it('ends its Workload with its own reason and message (E27)', () => {
    const end = (type: string, message: string) => {
      const conditions = [{ type, status: 'True', message }]
      return acts(jobUnit(started(admitted, { status: { conditions } }), admitted))
    }
    const finished = (reason: string, message: string) => [
      { kind: 'SetStatus', status: { conditions: [{}, {}, { type: 'Finished', reason, message }] } },
    ]
    expect(end('Complete', 'Reached expected number of succeeded pods')).toMatchObject(
      finished('Succeeded', 'Reached expected number of succeeded pods'),
    )
    expect(end('Failed', 'Job has reached the specified backoff limit')).toMatchObject(
      finished('Failed', 'Job has reached the specified backoff limit'),
    )
    expect(end('FailureTarget', 'soon')).toEqual([])
  })

  it('keeps its quota until its last pods are gone where its end comes before theirs (Kubernetes 1.30)', () => {
    const conditions = [{ type: 'Failed', status: 'True', message: 'Job was active longer than specified deadline' }]
    const ends = (status: object) =>
      acts(jobUnit(started(admitted, { status: { conditions, ...status } }), admitted)).map(({ kind }) => kind)
    expect(ends({ terminating: 4 })).toEqual(['UnlessPodsLeft'])
    expect(ends({ active: 1 })).toEqual(['UnlessPodsLeft'])
    expect(ends({ active: 0, terminating: 0 })).toEqual(['SetStatus'])
  })

  it('lets go of a Workload that has finished', () => {
    const conditions = [{ type: 'Complete', status: 'True', message: 'done' }]
    const over = workloadFor(waiting, [...ADMITTED, holds('Finished', 'Succeeded', 'done')])
    expect(acts(jobUnit(started(admitted, { status: { conditions } }), over))).toMatchObject([
      { kind: 'ReleaseWorkload' },
    ])
  })
})

describe('a Job that is stopped', () => {
  const gone = workloadFor(waiting, evicted, { place: PLACE })
  const suspended = { spec: { suspend: true }, annotations: STOPPING }
  const left = { ...SUSPENDED, startTime: NOW }

  it('is suspended with a mark, keeps its quota while pods are left, then becomes what it was (E21)', () => {
    expect(acts(jobUnit(started(gone, { status: { active: 4, startTime: NOW } }), gone))).toMatchObject([
      {
        kind: 'PatchJob',
        patch: { body: { metadata: { annotations: { 'muster.dev/stopping': 'true' } }, spec: { suspend: true } } },
      },
    ])
    const next = (status: object) => acts(jobUnit(started(gone, { ...suspended, status }), gone))
    expect(next({ active: 4, startTime: NOW })).toEqual([])
    expect(next({ ...left, terminating: 4 })).toEqual([])
    expect(next(left)).toMatchObject([{ subresource: 'status', patch: { body: { status: { startTime: null } } } }])
    expect(next(SUSPENDED)).toMatchObject([
      {
        kind: 'PatchJob',
        resourceVersion: '100',
        patch: {
          body: {
            metadata: { annotations: { 'muster.dev/stopping': null } },
            spec: {
              template: {
                metadata: {
                  labels: { 'kueue.x-k8s.io/podset': null, 'kueue.x-k8s.io/cluster-queue-name': null },
                  annotations: { 'kueue.x-k8s.io/workload': null },
                },
                spec: { nodeSelector: { pool: null }, tolerations: null },
              },
            },
          },
        },
      },
    ])
  })

  it('is stopped by whoever comes next from where the last one ended, and nothing is done twice (E23)', () => {
    const kinds = (options: JobOptions) =>
      acts(jobUnit(started(gone, options), gone)).map(action =>
        action.kind === 'PatchJob' ? Object.keys(action.patch.body as object) : action.kind,
      )
    expect(kinds({ status: { active: 4 } })).toEqual([['metadata', 'spec']])
    expect(kinds({ ...suspended, status: left })).toEqual([['status']])
    expect(kinds({ ...suspended, status: SUSPENDED })).toEqual([['metadata', 'spec']])
    expect(acts(jobUnit(waiting, gone)).map(({ kind }) => kind)).toEqual(['UnlessPodsLeft'])
  })

  it('waits again when no pod of it is left, whoever looks (E22 differs: also not while they terminate)', () => {
    expect(acts(jobUnit(waiting, gone))).toMatchObject([
      {
        kind: 'UnlessPodsLeft',
        namespace: 'ml',
        labelSelector: 'batch.kubernetes.io/controller-uid=u1',
        actions: [{ kind: 'SetStatus', status: { admission: null } }],
      },
    ])
  })

  it('gets back the size that it asked for', () => {
    const annotations = { ...STOPPING, 'kueue.x-k8s.io/job-min-parallelism': '2' }
    const asked = cached({ annotations: { ...MARKED, 'kueue.x-k8s.io/job-min-parallelism': '2' } })
    const workload = { ...workloadFor(asked, evicted, { counts: [2] }) }
    const charged = { ...workload, spec: { ...workload.spec, podSets: asked4(workload) } }
    const of = started(charged, { annotations, spec: { suspend: true, parallelism: 2 }, status: SUSPENDED })
    expect(acts(jobUnit(of, charged))).toMatchObject([{ patch: { body: { spec: { parallelism: 4 } } } }])
  })
  const asked4 = ({ spec }: QueuedWorkload) => spec.podSets.map(podSet => ({ ...podSet, count: 4, minCount: 2 }))

  it('is stopped when its Workload is deleted, and gets another one (E29)', () => {
    const deleted = { ...admitted, metadata: { ...admitted.metadata, deletionTimestamp: NOW } }
    expect(acts(jobUnit(started(deleted, { status: { active: 4 } }), deleted))).toMatchObject([{ kind: 'PatchJob' }])
    expect(acts(jobUnit(waiting, deleted))).toMatchObject([
      { kind: 'UnlessPodsLeft', actions: [{ kind: 'ReleaseWorkload' }] },
    ])
    expect(acts(jobUnit(waiting))).toMatchObject([{ kind: 'EnsureObject' }])
  })

  it('is stopped when it runs and its Workload is not there, not admitted or over', () => {
    const stops = [expect.objectContaining({ kind: 'PatchJob', patch: expect.objectContaining({ type: 'merge' }) })]
    const running = started(admitted, { status: { active: 4 } })
    expect(acts(jobUnit(running))).toEqual(stops)
    expect(acts(jobUnit(running, workloadFor(waiting)))).toEqual(stops)
    expect(acts(jobUnit(running, workloadFor(waiting, [holds('Finished', 'FailedToStart', 'no')])))).toEqual(stops)
  })

  it('stays stopped while its Workload is switched off', () => {
    const off = { ...workloadFor(waiting), spec: { ...workloadFor(waiting).spec, active: false } }
    const [requeue] = acts(jobUnit(waiting, off))
    expect(requeue).toMatchObject({ kind: 'SetStatus', status: { conditions: [{ type: 'Evicted', status: 'True' }] } })
  })
})

describe('a Job that its user suspends', () => {
  it('keeps no place, and is not started against his will (E28 differs)', () => {
    const held = started(admitted, { annotations: HELD, spec: { suspend: true }, status: { active: 4 } })
    expect(acts(jobUnit(held, admitted))).toMatchObject([
      { patch: { body: { metadata: { annotations: { 'muster.dev/stopping': 'true' } } } } },
    ])
    const stopped = cached({ annotations: HELD, status: SUSPENDED })
    expect(acts(jobUnit(stopped, admitted))).toMatchObject([
      {
        kind: 'UnlessPodsLeft',
        actions: [{ kind: 'SetStatus', status: { conditions: [{}, {}, { reason: 'Held' }] } }],
      },
    ])
    const over = workloadFor(waiting, [...ADMITTED, holds('Finished', 'Held', 'held')])
    expect(acts(jobUnit(stopped, over)).map(({ kind }) => kind)).toEqual(['ReleaseWorkload', 'DeleteWorkload'])
    expect(acts(jobUnit(stopped))).toEqual([])
    expect(told(jobUnit(stopped))[0]).toMatch(/^Evicted: suspended by its user/)
  })

  it('is held also when no webhook of ours saw it', () => {
    const seen = started(admitted, { spec: { suspend: true }, status: { active: 4 } })
    expect(acts(jobUnit(seen, admitted))).toMatchObject([
      { resourceVersion: '100', patch: { body: { metadata: { annotations: { 'muster.dev/held': 'true' } } } } },
    ])
  })

  it('waits again when he wants it back while it is being stopped', () => {
    const back = started(admitted, { annotations: STOPPING, spec: { suspend: true }, status: SUSPENDED })
    expect(acts(jobUnit(back, admitted))).toMatchObject([{ kind: 'PatchJob', resourceVersion: '100' }])
    expect(acts(jobUnit(waiting, admitted))).toMatchObject([{ patch: { body: { spec: { suspend: false } } } }])
  })
})

describe('the Workload of a Job that is gone', () => {
  const orphan = (workload: QueuedWorkload) => acts(jobUnit(undefined, undefined, { orphans: [workload] }))

  it('keeps its quota until its pods have ended, then ends and goes', () => {
    expect(orphan(admitted)).toMatchObject([
      {
        kind: 'UnlessPodsLeft',
        labelSelector: 'batch.kubernetes.io/controller-uid=u1',
        actions: [{ kind: 'SetStatus', status: { conditions: [{}, {}, { reason: 'OwnerNotFound' }] } }],
      },
    ])
    const over = workloadFor(waiting, [...ADMITTED, holds('Finished', 'OwnerNotFound', 'Job train is gone')])
    expect(orphan(over).map(({ kind }) => kind)).toEqual(['ReleaseWorkload', 'DeleteWorkload'])
  })

  it('goes at once when it holds nothing', () => {
    expect(orphan(workloadFor(waiting))).toMatchObject([{ kind: 'SetStatus' }])
    const deleted = { ...workloadFor(waiting), metadata: { ...admitted.metadata, deletionTimestamp: NOW } }
    expect(orphan(deleted)).toMatchObject([{ kind: 'ReleaseWorkload' }])
  })

  it('is left to the garbage collector when it came to its own end', () => {
    const over = workloadFor(waiting, [...ADMITTED, holds('Finished', 'Succeeded', 'done')])
    expect(orphan({ ...over, metadata: { ...over.metadata, finalizers: [] } })).toEqual([])
  })

  it('is treated so as soon as the Job is on its way out', () => {
    const leaving = cached({ spec: RUNNING, metadata: { deletionTimestamp: NOW } })
    expect(acts(jobUnit(leaving, admitted))).toMatchObject([{ kind: 'UnlessPodsLeft' }])
    expect(acts(jobUnit(leaving))).toEqual([])
  })
})
