import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { ApiError, type KubeApi, type Patch } from '../../../src/kube/vocabulary/api.ts'
import { ADMISSION_GATE, MANAGED, RESOURCE_IN_USE } from '../../../src/kube/vocabulary/names.ts'
import { JOBS } from '../../../src/kube/vocabulary/resources.ts'
import { perform, type WriteBack } from '../../../src/reconciler/perform.ts'
import type { Action } from '../../../src/workload/actions.ts'
import { managedPod } from '../../support/pods.ts'

const pod = { namespace: 'ml', name: 'train', uid: 'uid-train' }
const lift = { kind: 'LiftGate', pod, add: {}, admittedAt: undefined } as const
const POD_GROUPS = {
  group: 'scheduling.k8s.io',
  version: 'v1beta1',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
}
const workload = { namespace: 'ml', name: 'gang', uid: 'uid-gang' }

/** Answers every write with the given error, or with the pod; reads are answered with the pod. */
function apiThat(error?: ApiError) {
  const calls: { verb: string; path: string; patch?: Patch }[] = []
  const answer = (verb: string, path: string, patch?: Patch) => {
    calls.push({ verb, path, ...(patch && { patch }) })
    return error === undefined || verb === 'get' ? Promise.resolve(managedPod()) : Promise.reject(error)
  }
  const api = {
    get: (resource: { plural: string }, ref: { name: string }) => answer('get', `${resource.plural}/${ref.name}`),
    create: (resource: { plural: string }) => answer('create', resource.plural),
    patch: (resource: { plural: string }, ref: { name: string; subresource?: string }, patch: Patch) =>
      answer('patch', [resource.plural, ref.name, ...(ref.subresource ? [ref.subresource] : [])].join('/'), patch),
    delete: (resource: { plural: string }, ref: { name: string }) => answer('delete', `${resource.plural}/${ref.name}`),
  }
  return { api: api as unknown as KubeApi, calls }
}

const remembered: string[] = []
const memory: WriteBack = resource => remembered.push(resource.plural)

