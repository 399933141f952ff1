import { describe, expect, it } from 'vitest'
import type { EventInput, EventRecorder } from '../../../src/kube/coordination/events.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'
import type { JobStanding, Standing } from '../../../src/reconciler/decision.ts'
import { Standings } from '../../../src/reconciler/standings.ts'
import { BATCH_JOB } from '../../../src/workload/jobs/batch-job.ts'
import { cached } from '../../support/jobs.ts'

const pod: Pod = { metadata: { name: 'train', namespace: 'ml', uid: 'u1' }, spec: {} }
const waits = (more: Partial<Standing> = {}): Standing => ({ pod, reason: 'OverQueueLimits', note: 'full', ...more })

function create() {
  const told: EventInput[] = []
  const forgotten: string[] = []
  const gauge = new Map<string, number>()
  const events = {
    record: (event: EventInput) => told.push(event),
    forget: (uid: string) => forgotten.push(uid),
  } as unknown as EventRecorder
  const standings = new Standings(events, { waiting: (reason, pods) => gauge.set(reason, pods) })
  return { standings, told, forgotten, gauge }
}

describe('standings', () => {
  it('tell each pod once, and again when its reason or note changes', () => {
    const { standings, told, gauge } = create()
    standings.tell([waits()])
    standings.tell([waits()])
    standings.tell([waits({ note: 'fuller' })])
    expect(told.map(({ reason, note }) => [reason, note])).toEqual([
      ['OverQueueLimits', 'full'],
      ['OverQueueLimits', 'fuller'],
    ])
    expect(gauge.get('OverQueueLimits')).toBe(1)
  })

  it('tell words that change all the time again when they are about something else', () => {
    const { standings, told } = create()
    const lacks = (note: string, steady: string) => standings.tell([waits({ note, steady })])
    lacks('4 more needed', 'WaitingForQuota')
    lacks('3800m more needed', 'WaitingForQuota')
    expect(told).toHaveLength(1)
    lacks('fits no topology', 'TopologyPlacementFailed')
    standings.tell([waits({ reason: 'Lifting', note: 'admitted' })])
    lacks('4 more needed', 'WaitingForQuota')
    expect(told.map(({ note }) => note)).toEqual([
      ...['4 more needed', 'fits no topology', 'admitted', '4 more needed'],
    ])
  })

  it('count, but do not tell again, what began before we led', () => {
    const { standings, told, gauge } = create()
    standings.lead(Date.parse('2026-11-16T10:00:00.700Z'))
    standings.tell([waits({ since: '2026-11-16T09:59:59Z' })])
    expect(told).toEqual([])
    expect(gauge.get('OverQueueLimits')).toBe(1)
    standings.tell([waits({ since: '2026-11-16T09:59:59Z', note: 'now first in the queue' })])
    expect(told.map(({ note }) => note)).toEqual(['now first in the queue'])
  })

  it('do not count a Job among those who wait that stands nowhere any more', () => {
    const { standings, told, gauge } = create()
    const job = cached({ spec: { parallelism: 3, completions: 3 } })
    const evicted: JobStanding = { kind: BATCH_JOB, job, reason: 'Evicted', note: 'it was deactivated' }
    standings.tell([evicted])
    standings.settle([job], [evicted])
    expect(gauge.get('Evicted')).toBe(3)
    standings.settle([job], [])
    expect(gauge.get('Evicted')).toBe(0)
    standings.tell([evicted])
    expect([gauge.get('Evicted'), told.length]).toEqual([3, 1])
  })

  it('count nothing while another leads, and anew when we lead again', () => {
    const { standings, gauge } = create()
    standings.tell([waits()])
    standings.rest()
    expect(gauge.get('OverQueueLimits')).toBe(0)
    standings.tell([waits()])
    expect(gauge.get('OverQueueLimits')).toBe(1)
  })

  it('tell a pod that came later what began before we led', () => {
    const { standings, told } = create()
    standings.lead(Date.parse('2026-11-16T10:00:00Z'))
    const later = { ...pod, metadata: { ...pod.metadata, creationTimestamp: '2026-11-16T09:59:58Z' } }
    standings.tell([waits({ pod: later, since: '2026-11-16T09:59:57Z' })])
    expect(told).toHaveLength(1)
  })

  it('tell what began in the second in which we began to lead', () => {
    const { standings, told } = create()
    standings.lead(Date.parse('2026-11-16T10:00:00.700Z'))
    standings.tell([waits({ since: '2026-11-16T10:00:00Z' })])
    expect(told).toHaveLength(1)
  })

  it('forget a pod that is gone, and the Event that was still to be sent', () => {
    const { standings, forgotten, gauge } = create()
    standings.tell([waits()])
    standings.forget(pod)
    expect(forgotten).toEqual(['u1'])
    expect(gauge.get('OverQueueLimits')).toBe(0)
  })
})
