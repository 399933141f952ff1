import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../src/engines/builtin/workloads.ts'
import { ApiError, type WatchEvent } from '../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'

import { NAMESPACES, PODS } from '../../src/kube/vocabulary/resources.ts'

import { ModelServer, type Stored } from './model/server.ts'
import { WatchHub } from './model/watch.ts'

const WHO = 'somebody'
const [X, Y] = ['example.com/x', 'example.com/y']
const REF = { namespace: 'ml', name: 'p' }

function fresh() {
  const server = new ModelServer(
    () => 0,
    call => call.object,
  )
  server.create(NAMESPACES, { metadata: { name: 'ml' } }, WHO)
  return { server, hub: new WatchHub(server) }
}

function pod(metadata: object = {}, spec: object = {}): Stored {
  const schedulingGates = [{ name: 'a' }, { name: 'b' }]
  return { metadata: { ...REF, ...metadata }, spec: { containers: [], schedulingGates, ...spec } }
}

function failure(act: () => unknown): ApiError {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('it was expected to be refused')
}

const strategic = (body: object) => ({ type: 'strategic' as const, body })
const merge = (body: object) => ({ type: 'merge' as const, body })

describe('the model API server', () => {
  it('takes one gate away and leaves the others', () => {
    const { server } = fresh()
    server.create(PODS, pod(), WHO)
    const after = server.patch(
      PODS,
      REF,
      strategic({ spec: { schedulingGates: [{ $patch: 'delete', name: 'a' }] } }),
      WHO,
    )
    expect(after.spec).toMatchObject({ schedulingGates: [{ name: 'b' }] })
  })

  it('refuses a gate that is added later, and a node selector once no gate is left', () => {
    const { server } = fresh()
    server.create(PODS, pod({}, { schedulingGates: [] }), WHO)
    expect(
      failure(() => server.patch(PODS, REF, merge({ spec: { schedulingGates: [{ name: 'c' }] } }), WHO)).status,
    ).toBe(422)
    expect(failure(() => server.patch(PODS, REF, merge({ spec: { nodeSelector: { zone: 'x' } } }), WHO)).status).toBe(
      422,
    )
  })

  it('answers 422 on metadata.uid when a patch means another life of the name', () => {
    const { server } = fresh()
    server.create(PODS, pod(), WHO)
    const error = failure(() => server.patch(PODS, REF, strategic({ metadata: { uid: 'other' } }), WHO))
    expect(error.status).toBe(422)
    expect(error.message).toContain('metadata.uid')
  })

  it('answers 409 to an old version and to a deletion that means another life', () => {
    const { server } = fresh()
    const created = server.create(PODS, pod(), WHO)
    server.patch(PODS, REF, merge({ metadata: { labels: { x: 'y' } } }), WHO)
    const { resourceVersion } = created.metadata
    expect(failure(() => server.patch(PODS, REF, merge({ metadata: { resourceVersion } }), WHO)).status).toBe(409)
    expect(failure(() => server.replace(PODS, REF, created, WHO)).status).toBe(409)
    expect(failure(() => server.remove(PODS, REF, { uid: 'other' }, WHO)).status).toBe(409)
  })

  it('makes no new version of a write that changes nothing', () => {
    const { server } = fresh()
    server.create(PODS, pod({ labels: { x: 'y' } }), WHO)
    const before = server.version
    server.patch(PODS, REF, merge({ metadata: { labels: { x: 'y' } } }), WHO)
    expect(server.version).toBe(before)
  })

  it('keeps status and spec apart', () => {
    const { server } = fresh()
    server.create(WORKLOADS, { metadata: REF, spec: { active: true } }, WHO)
    server.patch(WORKLOADS, REF, merge({ spec: { active: false }, status: { pods: 1 } }), WHO)
    expect(server.get(WORKLOADS, REF)).toMatchObject({ spec: { active: false } })
    expect(server.get(WORKLOADS, REF).status).toBeUndefined()
    server.patch(
      WORKLOADS,
      { ...REF, subresource: 'status' },
      merge({ spec: { active: true }, status: { pods: 2 } }),
      WHO,
    )
    expect(server.get(WORKLOADS, REF)).toMatchObject({ spec: { active: false }, status: { pods: 2 } })
  })

  it('deletes a pod on no node at once, unless finalizers hold it', () => {
    const { server } = fresh()
    server.create(PODS, pod({ finalizers: [X, Y] }), WHO)
    server.remove(PODS, REF, {}, WHO)
    expect(server.get(PODS, REF).metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: [X, Y] })
    const drop = (name: string) => strategic({ metadata: { '$deleteFromPrimitiveList/finalizers': [name] } })
    server.patch(PODS, REF, drop(X), WHO)
    const answer = server.patch(PODS, REF, drop(Y), WHO)
    expect(answer.metadata.finalizers).toBeUndefined()
    expect(server.find(PODS, 'ml', 'p')).toBeUndefined()
  })

  it('gives a pod on a node its grace period, and takes no new finalizer meanwhile', () => {
    const { server } = fresh()
    server.create(PODS, pod({ finalizers: [X] }, { schedulingGates: [] }), WHO)
    server.bind(REF, 'node')
    server.remove(PODS, REF, {}, WHO)
    expect(server.get(PODS, REF).metadata.deletionGracePeriodSeconds).toBe(30)
    expect(
      failure(() => server.patch(PODS, REF, strategic({ metadata: { finalizers: ['example.com/z'] } }), WHO)).status,
    ).toBe(422)
  })

  it('takes nothing new into a namespace that is being deleted', () => {
    const { server } = fresh()
    server.patch(NAMESPACES, { name: 'ml' }, merge({ metadata: { finalizers: ['kubernetes'] } }), WHO)
    server.remove(NAMESPACES, { name: 'ml' }, {}, WHO)
    expect(failure(() => server.create(PODS, pod(), WHO)).status).toBe(403)
  })
})

describe('watches on the model', () => {
  it('show an object that stops to match as gone, and the version at which it did', () => {
    const { server, hub } = fresh()
    server.create(PODS, pod({ labels: { x: 'y' } }), WHO)
    const events: WatchEvent<KubeObject>[] = []
    const sink = { resource: PODS, event: (event: WatchEvent<KubeObject>) => events.push(event), end: () => {} }
    hub.open(sink, { labelSelector: 'x=y', resourceVersion: String(server.version) })
    server.patch(PODS, REF, merge({ metadata: { labels: { x: 'z' } } }), WHO)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      type: 'DELETED',
      object: { metadata: { resourceVersion: String(server.version) } },
    })
  })

  it('begin with everything and a bookmark when asked for initial events', () => {
    const { server, hub } = fresh()
    server.create(PODS, pod(), WHO)
    const types: string[] = []
    hub.open({ resource: PODS, event: ({ type }) => types.push(type), end: () => {} }, { sendInitialEvents: true })
    expect(types).toEqual(['ADDED', 'BOOKMARK'])
  })

  it('expire when history from their version on is gone', () => {
    const { server, hub } = fresh()
    const from = String(server.version)
    server.create(PODS, pod(), WHO)
    hub.forget()
    const sink = { resource: PODS, event: () => {}, end: () => {} }
    expect(hub.open(sink, { resourceVersion: from }).kind).toBe('expired')
    expect(hub.open(sink, { resourceVersion: String(server.version) }).kind).toBe('open')
  })
})