describe('a write of the reconciler', () => {
  it.each([403, 422, 400])('stops a pod also where it may not say first why (%i)', async status => {
    const { api, calls } = apiThat()
    const because = { reason: 'WorkloadEvictedDueToPreempted', message: 'a better one came', at: 'now' }
    const refuses = { ...api, patch: () => Promise.reject(new ApiError(status, 'Forbidden', 'not you')) }
    expect(await perform({ kind: 'DeletePod', pod, because }, refuses, memory)).toEqual({ kind: 'done' })
    expect(calls.map(({ verb, path }) => `${verb} ${path}`)).toEqual(['delete pods/train', 'get pods/train'])
  })

  it('lifts our gate by its name, with the uid of the pod, and nothing else', async () => {
    const { api, calls } = apiThat()
    expect(await perform(lift, api, memory)).toEqual({ kind: 'done' })
    expect(calls).toEqual([
      {
        verb: 'patch',
        path: 'pods/train',
        patch: {
          type: 'strategic',
          body: {
            spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] },
            metadata: { uid: 'uid-train' },
          },
        },
      },
    ])
  })

  it('lifts the gate and adds what the admission gives in one write', async () => {
    const { api, calls } = apiThat()
    const add = {
      labels: { a: 'b' },
      annotations: { c: 'd' },
      nodeSelector: { pool: 'gpu' },
      tolerations: [{ key: 'x' }],
      resourceVersion: '7',
    }
    await perform({ ...lift, add }, api, memory)
    expect(calls.map(({ patch }) => patch?.body)).toEqual([
      {
        metadata: { uid: 'uid-train', resourceVersion: '7', labels: { a: 'b' }, annotations: { c: 'd' } },
        spec: {
          schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }],
          nodeSelector: { pool: 'gpu' },
          tolerations: [{ key: 'x' }],
        },
      },
    ])
  })

  it('removes our finalizer by its name and leaves those of others', async () => {
    const { api, calls } = apiThat()
    await perform({ kind: 'RemoveFinalizer', pod }, api, memory)
    const metadata = { uid: 'uid-train', '$deleteFromPrimitiveList/finalizers': [MANAGED] }
    expect(calls[0]?.patch?.body).toEqual({ metadata })
  })

  it.each<[string, Action, ApiError]>([
    ['a conflict', lift, new ApiError(409, 'Conflict', 'the object has been modified')],
    [
      'a finalizer that moved',
      { kind: 'ReleaseWorkload', resource: WORKLOADS, workload, finalizer: RESOURCE_IN_USE, finalizerIndex: 0 },
      new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request'),
    ],
  ])('reads the object again after %s, and is retried', async (_what, action, error) => {
    const { api, calls } = apiThat(error)
    remembered.length = 0
    expect(await perform(action, api, memory)).toEqual({ kind: 'stale' })
    expect(calls.map(({ verb }) => verb)).toEqual(['patch', 'get'])
    expect(remembered).toHaveLength(1)
  })

  it.each([
    ['gone', 'the object is gone', new ApiError(404, 'NotFound', 'pods "train" not found')],
    ['gone', 'it has a successor', new ApiError(422, 'Invalid', 'no', { causes: [{ field: 'metadata.uid' }] })],
    [
      'ending',
      'its namespace goes',
      new ApiError(403, 'Forbidden', 'no', { causes: [{ reason: 'NamespaceTerminating' }] }),
    ],
  ])('is %s, not blocked, when %s', async (kind, _what, error) => {
    expect(await perform(lift, apiThat(error).api, memory)).toEqual({ kind })
  })

  it.each([
    ['uid-train', ['get jobs/train', 'create podgroups'], 'done'],
    ['uid-of-another', ['get jobs/train'], 'gone'],
  ])('makes what is for a Job only while that one is there (%s)', async (uid, expected, kind) => {
    const wanted = { metadata: { name: 'gang', namespace: 'ml' } }
    const madeFor = { resource: JOBS, object: { ...pod, uid } }
    const { api, calls } = apiThat()
    const result = await perform({ kind: 'EnsureObject', resource: POD_GROUPS, wanted, madeFor }, api, memory)
    expect([result, calls.map(({ verb, path }) => `${verb} ${path}`)]).toEqual([{ kind }, expected])
  })

  it.each([
    [403, 'admission webhook "x" denied the request: no'],
    [403, 'admission webhook "x" denied the request: not because it is being terminated'],
    [422, 'admission webhook "x" denied the request: metadata.uid is not to my taste'],
  ])('is blocked, with the words of whoever refused it, whatever they are (%i, %s)', async (status, message) => {
    const error = new ApiError(status, 'Forbidden', message, {
      causes: [{ reason: 'FieldValueInvalid', field: 'spec' }],
    })
    expect(await perform(lift, apiThat(error).api, memory)).toEqual({ kind: 'blocked', message })
  })

  it("is blocked, too, while somebody else's webhook that fails closed does not answer", async () => {
    const message = 'Internal error occurred: failed calling webhook "x": failed to call webhook: connection refused'
    const error = new ApiError(500, 'InternalError', message)
    expect(await perform(lift, apiThat(error).api, memory)).toEqual({ kind: 'blocked', message })
  })

  it.each([429, 500, 503])('is thrown to be tried again when the API server answers %i', async status => {
    const error = new ApiError(status, 'Later', 'later')
    await expect(perform({ kind: 'DeletePod', pod }, apiThat(error).api, memory)).rejects.toBe(error)
  })

  const group = (uid: string, minCount: number, labels = {}) => ({
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: {
      namespace: 'ml',
      name: 'gang',
      labels: { app: 'train', ...labels },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Workload', name: 'gang', uid, controller: true }],
    },
    spec: { minCount },
  })
  const stored = (object: ReturnType<typeof group>) => ({
    ...object,
    metadata: { ...object.metadata, uid: 'uid-1', resourceVersion: '7' },
    status: { phase: 'Scheduled' },
  })

  it('creates an object that is not there', async () => {
    const { api, calls } = apiThat()
    remembered.length = 0
    const action: Action = { kind: 'EnsureObject', resource: POD_GROUPS, wanted: group('w', 4) }
    expect(await perform(action, api, memory)).toEqual({ kind: 'done' })
    expect(calls).toEqual([{ verb: 'create', path: 'podgroups' }])
    expect(remembered).toEqual(['podgroups'])
  })

  it('patches only what an object of ours lacks, in the life that was looked at', async () => {
    const { api, calls } = apiThat()
    const known = stored(group('w', 4, { theirs: 'x' }))
    await perform({ kind: 'EnsureObject', resource: POD_GROUPS, wanted: group('w', 3), known }, api, memory)
    const body = { metadata: { uid: 'uid-1', resourceVersion: '7' }, spec: { minCount: 3 } }
    expect(calls).toEqual([{ verb: 'patch', path: 'podgroups/gang', patch: { type: 'merge', body } }])
  })

  it('sends nothing when the object says it all', async () => {
    const { api, calls } = apiThat()
    const known = stored(group('w', 4, { theirs: 'x' }))
    const action: Action = { kind: 'EnsureObject', resource: POD_GROUPS, wanted: group('w', 4), known }
    expect(await perform(action, api, memory)).toEqual({ kind: 'done' })
    expect(calls).toEqual([])
  })

  it.each([
    ['another controller', stored(group('other', 4)), 'Workload gang'],
    [
      'no controller',
      { ...stored(group('w', 4)), metadata: { namespace: 'ml', name: 'gang', uid: 'uid-1' } },
      'somebody else',
    ],
  ])('never touches an object of the same name with %s', async (_what, known, whose) => {
    const { api, calls } = apiThat()
    const action: Action = { kind: 'EnsureObject', resource: POD_GROUPS, wanted: group('w', 3), known }
    expect(await perform(action, api, memory)).toEqual({
      kind: 'blocked',
      message: `PodGroup ml/gang belongs to ${whose}`,
    })
    expect(calls).toEqual([])
  })

  /** A create meets an object of its name. */
  function apiWith(found: object) {
    const { api, calls } = apiThat(new ApiError(409, 'AlreadyExists', 'podgroups "gang" already exists'))
    return { api: { ...api, get: () => Promise.resolve(found) } as unknown as KubeApi, calls }
  }

  it('decides again when a create meets what a lost answer has made', async () => {
    const { api } = apiWith(stored(group('w', 4)))
    remembered.length = 0
    const action: Action = { kind: 'EnsureObject', resource: POD_GROUPS, wanted: group('w', 4) }
    expect(await perform(action, api, memory)).toEqual({ kind: 'stale' })
    expect(remembered).toEqual(['podgroups'])
  })

  it("is blocked when a create meets somebody else's object", async () => {
    const { api } = apiWith(stored(group('other', 4)))
    const action: Action = { kind: 'EnsureObject', resource: POD_GROUPS, wanted: group('w', 4) }
    expect(await perform(action, api, memory)).toMatchObject({ kind: 'blocked' })
  })
})
