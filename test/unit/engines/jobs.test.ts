import { describe, expect, it } from 'vitest'
import { builtinEngine } from '../../../src/engines/builtin/builtin.ts'
import { FifoQueues } from '../../../src/engines/builtin/fifo.ts'
import { workloadForCache } from '../../../src/engines/builtin/workloads.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { cached, NOW, workloadFor } from '../../support/jobs.ts'
import { managedPod } from '../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../support/workloads.ts'

const TEAM_A = { name: 'team-a', limits: { pods: 64 } }
const PLAN = {
  ...{ namespace: 'ml', name: 'w', queueName: 'team-a', podSets: [], priority: 0, completeAt: '5' },
  ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u1', controller: true }],
}

const flexible = (name: string, count: number, min: number, version = '100') =>
  cached({
    name,
    uid: name,
    annotations: { 'muster.dev/queued': 'true', 'kueue.x-k8s.io/job-min-parallelism': String(min) },
    metadata: { resourceVersion: version },
    spec: { parallelism: count, completions: count },
  })

/** How many pods of each Workload the queue of this many pods admits, or why not. */
function admitted(pods: number, ...workloads: readonly QueuedWorkload[]): readonly unknown[] {
  const queue = new FifoQueues([{ name: 'team-a', limits: { pods } }])
  for (const workload of workloads) queue.observe(workload, false)
  return queue.decide('team-a', NOW).map(action => {
    if (action.kind !== 'SetStatus') throw new Error(`unexpected ${action.kind}`)
    return action.status.admission?.podSetAssignments[0]?.count ?? action.status.conditions?.at(-1)?.reason
  })
}

describe('the built-in engine and Jobs', () => {
  it('admits as many pods as fit, between the least and all', () => {
    const ten = workloadFor(flexible('a', 10, 5))
    expect(admitted(20, ten)).toEqual([10])
    expect(admitted(8, ten)).toEqual([8])
    expect(admitted(5, ten)).toEqual([5])
    expect(admitted(4, ten)).toEqual(['OverQueueLimits'])
  })

  it('counts what was admitted, and not what was asked for', () => {
    const half = workloadFor(flexible('a', 10, 5), ADMITTED, { counts: [6] })
    const next = workloadFor(flexible('b', 4, 4, '101'))
    expect(admitted(10, half, next)).toEqual([4])
    expect(admitted(9, half, next)).toEqual(['OverQueueLimits'])
  })

  it('lets what has been given back be used by the next', () => {
    const four = workloadFor(flexible('a', 4, 4), ADMITTED)
    const done = { ...four, status: { ...four.status, reclaimablePods: [{ name: 'main', count: 3 }] } }
    const next = workloadFor(flexible('b', 3, 3, '101'))
    expect(admitted(4, four, next)).toEqual(['OverQueueLimits'])
    expect(admitted(4, done, next)).toEqual([3])
  })

  it('counts what it takes over, be it beyond the limits, and gives it no other place', () => {
    const engine = builtinEngine([{ name: 'team-a', limits: { pods: 1 }, nodeLabels: { pool: 'a' } }])
    const four = workloadFor(flexible('a', 4, 4))
    expect(engine.takeOver?.(four, NOW)).toMatchObject([
      { status: { admission: { podSetAssignments: [{ name: 'main', count: 4 }] } } },
    ])
    expect(engine.takeOver?.(four, NOW)).not.toHaveProperty('0.status.admission.podSetAssignments.0.nodeSelector')
  })

  it('gives back for Jobs, and not for groups, whose pods may be replaced', () => {
    const engine = builtinEngine([TEAM_A])
    const done = new Map([['main', 1]])
    expect(engine.reclaim?.(workloadFor(flexible('a', 4, 4), ADMITTED), done)).toHaveLength(1)
    expect(engine.reclaim?.(workloadOf([managedPod()], ADMITTED), done)).toEqual([])
  })

  it('counts an admission as a whole, whatever was given back of the last one', () => {
    const four = workloadFor(flexible('a', 4, 4), ADMITTED)
    const less = { ...four, status: { ...four.status, reclaimablePods: [{ name: 'main', count: 3 }] } }
    const engine = builtinEngine([TEAM_A])
    expect(engine.requeue(less, 'because', NOW)).toMatchObject([{ status: { reclaimablePods: [] } }])
    expect(engine.requeue(four, 'because', NOW)[0]).not.toHaveProperty('status.reclaimablePods')
    const waiting = { ...less, status: { reclaimablePods: [{ name: 'main', count: 3 }] } }
    expect(engine.takeOver?.(waiting, NOW)).toMatchObject([{ status: { reclaimablePods: [] } }])
  })

  it('holds no Workload of a Job in a queue without limits, and takes nothing back that nobody counts', () => {
    const [open, listed] = [builtinEngine([]), builtinEngine([TEAM_A])]
    const plan = { ...PLAN, kind: 'job', job: { framework: 'batch/job', uid: 'u1' } } as const
    expect(open.compose(plan).metadata).not.toHaveProperty('finalizers')
    expect(listed.compose(plan).metadata.finalizers).toEqual(['muster.dev/resource-in-use'])
    expect(open.compose({ ...PLAN, kind: 'single' }).metadata.finalizers).toEqual(['muster.dev/resource-in-use'])
    expect(open.reclaim?.(workloadFor(flexible('a', 4, 4), ADMITTED), new Map([['main', 1]]))).toEqual([])
  })

  it('holds it from when on the queue has limits, or it moves to another queue', () => {
    const plan = { ...PLAN, kind: 'job', job: { framework: 'batch/job', uid: 'u1' } } as const
    const free = { ...builtinEngine([]).compose(plan) }
    const known = { ...free, metadata: { ...free.metadata, uid: 'w1', resourceVersion: '7', finalizers: ['own'] } }
    const finalizers = ['own', 'muster.dev/resource-in-use']
    expect(builtinEngine([]).secure(known)).toEqual([])
    expect(builtinEngine([TEAM_A]).secure(known)).toMatchObject([
      { kind: 'HoldWorkload', workload: { uid: 'w1' }, resourceVersion: '7', finalizers },
    ])
    const secured = { ...known, metadata: { ...known.metadata, finalizers } }
    expect(builtinEngine([TEAM_A]).secure(secured)).toEqual([])
    expect(builtinEngine([]).moveTo(known, 'team-b', '9')).toMatchObject([{ kind: 'SetQueue', finalizers }])
    expect(builtinEngine([]).moveTo(secured, 'team-b', '9')[0]).not.toHaveProperty('finalizers')
  })

  it('keeps in its cache for whom the Workload is, and what a stopped Job gets back', () => {
    const of = cached({ podSpec: { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'a' }] } })
    const kept = workloadForCache(workloadFor(of))
    expect(kept.metadata).toMatchObject({
      labels: { 'kueue.x-k8s.io/job-uid': 'u1' },
      annotations: { 'muster.dev/job': 'batch/job:train' },
    })
    expect(kept.spec.podSets[0]?.template.spec).toMatchObject({
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'a' }],
    })
  })
})
