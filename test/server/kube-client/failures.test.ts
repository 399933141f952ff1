import { describe, expect, it } from 'vitest'
import type { CallReport } from '../../../src/kube/client/client.ts'
import type { Credentials } from '../../../src/kube/client/credentials.ts'
import { ApiError, ProtocolError } from '../../../src/kube/vocabulary/api.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { eventually } from '../../support/eventually.ts'
import { type Script, sendStatus } from '../../support/fake-api-server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { breakNext, connect, pod, server, TEAM_PODS, useServer } from './fixtures.ts'

useServer()

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
