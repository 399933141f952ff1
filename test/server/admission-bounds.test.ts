import { once } from 'node:events'
import { Agent } from 'node:https'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, it } from 'vitest'
import { allowed } from '../../src/admission/verdict.ts'
import type { Fact } from '../../src/server/asking-world.ts'
import { issueAuthority, type KeyPair } from '../../src/tls/authority.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import { type RunningServer, startServer } from '../support/admission-server.ts'
import { eventually } from '../support/eventually.ts'
import { podReview } from '../support/reviews.ts'

const webhook: Webhook = {
  name: 'pods',
  path: '/mutate/pods',
  mutating: true,
  rules: [],
  review: () => allowed('Ignored'),
}

let running: RunningServer
const sockets: TLSSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await running?.close()
})

async function stranger(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port: running.port, host: '127.0.0.1', ca: running.pair.bundle, ...options })
  socket.on('error', () => {})
  sockets.push(socket)
  await once(socket, 'secureConnect')
  return socket
}

const cuts = (reason: string) => running.metric(`muster_webhook_cuts_total{reason="${reason}"}`)

describe('bodies that arrive slowly', () => {
  const HEAD =
    'POST /mutate/pods HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n'

  it('hold no more than their share together, and the oldest of them goes first', async () => {
    running = await startServer([webhook], {}, { maxInFlight: 400_000 })
    const [first, second] = [await stranger(), await stranger()]
    const told = once(first, 'data')
    for (const socket of [first, second]) {
      socket.write(HEAD)
      socket.write(JSON.stringify(podReview()).slice(0, -1) + ' '.repeat(250_000))
    }
    const [answer] = await told
    expect(String(answer)).toContain(podReview().request.uid)
    expect(String(answer)).toContain('"allowed":false')
    expect(await cuts('bytes')).toBe(1)
    expect(second.destroyed).toBe(false)
    expect(await running.review('/mutate/pods', podReview())).toMatchObject({ allowed: true })
  })
})

describe('connections that nobody uses', () => {
  it('make room for who comes, and a review gets through', async () => {
    running = await startServer([webhook], {}, { maxConnections: 8 })
    const idle: TLSSocket[] = []
    for (let count = 0; count < 8; count++) idle.push(await stranger())
    expect(await running.review('/mutate/pods', podReview())).toMatchObject({ allowed: true })
    await eventually('the oldest is gone', () => idle[0]?.destroyed === true || idle[0]?.readableEnded === true)
    expect(await cuts('connections')).toBe(1)
    expect(idle[7]?.destroyed).toBe(false)
  })

  it('do not outlast those that are used', async () => {
    running = await startServer([webhook], {}, { maxConnections: 4 })
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: running.pair.bundle })
    const send = () => running.post('/mutate/pods', JSON.stringify(podReview()), { agent })
    await send()
    for (let count = 0; count < 20; count++) {
      await stranger()
      if (count % 2 === 0) expect((await send()).status).toBe(200)
    }
    const [used] = Object.values(agent.freeSockets).flat()
    expect(used?.destroyed).toBe(false)
    agent.destroy()
  })
})

describe('requests that do not wait for the answer before', () => {
  it('end their connection: API servers send none', async () => {
    const pending = Promise.withResolvers<readonly Fact[]>()
    const asks: Webhook = {
      ...webhook,
      review: (_, world) => {
        world.namespace('unknown')
        return allowed('Ignored')
      },
    }
    running = await startServer([asks], { lookup: () => pending.promise })
    const socket = await stranger()
    const body = JSON.stringify(podReview())
    const head = `POST /mutate/pods HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    socket.write(head + body + head + body)
    await once(socket, 'close')
    pending.resolve([{ question: { kind: 'namespace', namespace: 'unknown' }, answer: 'absent' }])
  })
})

describe('with an authority for callers', () => {
  const clientOf = async ({ certificate, key }: KeyPair): Promise<ConnectionOptions> => {
    const made = await generate([{ name: 'commonName', value: 'kube-apiserver' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      ca: { key, cert: certificate },
      extensions: [{ name: 'extKeyUsage', clientAuth: true }],
    })
    return { key: made.private, cert: made.cert }
  }

  it('only who presents its certificate is answered', async () => {
    const now = Date.now()
    const [ours, other] = [await issueAuthority(now), await issueAuthority(now)]
    running = await startServer([webhook], {}, { clientAuthority: ours.certificate })
    const ask = async (tls: ConnectionOptions) => {
      const agent = new Agent({ ca: running.pair.bundle, ...tls })
      try {
        return (await running.post('/mutate/pods', JSON.stringify(podReview()), { agent })).status
      } finally {
        agent.destroy()
      }
    }
    const [good, bad] = [await clientOf(ours), await clientOf(other)]
    expect(await ask(good)).toBe(200)
    await expect(ask({})).rejects.toThrow()
    await expect(ask(bad)).rejects.toThrow()
  })
})
