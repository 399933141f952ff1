import { describe, expect, it } from 'vitest'
import { type EventInput, EventRecorder, type EventRecorderOptions } from '../../../../src/kube/coordination/events.ts'
import { ApiError } from '../../../../src/kube/vocabulary/api.ts'
import { recordingLog } from '../../../support/logs.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { MemoryApi } from '../../../support/memory-api.ts'

function input(more: Partial<EventInput> = {}, name = 'pod-1'): EventInput {
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'team', name, uid: `uid-of-${name}` },
    type: 'Normal',
    reason: 'WaitingForPods',
    action: 'Queue',
    note: '2 of 3 pods are here',
    ...more,
  }
}

function createRecorder(api = new MemoryApi(), options: Partial<EventRecorderOptions> = {}) {
  const clock = new ManualClock()
  const outcomes: string[] = []
  const log = recordingLog()
  const onOutcome = (outcome: string) => outcomes.push(outcome)
  const recorder = new EventRecorder({ api, clock, log, instance: 'muster-0', settleMs: 0, onOutcome, ...options })
  return { api, clock, outcomes, log, recorder }
}

describe('the event recorder', () => {
  it('writes an events.k8s.io/v1 Event that the API server accepts', async () => {
    const { api, clock, recorder, outcomes } = createRecorder()
    recorder.record(input())
    await clock.advance(0)
    const [event] = [...api.objects.values()]
    expect(event).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'team' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'muster.dev/reconciler',
      reportingInstance: 'muster-0',
      regarding: { kind: 'Pod', name: 'pod-1', uid: 'uid-of-pod-1' },
      type: 'Normal',
      reason: 'WaitingForPods',
      action: 'Queue',
      note: '2 of 3 pods are here',
    })
    expect(event?.metadata.name).toMatch(/^pod-1\.[0-9a-f]{16}$/)
    expect(outcomes).toEqual(['sent'])
  })

  it('says the same thing once, across calls, restarts and replicas', async () => {
    const api = new MemoryApi()
    const first = createRecorder(api)
    first.recorder.record(input())
    first.recorder.record(input())
    await first.clock.advance(0)
    expect(api.calls).toHaveLength(1)
    const second = createRecorder(api)
    second.recorder.record(input())
    await second.clock.advance(0)
    second.recorder.record(input({ note: '3 of 3 pods are here' }))
    await second.clock.advance(0)
    expect(second.outcomes).toEqual(['known', 'sent'])
    expect(api.objects.size).toBe(2)
    expect(second.log.lines).toEqual([])
  })

  it('cuts a note to 1024 bytes without cutting a character', async () => {
    const { api, clock, recorder } = createRecorder()
    recorder.record(input({ note: `x${'é'.repeat(2_000)}` }))
    await clock.advance(0)
    const [event] = [...api.objects.values()] as unknown as { note: string }[]
    expect(Buffer.byteLength(event?.note ?? '')).toBeLessThanOrEqual(1024)
    expect(event?.note).toMatch(/^xé+\.\.\.$/)
  })

  it.each([['x'.repeat(253)], ['system:node:a_b'], ['...'], [`${'a'.repeat(199)}-.b`]])(
    'names the event of %j with a valid name',
    async name => {
      const { api, clock, recorder } = createRecorder()
      recorder.record(input({}, name))
      await clock.advance(0)
      const [event] = [...api.objects.keys()]
      expect(event).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
      expect(event?.length).toBeLessThanOrEqual(253)
    },
  )

  it('puts events about cluster-wide objects into the default namespace', async () => {
    const { api, clock, recorder } = createRecorder()
    recorder.record(input({ regarding: { apiVersion: 'v1', kind: 'Namespace', name: 'team', uid: 'u' } }))
    await clock.advance(0)
    expect([...api.objects.values()][0]?.metadata.namespace).toBe('default')
  })

  it('never has more than two calls under way, and drops and counts what does not fit the queue', async () => {
    const { api, clock, recorder, outcomes } = createRecorder(new MemoryApi(), { queueLimit: 3 })
    const releases: (() => void)[] = []
    api.before = () => new Promise(resolve => releases.push(resolve))
    for (let index = 0; index < 10; index++) recorder.record(input({}, `pod-${index}`))
    await clock.advance(0)
    expect(releases).toHaveLength(2)
    expect(outcomes.filter(outcome => outcome === 'dropped')).toHaveLength(7)
    while (releases.length > 0) {
      releases.shift()?.()
      await clock.advance(0)
    }
    expect(outcomes.filter(outcome => outcome === 'sent')).toHaveLength(3)
  })

  it('spends its burst at once and the rest at its rate', async () => {
    const { api, clock, recorder } = createRecorder(new MemoryApi(), { burst: 5, perSecond: 10 })
    for (let index = 0; index < 25; index++) recorder.record(input({}, `pod-${index}`))
    await clock.advance(0)
    expect(api.objects.size).toBe(5)
    await clock.advance(1_000)
    expect(api.objects.size).toBeGreaterThanOrEqual(14)
    expect(api.objects.size).toBeLessThanOrEqual(16)
    await clock.advance(1_000)
    expect(api.objects.size).toBe(25)
  })

  it('sends only the newest of several things to say about one object', async () => {
    const { api, clock, recorder, outcomes } = createRecorder(new MemoryApi(), { settleMs: 1_000 })
    for (let count = 1; count <= 5; count++) recorder.record(input({ note: `${count} of 5 pods are here` }))
    recorder.record(input({}, 'other'))
    await clock.advance(999)
    expect(api.calls).toEqual([])
    await clock.advance(1)
    expect([...api.objects.values()]).toMatchObject([{ note: '5 of 5 pods are here' }, { note: input().note }])
    expect(outcomes).toEqual(['overtaken', 'overtaken', 'overtaken', 'overtaken', 'sent', 'sent'])
  })

  it('lets no part of Muster overtake what another has to say about the same object', async () => {
    const { api, clock, recorder, outcomes } = createRecorder(new MemoryApi(), { settleMs: 1_000 })
    recorder.record(input({ type: 'Warning', action: 'Group', note: 'PodGroup "g0" does not exist' }))
    recorder.record(input({ action: 'Queue' }))
    recorder.record(input({ action: 'Place', note: 'for a moment' }))
    recorder.forget('uid-of-pod-1', 'Queue', 'Place')
    recorder.record(input({ action: 'Queue' }))
    await clock.advance(1_000)
    expect([...api.objects.values()].map(event => (event as { note?: string }).note)).toEqual([
      'PodGroup "g0" does not exist',
      input().note,
    ])
    expect(outcomes).toEqual(['sent', 'sent'])
  })

  it('does not send what was taken back before its turn came', async () => {
    const { api, clock, recorder } = createRecorder()
    recorder.record(input())
    await clock.advance(0)
    recorder.record(input({ note: 'for a moment' }))
    recorder.record(input())
    await clock.advance(0)
    expect(api.objects.size).toBe(1)
  })

  it('sends whether or not anybody counts the outcomes', async () => {
    const [api, clock] = [new MemoryApi(), new ManualClock()]
    const recorder = new EventRecorder({ api, clock, log: recordingLog(), instance: 'muster-0' })
    recorder.record(input())
    await clock.advance(1_000)
    expect(api.objects.size).toBe(1)
  })

  it('loses nothing while the server is away, and takes no place from others while it waits', async () => {
    let busy = 0
    const turn: EventRecorderOptions['turn'] = async call => {
      busy++
      return await call().finally(() => busy--)
    }
    const { api, clock, recorder } = createRecorder(new MemoryApi(), { turn })
    let away = true
    api.before = async () => {
      if (away) throw new Error('connection refused')
    }
    for (let index = 0; index < 5; index++) recorder.record(input({}, `pod-${index}`))
    await clock.advance(120_000)
    expect(api.objects.size).toBe(0)
    expect(busy).toBe(0)
    away = false
    await clock.advance(5_000)
    expect(api.objects.size).toBe(5)
  })

  it('does not send news of an object that is gone, but does send warnings', async () => {
    const { api, clock, recorder } = createRecorder()
    recorder.record(input())
    recorder.record(input({ type: 'Warning' }, 'excess'))
    recorder.forget('uid-of-pod-1', 'Queue', 'Place')
    recorder.forget('uid-of-excess', 'Queue')
    await clock.advance(0)
    expect([...api.objects.values()]).toMatchObject([{ regarding: { name: 'excess' } }])
  })

  it('keeps what one part has to say of an object that only another has lost sight of', async () => {
    const { api, clock, recorder } = createRecorder()
    recorder.record(input({ action: 'Queue', note: 'waits for two more' }))
    recorder.record(input({ action: 'Group', note: 'for a moment' }))
    recorder.forget('uid-of-pod-1', 'Group')
    await clock.advance(1_000)
    expect([...api.objects.values()]).toMatchObject([{ note: 'waits for two more' }])
  })

  it('gives way to what is more urgent', async () => {
    const waiting: (() => void)[] = []
    const turn: EventRecorderOptions['turn'] = async call => {
      await new Promise<void>(resolve => waiting.push(resolve))
      return await call()
    }
    const { api, clock, recorder } = createRecorder(new MemoryApi(), { turn })
    recorder.record(input({ note: 'old' }))
    await clock.advance(5_000)
    expect(api.calls).toEqual([])
    recorder.record(input({ note: 'new' }))
    waiting.shift()?.()
    await clock.advance(0)
    expect([...api.objects.values()]).toMatchObject([{ note: 'new' }])
  })

  it('tries again when the server is busy, gives up on a refusal, and may then be asked again', async () => {
    const { api, clock, recorder, outcomes, log } = createRecorder()
    let answers: ApiError[] = [new ApiError(503, 'ServiceUnavailable', 'busy', { retryAfterSeconds: 2 })]
    api.before = async () => {
      const error = answers.shift()
      if (error) throw error
    }
    recorder.record(input())
    await clock.advance(1_900)
    expect(outcomes).toEqual(['retried'])
    await clock.advance(200)
    expect(outcomes).toEqual(['retried', 'sent'])
    answers = [new ApiError(403, 'Forbidden', 'namespace is being terminated')]
    recorder.record(input({ note: 'other' }))
    await clock.advance(0)
    recorder.record(input({ note: 'other' }))
    await clock.advance(0)
    expect(outcomes).toEqual(['retried', 'sent', 'failed', 'sent'])
    expect(log.lines).toHaveLength(1)
  })

  it('forgets the oldest of many thousand events, so that memory stays flat', async () => {
    const { api, clock, recorder } = createRecorder(new MemoryApi(), { perSecond: 100_000, queueLimit: 100_000 })
    for (let index = 0; index < 4_097; index++) recorder.record(input({}, `pod-${index}`))
    await clock.advance(10_000)
    const before = api.calls.length
    recorder.record(input({}, 'pod-4096'))
    recorder.record(input({}, 'pod-0'))
    await clock.advance(1_000)
    expect(api.calls.slice(before)).toHaveLength(1)
  })

  it('stops with what is under way finished and the rest dropped', async () => {
    const { clock, recorder, outcomes } = createRecorder(new MemoryApi(), { burst: 1, perSecond: 1 })
    for (let index = 0; index < 5; index++) recorder.record(input({}, `pod-${index}`))
    await clock.advance(0)
    await recorder.stop()
    recorder.record(input({}, 'late'))
    expect(outcomes.filter(outcome => outcome === 'sent')).toHaveLength(1)
    expect(outcomes.filter(outcome => outcome === 'dropped')).toHaveLength(5)
    expect(clock.pending).toBe(0)
  })
})
