import { describe, expect, it } from 'vitest'
import { Elector, type ElectorOptions, type Lease } from '../../../../src/kube/coordination/elector.ts'
import {
  ApiError,
  type CallOptions,
  type KubeApi,
  type ObjectRef,
  type Resource,
} from '../../../../src/kube/vocabulary/api.ts'
import type { Clock } from '../../../../src/kube/vocabulary/clock.ts'
import { microTime } from '../../../../src/kube/vocabulary/microtime.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { recordingLog } from '../../../support/logs.ts'
import { ManualClock, settle } from '../../../support/manual-clock.ts'
import { hang, MemoryApi } from '../../../support/memory-api.ts'

function candidate(api: KubeApi, clock: Clock, identity: string, options: Partial<ElectorOptions> = {}) {
  const history: string[] = []
  const elector = new Elector({
    api,
    clock,
    random: () => 0.5,
    log: recordingLog(),
    namespace: 'muster-system',
    name: 'muster',
    identity,
    onStarted: () => history.push('started'),
    onStopped: () => {
      history.push('stopped')
    },
    ...options,
  })
  return { elector, history }
}

/** One candidate's way to the API server, which can be cut, or lose the answers but not the requests. */
function cuttable(api: MemoryApi, clock: Clock) {
  const line = { cut: false, loseAnswers: false, api }
  const through = async <T>(call: () => Promise<T>, options: CallOptions | undefined): Promise<T> => {
    if (line.cut) return hang(clock, options)
    const answer = await call()
    return line.loseAnswers ? hang(clock, options) : answer
  }
  line.api = Object.assign(new MemoryApi(), {
    get: (resource: Resource, ref: ObjectRef, options?: CallOptions) =>
      through(() => api.get(resource, ref, options), options),
    create: (resource: Resource, object: KubeObject, options?: CallOptions) =>
      through(() => api.create(resource, object, options), options),
    replace: (resource: Resource, ref: ObjectRef, object: KubeObject, options?: CallOptions) =>
      through(() => api.replace(resource, ref, object, options), options),
  }) as MemoryApi
  return line
}

/** The same flow of time, another wall clock. */
function skewed(clock: Clock, byMs: number): Clock {
  return {
    now: () => clock.now() + byMs,
    monotonic: () => clock.monotonic(),
    after: (ms, callback) => clock.after(ms, callback),
  }
}

const lease = (api: MemoryApi) => api.objects.get('muster') as Lease

describe('microTime', () => {
  it('has six digits of fraction, always', () => {
    expect(microTime(Date.UTC(2026, 0, 2, 3, 4, 5))).toBe('2026-01-02T03:04:05.000000Z')
    expect(microTime(Date.UTC(2026, 0, 2, 3, 4, 5, 78))).toBe('2026-01-02T03:04:05.078000Z')
  })
})

