import { describe, expect, it } from 'vitest'
import { builtinEngine } from '../../../src/engines/builtin/builtin.ts'
import { FifoQueues } from '../../../src/engines/builtin/fifo.ts'
import { workloadForCache } from '../../../src/engines/builtin/workloads.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { cached, NOW, workloadFor } from '../../support/jobs.ts'
import { managedPod } from '../../support/pods.ts'
import { ADMITTED, workloadOf } from '../../support/workloads.ts'

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
    const engine = builtinEngine([])
    const done = new Map([['main', 1]])
    expect(engine.reclaim?.(workloadFor(flexible('a', 4, 4), ADMITTED), done)).toHaveLength(1)
    expect(engine.reclaim?.(workloadOf([managedPod()], ADMITTED), done)).toEqual([])
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
