import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { GROUP_MARK, JOB_MARK, Judge, QUEUE_MARK, SIZE_MARK } from '../soak/judge.ts'
import { complaints, type Figures, goalsOf, table } from '../soak/report.ts'
import { type Blame, Tally } from '../soak/tally.ts'

const MINUTE = 60_000

function pod(
  name: string,
  options: { gated?: boolean; phase?: string; group?: string; job?: string; size?: number } = {},
): KubeObject {
  const { gated = false, phase = 'Pending', group, job, size } = options
  const annotations = {
    [QUEUE_MARK]: 'q',
    ...(group !== undefined && { [GROUP_MARK]: group, [SIZE_MARK]: String(size) }),
    ...(job !== undefined && { [JOB_MARK]: job, [SIZE_MARK]: String(size) }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, uid: name, annotations },
    spec: gated ? { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] } : {},
    status: { phase },
  } as KubeObject
}

function judgeOf(limit: number) {
  const time = { now: 0 }
  const judge = new Judge(() => time.now)
  judge.setLimit('q', limit)
  return { judge, time }
}

describe('the judge of the soak', () => {
  it('finds the pod that is one too many, and none that has its place', () => {
    const { judge } = judgeOf(2)
    judge.changed(pod('a'))
    judge.changed(pod('b'))
    judge.changed(pod('c', { gated: true }))
    judge.changed(pod('a', { phase: 'Succeeded' }))
    judge.changed(pod('c'))
    expect(judge.wrong).toEqual([])
    judge.changed(pod('d'))
    expect(judge.wrong).toEqual(['d takes 3 places in queue q, which holds 2: b, c, d'])
  })

  it('counts of a Job as many pods as it asked for, since its controller may make one twice, and no fewer', () => {
    const { judge } = judgeOf(3)
    for (const name of ['j-1', 'j-2', 'j-3']) judge.changed(pod(name, { job: 'j', size: 2 }))
    judge.changed(pod('a'))
    expect(judge.wrong).toEqual([])
    judge.changed(pod('k-1', { job: 'k', size: 1 }))
    expect(judge.wrong).toEqual(['k-1 takes 4 places in queue q, which holds 3: j-1, j-2, j-3, a, k-1'])
  })

  it('finds it in a list after a break of the watch, too', () => {
    const { judge } = judgeOf(1)
    judge.replaced([pod('a'), pod('b', { gated: true })])
    judge.replaced([pod('b')])
    expect(judge.wrong).toEqual([])
    judge.replaced([pod('b'), pod('c')])
    expect(judge.wrong).toHaveLength(1)
  })

  it('goes by limits that have fallen as soon as nobody is there from before', () => {
    const { judge, time } = judgeOf(2)
    judge.changed(pod('a'))
    judge.setLimit('q', 1)
    time.now += 5 * MINUTE
    judge.changed(pod('b'))
    expect(judge.wrong).toEqual([])
    judge.gone(pod('a'))
    judge.gone(pod('b'))
    judge.changed(pod('c'))
    judge.changed(pod('d'))
    expect(judge.wrong).toEqual([expect.stringContaining('d takes 2 places in queue q, which holds 1')])
  })

  it('finds a group that begins before all of it is there, or stays half begun while somebody could act', () => {
    const { judge, time } = judgeOf(9)
    judge.changed(pod('a', { group: 'early', size: 2 }))
    expect(judge.wrong).toEqual(['a is lifted with 1 of 2 pods of early there'])
    judge.changed(pod('b', { group: 'half', size: 2, gated: true }))
    judge.changed(pod('c', { group: 'half', size: 2 }))
    judge.look(() => 0)
    time.now += 2 * MINUTE
    judge.look(from => time.now - from)
    expect(judge.wrong).toHaveLength(1)
    judge.look(() => 0)
    expect(judge.wrong[1]).toBe('group half has been half lifted for 120 s')
  })
})

