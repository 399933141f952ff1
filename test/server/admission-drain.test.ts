import { once } from 'node:events'
import { Agent } from 'node:https'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { allowed } from '../../src/admission/verdict.ts'
import type { LookUp } from '../../src/server/inquiry.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import {
  findNamespaces,
  type HttpAnswer,
  type RunningServer,
  startServer,
  unseenWorld,
} from '../support/admission-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { podReview } from '../support/reviews.ts'

const webhook: Webhook = {
  name: 'pods',
  path: '/mutate/pods',
  mutating: true,
  rules: [],
  review: () => allowed('Ignored'),
}
const BODY = JSON.stringify(podReview())

let running: RunningServer
afterEach(async () => await running.close())

/** Eight clients that send one review after the other over keep-alive connections until they are stopped. */
function load(server: RunningServer) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: server.pair.bundle })
  const answers: HttpAnswer[] = []
  const failures: unknown[] = []
  let stopped = false
  let waiting: { count: number; resolve: () => void } | undefined
  const client = async () => {
    while (!stopped) {
      try {
        answers.push(await server.post('/mutate/pods', BODY, { agent }))
      } catch (error) {
        failures.push(error)
      }
      if (waiting && answers.length + failures.length >= waiting.count) waiting.resolve()
    }
  }
  const clients = Promise.all(Array.from({ length: 8 }, client))
  return {
    answers,
    failures,
    /** Resolves when so many more reviews have been answered. */
    more: (count: number) =>
      new Promise<void>(resolve => {
        waiting = { count: answers.length + failures.length + count, resolve }
      }),
    stop: async () => {
      stopped = true
      await clients
      agent.destroy()
    },
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

describe('a drain under load', () => {
  it('fails no request, turns readiness off at once and listens until the drain time is over', async () => {
    const clock = new ManualClock()
    running = await startServer([webhook], { clock })
    const clients = load(running)
    await clients.more(100)
    expect(clients.answers.every(answer => answer.headers.connection === 'keep-alive')).toBe(true)

    const drained = running.server.drain({ drainMs: 15_000, quietMs: 5_000 })
    const ready = await running.health('/readyz')
    expect([ready.status, ready.text]).toEqual([503, '[-]shutdown: draining\n'])
    expect((await running.health('/healthz')).status).toBe(200)
    const before = clients.answers.length + 8
    await clients.more(100)
    expect(clients.answers.slice(before).every(answer => answer.headers.connection === 'close')).toBe(true)

    await clock.advance(14_999)
    await clients.more(50)
    await clients.stop()
    expect(clients.failures).toEqual([])
    expect(clients.answers.every(answer => answer.status === 200)).toBe(true)
    expect(await isListening(running.port)).toBe(true)

    await clock.advance(1)
    await drained
    expect(await isListening(running.port)).toBe(false)
  })
})

describe('the end of a drain', () => {
  const asking: Webhook = {
    ...webhook,
    review: (_request, world) => allowed(world.namespace('a') === 'absent' ? 'Unseen' : 'Ignored'),
  }

  it('waits for the review that is in flight', async () => {
    const clock = new ManualClock()
    const asked = Promise.withResolvers<void>()
    const found = Promise.withResolvers<void>()
    const lookup: LookUp = async (lookups, signal) => {
      asked.resolve()
      await found.promise
      return findNamespaces(lookups, signal)
    }
    running = await startServer([asking], { world: () => unseenWorld, clock, lookup })
    const answer = running.post('/mutate/pods', BODY)
    await asked.promise
    let over = false
    const drained = running.server.drain({ drainMs: 1_000 }).then(() => {
      over = true
    })
    await clock.advance(1_000)
    await refused(running.port)
    expect(over).toBe(false)
    found.resolve()
    expect(JSON.parse((await answer).text).response.allowed).toBe(true)
    await drained
  })

  it('cuts a connection that never finishes', async () => {
    const clock = new ManualClock()
    const asked = Promise.withResolvers<void>()
    const lookup = () => {
      asked.resolve()
      return new Promise<never>(() => {})
    }
    running = await startServer([asking], { world: () => unseenWorld, clock, lookup })
    const answer = running.post('/mutate/pods?timeout=30s', BODY).catch((error: Error) => error)
    await asked.promise
    const drained = running.server.drain({ drainMs: 1_000, finishMs: 2_000 })
    await clock.advance(1_000)
    await refused(running.port)
    await clock.advance(2_000)
    await drained
    expect(await answer).toBeInstanceOf(Error)
  })

  it('comes early when nobody has been connected for the quiet time', async () => {
    const clock = new ManualClock()
    running = await startServer([webhook], { clock })
    const agent = new Agent({ keepAlive: true, ca: running.pair.bundle })
    await running.post('/mutate/pods', BODY, { agent })
    const drained = running.server.drain({ drainMs: 60_000, quietMs: 5_000 })
    await clock.advance(30_000)
    expect(await isListening(running.port)).toBe(true)
    // The probe above was a connection too: the quiet time starts anew once both are gone.
    await connectionsGone(running, () => agent.destroy())
    await clock.advance(5_000)
    await drained
    expect(clock.monotonic()).toBeLessThan(60_000)
  })

  it('leaves connections that are open to whoever opened them, for a while, and answers what comes on them', async () => {
    const clock = new ManualClock()
    running = await startServer([webhook], { clock })
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: running.pair.bundle })
    await running.post('/mutate/pods', BODY, { agent })
    let over = false
    const drained = running.server.drain({ drainMs: 1_000, lingerMs: 5_000 }).then(() => {
      over = true
    })
    await clock.advance(5_999)
    expect(over).toBe(false)
    const late = await running.post('/mutate/pods', BODY, { agent })
    expect([late.status, late.headers.connection]).toEqual([200, 'close'])
    await drained
    expect(clock.monotonic()).toBe(5_999)
  })

  it('does not wait longer for them than it was told', async () => {
    const clock = new ManualClock()
    running = await startServer([webhook], { clock })
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: running.pair.bundle })
    await running.post('/mutate/pods', BODY, { agent })
    const drained = running.server.drain({ drainMs: 1_000, lingerMs: 5_000 })
    await clock.advance(5_999)
    expect(await isListening(running.port)).toBe(true)
    await clock.advance(1)
    await drained
    agent.destroy()
  })

  it('is the same for everybody who asks', async () => {
    const clock = new ManualClock()
    running = await startServer([webhook], { clock })
    const first = running.server.drain({ drainMs: 1_000 })
    expect(running.server.drain()).toBe(first)
    await clock.advance(1_000)
    await first
  })
})

/** Resolves once the listener is closed, which the drain does some turns of the event loop after its timer. */
async function refused(port: number): Promise<void> {
  while (await isListening(port));
}

async function connectionsGone(server: RunningServer, leave: () => void): Promise<void> {
  const count = () =>
    new Promise<number>((resolve, reject) => {
      server.server.admission.server.getConnections((error, open) => (error ? reject(error) : resolve(open)))
    })
  leave()
  while ((await count()) > 0) await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setImmediate(resolve))
}
