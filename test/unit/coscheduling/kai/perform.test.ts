import { describe, expect, it } from 'vitest'
import { bounded, slim, slimPod, slimPodGroup } from '../../../../src/coscheduling/kai/cache-contents.ts'
import { decideGroup } from '../../../../src/coscheduling/kai/decide.ts'
import type { KaiPodGroup } from '../../../../src/coscheduling/kai/objects.ts'
import { OwnerLookups } from '../../../../src/coscheduling/kai/owner-lookups.ts'
import { performKai } from '../../../../src/coscheduling/kai/perform.ts'
import { ApiError, type KubeApi, type Patch } from '../../../../src/kube/vocabulary/api.ts'
import * as kai from '../../../../src/kube/vocabulary/kai.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const POD = { namespace: 'ml', name: 'p', uid: 'u1', resourceVersion: '5' }

/** Answers every call with the same, and notes what was asked. */
function apiThat(answer: () => unknown) {
  const patches: Patch[] = []
  const calls: string[] = []
  const reply = async (verb: string) => {
    calls.push(verb)
    return answer()
  }
  const api = {
    get: () => reply('get'),
    create: () => reply('create'),
    patch: (_: unknown, __: unknown, patch: Patch) => {
      patches.push(patch)
      return reply('patch')
    },
  } as unknown as KubeApi
  return { api, patches, calls }
}

const failing = (status: number, field?: string) =>
  apiThat(() => {
    throw new ApiError(status, 'Reason', 'because', field === undefined ? {} : { causes: [{ field }] })
  }).api

const link = { kind: 'LinkPod', pod: POD, podGroup: 'pg' } as const

describe('a write for KAI', () => {
  it('links a pod and lifts its gate at once, and reaches it only as it was looked at', async () => {
    const { api, patches } = apiThat(() => ({ metadata: {} }))
    expect(await performKai(link, api, () => {})).toEqual({ kind: 'done' })
    expect(patches).toEqual([
      {
        type: 'strategic',
        body: {
          metadata: {
            uid: 'u1',
            resourceVersion: '5',
            annotations: { 'pod-group-name': 'pg' },
            labels: { 'kai.scheduler/subgroup-name': null },
          },
          spec: { schedulingGates: [{ $patch: 'delete', name: 'muster.dev/pod-group' }] },
        },
      },
    ])
  })

  it('leaves a pod without any mark of ours', async () => {
    const { api, patches } = apiThat(() => ({ metadata: {} }))
    await performKai({ kind: 'LeavePod', pod: POD, unlinks: true }, api, () => {})
    expect(patches[0]?.body).toMatchObject({
      metadata: { labels: { 'muster.dev/pod-group': null }, annotations: { 'pod-group-name': null } },
    })
  })

  it('brings a PodGroup up to date only as it was looked at', async () => {
    const { api, patches } = apiThat(() => ({ metadata: {} }))
    const known = { metadata: { name: 'pg', namespace: 'ml', uid: 'g1', resourceVersion: '7' } }
    await performKai({ kind: 'PatchPodGroup', known, change: { spec: { minMember: 2 } } }, api, () => {})
    expect(patches[0]).toEqual({
      type: 'merge',
      body: { spec: { minMember: 2 }, metadata: { uid: 'g1', resourceVersion: '7' } },
    })
  })

  it.each([
    [404, undefined, { kind: 'gone' }],
    [422, 'metadata.uid', { kind: 'gone' }],
    [422, 'spec', { kind: 'blocked', message: 'because' }],
    [403, undefined, { kind: 'blocked', message: 'because' }],
  ])('that is answered with %i (%s) is told apart', async (status, field, result) => {
    expect(await performKai(link, failing(status, field), () => {})).toEqual(result)
  })

  it('that came too late brings what is there now', async () => {
    const now = { metadata: { name: 'p', resourceVersion: '6' } }
    const api = {
      patch: () => Promise.reject(new ApiError(409, 'Conflict', 'changed')),
      get: () => Promise.resolve(now),
    } as unknown as KubeApi
    const known: unknown[] = []
    expect(await performKai(link, api, (_, object) => known.push(object))).toEqual({ kind: 'stale' })
    expect(known).toEqual([now])
  })

  it('that may succeed later is thrown', async () => {
    await expect(performKai(link, failing(503), () => {})).rejects.toThrow('because')
  })
})

