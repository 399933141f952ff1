import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { allowed } from '../../src/admission/verdict.ts'
import { peekReview } from '../../src/server/oversized.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import { type RunningServer, startServer } from '../support/admission-server.ts'
import { pod, podReview } from '../support/reviews.ts'

const MIB = 1024 * 1024
const webhook: Webhook = {
  name: 'pods',
  path: '/mutate/pods',
  mutating: true,
  rules: [],
  review: () => allowed('Ignored'),
}

let running: RunningServer
afterEach(async () => await running?.close())

const unreadable = () => running.metric('muster_webhook_errors_total{webhook="pods",cause="unreadable"}')

/** A review of which the object is large, as many annotations make it. */
function reviewOf(bytes: number): Buffer {
  const annotations = { filler: '' }
  const review = podReview({ object: { ...pod(), metadata: { ...pod().metadata, annotations } } })
  annotations.filler = 'x'.repeat(bytes - JSON.stringify(review).length)
  return Buffer.from(JSON.stringify(review))
}

describe('the size of a review', () => {
  it('may be 6.9 MiB', async () => {
    running = await startServer([webhook])
    const answer = await running.post('/mutate/pods', reviewOf(6.9 * MIB))
    expect(JSON.parse(answer.text).response).toEqual({ uid: podReview().request.uid, allowed: true })
  })

  it('may not be 7.1 MiB: that is a well-formed denial, and the connection lives on', async () => {
    running = await startServer([webhook])
    const answer = await running.post('/mutate/pods', reviewOf(7.1 * MIB))
    expect(answer.status).toBe(200)
    expect(answer.headers.connection).toBe('keep-alive')
    const { apiVersion, kind, response } = JSON.parse(answer.text)
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })
    expect(response).toMatchObject({ uid: podReview().request.uid, allowed: false, status: { code: 413 } })
    expect(response.status.message).toMatch(/larger than the 7 MiB .* make the object smaller/)
    expect(await unreadable()).toBe(1)
    expect(running.logs).toMatchObject([{ msg: 'review too large', name: 'train-0', namespace: 'team-a' }])
  })

  it('is a plain 413 when it starts like no review', async () => {
    running = await startServer([webhook], {}, { bodyLimit: 1000 })
    const answer = await running.post('/mutate/pods', `{"object":"${'x'.repeat(2000)}","uid":"1"}`)
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text).error).toMatch(/larger than 0.001 MiB/)
  })

  it('is read only up to a bound: then the answer comes at once and the connection ends', async () => {
    running = await startServer([webhook], {}, { bodyLimit: 10_000 })
    const socket = await rawConnection(running, {})
    const body = reviewOf(50_000)
    socket.write(
      `POST /mutate/pods HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000000\r\n\r\n`,
    )
    socket.write(body)
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toContain('HTTP/1.1 200 OK')
    expect(text.toLowerCase()).toContain('connection: close')
    expect(text).toContain('"allowed":false')
  })
})

describe('the beginning of a review', () => {
  const review = JSON.stringify(podReview())

  it('tells uid, operation and name wherever it is cut after them', () => {
    const peeked = { uid: podReview().request.uid, operation: 'CREATE', namespace: 'team-a', name: 'train-0' }
    for (let end = review.indexOf('"userInfo"'); end <= review.length; end++) {
      expect(peekReview(Buffer.from(review.slice(0, end)))).toEqual(peeked)
    }
  })

  it('never takes a uid from another place', () => {
    const head = '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",'
    for (const tail of [
      '"request":{"object":{"uid":"wrong"}',
      '"uid":"wrong"',
      '"other":{"uid":"wrong"}',
      '"request":{"name":"\\"uid\\":\\"wrong"',
      '"request":[{"uid":"wrong"}]',
      '"request":{"uid":7,"x":"wrong"',
      '"request":{"uid":"wro',
      '"request":{"uid":""',
      '"request":{"uid":{"uid":"wrong"}',
    ]) {
      expect(peekReview(Buffer.from(head + tail))).toBeUndefined()
    }
    expect(
      peekReview(Buffer.from('{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"')),
    ).toBeUndefined()
  })
})

