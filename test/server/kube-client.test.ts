import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type CallReport,
  createKubeClient,
  type KubeClient,
  type KubeClientOptions,
} from '../../src/kube/client/client.ts'
import { type Credentials, inClusterCredentials } from '../../src/kube/client/credentials.ts'
import { ApiError, ProtocolError, type WatchEvent } from '../../src/kube/vocabulary/api.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { fields } from '../../src/kube/vocabulary/outline.ts'
import { LEASES, NAMESPACES, PODS } from '../../src/kube/vocabulary/resources.ts'
import { eventually } from '../support/eventually.ts'
import { FakeApiServer, type Script, send, sendStatus } from '../support/fake-api-server.ts'
import { ManualClock } from '../support/manual-clock.ts'

const TEAM_PODS = '/api/v1/namespaces/team/pods'
const pod = (name: string): KubeObject => ({ metadata: { namespace: 'team', name } })

let server: FakeApiServer
const clients: KubeClient[] = []

function connect(options: Partial<KubeClientOptions> = {}): KubeClient {
  const anonymous: Credentials = { server: server.url, access: async () => ({ headers: {}, tls: {} }) }
  const client = createKubeClient({ credentials: anonymous, clock: systemClock, ...options })
  clients.push(client)
  return client
}

/** The next request of that method is answered by breaking the connection. */
const breakNext =
  (method: string): Script =>
  (request, response) => {
    if (request.method !== method) return false
    response.socket?.destroy()
    return true
  }

async function collect(
  client: KubeClient,
  signal = new AbortController().signal,
  events: WatchEvent<KubeObject>[] = [],
): Promise<WatchEvent<KubeObject>[]> {
  for await (const event of client.watch(PODS, { namespace: 'team' }, signal)) events.push(event)
  return events
}

beforeEach(async () => {
  server = await FakeApiServer.start()
})

afterEach(async () => {
  await Promise.all(clients.splice(0).map(client => client.close()))
  await server.stop()
})

