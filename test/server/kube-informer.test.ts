import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Informer, type InformerOptions } from '../../src/kube/cache/informer.ts'
import { createKubeClient, type KubeClient } from '../../src/kube/client/client.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../src/kube/vocabulary/resources.ts'
import { eventually } from '../support/eventually.ts'
import { FakeApiServer, type Script, send, sendStatus } from '../support/fake-api-server.ts'
import { impatientClock } from '../support/impatient-clock.ts'
import { recordingLog } from '../support/logs.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { nobody } from '../support/observers.ts'

const PATH = '/api/v1/pods'
const pod = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  metadata: { namespace: 'team', name, labels },
})

let server: FakeApiServer
let client: KubeClient
const informers: Informer<KubeObject>[] = []

function createInformer(options: Partial<InformerOptions<KubeObject>> = {}) {
  const changes: string[] = []
  const relists: string[] = []
  const restarts: string[] = []
  const failures: string[] = []
  const log = recordingLog()
  const informer = new Informer<KubeObject>({
    api: client,
    resource: PODS,
    clock: impatientClock(100),
    random: () => 0.5,
    log,
    observer: {
      ...nobody,
      relisted: (_resource, reason) => relists.push(reason),
      restarted: (_resource, reason) => restarts.push(reason),
      failed: () => failures.push('failed'),
    },
    ...options,
  })
  informer.subscribe(({ type, object }) => changes.push(`${type} ${object.metadata.uid}`))
  informers.push(informer)
  return { informer, changes, relists, restarts, failures, log }
}

async function started(options: Partial<InformerOptions<KubeObject>> = {}) {
  const all = createInformer(options)
  all.informer.start()
  await all.informer.whenSynced()
  return all
}