describe('the owners of pods', () => {
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'J1' }

  it('are asked for once in a while, not once for each pod', async () => {
    const clock = new ManualClock()
    const { api, calls } = apiThat(() => ({ metadata: { name: 'j', uid: 'J1', labels: { a: '1' } } }))
    const owners = new OwnerLookups(api, clock)
    expect(owners.find('ml', reference)).toBeUndefined()
    await owners.lookUp('ml', reference)
    expect(owners.find('ml', reference)).toMatchObject({ kind: 'Job', uid: 'J1', labels: { a: '1' } })
    expect(owners.find('dev', reference)).toBeUndefined()
    await clock.advance(6000)
    expect(owners.find('ml', reference)).toBeUndefined()
    expect(calls).toEqual(['get'])
  })

  it('stay known to the decision that asked, be they many or slow', async () => {
    const clock = new ManualClock()
    const { api } = apiThat(() => ({ metadata: { name: 'j', uid: 'J1' } }))
    const { find, lookUp } = new OwnerLookups(api, clock).forDecision('ml')
    const many = Array.from({ length: 2500 }, (_, index) => ({ ...reference, name: `j${index}` }))
    for (const each of many) await lookUp(each)
    await clock.advance(6000)
    expect(many.filter(each => find(each) === undefined)).toEqual([])
  })

  it('are asked for by all that their references say, and of no group are they too many', () => {
    const podOf = (name: string): Pod => ({
      metadata: { name, namespace: 'ml', uid: name, ownerReferences: [{ ...reference, name }] },
      spec: { schedulingGates: [{ name: 'muster.dev/pod-group' }] },
    })
    const decided = (count: number) =>
      decideGroup(
        {
          namespace: 'ml',
          reference: { kind: 'podGroup', podGroup: 'g' },
          pods: Array.from({ length: count }, (_, index) => podOf(`p${index}`)),
        },
        () => undefined,
        {
          ...{ naming: 'hashed', apiVersion: 'scheduling.k8s.io/v1beta1', workload: () => undefined },
          ...{
            podGroup: () => undefined,
            kaiPodGroups: () => [],
            topologies: () => [],
            priorityClass: () => undefined,
          },
        },
      )
    expect(decided(1000).asks).toHaveLength(1000)
    expect(decided(1001)).toMatchObject({ asks: [], ground: [], pods: [] })
    expect(decided(1001).held).toHaveLength(1001)
  })

  it.each([
    [404, 'absent'],
    [403, 'unreadable'],
    [400, 'unreadable'],
  ])('that are answered with %i are %s', async (status, found) => {
    const owners = new OwnerLookups(failing(status), new ManualClock())
    await owners.lookUp('ml', reference)
    expect(owners.find('ml', reference)).toBe(found)
  })
})

describe('what is kept in memory', () => {
  it('are all labels of ordinary objects, and of large ones those first that mean something to KAI', () => {
    const few = { a: '1', 'kai.scheduler/queue': 'q' }
    expect(bounded(few)).toEqual(few)
    expect(bounded({ large: 'x'.repeat(2000), ...few, other: 'x'.repeat(100) })).toEqual({
      'kai.scheduler/queue': 'q',
      large: 'x'.repeat(2000),
      a: '1',
    })
    expect(bounded({ 'kai.scheduler/queue': 'x'.repeat(20_000) })).toEqual({})
  })

  it('is of no object more than a few thousand characters, whatever a tenant writes there', () => {
    const named = Object.values(kai).filter(value => typeof value === 'string')
    const map = Object.fromEntries([...named, 'a', 'b'].map(key => [key, 'x'.repeat(1000)]))
    const metadata = { name: 'g', labels: map, annotations: map }
    expect(JSON.stringify(slim({ metadata })).length).toBeLessThan(5000)
    expect(JSON.stringify(slimPodGroup({ metadata })).length).toBeLessThan(9000)
  })

  it('is all that was copied, so that it is written once', () => {
    const labels = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${prefix}${i}`, 'x'.repeat(40)]))
    const metadata = { name: 'g', namespace: 'ml', uid: 'g1', labels: labels('group-') }
    const pod: Pod = { metadata: { name: 'p', namespace: 'ml', uid: 'u1', labels: labels('pod-') }, spec: {} }
    const decided = (known: readonly KaiPodGroup[]) =>
      decideGroup({ namespace: 'ml', reference: { kind: 'podGroup', podGroup: 'g' }, pods: [pod] }, () => undefined, {
        ...{ naming: 'hashed', apiVersion: 'scheduling.k8s.io/v1beta1', workload: () => undefined },
        podGroup: () => slim({ metadata, spec: { schedulingPolicy: { basic: {} } } }),
        ...{ kaiPodGroups: () => known, topologies: () => [], priorityClass: () => undefined },
      }).ground
    const [first] = decided([])
    if (first?.kind !== 'CreatePodGroup') throw new Error('nothing is made')
    const { metadata: copied } = first.wanted
    const others = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`other-${i}`, 'x'.repeat(60)]))
    const stored = { ...first.wanted, metadata: { ...copied, labels: { ...others, ...copied.labels } } }
    expect(decided([slimPodGroup(stored)])).toEqual([])
  })

  it('is of the gates of a pod only ours', () => {
    const gates = Array.from({ length: 100 }, (_, index) => ({ name: `example.com/${index}` }))
    const pod: Pod = {
      metadata: { name: 'p' },
      spec: { schedulingGates: [...gates, { name: 'muster.dev/pod-group' }] },
    }
    expect(slimPod(pod).spec.schedulingGates).toEqual([{ name: 'muster.dev/pod-group' }])
    expect(slimPod({ ...pod, spec: { schedulingGates: gates } }).spec.schedulingGates).toEqual([])
  })
})