describe('leader election', () => {
  it('creates the lease, leads and renews', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const { elector, history } = candidate(api, clock, 'one')
    elector.start()
    await settle()
    expect(elector.isLeader()).toBe(true)
    expect(lease(api).spec).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
    await clock.advance(60_000)
    expect(lease(api).spec?.renewTime).toBe('2026-01-01T00:01:00.000000Z')
    expect(lease(api).spec?.acquireTime).toBe('2026-01-01T00:00:00.000000Z')
    expect(history).toEqual(['started'])
    await elector.stop()
    expect(clock.pending).toBe(0)
  })

  it.each([-600_000, 0, 600_000])('has one leader at any time with wall clocks %i ms apart', async skewMs => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const one = candidate(api, clock, 'one')
    const two = candidate(api, skewed(clock, skewMs), 'two')
    one.elector.start()
    await settle()
    two.elector.start()
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000)
      expect([one.elector.isLeader(), two.elector.isLeader()]).toEqual([true, false])
    }
    expect(two.history).toEqual([])
    await Promise.all([one.elector.stop(), two.elector.stop()])
  })

  it('stops the old leader before the new one can start, when the old one is cut off', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const line = cuttable(api, clock)
    const one = candidate(line.api, clock, 'one')
    const two = candidate(api, skewed(clock, 600_000), 'two')
    one.elector.start()
    await settle()
    two.elector.start()
    await clock.advance(7_300)
    line.cut = true
    const changes: string[] = []
    for (let step = 0; step < 400; step++) {
      await clock.advance(100)
      const now = `${one.elector.isLeader()} ${two.elector.isLeader()}`
      if (changes.at(-1) !== now) changes.push(now)
    }
    expect(changes).toEqual(['true false', 'false false', 'false true'])
    expect(one.history).toEqual(['started', 'stopped'])
    expect(two.history).toEqual(['started'])
    expect(lease(api).spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 })
    line.cut = false
    await clock.advance(30_000)
    expect(one.elector.isLeader()).toBe(false)
    await two.elector.stop()
    await clock.advance(5_000)
    expect(one.elector.isLeader()).toBe(true)
    expect(one.history).toEqual(['started', 'stopped', 'started'])
    await one.elector.stop()
    expect(clock.pending).toBe(0)
  })

  it.each([0, 0.5, 0.999])('takes over within 18 s, whenever the leader dies, with a luck of %f', async luck => {
    for (let phaseMs = 0; phaseMs <= 2400; phaseMs += 200) {
      const [api, clock] = [new MemoryApi(), new ManualClock()]
      const line = cuttable(api, clock)
      const first = candidate(line.api, clock, 'first')
      const second = candidate(api, clock, 'second', { random: () => luck })
      first.elector.start()
      await clock.advance(300)
      second.elector.start()
      await clock.advance(20_000 + phaseMs)
      line.cut = true
      const deadAt = clock.monotonic()
      for (let step = 0; !second.elector.isLeader() && step < 600; step++) await clock.advance(100)
      expect(clock.monotonic() - deadAt).toBeLessThanOrEqual(18_000)
      expect(first.elector.isLeader()).toBe(false)
    }
  })

  it('says no as soon as the renew deadline has passed, even if no timer has had its turn', async () => {
    const clock = new ManualClock()
    let stalledMs = 0
    const stalling = { ...skewed(clock, 0), monotonic: () => clock.monotonic() + stalledMs }
    const { elector, history } = candidate(new MemoryApi(), stalling, 'one')
    elector.start()
    await settle()
    stalledMs = 10_000
    expect(elector.isLeader()).toBe(true)
    stalledMs = 10_001
    expect(elector.isLeader()).toBe(false)
    expect(history).toEqual(['started'])
    await elector.stop()
  })

  it('leads anew after a stall in which it said no, although the renewal before it came through', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    let stalledMs = 0
    const stalling = { ...skewed(clock, 0), monotonic: () => clock.monotonic() + stalledMs }
    const { elector, history } = candidate(api, stalling, 'one')
    elector.start()
    await settle()
    // Sent at two seconds; the process stands still from then on, and finds the answer before any timer has its turn.
    api.before = async () => {
      stalledMs = 8_500
      expect(elector.isLeader()).toBe(false)
      api.before = async () => {}
    }
    await clock.advance(2_000)
    expect(elector.isLeader()).toBe(true)
    expect(history).toEqual(['started', 'stopped', 'started'])
    await elector.stop()
  })

  it('takes over at once when the leader has released the lease, and not before its last work is over', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    let finish = () => {}
    const lastWrite = new Promise<void>(resolve => {
      finish = resolve
    })
    const one = candidate(api, clock, 'one', { onStopped: () => lastWrite })
    const two = candidate(api, clock, 'two')
    one.elector.start()
    await settle()
    two.elector.start()
    await settle()
    const stopping = one.elector.stop()
    await clock.advance(4_000)
    expect(one.elector.isLeader()).toBe(false)
    expect(lease(api).spec?.holderIdentity).toBe('one')
    finish()
    await stopping
    expect(lease(api).spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 })
    await clock.advance(4_000)
    expect(two.elector.isLeader()).toBe(true)
    await two.elector.stop()
  })

  it('releases the lease even when stopping cuts off a renewal that the server has carried out', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const line = cuttable(api, clock)
    const { elector } = candidate(line.api, clock, 'one')
    elector.start()
    await settle()
    line.loseAnswers = true
    await clock.advance(2_000)
    const stopping = elector.stop()
    line.loseAnswers = false
    await stopping
    expect(lease(api).spec?.holderIdentity).toBe('')
  })

  it('loses a race without harm', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const one = candidate(api, clock, 'one')
    const two = candidate(api, clock, 'two')
    one.elector.start()
    two.elector.start()
    await settle()
    expect([one.elector.isLeader(), two.elector.isLeader()].filter(Boolean)).toHaveLength(1)
    await Promise.all([one.elector.stop(), two.elector.stop()])
  })

  it('steps down when somebody else has taken the lease, and stands again', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const { elector, history } = candidate(api, clock, 'one')
    elector.start()
    await settle()
    const stolen = lease(api)
    api.objects.set('muster', {
      ...stolen,
      metadata: { ...stolen.metadata, resourceVersion: '99' },
      spec: { ...stolen.spec, holderIdentity: 'thief' },
    } as Lease)
    await clock.advance(2_000)
    expect(elector.isLeader()).toBe(false)
    expect(elector.holder).toBe('thief')
    await clock.advance(30_000)
    expect(elector.isLeader()).toBe(true)
    expect(history).toEqual(['started', 'stopped', 'started'])
    await elector.stop()
  })

  it('stays leader through a failed renewal, and recreates a lease that was deleted', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const { elector, history } = candidate(api, clock, 'one')
    elector.start()
    await settle()
    let failures = 2
    api.before = async () => {
      if (failures-- > 0) throw new ApiError(503, 'ServiceUnavailable', 'down')
    }
    await clock.advance(6_000)
    api.objects.delete('muster')
    await clock.advance(4_000)
    expect(elector.isLeader()).toBe(true)
    expect(lease(api).spec?.holderIdentity).toBe('one')
    expect(history).toEqual(['started'])
    await elector.stop()
  })

  it('survives callbacks that throw', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const log = recordingLog()
    const boom = () => {
      throw new Error('boom')
    }
    const { elector } = candidate(api, clock, 'one', { log, onStarted: boom, onStopped: boom })
    elector.start()
    await settle()
    expect(elector.isLeader()).toBe(true)
    await elector.stop()
    expect(log.lines.filter(({ message }) => message === 'leader election callback failed')).toHaveLength(2)
  })

  it('refuses timings that would allow two leaders', () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    expect(() => candidate(api, clock, 'one', { leaseDurationMs: 5_000 })).toThrow(RangeError)
  })
})
