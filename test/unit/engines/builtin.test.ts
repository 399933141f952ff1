import { describe, expect, it } from 'vitest'
import { builtinEngine } from '../../../src/engines/builtin/builtin.ts'
import { FifoQueues } from '../../../src/engines/builtin/fifo.ts'
import type { Action } from '../../../src/workload/actions.ts'
import type { PodSet, QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { managedPod } from '../../support/pods.ts'
import { ADMITTED, holds, workloadOf } from '../../support/workloads.ts'

const NOW = '2026-11-16T10:10:00Z'

function queued(
  name: string,
  order: number,
  cpu = '1',
  conditions = workloadOf([managedPod()]).status?.conditions,
): QueuedWorkload {
  return workloadOf([managedPod({ name, cpu, version: String(order) })], conditions)
}

function inQueue(workload: QueuedWorkload, queueName: string): QueuedWorkload {
  return { ...workload, spec: { ...workload.spec, queueName } }
}

function told(workload: QueuedWorkload, queueName: string): QueuedWorkload {
  const condition = { ...holds('QuotaReserved', 'WaitingForAdmission'), status: 'False' as const }
  return { ...workload, status: { conditions: [condition], waiting: { queueName, since: '2026-11-16T10:00:02Z' } } }
}

function podSet(requests: Readonly<Record<string, string>>, count: number): PodSet {
  return { name: 'main', count, template: { spec: { containers: [{ name: 'c', resources: { requests } }] } } }
}

/** `name: Admitted` or `name: reason`, for each status that the engine wants written. */
function verdicts(actions: readonly Action[]): readonly string[] {
  return actions.map(action => {
    if (action.kind !== 'SetStatus') throw new Error(`unexpected ${action.kind}`)
    const last = action.status.conditions?.at(-1)
    return `${action.workload.name.replace(/^pod-(.*)-.{5}$/, '$1')}: ${last?.status === 'True' ? last.type : last?.reason}`
  })
}

function messageOf(action: Action | undefined): string {
  return action?.kind === 'SetStatus' ? (action.status.conditions?.at(-1)?.message ?? '') : ''
}

describe('the built-in engine', () => {
  it('tells the first in the queue who holds it, and the others who was before them', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 2 } }])
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) engine.observe(queued(name, index), false)
    const messages = engine.decide('team-a', NOW).map(messageOf)
    expect(messages[2]).toMatch(
      /^first in queue team-a; asks for 1 pods, 0 of 2 free; the queue is held by ml\/pod-a-\w+, ml\/pod-b-\w+$/,
    )
    expect(messages[3]).toMatch(
      /^waits in queue team-a: when it came, 1 workload was before it, first of all ml\/pod-c-/,
    )
    expect(messages[4]).toMatch(/when it came, 2 workloads were before it, first of all ml\/pod-c-/)
  })

  it('admits at once who waits when the limits rise, also whom they could never hold before', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '1' } }])
    engine.observe(queued('holder', 0, '1', ADMITTED), false)
    engine.observe(queued('large', 1, '3'), false)
    engine.observe(queued('next', 2, '1'), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['large: OverQueueLimits', 'next: OverQueueLimits'])
    engine.reconfigure([{ name: 'team-a', limits: { cpu: '4' } }])
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['large: Admitted', 'next: OverQueueLimits'])
    engine.reconfigure([])
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['large: Admitted', 'next: Admitted'])
  })

  it('takes nothing from those who hold it when the limits fall, and holds the next', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '4' } }])
    engine.observe(queued('holder', 0, '3', ADMITTED), false)
    engine.observe(queued('next', 1, '1'), false)
    engine.reconfigure([{ name: 'team-a', limits: { cpu: '2' } }])
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['next: OverQueueLimits'])
    engine.reconfigure([{ name: 'team-a', limits: { cpu: '500m' } }])
    const [aside, ...more] = engine.decide('team-a', NOW)
    expect([messageOf(aside), more]).toEqual([expect.stringContaining('never'), []])
  })

  it('gives the place of the new configuration to whom it admits from then on', () => {
    const engine = builtinEngine([])
    let changes = 0
    engine.onChange?.(() => changes++)
    engine.decider?.observe(queued('a', 1), false)
    engine.reconfigure([{ name: 'team-a', limits: {}, nodeLabels: { pool: 'gpu' } }])
    expect(changes).toBe(1)
    expect(JSON.stringify(engine.decider?.decide('team-a', NOW))).toContain('"nodeSelector":{"pool":"gpu"}')
  })

  it('admits nothing that names no queue, and says what to do', () => {
    const engine = new FifoQueues([])
    engine.observe(inQueue(queued('a', 1), ''), false)
    const actions = engine.decide('', NOW)
    expect(verdicts(actions)).toEqual(['a: WaitingForAdmission'])
    expect(messageOf(actions[0])).toBe('has no queue: set the label kueue.x-k8s.io/queue-name on its pods')
  })

  it('tells a Workload that comes from another queue anew', () => {
    const engine = new FifoQueues([{ name: 'team-b', limits: { pods: 1 } }])
    engine.observe(inQueue(queued('holder', 0, '1', ADMITTED), 'team-b'), false)
    engine.observe(inQueue(queued('head', 1), 'team-b'), false)
    engine.observe(inQueue(told(queued('moved', 2), 'team-a'), 'team-b'), false)
    engine.observe(inQueue(told(queued('there', 3), 'team-b'), 'team-b'), false)
    const actions = engine.decide('team-b', NOW)
    expect(verdicts(actions)).toEqual(['head: OverQueueLimits', 'moved: WaitingForAdmission'])
    expect(actions).toMatchObject(actions.map(() => ({ status: { waiting: { queueName: 'team-b', since: NOW } } })))
  })

  it('knows from the status where a Workload was told, whatever the words were', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 1 } }])
    engine.observe(queued('holder', 0, '1', ADMITTED), false)
    const waiting = told(queued('waiting', 1), 'team-a')
    const [condition] = waiting.status?.conditions ?? []
    engine.observe(waiting, false)
    const [first] = engine.decide('team-a', NOW)
    if (first?.kind !== 'SetStatus' || condition === undefined) throw new Error('no status')
    expect(first.status).not.toHaveProperty('waiting')
    const { message } = first.status.conditions?.[0] ?? condition
    const elsewhere = { ...waiting, status: { conditions: [{ ...condition, reason: 'OverQueueLimits', message }] } }
    engine.observe(elsewhere, false)
    expect(engine.decide('team-a', NOW)).toMatchObject([{ status: { waiting: { queueName: 'team-a', since: NOW } } }])
  })

  it.each([
    ['admitted', '1'],
    ['found to be unreadable', 'a lot'],
  ])('takes the mark of its wait from a Workload that is %s', (_, cpu) => {
    const engine = new FifoQueues([])
    engine.observe(told(queued('a', 1, cpu), 'team-a'), false)
    expect(engine.decide('team-a', NOW)).toMatchObject([{ status: { waiting: null } }])
  })

  it('waits until a Workload that was switched on again is back in the queue', () => {
    const engine = new FifoQueues([])
    const evicted = holds('Evicted', 'Deactivated')
    engine.observe(queued('a', 1, '1', [evicted]), false)
    expect(engine.decide('team-a', NOW)).toEqual([])
    engine.observe(queued('a', 1, '1', [{ ...evicted, status: 'False' }]), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['a: Admitted'])
  })

  it('names the first three who hold a queue, and counts the others', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 5 } }])
    for (const [index, name] of ['e', 'd', 'c', 'b', 'a'].entries()) {
      engine.observe(queued(name, 10 - index, '1', ADMITTED), false)
    }
    engine.observe(queued('z', 20), false)
    const [message] = engine.decide('team-a', NOW).map(messageOf)
    expect(message).toMatch(/held by ml\/pod-a-\w+, ml\/pod-b-\w+, ml\/pod-c-\w+ and 2 more$/)
  })

  it('makes the place of the queue part of the admission', () => {
    const nodeLabels = { pool: 'gpu' }
    const tolerations = [{ key: 'dedicated', operator: 'Exists' }]
    const engine = new FifoQueues([{ name: 'team-a', limits: {}, nodeLabels, tolerations }])
    engine.observe(queued('a', 1), false)
    expect(engine.decide('team-a', NOW)).toMatchObject([
      {
        status: {
          admission: { podSetAssignments: [{ name: 'main', count: 1, nodeSelector: nodeLabels, tolerations }] },
        },
      },
    ])
  })

  it('admits at once in a queue without limits', () => {
    const engine = new FifoQueues([])
    expect(engine.observe(queued('a', 1), false)).toEqual(['team-a'])
    const [action] = engine.decide('team-a', NOW)
    expect(action).toMatchObject({
      kind: 'SetStatus',
      status: {
        pods: 1,
        admission: { clusterQueue: 'team-a', podSetAssignments: [{ name: 'main', count: 1 }] },
        conditions: [
          { type: 'QuotaReserved', status: 'True' },
          { type: 'Admitted', status: 'True', lastTransitionTime: NOW },
        ],
      },
    })
  })

  it('admits first in, first out, and lets nobody overtake the one that does not fit', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '3' } }])
    engine.observe(queued('small', 30, '1'), false)
    engine.observe(queued('first', 10, '2'), false)
    engine.observe(queued('big', 20, '2'), false)
    const actions = engine.decide('team-a', NOW)
    expect(verdicts(actions)).toEqual(['first: Admitted', 'big: OverQueueLimits', 'small: WaitingForAdmission'])
    expect(messageOf(actions[1])).toMatch(/^first in queue team-a; asks for 2 cpu, 1 of 3 free; the queue is held by /)
  })

  it('holds what was admitted until it has finished, then admits the next', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 1 } }])
    const running = queued('running', 1, '1', ADMITTED)
    engine.observe(running, false)
    engine.observe(queued('next', 2), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['next: OverQueueLimits'])
    const finished = { ...running, status: { conditions: [...ADMITTED, holds('Finished')] } }
    expect(engine.observe(finished, false)).toEqual(['team-a'])
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['next: Admitted'])
  })

  it('holds the usage of a Workload that is being deleted until it is gone', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 1 } }])
    const running = queued('running', 1, '1', ADMITTED)
    const deleting = { ...running, metadata: { ...running.metadata, deletionTimestamp: NOW } }
    engine.observe(deleting, false)
    engine.observe(queued('next', 2), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['next: OverQueueLimits'])
    engine.observe(deleting, true)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['next: Admitted'])
  })

  it('forgets the resources of those who are gone, whatever they called them', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 9 } }])
    engine.observe(queued('stays', 0, '1', ADMITTED), false)
    for (let round = 1; round <= 3; round++) {
      const running = queued(`round-${round}`, round, '1', ADMITTED)
      const asks = { cpu: '1', [`made.up/resource-${round}`]: '1', [`made.up/nothing-${round}`]: '0' }
      const hostile = { ...running, spec: { ...running.spec, podSets: [podSet(asks, 1)] } }
      engine.observe(hostile, false)
      expect(engine.view('team-a').usage.get(`made.up/resource-${round}`)).toBe(1_000_000_000n)
      engine.observe(hostile, true)
    }
    expect([...engine.view('team-a').usage.keys()].sort()).toEqual(['cpu', 'pods'])
  })

  it('says nothing twice: a wait that was told is not told again', () => {
    for (const pods of [0, 1]) {
      const engine = new FifoQueues([{ name: 'team-a', limits: { pods } }])
      engine.observe(queued('holder', 0, '1', ADMITTED), false)
      const waiting = queued('waiting', 1)
      engine.observe(waiting, false)
      const [action] = engine.decide('team-a', NOW)
      if (action?.kind !== 'SetStatus') throw new Error('no status')
      engine.observe({ ...waiting, status: action.status }, false)
      expect(engine.decide('team-a', '2026-11-16T11:00:00Z')).toEqual([])
    }
  })

  it('sets aside what the queue can never hold, tells it both figures, and goes on behind it', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { memory: '1Gi', cpu: '500m' } }])
    engine.observe(queued('huge', 1, '1'), false)
    engine.observe(queued('next', 2, '500m'), false)
    engine.observe(queued('last', 3, '500m'), false)
    const actions = engine.decide('team-a', NOW)
    expect(verdicts(actions)).toEqual(['huge: OverQueueLimits', 'next: Admitted', 'last: OverQueueLimits'])
    expect(messageOf(actions[0])).toBe(
      'queue team-a can never hold it: asks for 1 cpu of 500m; ask for less, or raise the limit; those behind it go on',
    )
    expect(actions[0]).toMatchObject({ status: { waiting: { queueName: 'team-a', since: NOW } } })
  })

  it('sets aside what announces more pods than the queue can ever hold', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 10 } }])
    const many = queued('many', 1)
    engine.observe({ ...many, spec: { ...many.spec, podSets: [podSet({}, 11)] } }, false)
    engine.observe(queued('next', 2), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['many: OverQueueLimits', 'next: Admitted'])
  })

  it('gives what was set aside its old place when the limits rise, and says so', () => {
    const huge = queued('huge', 1, '2')
    const closed = new FifoQueues([{ name: 'team-a', limits: { cpu: '1' } }])
    closed.observe(huge, false)
    const [action] = closed.decide('team-a', NOW)
    if (action?.kind !== 'SetStatus') throw new Error('no status')
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '2' } }])
    engine.observe(queued('holder', 0, '1', ADMITTED), false)
    engine.observe(queued('later', 3, '1'), false)
    engine.observe({ ...huge, status: action.status }, false)
    engine.observe(queued('last', 4, '1'), false)
    const actions = engine.decide('team-a', NOW)
    expect(verdicts(actions)).toEqual([
      'huge: OverQueueLimits',
      'later: WaitingForAdmission',
      'last: WaitingForAdmission',
    ])
    expect(messageOf(actions[0])).toMatch(/^first in queue team-a; asks for 2 cpu, 1 of 2 free; the queue is held by /)
  })

  it('tells anew who was first once and is no longer', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 1 } }])
    engine.observe(queued('holder', 0, '1', ADMITTED), false)
    const second = queued('second', 2)
    engine.observe(second, false)
    const [action] = engine.decide('team-a', NOW)
    if (action?.kind !== 'SetStatus') throw new Error('no status')
    engine.observe({ ...second, status: action.status }, false)
    engine.observe(queued('first', 1), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['first: OverQueueLimits', 'second: WaitingForAdmission'])
  })

  it('stops what runs on requests that nobody can read', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '1' } }])
    engine.observe(queued('odd', 1, '-100', ADMITTED), false)
    engine.observe(queued('big', 2, '2'), false)
    const actions = engine.decide('team-a', NOW)
    expect(verdicts(actions)).toEqual(['odd: Evicted', 'big: OverQueueLimits'])
  })

  it('puts who comes over from another queue behind those who are there', () => {
    const { moveTo } = builtinEngine([])
    const mover = queued('mover', 1)
    const [move] = moveTo(mover, 'team-b', '300')
    if (move?.kind !== 'SetQueue') throw new Error('no move')
    const annotations = { ...mover.metadata.annotations, ...move.annotations }
    const engine = new FifoQueues([{ name: 'team-b', limits: { pods: 1 } }])
    engine.observe(inQueue({ ...mover, metadata: { ...mover.metadata, annotations } }, 'team-b'), false)
    engine.observe(inQueue(queued('there', 2), 'team-b'), false)
    expect(verdicts(engine.decide('team-b', NOW))).toEqual(['there: Admitted', 'mover: OverQueueLimits'])
  })

  it('counts one queue for the whole cluster and keeps queues apart', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { pods: 1 } }])
    const elsewhere = queued('elsewhere', 1, '1', ADMITTED)
    engine.observe({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } }, false)
    const free = queued('free', 2)
    engine.observe({ ...free, spec: { ...free.spec, queueName: 'team-b' } }, false)
    engine.observe(queued('bound', 3), false)
    expect(verdicts(engine.decide('team-a', NOW))).toEqual(['bound: OverQueueLimits'])
    expect(verdicts(engine.decide('team-b', NOW))).toEqual(['free: Admitted'])
  })

  it('puts aside a Workload whose requests are no quantities, and says so', () => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '1' } }])
    engine.observe(queued('odd', 1, 'a lot'), false)
    engine.observe(queued('next', 2), false)
    const actions = engine.decide('team-a', NOW)
    expect(verdicts(actions)).toEqual(['odd: InvalidGroup', 'next: Admitted'])
    expect(messageOf(actions[0])).toContain('"a lot" is not a quantity')
  })

  it.each([
    ['a negative amount', [podSet({ cpu: '-1' }, 2)], 'cpu is -1, and nobody can ask for less than nothing'],
    ['no pods', [podSet({ cpu: '1' }, 0)], 'podSet main has 0 pods'],
    ['half a pod', [podSet({ cpu: '1' }, 1.5)], 'podSet main has 1.5 pods'],
    ['too many pods', [podSet({}, 2_000_000_000), podSet({}, 2_000_000_000)], 'more than 2147483647 pods together'],
    ['more than can be counted', [podSet({ cpu: '1E' }, 1000)], 'asks for more cpu than can be counted'],
  ])('gives nothing for %s, and stands in nobody’s way', (_, podSets, problem) => {
    const engine = new FifoQueues([{ name: 'team-a', limits: { cpu: '1', pods: 1 } }])
    const odd = queued('odd', 1)
    engine.observe({ ...odd, spec: { ...odd.spec, podSets } }, false)
    engine.observe(queued('next', 2), false)
    engine.observe(queued('last', 3), false)
    const actions = engine.decide('team-a', NOW)
    expect(verdicts(actions)).toEqual(['odd: InvalidGroup', 'next: Admitted', 'last: OverQueueLimits'])
    expect(messageOf(actions[0])).toContain(problem)
    const [refused] = actions
    expect(refused?.kind === 'SetStatus' && refused.status.pods).toBeLessThanOrEqual(2_147_483_647)
  })

  it('puts whoever was switched off, and is on again, behind those who came meanwhile', () => {
    const engine = builtinEngine([])
    const off = { ...queued('off', 1), status: { conditions: [holds('Evicted', 'Deactivated')] } }
    const [back] = engine.requeue({ ...off, metadata: { ...off.metadata, resourceVersion: '50' } }, 'x', NOW)
    if (back?.kind !== 'SetStatus') throw new Error(`unexpected ${back?.kind}`)
    expect(back.status).toMatchObject({ order: '50' })
    const queue = new FifoQueues([{ name: 'team-a', limits: { pods: '1' } }])
    queue.observe({ ...off, status: { conditions: [], order: '50' } }, false)
    queue.observe(queued('meanwhile', 2), false)
    expect(verdicts(queue.decide('team-a', NOW))).toEqual(['meanwhile: Admitted', 'off: OverQueueLimits'])
    // Who was evicted by another hand has done nothing to lose its place.
    const evicted = { ...off, status: { conditions: [holds('Evicted', 'Preempted')] } }
    const [kept] = engine.requeue(evicted, 'x', NOW)
    expect(kept?.kind === 'SetStatus' && kept.status).not.toHaveProperty('order')
  })

  it('skips a Workload that an administrator has switched off', () => {
    const engine = new FifoQueues([])
    const off = queued('off', 1)
    engine.observe({ ...off, spec: { ...off.spec, active: false } }, false)
    expect(engine.decide('team-a', NOW)).toEqual([])
  })
})
