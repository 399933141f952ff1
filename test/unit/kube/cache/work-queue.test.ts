import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WorkQueue, type WorkQueueOptions } from '../../../../src/kube/cache/work-queue.ts'
import { ApiError } from '../../../../src/kube/vocabulary/api.ts'
import { recordingLog } from '../../../support/logs.ts'
import { ManualClock, settle } from '../../../support/manual-clock.ts'
import { tallyOf } from '../../../support/tally.ts'

function createQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new ManualClock()
  const log = recordingLog()
  return { clock, log, queue: new WorkQueue({ clock, random: () => 0, log, ...options }) }
}

describe('the work queue', () => {
  it('works on a key once, however often it was added before', async () => {
    const { queue } = createQueue()
    const seen: string[] = []
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
    expect(queue.depth).toBe(2)
    queue.start(1, async key => {
      seen.push(key)
      return 'done'
    })
    await settle()
    expect(seen).toEqual(['a', 'b'])
  })

  it('gives a key to one worker at a time, and again if it was added meanwhile', async () => {
    const { queue } = createQueue()
    const releases: (() => void)[] = []
    let running = 0
    queue.start(4, async () => {
      expect(++running).toBe(1)
      await new Promise<void>(resolve => releases.push(resolve))
      running--
      return 'done'
    })
    queue.add('a')
    await settle()
    queue.add('a')
    queue.add('a')
    await settle()
    expect(releases).toHaveLength(1)
    releases[0]?.()
    await settle()
    expect(releases).toHaveLength(2)
    releases[1]?.()
    await settle()
    expect(releases).toHaveLength(2)
  })

  it('survives a handler that throws, logs it, and doubles the delay of that key only, up to a minute', async () => {
    const { queue, clock, log } = createQueue()
    const at: number[] = []
    let healthy = 0
    queue.start(2, async key => {
      if (key === 'good') {
        healthy++
        return 'done'
      }
      at.push(clock.monotonic())
      throw new Error('boom')
    })
    queue.add('bad')
    await clock.advance(400_000)
    queue.add('good')
    await settle()
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0))
    expect(gaps.slice(0, 5)).toEqual([5, 10, 20, 40, 80])
    expect(Math.max(...gaps)).toBe(60_000)
    expect(gaps.at(-1)).toBe(60_000)
    expect(healthy).toBe(1)
    expect(log.lines[0]).toMatchObject({ level: 'error', message: 'handler failed', fields: { key: 'bad' } })
    await queue.stop()
    expect(clock.pending).toBe(0)
  })

  it('survives a handler that throws before its first await', async () => {
    const { queue, clock } = createQueue()
    let calls = 0
    queue.start(1, () => {
      calls++
      throw new TypeError('not even a promise')
    })
    queue.add('a')
    await clock.advance(20)
    expect(calls).toBe(3)
  })

  it('backs off without a log line when asked to come back, and starts afresh after success', async () => {
    const { queue, clock, log } = createQueue()
    let left = 3
    queue.start(1, async () => (left-- > 0 ? 'retry' : 'done'))
    queue.add('a')
    await clock.advance(15)
    expect(queue.failures('a')).toBe(3)
    await clock.advance(20)
    expect(queue.failures('a')).toBe(0)
    expect(log.lines).toEqual([])
  })

  it('waits as long as the API server asks', async () => {
    const { queue, clock } = createQueue()
    const at: number[] = []
    queue.start(1, async () => {
      at.push(clock.monotonic())
      if (at.length === 1) throw new ApiError(429, 'TooManyRequests', 'slow down', { retryAfterSeconds: 7 })
      return 'done'
    })
    queue.add('a')
    await clock.advance(10_000)
    expect(at).toEqual([0, 7_000])
  })

  it('keeps the earliest of several delays', async () => {
    const { queue, clock } = createQueue()
    const at: number[] = []
    queue.start(1, async () => {
      at.push(clock.monotonic())
      return 'done'
    })
    queue.addAfter('a', 500)
    queue.addAfter('a', 100)
    queue.addAfter('a', 900)
    expect(queue.delayed).toBe(1)
    await clock.advance(2_000)
    expect(at).toEqual([100])
    queue.addAfter('a', 0)
    await settle()
    expect(at).toEqual([100, 2_000])
  })

  it('lets a key rest: whatever is added meanwhile is one piece of work when the rest is over', async () => {
    const { queue, clock } = createQueue()
    const at: number[] = []
    queue.start(2, async key => {
      at.push(clock.monotonic())
      if (at.length === 1) queue.rest(key, 100)
      return 'done'
    })
    queue.add('a')
    await settle()
    for (const ms of [10, 20, 30]) {
      queue.add('a')
      await clock.advance(ms)
    }
    expect(at).toEqual([0])
    queue.add('b')
    await settle()
    expect(at).toEqual([0, 60])
    await clock.advance(40)
    expect(at).toEqual([0, 60, 100])
    await clock.advance(1000)
    expect(at).toEqual([0, 60, 100])
    queue.add('a')
    await settle()
    expect(at).toEqual([0, 60, 100, 1100])
  })

  it('lets a key rest that is still worked on when the rest is over', async () => {
    const { queue, clock } = createQueue()
    const releases: (() => void)[] = []
    queue.start(2, async key => {
      queue.rest(key, 100)
      await new Promise<void>(resolve => releases.push(resolve))
      return 'done'
    })
    queue.add('a')
    await settle()
    queue.add('a')
    await clock.advance(150)
    expect(releases).toHaveLength(1)
    releases[0]?.()
    await settle()
    expect(releases).toHaveLength(2)
  })

  it('tries a key that rests again when both its delay and its rest are over', async () => {
    const { queue, clock } = createQueue()
    const at: number[] = []
    queue.start(1, async key => {
      at.push(clock.monotonic())
      if (at.length > 1) return 'done'
      queue.rest(key, 50_000)
      return 'retry'
    })
    queue.add('a')
    await settle()
    await clock.advance(49_999)
    expect(at).toEqual([0])
    await clock.advance(1)
    expect(at).toEqual([0, 50_000])
  })

  it.each([true, false])('stops while a key rests, and works on it only if it drains: %s', async drain => {
    const { queue } = createQueue()
    let runs = 0
    queue.start(1, async key => {
      runs++
      queue.rest(key, 100)
      return 'done'
    })
    queue.add('a')
    await settle()
    queue.add('a')
    await queue.stop({ drain })
    expect(runs).toBe(drain ? 2 : 1)
  })

  it('drains the queue on stop, drops what is delayed, and takes nothing more', async () => {
    const { queue, clock } = createQueue()
    const seen: string[] = []
    queue.start(1, async key => {
      seen.push(key)
      return 'done'
    })
    for (const key of ['a', 'b', 'c']) queue.add(key)
    queue.addAfter('later', 10)
    await queue.stop()
    queue.add('d')
    await clock.advance(100)
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(clock.pending).toBe(0)
  })

  it('stops without draining when asked, but waits for the handler under way', async () => {
    const { queue } = createQueue()
    const seen: string[] = []
    let release = () => {}
    queue.start(1, async key => {
      seen.push(key)
      await new Promise<void>(resolve => {
        release = resolve
      })
      throw new Error('too late to retry')
    })
    queue.add('a')
    queue.add('b')
    await settle()
    queue.add('a')
    let stopped = false
    const stopping = queue.stop({ drain: false }).then(() => {
      stopped = true
    })
    await settle()
    expect(stopped).toBe(false)
    release()
    await stopping
    expect(seen).toEqual(['a'])
  })

  it('stops when it was never started', async () => {
    const { queue } = createQueue()
    queue.add('a')
    await queue.stop()
    expect(queue.depth).toBe(0)
  })

  it('reports depth, adds, retries and latency', async () => {
    const seen: (string | number)[] = []
    const { queue, clock } = createQueue({
      metrics: {
        depth: keys => seen.push(`depth ${keys}`),
        add: () => seen.push('add'),
        retry: () => seen.push('retry'),
        latency: seconds => seen.push(`waited ${seconds}`),
      },
    })
    queue.add('a')
    await clock.advance(2_000)
    let first = true
    queue.start(1, async () => {
      const outcome = first ? 'retry' : 'done'
      first = false
      return outcome
    })
    await clock.advance(5)
    expect(seen).toEqual(['add', 'depth 1', 'depth 0', 'waited 2', 'retry', 'add', 'depth 1', 'depth 0', 'waited 0'])
  })

  it('loses no key and never works on one twice at once, whatever is added when', async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat({ max: 3 })), {
      maxLength: 60,
      size: 'max',
    })
    const tried = tallyOf('added while it is worked on', 'added while it waits', 'added anew')
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (script, workers) => {
        const { queue, clock } = createQueue()
        const busy = new Set<string>()
        const wanted = new Map<string, number>()
        const handled = new Map<string, number>()
        queue.start(workers, async key => {
          expect(busy.has(key)).toBe(false)
          busy.add(key)
          handled.set(key, wanted.get(key) ?? 0)
          await new Promise<void>(resolve => clock.after(2, resolve))
          busy.delete(key)
          return 'done'
        })
        for (const [index, [key, wait]] of script.entries()) {
          const waits = handled.get(key) !== wanted.get(key)
          tried.count(busy.has(key) ? 'added while it is worked on' : waits ? 'added while it waits' : 'added anew')
          wanted.set(key, index)
          queue.add(key)
          await clock.advance(wait)
        }
        await clock.advance(1_000)
        expect(handled).toEqual(wanted)
        expect(queue.depth).toBe(0)
      }),
      { numRuns: 30 },
    )
    tried.expectAll()
  })
})
