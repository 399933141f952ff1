import { describe, expect, it } from 'vitest'
import { ProtocolError, type WatchEvent } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { eventually } from '../../support/eventually.ts'
import { type Script, sendStatus } from '../../support/fake-api-server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { collect, connect, pod, server, TEAM_PODS, useServer } from './fixtures.ts'

useServer()

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