const state = (objects: Iterable<KubeObject>) =>
  Array.from(objects, ({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()

async function converged(informer: Informer<KubeObject>): Promise<void> {
  const same = () => JSON.stringify(state(informer.values())) === JSON.stringify(state(server.objects(PATH)))
  await eventually(`the store equals the server: ${state(server.objects(PATH))}`, same)
}

const isWatch = (query: URLSearchParams) => query.get('watch') === 'true' && !query.has('sendInitialEvents')
/** Answers the next request of a kind with a status. */
const refuse =
  (kind: (query: URLSearchParams) => boolean, status: number, headers = {}): Script =>
  (request, response) => {
    if (!kind(request.query)) return false
    sendStatus(response, status, 'Refused', headers)
    return true
  }

beforeEach(async () => {
  server = await FakeApiServer.start()
  client = createKubeClient({
    credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) },
    clock: systemClock,
  })
  for (const name of ['a', 'b', 'c']) server.put(PATH, pod(name))
})

afterEach(async () => {
  await Promise.all(informers.splice(0).map(informer => informer.stop()))
  await client.close()
  await server.stop()
})

describe('the first sync', () => {
  it('streams the list and goes on watching on the same connection', async () => {
    const { informer, changes, relists } = await started()
    expect(changes).toEqual(['added uid-1', 'added uid-2', 'added uid-3'])
    server.put(PATH, pod('d'))
    server.remove(PATH, 'team', 'a')
    await converged(informer)
    expect(server.requests).toHaveLength(1)
    const query = Object.fromEntries(server.requests[0]?.query ?? [])
    expect(query).toMatchObject({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' })
    expect(query).toMatchObject({ allowWatchBookmarks: 'true', timeoutSeconds: '450' })
    expect(relists).toEqual(['start'])
  })

  it('falls back to pages of 500 when the server has no streaming lists, and remembers it', async () => {
    server.streamingLists = false
    for (let index = 0; index < 1_200; index++) server.put(PATH, pod(`pod-${index}`))
    const { informer } = await started()
    expect(informer.size).toBe(1_203)
    const lists = () => server.requests.filter(({ query }) => query.has('limit'))
    expect(lists().map(({ query }) => query.get('continue'))).toEqual([null, '500', '1000'])
    await eventually('it watches', () => server.watches.size === 1)
    server.compact()
    server.put(PATH, pod('last'))
    server.compact()
    server.resetConnections()
    await converged(informer)
    expect(lists()).toHaveLength(6)
    expect(server.requests.filter(({ query }) => query.has('sendInitialEvents'))).toHaveLength(1)
  })

  it('asks for smaller pages where objects are large, and for larger ones behind them', async () => {
    server.streamingLists = false
    const large = 'x'.repeat(20 * 1024 * 1024)
    server.floods.set(PATH, {
      count: 1_000,
      json: index => [
        JSON.stringify({
          metadata: { name: `pod-${index}`, namespace: 'a', uid: `${index}`, resourceVersion: '1' },
        }).slice(0, -1),
        ...(index === 100 ? [',"spec":"', large, '"'] : []),
        ...(index === 101 ? [',"spec":"', large, '"'] : []),
        '}',
      ],
    })
    const { informer } = await started()
    expect(informer.size).toBe(1_000)
    const limits = server.requests.flatMap(({ query }) => query.get('limit') ?? [])
    expect(limits).toContain('1')
    expect(Math.max(...limits.slice(limits.indexOf('1')).map(Number))).toBe(500)
  })

  it('asks for everything at once when the pages expire under way', async () => {
    server.streamingLists = false
    for (let index = 0; index < 600; index++) server.put(PATH, pod(`pod-${index}`))
    server.scripts.push(refuse(query => query.get('continue') === '500', 410))
    const { informer } = await started()
    expect(informer.size).toBe(603)
  })

  it.each([503, 429, 500])('survives lists that fail with %i', async status => {
    server.streamingLists = false
    const isList = (query: URLSearchParams) => !query.has('watch')
    for (let time = 0; time < 3; time++) server.scripts.push(refuse(isList, status))
    const { informer, restarts } = await started()
    await converged(informer)
    expect(restarts).toEqual([`http ${status}`, `http ${status}`, `http ${status}`])
  })

  it('starts over when the stream ends before the state is complete', async () => {
    server.scripts.push((_, response) => {
      response.writeHead(200).end(`${JSON.stringify({ type: 'ADDED', object: pod('phantom') })}\n`)
      return true
    })
    const { informer, changes } = await started()
    await converged(informer)
    expect(changes).toEqual(['added uid-1', 'added uid-2', 'added uid-3'])
  })

  it('drops managedFields, applies the transform, and indexes the result', async () => {
    const labels = { app: 'x' }
    server.put(PATH, { metadata: { namespace: 'team', name: 'big', labels, managedFields: [1, 2] } } as KubeObject)
    const { informer } = await started({
      transform: object => ({ metadata: { ...object.metadata, generation: 7 } }),
      indexes: { app: ({ metadata }) => (metadata.labels?.app ? [metadata.labels.app] : []) },
    })
    const [big] = informer.byIndex('app', 'x')
    expect(big?.metadata.generation).toBe(7)
    expect(big?.metadata).not.toHaveProperty('managedFields')
  })
})

describe('the store converges after', () => {
  const whileAway = () => {
    server.put(PATH, pod('a', { touched: 'yes' }))
    server.remove(PATH, 'team', 'b')
    server.put(PATH, pod('new'))
  }
  const live = (watch = [...server.watches][0]) => {
    if (!watch) throw new Error('no watch is open')
    return watch
  }

  it('a TCP reset, by resuming from where it was', async () => {
    const { informer, relists, restarts } = await started()
    server.resetConnections()
    whileAway()
    await converged(informer)
    expect(relists).toEqual(['start'])
    expect(restarts).toContain('network error')
    const resumed = server.requests.find(({ query }) => isWatch(query))
    expect(resumed?.query.get('resourceVersion')).toBe('103')
  })

  it('a normal end, at once', async () => {
    const { informer, relists, restarts } = await started()
    server.endWatches()
    whileAway()
    await converged(informer)
    expect([relists, restarts]).toEqual([['start'], []])
  })

  it('a half-open connection that never speaks again', async () => {
    const clock = new ManualClock()
    await client.close()
    client = createKubeClient({
      credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) },
      clock,
    })
    const { informer, relists, restarts } = await started()
    server.bookmark()
    const before = informer.lastProgressAt
    await eventually('the bookmark is seen', () => informer.lastProgressAt > before)
    server.watches.clear()
    whileAway()
    await clock.advance(91_000)
    await converged(informer)
    expect([relists, restarts]).toEqual([['start'], ['silence']])
  })

  it('a watch on which nothing ever comes, by a new list', async () => {
    const clock = new ManualClock()
    await client.close()
    client = createKubeClient({
      credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) },
      clock,
    })
    const { informer, relists, restarts } = await started()
    server.watches.clear()
    whileAway()
    await clock.advance(91_000)
    await converged(informer)
    expect([relists, restarts]).toEqual([['start', 'silence'], ['silence']])
  })

  it.each([
    [429, {}],
    [429, { 'retry-after': '1' }],
    [503, {}],
    [500, {}],
    [403, {}],
  ])('a watch refused with %i %j, without reading everything again', async (status, headers) => {
    const { informer, relists } = await started()
    server.scripts.push(refuse(isWatch, status, headers))
    server.resetConnections()
    whileAway()
    await converged(informer)
    expect(relists).toEqual(['start'])
  })

  it('410 as an HTTP status, by a new list', async () => {
    const { informer, relists } = await started()
    server.resetConnections()
    whileAway()
    server.compact()
    await converged(informer)
    expect(relists).toEqual(['start', 'expired'])
  })

  it('410 at every attempt to watch, with growing patience', async () => {
    const { informer, relists, log } = await started()
    for (let time = 0; time < 4; time++) server.scripts.push(refuse(isWatch, 410))
    server.streamingLists = false
    server.resetConnections()
    whileAway()
    await eventually('it has listed four times', () => relists.length === 5)
    await converged(informer)
    const delays = log.lines.map(({ fields }) => 'retryInMs' in fields && fields.retryInMs)
    expect(delays).toEqual([1_200, 1_200, 2_400, 4_800, 9_600])
  })

  it('410 inside the stream, by a new list', async () => {
    const { informer, relists } = await started()
    const watch = live()
    server.watches.delete(watch)
    whileAway()
    server.write(watch, { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } })
    await converged(informer)
    expect(relists).toEqual(['start', 'expired'])
  })

  it('another error inside the stream, by resuming', async () => {
    const { informer, relists, restarts } = await started()
    const watch = live()
    server.watches.delete(watch)
    whileAway()
    server.write(watch, { type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })
    await converged(informer)
    expect([relists, restarts]).toEqual([['start'], ['http 500']])
  })

  it.each([
    ['a malformed line', 'nonsense\n'],
    ['an event without an object', '{"type":"ADDED"}\n'],
  ])('%s, by a new list', async (_, garbage) => {
    const { informer, relists } = await started()
    const watch = live()
    server.watches.delete(watch)
    whileAway()
    watch.response.write(garbage)
    await converged(informer)
    expect(relists).toEqual(['start', 'protocol error'])
  })

  it('a chunk that ends inside a character', async () => {
    const { informer } = await started()
    const watch = live()
    server.watches.delete(watch)
    const object = server.put(PATH, pod('d', { note: '日本' }))
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    const cut = bytes.indexOf('日') + 1
    await new Promise(resolve => watch.response.write(bytes.subarray(0, cut), resolve))
    watch.response.write(bytes.subarray(cut))
    await converged(informer)
    expect(informer.get('team', 'd')?.metadata.labels?.note).toBe('日本')
  })

  it.each([
    ['without a version', { type: 'BOOKMARK', object: { metadata: {} } }],
    ['without anything', { type: 'BOOKMARK' }],
  ])('a bookmark %s, and resumes from where it was', async (_, bookmark) => {
    const { informer, relists } = await started()
    server.write(live(), bookmark)
    server.put(PATH, pod('d'))
    await converged(informer)
    server.endWatches()
    whileAway()
    await converged(informer)
    expect(relists).toEqual(['start'])
    expect(server.requests.at(-1)?.query.get('resourceVersion')).toBe('104')
  })

  it('a bookmark, by resuming from it even though nothing of ours has changed', async () => {
    const { informer, relists } = await started()
    server.version = 500
    server.bookmark()
    const before = informer.lastProgressAt
    await eventually('the bookmark is seen', () => informer.lastProgressAt > before)
    server.compact()
    server.endWatches()
    whileAway()
    await converged(informer)
    expect(relists).toEqual(['start'])
  })

  it('a server whose history went backwards', async () => {
    const { informer, relists } = await started()
    const watch = live()
    server.version = 40
    server.put(PATH, pod('a'))
    server.remove(PATH, 'team', 'b')
    server.write(watch, { type: 'BOOKMARK', object: { metadata: { resourceVersion: '42' } } })
    await converged(informer)
    expect(relists).toEqual(['start', 'protocol error'])
  })

  it('watches that end at once and never say 410, by a new list in the end', async () => {
    const { informer, relists, restarts } = await started()
    for (let time = 0; time < 3; time++) {
      server.scripts.push((request, response) => {
        if (!isWatch(request.query)) return false
        response.writeHead(200).end()
        return true
      })
    }
    server.resetConnections()
    whileAway()
    await converged(informer)
    expect(relists).toEqual(['start', 'no progress'])
    expect(restarts).toEqual(['network error', 'short watch', 'short watch', 'short watch'])
  })
})