describe('connections', () => {
  it('makes 1,000 calls on at most 16 TLS connections, while watches have their own', async () => {
    const secure = await FakeApiServer.start({ tls: true })
    secure.put(TEAM_PODS, pod('a'))
    const tls = { ca: secure.ca ?? '' }
    const client = connect({ credentials: { server: secure.url, access: async () => ({ headers: {}, tls }) } })
    const stopping = new AbortController()
    const watches = Array.from({ length: 20 }, () => collect(client, stopping.signal).catch(() => 'ended'))
    await eventually('20 watches are open', () => secure.watches.size === 20)
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      index % 2 === 0
        ? client.get(PODS, { namespace: 'team', name: 'a' })
        : client.patch(PODS, { namespace: 'team', name: 'a' }, { type: 'merge', body: { index } }),
    )
    await Promise.all(calls)
    expect(secure.connections).toBeLessThanOrEqual(20 + 16)
    stopping.abort()
    await Promise.all(watches)
    await secure.stop()
  })

  it('refuses a server whose certificate the authority has not signed', async () => {
    const [secure, other] = await Promise.all([FakeApiServer.start({ tls: true }), FakeApiServer.start({ tls: true })])
    const tls = { ca: other.ca ?? '' }
    const client = connect({ credentials: { server: secure.url, access: async () => ({ headers: {}, tls }) } })
    await expect(client.get(NAMESPACES, { name: 'a' })).rejects.toThrow(/certificate|signature/i)
    await Promise.all([secure.stop(), other.stop()])
  })

  it.each(['GET', 'PATCH', 'PUT', 'DELETE', 'POST'])(
    'sends a %s again when a kept connection turns out dead',
    async method => {
      server.put(TEAM_PODS, pod('a'))
      const client = connect()
      const ref = { namespace: 'team', name: 'a' }
      await client.get(PODS, ref)
      server.scripts.push(breakNext(method))
      const calls: Record<string, () => Promise<unknown>> = {
        GET: () => client.get(PODS, ref),
        PATCH: () => client.patch(PODS, ref, { type: 'merge', body: {} }),
        PUT: () => client.replace(PODS, ref, pod('a')),
        DELETE: () => client.delete(PODS, ref, {}),
        POST: () => client.create(PODS, pod('b')),
      }
      await calls[method]?.()
      expect(server.requests.filter(request => request.method === method)).toHaveLength(method === 'GET' ? 3 : 2)
    },
  )

  it('does not repeat a create whose name the server chooses, nor anything on a new connection', async () => {
    server.put(TEAM_PODS, pod('a'))
    const client = connect()
    server.scripts.push(breakNext('GET'))
    await expect(client.get(PODS, { namespace: 'team', name: 'a' })).rejects.toMatchObject({ code: 'ECONNRESET' })
    await client.get(PODS, { namespace: 'team', name: 'a' })
    server.scripts.push(breakNext('POST'))
    const nameless = { metadata: { namespace: 'team', generateName: 'x-' } }
    await expect(client.create(PODS, nameless)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('closes every connection and breaks off what is under way', async () => {
    server.put(TEAM_PODS, pod('a'))
    server.scripts.push(() => true)
    const client = connect()
    const hanging = client.get(PODS, { namespace: 'team', name: 'a' })
    const watching = collect(client)
    await eventually('the watch is open', () => server.watches.size === 1)
    await Promise.all([
      expect(hanging).rejects.toThrow('the API client is closed'),
      expect(watching).rejects.toThrow('the API client is closed'),
      client.close(),
    ])
    await eventually('all sockets are closed', () => server.sockets.size === 0)
    await expect(client.get(PODS, { namespace: 'team', name: 'a' })).rejects.toThrow('the API client is closed')
  })
})

describe('credentials', () => {
  it('rotate without anybody noticing: one 401 on the wire, none for the caller', async () => {
    const secure = await FakeApiServer.start({ tls: true })
    secure.put('/api/v1/namespaces', { metadata: { name: 'team' } })
    const dir = await mkdtemp(path.join(tmpdir(), 'muster-token-'))
    await Promise.all([
      writeFile(path.join(dir, 'token'), 'one\n'),
      writeFile(path.join(dir, 'ca.crt'), secure.ca ?? ''),
    ])
    const env = { KUBERNETES_SERVICE_HOST: 'localhost', KUBERNETES_SERVICE_PORT: secure.url.port }
    const reports: CallReport[] = []
    const credentials = await inClusterCredentials({ env, dir, clock: systemClock })
    const client = connect({ credentials, onCall: report => reports.push(report) })
    secure.acceptedToken = 'one'
    await client.get(NAMESPACES, { name: 'team' })
    secure.acceptedToken = 'two'
    await writeFile(path.join(dir, 'token'), 'two\n')
    for (let call = 0; call < 5; call++) await client.get(NAMESPACES, { name: 'team' })
    expect(reports.map(({ status }) => status)).toEqual([200, 401, 200, 200, 200, 200, 200])
    secure.acceptedToken = 'three'
    await expect(client.get(NAMESPACES, { name: 'team' })).rejects.toMatchObject({ status: 401 })
    expect(reports).toHaveLength(9)
    await rm(dir, { recursive: true })
    await secure.stop()
  })
})

describe('requests', () => {
  it('encode names, selectors and the path of the server itself', async () => {
    const base = new URL('/k8s/clusters/c-1/', server.url)
    const client = connect({ credentials: { server: base, access: async () => ({ headers: {}, tls: {} }) } })
    server.scripts.push((_, response) => {
      send(response, 200, { metadata: {} })
      return true
    })
    await client.get(PODS, { namespace: 'team', name: 'a/b?c#d', subresource: 'status' })
    expect(server.requests[0]?.path).toBe('/k8s/clusters/c-1/api/v1/namespaces/team/pods/a%2Fb%3Fc%23d/status')
    server.scripts.push((_, response) => {
      send(response, 200, { metadata: { resourceVersion: '5' }, items: null })
      return true
    })
    const query = { labelSelector: 'a in (b,c)&x=y', limit: 500, continue: 'a+/=', metadataOnly: true }
    expect(await client.list(LEASES, query)).toEqual({ metadata: { resourceVersion: '5' }, items: [] })
    const seen = server.requests[1]
    expect(seen?.path).toBe('/k8s/clusters/c-1/apis/coordination.k8s.io/v1/leases')
    expect(Object.fromEntries(seen?.query ?? [])).toEqual({
      labelSelector: 'a in (b,c)&x=y',
      limit: '500',
      continue: 'a+/=',
    })
    expect(seen?.headers.accept).toMatch(/^application\/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,/)
  })

  it.each(['..', '.', ''])('refuse %j as a name', async name => {
    await expect(connect().get(PODS, { namespace: 'team', name })).rejects.toThrow(TypeError)
    expect(server.requests).toEqual([])
  })

  it('need a namespace where the resource has one', async () => {
    await expect(connect().get(PODS, { name: 'a' })).rejects.toThrow('a namespace is needed')
    await expect(connect().create(PODS, { metadata: { name: 'a' } })).rejects.toThrow('a namespace is needed')
  })

  it.each([
    ['strategic', 'application/strategic-merge-patch+json'],
    ['merge', 'application/merge-patch+json'],
    ['json', 'application/json-patch+json'],
    ['apply', 'application/apply-patch+yaml'],
  ] as const)('send a %s patch as %s', async (type, contentType) => {
    server.put(TEAM_PODS, pod('a'))
    const ref = { namespace: 'team', name: 'a' }
    await connect().patch(PODS, ref, { type, body: { spec: 'é' }, fieldManager: 'muster', force: true })
    const seen = server.requests[0]
    expect(seen).toMatchObject({ method: 'PATCH', body: '{"spec":"é"}', headers: { 'content-type': contentType } })
    expect(seen?.query.get('fieldManager')).toBe('muster')
    expect(seen?.query.get('force')).toBe(type === 'apply' ? 'true' : null)
  })

  it('delete under the precondition that it is still the same object', async () => {
    server.put(TEAM_PODS, pod('a'))
    await connect().delete(PODS, { namespace: 'team', name: 'a' }, { uid: 'uid-1' })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ preconditions: { uid: 'uid-1' } })
    expect(server.objects(TEAM_PODS)).toEqual([])
  })
})

