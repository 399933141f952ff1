import { describe, expect, it } from 'vitest'
import { ApiError, type KubeApi, type ListOptions, type Patch } from '../../../../src/kube/vocabulary/api.ts'
import { JOB_SETS, JOBS } from '../../../../src/kube/vocabulary/resources.ts'
import { perform } from '../../../../src/reconciler/perform.ts'
import type { Action } from '../../../../src/workload/actions.ts'
import { job } from '../../../support/jobs.ts'

const target = { namespace: 'ml', name: 'train', uid: 'u1' }
const start = (patch: Pick<Patch, 'type' | 'body'>, more: object = {}): Action => ({
  ...{ kind: 'PatchJob', resource: JOBS, job: target, resourceVersion: '100', patch },
  ...more,
})
const merge = start({ type: 'merge', body: { metadata: {}, spec: { suspend: false } } })

function apiThat({ error, live = [] }: { readonly error?: ApiError; readonly live?: readonly object[] } = {}) {
  const calls: unknown[] = []
  const api = {
    get: () => Promise.resolve(job()),
    list: (_: unknown, query: ListOptions) => {
      calls.push(query)
      return Promise.resolve({ metadata: {}, items: live })
    },
    patch: (resource: { plural: string }, ref: object, { type, body }: Patch) => {
      calls.push({ resource: resource.plural, ...ref, type, body })
      return error === undefined ? Promise.resolve(job()) : Promise.reject(error)
    },
  }
  return { api: api as unknown as KubeApi, calls }
}

const remembered: string[] = []
const result = async (action: Action, api: KubeApi) =>
  (await perform(action, api, resource => remembered.push(resource.plural))).kind

describe('a write on a Job', () => {
  it('has the uid and the version in it, in the words of its patch', async () => {
    const { api, calls } = apiThat()
    expect(await result(merge, api)).toBe('done')
    const patch = { type: 'json', body: [{ op: 'add', path: '/spec/suspend', value: false }] } as const
    expect(await result(start(patch, { resource: JOB_SETS }), api)).toBe('done')
    expect(calls).toEqual([
      {
        ...{ resource: 'jobs', namespace: 'ml', name: 'train', type: 'merge' },
        body: { metadata: { uid: 'u1', resourceVersion: '100' }, spec: { suspend: false } },
      },
      {
        ...{ resource: 'jobsets', namespace: 'ml', name: 'train', type: 'json' },
        body: [
          { op: 'add', path: '/metadata/uid', value: 'u1' },
          { op: 'add', path: '/metadata/resourceVersion', value: '100' },
          { op: 'add', path: '/spec/suspend', value: false },
        ],
      },
    ])
    expect(remembered).toEqual(['jobs', 'jobsets'])
  })

  it('is stale when the Job has changed, or when it came too early, and blocked when it is refused', async () => {
    const immutable = new ApiError(422, 'Invalid', 'spec.template: Invalid value: field is immutable')
    expect(await result(merge, apiThat({ error: new ApiError(409, 'Conflict', 'modified') }).api)).toBe('stale')
    expect(await result(merge, apiThat({ error: immutable }).api)).toBe('blocked')
    expect(await result({ ...merge, early: true } as Action, apiThat({ error: immutable }).api)).toBe('stale')
  })
})

describe('what waits for the last pods', () => {
  const actions = [merge]
  const wait: Action = { kind: 'UnlessPodsLeft', namespace: 'ml', labelSelector: 'uid=u1', asOf: '100/200', actions }

  it('is done when none is left that has not ended', async () => {
    const { api, calls } = apiThat()
    expect(await result(wait, api)).toBe('done')
    expect(calls).toEqual([
      {
        ...{ namespace: 'ml', labelSelector: 'uid=u1', limit: 1, metadataOnly: true },
        fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
      },
      expect.objectContaining({ resource: 'jobs' }),
    ])
  })

  it('is not done while one is, and goes on no further than the first that fails', async () => {
    const { api, calls } = apiThat({ live: [{}] })
    expect(await result(wait, api)).toBe('stale')
    expect(calls).toHaveLength(1)
    const conflict = apiThat({ error: new ApiError(409, 'Conflict', 'modified') })
    expect(await result({ ...wait, actions: [merge, merge] }, conflict.api)).toBe('stale')
    expect(conflict.calls).toHaveLength(2)
  })
})
