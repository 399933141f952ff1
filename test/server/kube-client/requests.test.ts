import { describe, expect, it } from 'vitest'
import { fields } from '../../../src/kube/vocabulary/outline.ts'
import { LEASES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { send } from '../../support/fake-api-server.ts'
import { connect, pod, server, TEAM_PODS, useServer } from './fixtures.ts'

useServer()

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