describe('an object that is larger than what is read of it', () => {
  const outline = { metadata: fields('namespace', 'name', 'finalizers') }
  const junk = '\u0001'.repeat(100_000)
  const large = (name: string) => ({ ...pod(name), spec: { junk } })
  const ref = { namespace: 'team', name: 'a' }

  it('comes without the rest, whatever brings it', async () => {
    server.put(TEAM_PODS, large('a'))
    const client = connect()
    expect(await client.get(PODS, ref, { outline })).toEqual(pod('a'))
    expect(await client.patch(PODS, ref, { type: 'merge', body: {} }, { outline })).toEqual(pod('a'))
    expect((await client.list(PODS, { namespace: 'team', outline })).items).toEqual([pod('a')])
    const options = { namespace: 'team', sendInitialEvents: true, outline }
    for await (const event of client.watch(PODS, options, new AbortController().signal)) {
      expect(event).toEqual({ type: 'ADDED', object: pod('a') })
      break
    }
    expect(await client.get(PODS, ref)).toMatchObject({ spec: { junk } })
  })

  it('says which of its fields are too large even so', async () => {
    const finalizers = Array.from({ length: 9000 }, (_, index) => `example.com/${index}`)
    server.put(TEAM_PODS, { metadata: { ...pod('a').metadata, finalizers } })
    expect(await connect().get(PODS, ref, { outline })).toEqual({ ...pod('a'), omitted: ['metadata.finalizers'] })
  })

  it('can be asked for without its spec', async () => {
    server.put(TEAM_PODS, pod('a'))
    await connect().get(PODS, ref, { metadataOnly: true })
    expect(server.requests[0]?.headers.accept).toMatch(
      /^application\/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,/,
    )
  })

  it('still tells what the server says when it refuses', async () => {
    server.scripts.push((_, response) => {
      send(response, 403, { kind: 'Status', code: 403, reason: 'Forbidden', message: junk })
      return true
    })
    await expect(connect().get(PODS, ref, { outline })).rejects.toMatchObject({ status: 403, message: junk })
  })
})

