import { describe, expect, it } from 'vitest'
import { WatchMonitor } from '../../../src/cluster/watch-monitor.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { recordingLog } from '../../support/logs.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { MemoryApi } from '../../support/memory-api.ts'

function monitored() {
  const clock = new ManualClock()
  const api = new MemoryApi()
  api.objects.set('muster-system', { metadata: { name: 'muster-system' } })
  const log = recordingLog()
  const monitor = new WatchMonitor({ api, clock, log })
  const cache = { resource: PODS, synced: true, lastProgressAt: 0 }
  monitor.watch(cache)
  monitor.start()
  const told = () => log.lines.filter(({ level }) => level !== 'debug').map(({ level, message }) => [level, message])
  return { clock, api, monitor, cache, told }
}

describe('the monitor of the watches', () => {
  it('asks nobody while the watches speak', async () => {
    const { clock, api, monitor, cache } = monitored()
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(29_000)
      cache.lastProgressAt = clock.monotonic()
    }
    expect(api.calls).toEqual([])
    expect(monitor.liveness().ok).toBe(true)
  })

  it('asks every 10 s when they are silent, fails after three minutes, and tells it once', async () => {
    const { clock, api, monitor, cache, told } = monitored()
    await clock.advance(179_000)
    expect(api.calls).toHaveLength(15)
    expect(monitor.liveness().ok).toBe(true)
    await clock.advance(61_000)
    expect(monitor.liveness().ok).toBe(false)
    cache.lastProgressAt = clock.monotonic()
    expect(monitor.liveness()).toEqual({ name: 'watches', ok: true })
    await clock.advance(10_000)
    expect(told()).toEqual([
      ['error', 'not healthy any more'],
      ['info', 'the watches are back'],
    ])
  })

  it('asks again only when it has an answer or has given up', async () => {
    const { clock, api, monitor } = monitored()
    const limits: unknown[] = []
    api.before = (_verb, _name, options) => {
      limits.push(options?.timeoutMs)
      return new Promise(() => {})
    }
    await clock.advance(600_000)
    expect(limits).toEqual([5_000])
    expect(monitor.liveness().ok).toBe(true)
  })

  it('takes a refusal for no answer: a server that turns requests away is not cured by our restart', async () => {
    const { clock, api, monitor } = monitored()
    api.objects.clear()
    await clock.advance(600_000)
    expect(api.calls.length).toBeGreaterThan(10)
    expect(monitor.liveness().ok).toBe(true)
  })

  it('begins anew after one request without an answer', async () => {
    const { clock, api, monitor } = monitored()
    await clock.advance(165_000)
    api.before = async () => {
      throw new Error('connection refused')
    }
    await clock.advance(10_000)
    api.before = async () => {}
    await clock.advance(174_000)
    expect(monitor.liveness().ok).toBe(true)
    await clock.advance(1_000)
    expect(monitor.liveness().ok).toBe(false)
  })

  it('holds no silence against the watches of a process that slept', async () => {
    const { clock, monitor } = monitored()
    const looking = clock.after
    let asleep: (() => void) | undefined
    clock.after = (_ms, callback) => {
      asleep = callback
      return () => {}
    }
    await clock.advance(600_000)
    clock.after = looking
    asleep?.()
    await clock.advance(0)
    expect(monitor.liveness().ok).toBe(true)
    await clock.advance(179_000)
    expect(monitor.liveness().ok).toBe(true)
    await clock.advance(1_000)
    expect(monitor.liveness().ok).toBe(false)
  })

  it('forgets a cache that was stopped, and looks no more when it is stopped itself', async () => {
    const { clock, api, monitor, cache } = monitored()
    await clock.advance(240_000)
    expect(monitor.liveness().ok).toBe(false)
    monitor.unwatch(cache)
    expect(monitor.liveness().ok).toBe(true)
    monitor.stop()
    expect(clock.pending).toBe(0)
    const { length } = api.calls
    await clock.advance(60_000)
    expect(api.calls).toHaveLength(length)
  })
})