describe('changes', () => {
  it('tell a recreation while away as the end of one object and the start of another', async () => {
    const { informer, changes } = await started()
    changes.length = 0
    server.resetConnections()
    server.remove(PATH, 'team', 'a')
    server.put(PATH, pod('a'))
    server.compact()
    await converged(informer)
    expect(changes).toEqual(['deleted uid-1', 'added uid-4'])
  })

  it('tell a recreation that the watch shows as one modification in the same way', async () => {
    const { changes } = await started()
    changes.length = 0
    const [watch] = server.watches
    if (!watch) throw new Error('no watch is open')
    const object = { metadata: { namespace: 'team', name: 'a', uid: 'other', resourceVersion: '200' } }
    server.write(watch, { type: 'MODIFIED', object })
    await eventually('both changes are told', () => changes.length === 2)
    expect(changes).toEqual(['deleted uid-1', 'added other'])
  })

  it('reach the other subscribers and the store when one subscriber throws', async () => {
    const { informer, log, failures } = createInformer()
    informer.subscribe(() => {
      throw new Error('boom')
    })
    const seen: string[] = []
    const unsubscribe = informer.subscribe(({ object }) => seen.push(object.metadata.name ?? ''))
    informer.start()
    await informer.whenSynced()
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(failures).toHaveLength(3)
    expect(log.lines).toHaveLength(3)
    unsubscribe()
    server.put(PATH, pod('d'))
    await converged(informer)
    expect(seen).toEqual(['a', 'b', 'c'])
  })

  it('include our own writes before the watch shows them, once', async () => {
    const { informer, changes } = await started()
    changes.length = 0
    const [watch] = server.watches
    if (!watch) throw new Error('no watch is open')
    server.watches.delete(watch)
    const written = server.put(PATH, pod('a', { mine: 'yes' }))
    expect(informer.offer(written)).toBe(true)
    expect(informer.get('team', 'a')?.metadata.labels?.mine).toBe('yes')
    server.write(watch, { type: 'MODIFIED', object: written })
    server.write(watch, {
      type: 'DELETED',
      object: { metadata: { ...pod('c').metadata, uid: 'uid-3', resourceVersion: '900' } },
    })
    await eventually('the watch has gone on', () => informer.size === 2)
    expect(changes).toEqual(['updated uid-1', 'deleted uid-3'])
  })

  it('take no offer that a filtered watch might never show', async () => {
    const { informer } = await started({ labelSelector: 'queue' })
    const offered = { metadata: { namespace: 'team', name: 'x', uid: 'ux', resourceVersion: '9999' } }
    expect(informer.offer(offered)).toBe(false)
    const { informer: knowing } = await started({ labelSelector: 'queue', accepts: () => true })
    expect(knowing.offer(offered)).toBe(true)
  })
})