describe('failures', () => {
  const name = { namespace: 'team', name: 'a' }
  const refuse =
    (status: number, headers = {}): Script =>
    (_, response) => {
      sendStatus(response, status, 'Refused', headers)
      return true
    }

  it('become an ApiError with what the server said', async () => {
    server.scripts.push(refuse(422, { 'retry-after': '7' }))
    const failure = await connect()
      .patch(PODS, name, { type: 'merge', body: {} })
      .catch(error => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status: 422, reason: 'Refused', message: 'Refused from the fake server' })
    expect(failure.retryAfterSeconds).toBe(7)
  })

  it.each([
    ['with what it is about', [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }], 1],
    ['without causes', undefined, 0],
    ['with causes that are none', ['no', null], 0],
    ['with no list of causes', { field: 'metadata.uid' }, 0],
  ])('become an ApiError %s', async (_, causes, count) => {
    server.scripts.push((_, response) => {
      const status = { kind: 'Status', status: 'Failure', reason: 'Invalid', message: 'no', details: { causes } }
      response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(status))
      return true
    })
    const failure = await connect()
      .patch(PODS, name, { type: 'merge', body: {} })
      .catch(error => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure.causes).toEqual(count === 0 ? [] : causes)
  })

  it('of a proxy in front of the server become an ApiError too', async () => {
    server.scripts.push((_, response) => {
      response.writeHead(502).end('<html>bad gateway</html>')
      return true
    })
    const path = '/api/v1/namespaces/team/pods/a'
    const message = `GET ${path}: HTTP 502 <html>bad gateway</html>`
    await expect(connect().get(PODS, name)).rejects.toMatchObject({ status: 502, message })
  })

  it('are told when a success is no JSON object', async () => {
    for (const text of ['<html>', '7', '']) {
      server.scripts.push((_, response) => {
        response.writeHead(200).end(text)
        return true
      })
      await expect(connect().get(PODS, name)).rejects.toThrow(ProtocolError)
    }
  })

  it.each([429, 503])('with %i and Retry-After are waited out for reads, three times', async status => {
    server.put(TEAM_PODS, pod('a'))
    for (let time = 0; time < 3; time++) server.scripts.push(refuse(status, { 'retry-after': '0' }))
    await connect().get(PODS, name)
    expect(server.requests).toHaveLength(4)
    for (let time = 0; time < 4; time++) server.scripts.push(refuse(status, { 'retry-after': '0' }))
    await expect(connect().get(PODS, name)).rejects.toMatchObject({ status })
    expect(server.requests).toHaveLength(8)
  })

  it('are left to the caller without Retry-After, and for every write', async () => {
    server.put(TEAM_PODS, pod('a'))
    server.scripts.push(refuse(429), refuse(429, { 'retry-after': '0' }))
    await expect(connect().get(PODS, name)).rejects.toMatchObject({ status: 429 })
    await expect(connect().patch(PODS, name, { type: 'merge', body: {} })).rejects.toMatchObject({ status: 429 })
    expect(server.requests).toHaveLength(2)
  })

  it('include silence: a call ends at its deadline and says so', async () => {
    const clock = new ManualClock()
    server.scripts.push(() => true)
    const call = connect({ clock }).get(PODS, name)
    const refused = expect(call).rejects.toThrow('GET /api/v1/namespaces/team/pods/a: no answer within 15 s')
    await eventually('the request has arrived', () => server.requests.length === 1)
    await clock.advance(15_000)
    await refused
    expect(clock.pending).toBe(0)
  })

  it('include credentials that do not come', async () => {
    const clock = new ManualClock()
    const credentials: Credentials = { server: server.url, access: () => new Promise(() => {}) }
    const call = connect({ clock, credentials }).get(PODS, name, { timeoutMs: 2_000 })
    const refused = expect(call).rejects.toThrow('no answer within 2 s')
    await clock.advance(2_000)
    await refused
  })

  it('include the caller losing interest', async () => {
    server.scripts.push(() => true)
    const stopping = new AbortController()
    const call = connect().get(PODS, name, { signal: stopping.signal })
    const refused = expect(call).rejects.toThrow('no longer needed')
    await eventually('the request has arrived', () => server.requests.length === 1)
    stopping.abort(new Error('no longer needed'))
    await refused
  })

  it('are reported to the metrics with the rest', async () => {
    const reports: CallReport[] = []
    server.scripts.push(refuse(500), breakNext('GET'))
    const client = connect({ onCall: report => reports.push(report) })
    await expect(client.get(PODS, name)).rejects.toThrow()
    const fresh = connect({ onCall: report => reports.push(report) })
    await expect(fresh.get(PODS, name)).rejects.toThrow()
    expect(reports).toMatchObject([
      { verb: 'get', resource: 'pods', status: 500 },
      { verb: 'get', resource: 'pods', status: 'error' },
    ])
  })
})

