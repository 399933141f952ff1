import { describe, expect, it } from 'vitest'
import type { QueuedWorkload } from '../../../../src/workload/queued-workload.ts'
import { acts, cached, decided, job, jobUnit, RUNNING, SUSPENDED, told, workloadFor } from '../../../support/jobs.ts'
import { ADMITTED, holds } from '../../../support/workloads.ts'

const created = (unit: Parameters<typeof acts>[0]): QueuedWorkload => {
  const action = acts(unit).find(({ kind }) => kind === 'EnsureObject')
  if (action?.kind !== 'EnsureObject') throw new Error('no Workload is made')
  return action.wanted as QueuedWorkload
}

describe('a Job that waits', () => {
  it('gets a Workload, named, labelled and owned as Kueue does it (E16)', () => {
    expect(created(jobUnit(cached()))).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^job-train-[0-9a-f]{5}$/),
        namespace: 'ml',
        labels: { 'kueue.x-k8s.io/job-uid': 'u1' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u1', controller: true }],
        finalizers: ['muster.dev/resource-in-use'],
      },
      spec: { queueName: 'team-a', podSets: [{ name: 'main', count: 4 }] },
    })
  })

  it('is charged for as many pods as run at once', () => {
    const size = (spec: object) => created(jobUnit(cached({ spec }))).spec.podSets[0]?.count
    expect(size({ parallelism: 10, completions: 6 })).toBe(6)
    expect(size({ parallelism: 3, completions: undefined })).toBe(3)
    expect(size({ parallelism: undefined, completions: undefined })).toBe(1)
  })

  it('is charged with what the API server will make of its pods', () => {
    const containers = [
      { name: 'limited', resources: { limits: { memory: '1Gi' } } },
      { name: 'plain', resources: { requests: { cpu: '2' } } },
    ]
    const overheadOf = (name: string) => (name === 'vm' ? { memory: '100Mi' } : undefined)
    const defaults = { requests: { cpu: '500m' }, overheadOf }
    const of = cached({ podSpec: { containers, runtimeClassName: 'vm' } })
    expect(created(jobUnit(of, undefined, { defaults })).spec.podSets[0]?.template.spec).toEqual({
      containers: [
        { name: 'limited', resources: { requests: { cpu: '500m', memory: '1Gi' } } },
        { name: 'plain', resources: { requests: { cpu: '2' } } },
      ],
      overhead: { memory: '100Mi' },
    })
  })

  it('says with how few pods it would start', () => {
    const annotations = { 'muster.dev/queued': 'true', 'kueue.x-k8s.io/job-min-parallelism': '2' }
    expect(created(jobUnit(cached({ annotations }))).spec.podSets).toMatchObject([{ count: 4, minCount: 2 }])
  })

  it('is told why, in the words of its queue', () => {
    const of = cached()
    const full = {
      ...holds('QuotaReserved', 'OverQueueLimits', 'asks for 4 pods, 0 of 4 free'),
      status: 'False' as const,
    }
    expect(decided(jobUnit(of, workloadFor(of, [full]))).actions).toEqual([])
    expect(told(jobUnit(of, workloadFor(of, [full])))).toEqual(['OverQueueLimits: asks for 4 pods, 0 of 4 free'])
  })

  it('keeps its place when its size changes (E24)', () => {
    const workload = workloadFor(cached())
    const [action] = acts(jobUnit(cached({ spec: { parallelism: 2 } }), workload))
    expect(action).toMatchObject({
      kind: 'EnsureObject',
      known: workload,
      wanted: { spec: { podSets: [{ count: 2 }] } },
    })
    expect(action).not.toHaveProperty('wanted.metadata.annotations')
  })

  it('goes to the end of another queue when its label says so', () => {
    const workload = workloadFor(cached())
    expect(acts(jobUnit(cached({ queue: 'team-b' }), workload))).toMatchObject([
      { kind: 'SetQueue', queueName: 'team-b', annotations: { 'muster.dev/queue-order': '100' } },
    ])
  })

  it('waits again with its new size when it changed after it was admitted', () => {
    const workload = workloadFor(cached(), ADMITTED)
    expect(acts(jobUnit(cached({ spec: { parallelism: 2 } }), workload))).toMatchObject([
      { kind: 'UnlessPodsLeft', actions: [{ kind: 'SetStatus', status: { admission: null } }] },
    ])
  })

  it('makes no Workload before the pods of an earlier run are gone', () => {
    const startTime = '2026-11-16T10:00:00Z'
    expect(acts(jobUnit(cached({ status: { startTime, active: 2 } })))).toEqual([])
    expect(acts(jobUnit(cached({ status: { ...SUSPENDED, terminating: 1 } })))).toEqual([])
    expect(acts(jobUnit(cached({ status: SUSPENDED }))).map(({ kind }) => kind)).toEqual(['EnsureObject'])
  })

  it('has nothing to wait for without pods, and nothing to do after its end', () => {
    expect(told(jobUnit(cached({ spec: { parallelism: 0 } })))[0]).toMatch(/^WaitingForPods/)
    const conditions = [{ type: 'Complete', status: 'True', message: 'done' }]
    expect(decided(jobUnit(cached({ status: { conditions } })))).toEqual({ actions: [], standings: [] })
  })

  it('is told when nobody can count what it asks for', () => {
    const nodeSelector = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`key-${i}`, 'a'.repeat(20)]))
    const [note = ''] = told(jobUnit(cached({ podSpec: { nodeSelector } })))
    expect(note).toMatch(/^InvalidGroup: what the pods of Job train ask for .* takes \d+ characters/)
  })
})

describe('a Job that was there before', () => {
  const before = { annotations: {} }

  it('is marked and queued when it is suspended', () => {
    expect(acts(jobUnit(cached(before))).map(({ kind }) => kind)).toEqual(['PatchJob', 'EnsureObject'])
    expect(acts(jobUnit(cached(before), workloadFor(cached())))).toMatchObject([
      { kind: 'PatchJob', patch: { body: { metadata: { annotations: { 'muster.dev/queued': 'true' } } } } },
    ])
  })

  it('goes on when it runs, counts at once and is told so (E17 differs)', () => {
    const running = cached({ ...before, spec: RUNNING, status: { active: 2 } })
    expect(acts(jobUnit(running)).map(({ kind }) => kind)).toEqual(['EnsureObject'])
    expect(acts(jobUnit(running, workloadFor(running)))).toMatchObject([
      {
        kind: 'SetStatus',
        status: {
          conditions: [
            { type: 'QuotaReserved', status: 'True' },
            { type: 'Admitted', status: 'True' },
          ],
        },
      },
    ])
    const admitted = jobUnit(running, workloadFor(running, ADMITTED))
    expect(acts(admitted)).toMatchObject([
      { kind: 'PatchJob', patch: { body: { metadata: { annotations: { 'muster.dev/queued': 'true' } } } } },
    ])
    expect(told(admitted)).toEqual(['Lifting: it ran before it was queued: it goes on, and counts in queue team-a'])
  })
})

describe('what is left alone', () => {
  it('has another controller', () => {
    expect(cached({ spec: { managedBy: 'kueue.x-k8s.io/multikueue' } }).foreign).toBe(true)
    expect(cached({ spec: { managedBy: 'kubernetes.io/job-controller' } }).foreign).toBe(false)
    expect(job().kind).toBe('Job')
  })
})