describe('a member of a group that its client has deleted', () => {
  const liftedAfter = (ms: number): readonly string[] => {
    const { judge, time } = judgeOf(9)
    for (const name of ['a', 'b']) judge.changed(pod(name, { group: 'left', size: 2, gated: true }))
    judge.gone(pod('a', { group: 'left', size: 2, gated: true }))
    time.now += ms
    judge.changed(pod('b', { group: 'left', size: 2 }))
    return judge.wrong
  }

  it('counts for the lift that was on its way, and for none that is decided later', () => {
    expect(liftedAfter(10_000)).toEqual([])
    expect(liftedAfter(MINUTE)).toEqual(['b is lifted with 1 of 2 pods of left there'])
  })
})

describe('who is to blame for a request that failed', () => {
  const hook = (why: string) => `failed calling webhook "pods.muster.dev": failed to call webhook: ${why}`
  const blamed = (
    message: string,
    options: { away?: 'kill -9' | 'api server'; withheldMs?: number; turnedAway?: boolean } = {},
  ): Blame | undefined => {
    let blame: Blame | undefined
    const tally = new Tally(() => 100_000, {
      withheldSince: () => options.withheldMs ?? 0,
      turnedAwaySince: () => options.turnedAway ?? false,
      onFailure: found => {
        blame = found
      },
    })
    if (options.away !== undefined) tally.away(options.away)()
    tally.take('create a', 99_900, { status: 500, message, object: undefined })
    return blame
  }

  it.each([
    [hook('EOF'), {}, 'muster'],
    [hook('x509: certificate signed by unknown authority'), { away: 'api server' }, 'muster'],
    [hook('context deadline exceeded'), {}, 'muster'],
    [hook('context deadline exceeded'), { withheldMs: 1500 }, 'machine'],
    [hook('EOF'), { withheldMs: 1500 }, 'muster'],
    [hook('EOF'), { withheldMs: 1500, turnedAway: true }, 'machine'],
    [hook('EOF'), { turnedAway: true }, 'muster'],
    [hook('EOF'), { away: 'kill -9' }, 'kill -9'],
    [hook('x509: certificate signed by unknown authority'), { away: 'kill -9' }, 'muster'],
    ['admission webhook "pods.muster.dev" denied the request: no', {}, 'muster'],
    ['connect ECONNREFUSED', { away: 'api server' }, 'api server'],
    ['connect ECONNREFUSED', {}, 'unknown'],
  ] as const)('of %s with %j it is %s', (message, options, expected) => expect(blamed(message, options)).toBe(expected))
})

describe('the report of the soak', () => {
  const none = { muster: [], 'kill -9': [], 'api server': [], machine: [], unknown: [] }
  const figures: Figures = {
    ...{ minutes: 1, seed: 1, requests: 1, updates: 0, deletions: 0, withheldMs: 0, longestPartialMs: 0 },
    disturbances: new Map([['partition', 1]]),
    created: { pods: 1, groups: 0, jobs: 0, probes: 1 },
    lifts: { pods: 1, groups: 0, ofJobs: 0 },
    rotations: { announced: 0, promoted: 0, forgotten: 0 },
    ...{ failed: none, wrong: [], leftBehind: [], failovers: [], probeWaitsMs: [10], memoryMb: [80] },
  }

  it.each<[string, Partial<Figures>]>([
    ['a review that failed', { failed: { ...none, muster: ['create a'] } }],
    ['a failure that nobody can explain', { failed: { ...none, unknown: ['create a'] } }],
    ['a pod lifted wrongly', { wrong: ['a'] }],
    ['what is left', { leftBehind: ['a'] }],
    ['a slow failover', { failovers: [{ ms: 20_100, withheldMs: 0 }] }],
  ])('misses a goal for %s', (_, change) => {
    expect(goalsOf(figures).every(({ isMet }) => isMet)).toBe(true)
    const changed = { ...figures, ...change }
    expect(goalsOf(changed).filter(({ isMet }) => !isMet)).toHaveLength(1)
    expect(table(changed)).toContain('MISSED')
    expect(table(figures)).not.toContain('MISSED')
    expect(complaints(figures)).toEqual([])
  })
})
