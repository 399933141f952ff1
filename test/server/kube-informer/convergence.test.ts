import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { converged, isWatch, PATH, pod, reconnect, refuse, server, started, useServer } from './fixtures.ts'

useServer()

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
    await reconnect(clock)
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
    await reconnect(clock)
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
