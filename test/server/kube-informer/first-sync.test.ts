import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { eventually } from '../../support/eventually.ts'
import { type Script, send } from '../../support/fake-api-server.ts'
import { converged, PATH, pod, refuse, server, started, useServer } from './fixtures.ts'

useServer()

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