describe('stop', () => {
  const kinds = () => process.getActiveResourcesInfo().filter(kind => /Timeout|TCP|Immediate/.test(kind))

  it('leaves no timer, socket or watch, whenever it comes', async () => {
    server.streamingLists = false
    for (let index = 0; index < 600; index++) server.put(PATH, pod(`pod-${index}`))
    await client.close()
    await eventually('the server is alone', () => server.sockets.size === 0)
    const baseline = kinds().length
    for (let steps = 0; steps < 60; steps++) {
      server.streamingLists = steps % 2 === 0
      if (steps % 3 === 0) server.scripts.push(refuse(() => true, 503))
      const api = createKubeClient({
        credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) },
        clock: systemClock,
      })
      const clock = new ManualClock()
      const { informer } = createInformer({ api, clock })
      informer.start()
      const waiting = informer.whenSynced().catch(() => 'stopped')
      for (let step = 0; step < steps; step++) await clock.advance(step % 5 === 4 ? 2_000 : 0)
      await informer.stop()
      expect(clock.pending).toBe(0)
      await waiting
      await api.close()
      server.scripts.length = 0
      const left = () => server.sockets.size + server.watches.size + Math.max(0, kinds().length - baseline)
      await eventually(`nothing is left after stop at step ${steps}`, () => left() === 0)
      const { length } = server.requests
      await new Promise(resolve => setImmediate(resolve))
      expect(server.requests).toHaveLength(length)
    }
  })

  it('during a backoff ends it at once', async () => {
    const clock = new ManualClock()
    server.scripts.push(refuse(() => true, 500))
    const { informer, restarts } = createInformer({ clock })
    informer.start()
    await eventually('the list has failed', () => restarts.length === 1)
    await eventually('it waits', () => clock.pending === 1)
    await informer.stop()
    expect(clock.pending).toBe(0)
    expect(server.requests).toHaveLength(1)
  })

  it('rejects who still waits for the first sync, and is final', async () => {
    server.scripts.push(() => true)
    const { informer } = createInformer()
    informer.start()
    const waiting = expect(informer.whenSynced()).rejects.toThrow('stopped before its first sync')
    await informer.stop()
    await waiting
    await expect(informer.whenSynced()).rejects.toThrow('stopped before its first sync')
    expect(() => informer.start()).toThrow('cannot start again')
  })
})

describe('many objects', () => {
  it('do not keep the event loop from other work', async () => {
    const items = Array.from({ length: 500 }, (_, index) => ({ metadata: { namespace: 'team', name: `p-${index}` } }))
    server.streamingLists = false
    const pages = 40
    let page = 0
    const answer: Script = (request, response) => {
      if (request.query.has('watch')) return false
      const number = page++
      const metadata = { resourceVersion: '1000', ...(number < pages - 1 && { continue: String(number) }) }
      const named = items.map(({ metadata: { name } }) => ({
        metadata: { namespace: 'team', name: `${number}-${name}`, uid: `${number}-${name}`, resourceVersion: '5' },
      }))
      send(response, 200, { metadata, items: named })
      return true
    }
    for (let count = 0; count < pages; count++) server.scripts.push(answer)
    let turns = 0
    let going = true
    const turn = () => {
      turns++
      if (going) setImmediate(turn)
    }
    turn()
    const { informer } = await started()
    going = false
    expect(informer.size).toBe(20_000)
    expect(turns).toBeGreaterThan(80)
  })
})