describe('a body that is no review', () => {
  it.each([
    ['broken JSON', '{"kind":', 400, 'the body is not JSON'],
    ['nothing', '', 400, 'the body is empty'],
    ['another kind', '{"apiVersion":"v1","kind":"Pod"}', 400, 'request: required, but missing'],
    ['too deep a nest', '['.repeat(101), 400, 'nests deeper than 100 levels'],
    [
      'v1beta1',
      JSON.stringify({ ...podReview(), apiVersion: 'admission.k8s.io/v1beta1' }),
      400,
      'admission.k8s.io/v1beta1',
    ],
  ])('gets one line of JSON: %s', async (_what, body, status, reason) => {
    running = await startServer([webhook])
    const answer = await running.post('/mutate/pods', body)
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain('\n')
    expect(JSON.parse(answer.text).error).toContain(reason)
    expect(await unreadable()).toBe(1)
  })

  it.each(['text/plain', 'application/jsonp', 'application/yaml', ''])('gets 415 as %j', async type => {
    running = await startServer([webhook])
    const answer = await running.post('/mutate/pods', JSON.stringify(podReview()), {
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(415)
    expect(JSON.parse(answer.text).error).toContain('Content-Type: application/json')
  })

  it('is read with a charset and in any case of letters', async () => {
    running = await startServer([webhook])
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await running.post('/mutate/pods', JSON.stringify(podReview()), { headers })).status).toBe(200)
  })

  it('gets 404 elsewhere, 405 with another method, 400 for a URL that cannot be read', async () => {
    running = await startServer([webhook])
    const elsewhere = await running.post('/mutate/jobs', JSON.stringify(podReview()))
    expect(elsewhere.status).toBe(404)
    expect(JSON.parse(elsewhere.text).error).toContain('/mutate/pods')
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await running.post('/mutate/pods', '', { method })
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'POST'])
      expect(JSON.parse(answer.text)).toHaveProperty('error')
    }
    expect((await running.post('/%zz', '{}')).status).toBe(400)
  })

  it('does not stay in flight when the client leaves in the middle', async () => {
    running = await startServer([webhook])
    const socket = await rawConnection(running, {})
    const arrived = once(running.server.admission.server, 'request')
    socket.write(
      'POST /mutate/pods HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    )
    const [request] = await arrived
    const gone = new Promise(resolve => request.once('close', resolve))
    socket.destroy()
    await gone
    expect(await running.metric('muster_webhook_requests_in_flight{webhook="pods"}')).toBe(0)
    expect(await unreadable()).toBe(1)
  })
})

describe('connections', () => {
  it('speak TLS 1.2 or newer, and HTTP/1.1 only', async () => {
    running = await startServer([webhook])
    await expect(
      rawConnection(running, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
    ).rejects.toThrow()
    const old = await rawConnection(running, { maxVersion: 'TLSv1.2' })
    expect(old.getProtocol()).toBe('TLSv1.2')
    old.destroy()
    const modern = await rawConnection(running, { ALPNProtocols: ['h2', 'http/1.1'] })
    expect([modern.getProtocol(), modern.alpnProtocol]).toEqual(['TLSv1.3', 'http/1.1'])
    modern.destroy()
  })

  it('outlive the 90 s for which the API server keeps them idle, but not a client that never finishes its headers', async () => {
    running = await startServer([webhook], {}, { headersTimeoutMs: 100 })
    expect(running.server.admission.server.keepAliveTimeout).toBe(120_000)
    const socket = await rawConnection(running, {})
    socket.write('POST /mutate/pods HTTP/1.1\r\nHost:')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toBe('')
  })

  it('live as long when they have been opened and not used: Go keeps those, too, and does not repeat a POST on them', async () => {
    running = await startServer([webhook], {}, { stillnessMs: 50 })
    const { headersTimeout, requestTimeout } = running.server.admission.server
    expect(headersTimeout).toBe(120_000)
    expect(requestTimeout).toBeGreaterThan(headersTimeout)
    const socket = await rawConnection(running, {})
    // Longer than a request may stand still, and than the timers of Node are late.
    await sleep(500)
    const body = JSON.stringify(podReview())
    const headers = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.write(`POST /mutate/pods HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n${body}`)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toContain('HTTP/1.1 200 OK')
    socket.destroy()
  })

  it('that stand still in the midst of a request are cut', async () => {
    running = await startServer([webhook], {}, { stillnessMs: 50 })
    const socket = await rawConnection(running, {})
    socket.write(
      'POST /mutate/pods HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    )
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).not.toContain('200 OK')
  })

  it('that speak no HTTP or send endless headers get one line of JSON', async () => {
    running = await startServer([webhook])
    for (const [sent, status] of [
      ['HELLO\r\n\r\n', 'HTTP/1.1 400'],
      [`POST /mutate/pods HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'HTTP/1.1 431'],
    ] as const) {
      const socket = await rawConnection(running, {})
      socket.write(sent)
      let text = ''
      for await (const chunk of socket) text += chunk
      expect(text).toContain(status)
      expect(JSON.parse(text.slice(text.indexOf('{')))).toHaveProperty('error')
    }
  })
})

describe('health', () => {
  it('answers while readiness says what is missing', async () => {
    let synced = false
    const ready = () => [
      { name: 'tls', ok: true },
      synced ? { name: 'caches', ok: true } : { name: 'caches', ok: false, reason: 'pods are not listed yet' },
    ]
    running = await startServer([webhook], { ready })
    expect(await running.health('/healthz')).toMatchObject({ status: 200, text: 'ok\n' })
    expect(await running.health('/readyz')).toMatchObject({
      status: 503,
      text: '[+]tls ok\n[-]caches: pods are not listed yet\n',
    })
    synced = true
    expect(await running.health('/readyz')).toMatchObject({ status: 200, text: '[+]tls ok\n[+]caches ok\n' })
    expect((await running.health('/metrics')).headers['content-type']).toContain('text/plain')
    expect((await running.health('/nowhere')).status).toBe(404)
  })
})

async function rawConnection(server: RunningServer, options: ConnectionOptions) {
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: server.pair.bundle, ...options })
  await once(socket, 'secureConnect')
  return socket
}
