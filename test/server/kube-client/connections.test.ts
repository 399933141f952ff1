import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CallReport } from '../../../src/kube/client/client.ts'
import { inClusterCredentials } from '../../../src/kube/client/credentials.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import { NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { eventually } from '../../support/eventually.ts'
import { FakeApiServer } from '../../support/fake-api-server.ts'
import { breakNext, collect, connect, pod, server, TEAM_PODS, useServer } from './fixtures.ts'

useServer()

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
