import { once } from 'node:events'
import { Agent } from 'node:https'
import { connect } from 'node:tls'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { allowed } from '../../src/admission/verdict.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import { issueAuthority, issueLeaf, SERVING_NAMES, type ServingPair } from '../../src/tls/authority.ts'
import { startRenewal, TlsStore } from '../../src/tls/store.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import { type RunningServer, startServer } from '../support/admission-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { podReview } from '../support/reviews.ts'
import { issuePair } from '../support/tls.ts'

const DAY = 86_400_000
const webhook: Webhook = {
  name: 'pods',
  path: '/mutate/pods',
  mutating: true,
  rules: [],
  review: () => allowed('Ignored'),
}
const BODY = JSON.stringify(podReview())
const silent = pino({ level: 'silent' })

let running: RunningServer
afterEach(async () => await running.close())

async function storeOf(server: RunningServer): Promise<TlsStore> {
  const { metrics } = server
  const store = new TlsStore(server.pair, { clock: systemClock, log: silent, metrics, names: SERVING_NAMES })
  store.attach(server.server.admission.server as never)
  return store
}

async function servedCertificate(port: number, ca: string, options: object = {}): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca, ...options })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

describe('a new certificate', () => {
  it('is served without failing a request, while open connections go on', async () => {
    running = await startServer([webhook])
    const store = await storeOf(running)
    const bundles = running.pair.bundle
    const next: ServingPair[] = []
    for (let round = 0; round < 10; round++) next.push(await issuePair())
    const ca = [bundles, ...next.map(pair => pair.bundle)]
    const kept = new Agent({ keepAlive: true, maxSockets: 1, ca })
    const fresh = new Agent({ keepAlive: false, ca, maxCachedSessions: 0 })
    let stopped = false
    let answered = 0
    const client = async (agent: Agent) => {
      while (!stopped) {
        const answer = await running.post('/mutate/pods', BODY, { agent })
        expect(answer.status).toBe(200)
        answered++
      }
    }
    const clients = Promise.all([client(kept), client(kept), client(fresh), client(fresh)])
    for (const pair of next) {
      const before = answered
      expect(store.swap(pair)).toBe(true)
      expect(await servedCertificate(running.port, pair.bundle)).not.toBe('')
      while (answered < before + 8) await new Promise(resolve => setImmediate(resolve))
    }
    stopped = true
    await clients
    kept.destroy()
    expect(store.current).toBe(next.at(-1))
    expect(await running.metric('muster_tls_swap_failures_total')).toBe(0)
  })

  it('is refused when it does not fit, is corrupt or expired, and the old one keeps serving', async () => {
    running = await startServer([webhook])
    const store = await storeOf(running)
    const good = await issuePair()
    const served = await servedCertificate(running.port, running.pair.bundle)
    const bad: ServingPair[] = [
      { ...good, key: running.pair.key },
      { ...good, certificate: good.certificate.replace(/[A-Z]{4}/, 'AAAA').slice(0, 300) },
      { ...good, key: '' },
      { ...good, bundle: running.pair.bundle },
      await issuePair(SERVING_NAMES, Date.now() - 40 * DAY),
      await issuePair(['localhost']),
    ]
    for (const pair of bad) expect(store.swap(pair)).toBe(false)
    expect(await servedCertificate(running.port, running.pair.bundle)).toBe(served)
    expect((await running.post('/mutate/pods', BODY)).status).toBe(200)
    expect(store.current).toBe(running.pair)
    expect(await running.metric('muster_tls_swap_failures_total')).toBe(bad.length)
  })

  it('keeps the floor of TLS 1.2', async () => {
    running = await startServer([webhook])
    const store = await storeOf(running)
    const next = await issuePair()
    expect(store.swap(next)).toBe(true)
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }
    await expect(servedCertificate(running.port, next.bundle, old)).rejects.toThrow()
    await servedCertificate(running.port, next.bundle, { maxVersion: 'TLSv1.2' })
  })

  it('shows its end and that of its CA as metrics', async () => {
    running = await startServer([webhook])
    const store = await storeOf(running)
    const now = Date.now()
    const authority = await issueAuthority(now - 4 * DAY)
    const leaf = await issueLeaf(authority, SERVING_NAMES, now - DAY)
    store.swap({ ...leaf, bundle: running.pair.bundle + authority.certificate })
    const seconds = (ms: number) => Math.floor(ms / 1000)
    expect(await running.metric('muster_tls_not_after_timestamp_seconds{certificate="leaf"}')).toBe(
      seconds(now + 26 * DAY),
    )
    expect(await running.metric('muster_tls_not_after_timestamp_seconds{certificate="ca"}')).toBe(
      seconds(now + 26 * DAY),
    )
  })
})

describe('the store', () => {
  it('turns readiness off when what it serves has expired', async () => {
    running = await startServer([webhook])
    const clock = new ManualClock(Date.now())
    const { pair, metrics } = running
    const store = new TlsStore(pair, { clock, log: silent, metrics, names: SERVING_NAMES })
    expect(store.readiness()).toEqual({ name: 'tls', ok: true })
    clock.epoch += 31 * DAY
    expect(store.readiness()).toMatchObject({ name: 'tls', ok: false, reason: expect.stringContaining('expired on') })
  })

  it('does not start with a pair that cannot be served', async () => {
    running = await startServer([webhook])
    const { pair, metrics } = running
    const other = await issuePair()
    const deps = { clock: systemClock, log: silent, metrics, names: SERVING_NAMES }
    expect(() => new TlsStore({ ...pair, key: other.key }, deps)).toThrow('private key does not belong')
  })

  it('renews within a minute after the wall clock has jumped, and survives a renewal that fails', async () => {
    running = await startServer([webhook])
    const clock = new ManualClock(Date.now())
    const { metrics } = running
    const store = new TlsStore(running.pair, { clock, log: silent, metrics, names: SERVING_NAMES })
    let fails = true
    const renewed = await issuePair(SERVING_NAMES, clock.now() + 8 * DAY)
    const load = async () => {
      if (fails) throw new Error('the disk is full')
      return clock.now() > Date.now() + 7 * DAY ? renewed : running.pair
    }
    const stop = startRenewal({ clock, log: silent, store, load })
    await clock.advance(60_000)
    fails = false
    await clock.advance(60_000)
    expect(store.current).toBe(running.pair)
    clock.epoch += 8 * DAY
    await clock.advance(60_000)
    expect(store.current).toBe(renewed)
    stop()
    expect(clock.pending).toBe(0)
  })
})