describe('watches', () => {
  const stream =
    (...chunks: (string | Buffer)[]): Script =>
    (_, response) => {
      response.writeHead(200)
      const next = () => {
        const chunk = chunks.shift()
        if (chunk === undefined) response.end()
        else response.write(chunk, () => setImmediate(next))
      }
      next()
      return true
    }
  const line = (name: string) => `${JSON.stringify({ type: 'ADDED', object: pod(name) })}\n`

  it('read events however the bytes are cut, even inside a character', async () => {
    const bytes = Buffer.from(line('größe-日本') + line('b'))
    server.scripts.push(stream(...Array.from(bytes, byte => Buffer.from([byte]))))
    const events = await collect(connect())
    expect(events.map(({ object }) => (object as KubeObject).metadata.name)).toEqual(['größe-日本', 'b'])
  })

  it.each([
    ['a line that is no JSON', 'nonsense\n'],
    ['a line that is no event', '{"kind":"Status"}\n'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a])],
    ['an end in the middle of an event', '{"type":"ADDED","obj'],
  ])('fail on %s, after the events before it', async (_, garbage) => {
    server.scripts.push(stream(line('a'), garbage))
    const events: unknown[] = []
    const watching = async () => {
      for await (const event of connect().watch(PODS, {}, new AbortController().signal)) events.push(event)
    }
    await expect(watching()).rejects.toThrow(ProtocolError)
    expect(events).toHaveLength(1)
  })

  it('fail with the status of the server when they are refused', async () => {
    server.scripts.push((_, response) => {
      sendStatus(response, 410, 'Expired')
      return true
    })
    await expect(collect(connect())).rejects.toMatchObject({ status: 410, reason: 'Expired' })
  })

  it('are given up after 90 s of silence, and not earlier', async () => {
    const clock = new ManualClock()
    const seen: WatchEvent<KubeObject>[] = []
    const watching = collect(connect({ clock }), undefined, seen)
    const refused = expect(watching).rejects.toThrow('the watch was silent for 90 s')
    await eventually('the watch is open', () => server.watches.size === 1)
    await eventually('the client waits for events', () => clock.pending === 1)
    await clock.advance(89_000)
    server.bookmark()
    await eventually('the bookmark is read', () => seen.length === 1)
    await clock.advance(89_000)
    expect(server.watches.size).toBe(1)
    await clock.advance(2_000)
    await refused
    await eventually('the connection is closed', () => server.watches.size === 0)
    expect(clock.pending).toBe(0)
  })

  it('close their connection when the reader leaves', async () => {
    server.put(TEAM_PODS, pod('a'))
    const query = { namespace: 'team', resourceVersion: '1' }
    for await (const event of connect().watch(PODS, query, new AbortController().signal)) {
      expect(event.type).toBe('ADDED')
      break
    }
    await eventually('the watch is closed', () => server.watches.size === 0)
  })
})
