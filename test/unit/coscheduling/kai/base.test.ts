import { describe, expect, it } from 'vitest'
import {
  baseAnnotations,
  baseLabels,
  baseOf,
  defaultPriority,
  preemptibilityOf,
  priorities,
  queueOf,
} from '../../../../src/coscheduling/kai/base.ts'
import { changeOf } from '../../../../src/coscheduling/kai/difference.ts'
import { podGroupName } from '../../../../src/coscheduling/kai/naming.ts'
import type { KaiPodGroup, Owner } from '../../../../src/coscheduling/kai/objects.ts'
import { ownersOf } from '../../../../src/coscheduling/kai/owners.ts'
import { topOwnerRecord } from '../../../../src/coscheduling/kai/record.ts'
import { MAX_NAME_LENGTH } from '../../../../src/kube/vocabulary/formats.ts'
import type { ObjectMeta, Pod } from '../../../../src/kube/vocabulary/objects.ts'

function owner(kind: string, fields: Partial<Owner> = {}): Owner {
  const [apiVersion = '', name = ''] = kind.split(' ')
  const uid = `${name.toLowerCase()}-uid`
  return {
    apiVersion,
    kind: name,
    name: name.toLowerCase(),
    uid,
    labels: {},
    annotations: {},
    ownerReferences: [],
    ...fields,
  }
}

const pod = (metadata: ObjectMeta = {}, spec: Pod['spec'] = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ml', ...metadata },
  spec,
})

/** What KAI's own tests of its pod-grouper say, as far as the translation follows it. */
describe('the note of the owner', () => {
  it('has its keys in order, and ends a line', () => {
    const text = topOwnerRecord({ name: 'my-training', uid: 'J1', apiVersion: 'batch/v1', kind: 'Job' })
    expect(text).toBe('name: my-training\nuid: J1\ngroup: batch\nversion: v1\nkind: Job\n')
  })

  it.each([
    ['1', '"1"'],
    ['', '""'],
    ['1e3', '"1e3"'],
    ['true', '"true"'],
    ['null', '"null"'],
    ['2026-11-18', '"2026-11-18"'],
    ['0f9d3f6e-4a51-4b8e-8f43-1f1c5a3c2b10', '0f9d3f6e-4a51-4b8e-8f43-1f1c5a3c2b10'],
    ['1234-5678', '1234-5678'],
  ])('quotes %j as Go does', (uid, written) => {
    expect(topOwnerRecord({ name: 'n', uid, apiVersion: 'v1', kind: 'Pod' })).toContain(`uid: ${written}\n`)
  })

  it('leaves the core group empty', () => {
    expect(topOwnerRecord({ name: 'pod-job', uid: '', apiVersion: 'v1', kind: 'Pod' })).toBe(
      'name: pod-job\nuid: ""\ngroup: ""\nversion: v1\nkind: Pod\n',
    )
  })
})

describe('the queue', () => {
  const job = (labels: Record<string, string>) => [owner('batch/v1 Job', { labels })]
  it.each([
    ['owner before pod', job({ 'kai.scheduler/queue': 'o' }), { 'kai.scheduler/queue': 'p' }, 'o'],
    ['pod', job({}), { 'kai.scheduler/queue': 'p' }, 'p'],
    ['project of the owner', job({ project: 'my-proj' }), {}, 'my-proj'],
    [
      'project of the pod with its pool',
      job({}),
      { project: 'my-proj', 'kai.scheduler/node-pool': 'np-1' },
      'my-proj-np-1',
    ],
    ['an empty label is none', job({ 'kai.scheduler/queue': '' }), {}, 'default-queue'],
    ['none at all', job({}), {}, 'default-queue'],
  ])('is that of: %s', (_, owners, labels, queue) => {
    expect(queueOf(baseOf(pod({ labels }), owners), [])).toBe(queue)
  })
})

describe('the priority', () => {
  const first = (labels: Record<string, string>, podLabels: Record<string, string>, spec = '') =>
    priorities(baseOf(pod({ labels: podLabels }, { priorityClassName: spec }), [owner('batch/v1 Job', { labels })]))[0]

  it('is asked of owner, label of the pod and its spec, in this order', () => {
    expect(first({ priorityClassName: 'o' }, { priorityClassName: 'p' }, 's')).toBe('o')
    expect(first({}, { priorityClassName: 'p' }, 's')).toBe('p')
    expect(first({}, {}, 's')).toBe('s')
  })

  it('is that of the pod before that of owners above the nearest', () => {
    const owners = [owner('apps/v1 ReplicaSet'), owner('apps/v1 Deployment', { labels: { priorityClassName: 'high' } })]
    const base = baseOf(pod({ labels: { priorityClassName: 'p' } }), owners)
    expect(priorities(base).slice(0, 2)).toEqual(['p', 'high'])
  })

  it('is first that of the label of Ray, for objects of Ray', () => {
    const labels = { 'ray.io/priority-class-name': 'r', priorityClassName: 'o' }
    expect(priorities(baseOf(pod(), [owner('ray.io/v1 RayJob', { labels })]))[0]).toBe('r')
    expect(priorities(baseOf(pod(), [owner('batch/v1 Job', { labels })]))[0]).toBe('o')
  })

  it.each([
    ['apps/v1 Deployment', 'inference'],
    ['serving.knative.dev/v1 Service', 'inference'],
    ['egx.nvidia.io/v1 SPOTRequest', 'inference'],
    ['kubeflow.org/v1beta1 Notebook', 'build'],
    ['batch/v1 Job', 'train'],
    ['v1 Service', 'train'],
  ])('of %s is %s by default', (kind, name) => {
    expect(defaultPriority(baseOf(pod(), [owner(kind)]))).toBe(name)
  })
})

describe('the preemptibility', () => {
  const KEY = 'kai.scheduler/preemptibility'
  it.each([
    ['preemptible', 'non-preemptible', 'preemptible'],
    ['sometimes', 'non-preemptible', 'non-preemptible'],
    ['', 'preemptible', undefined],
    ['sometimes', 'never', undefined],
  ])('of owner %j and pod %j is %j', (ofOwner, ofPod, said) => {
    const base = baseOf(pod({ labels: { [KEY]: ofPod } }), [owner('batch/v1 Job', { labels: { [KEY]: ofOwner } })])
    expect(preemptibilityOf(base)).toBe(said)
  })
})

describe('what is copied', () => {
  it('is the label `user` of the pod where the owner has none', () => {
    const labels = { user: 'ofPod' }
    expect(baseLabels(baseOf(pod({ labels }), [owner('batch/v1 Job')]))).toEqual({ user: 'ofPod' })
    const own = owner('batch/v1 Job', { labels: { user: 'own' } })
    expect(baseLabels(baseOf(pod({ labels }), [own]))).toEqual({ user: 'own' })
  })

  it('is nothing that speaks of another object, or that only Muster may say', () => {
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'kai.scheduler/ignore-workload-api': 'false',
      'kai.scheduler/stale-podgroup-timestamp': 't',
      'pod-group-name': 'other',
      'muster.dev/pod-group-of': '["ml","victim"]',
      mine: 'yes',
    }
    expect(baseAnnotations(baseOf(pod(), [owner('batch/v1 Job', { annotations })]))).toEqual({ mine: 'yes' })
  })
})

describe('the owners', () => {
  it('are not followed for ever', () => {
    const again = { apiVersion: 'v1', kind: 'Thing', name: 'thing', uid: 'thing-uid' }
    const chain = ownersOf(pod({ ownerReferences: [again] }), () => owner('v1 Thing', { ownerReferences: [again] }))
    expect(chain).toEqual({ kind: 'broken', problem: 'more than 10 objects stand above the pod' })
  })

  it('end at the last that Muster may read', () => {
    const job = owner('batch/v1 Job', {
      ownerReferences: [{ apiVersion: 'acme.io/v1', kind: 'Secretive', name: 's', uid: 's1' }],
    })
    const reference = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job-uid' }
    const chain = ownersOf(pod({ ownerReferences: [reference] }), ({ kind }) => (kind === 'Job' ? job : 'unreadable'))
    expect(chain).toEqual({ kind: 'known', owners: [job] })
  })

  it('of an object in between are one, or have a controller among them', () => {
    const two = ['a', 'b'].map(name => ({ apiVersion: 'v1', kind: 'Thing', name, uid: name }))
    const job = owner('batch/v1 Job', { ownerReferences: two })
    const reference = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job-uid' }
    const find = ({ kind, name }: { kind: string; name: string }) =>
      kind === 'Job' ? job : owner('v1 Thing', { name, uid: name })
    expect(ownersOf(pod({ ownerReferences: [reference] }), find)).toMatchObject({ kind: 'broken' })
    const ruled = owner('batch/v1 Job', { ownerReferences: two.map((each, at) => ({ ...each, controller: at === 1 })) })
    const chain = ownersOf(pod({ ownerReferences: [reference] }), ({ kind, name }) =>
      kind === 'Job' ? ruled : owner('v1 Thing', { name, uid: name }),
    )
    expect(chain.kind === 'known' && chain.owners.map(({ name }) => name)).toEqual(['job', 'b'])
  })

  it('leave what a passed-over one has to the one below it', () => {
    const owners = [
      owner('jobset.x-k8s.io/v1alpha2 JobSet', { labels: { a: 'js' } }),
      owner('trainer.kubeflow.org/v1alpha1 TrainJob', { labels: { a: 'tj', b: 'tj' } }),
    ]
    expect(baseLabels(baseOf(pod(), owners))).toEqual({ a: 'js', b: 'tj' })
  })

  it('are the Job, and not its CronJob', () => {
    const base = baseOf(pod(), [owner('batch/v1 Job'), owner('batch/v1 CronJob', { labels: { a: 'cron' } })])
    expect([base.top.effective?.kind, base.labels]).toEqual(['Job', {}])
  })
})

describe('a name', () => {
  it('of a Workload as long as names may be is cut, and always the same', () => {
    const reference = { kind: 'workload', workload: 'w'.repeat(253), podGroup: 'g', replicaKey: '0' } as const
    const name = podGroupName('ml', reference, 'plain')
    expect(name).toMatch(/^w{244}-[0-9a-f]{8}$/)
    expect(name.length).toBe(MAX_NAME_LENGTH)
    expect(podGroupName('ml', reference, 'plain')).toBe(name)
    expect(podGroupName('ml', { ...reference, replicaKey: '1' }, 'plain')).not.toBe(name)
  })

  it('is hashed with its namespace where that is asked for', () => {
    const reference = { kind: 'podGroup', podGroup: 'pg' } as const
    const names = ['ml', 'dev'].map(namespace => podGroupName(namespace, reference, 'hashed'))
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^pg-[0-9a-f]{8}$/)
  })
})

describe('a PodGroup that is there', () => {
  const group = (spec: KaiPodGroup['spec'], metadata: ObjectMeta = {}): KaiPodGroup => ({
    metadata: { name: 'g', namespace: 'ml', ...metadata },
    ...(spec && { spec }),
  })

  it('is left alone when absent, empty and an empty list are the only differences', () => {
    const known = group({ minMember: 2, topologyConstraint: {}, subGroups: [] }, { labels: { theirs: '1' } })
    expect(changeOf(known, group({ minMember: 2 }), false)).toBeUndefined()
    const named = group({ minMember: 2, topologyConstraint: { topology: '' } })
    expect(changeOf(named, group({ minMember: 2 }), false)).toBeUndefined()
  })

  it('loses what is wanted no more, also within an object', () => {
    const known = group({
      minMember: 2,
      preemptibility: 'preemptible',
      topologyConstraint: { topology: 'a', requiredTopologyLevel: 'r', preferredTopologyLevel: 'p' },
      subGroups: [{ name: 's' }],
    })
    const wanted = group({ minMember: 3, topologyConstraint: { topology: 'b', requiredTopologyLevel: 'r' } })
    expect(changeOf(known, wanted, false)).toEqual({
      spec: {
        minMember: 3,
        preemptibility: null,
        topologyConstraint: { topology: 'b', requiredTopologyLevel: 'r', preferredTopologyLevel: null },
        subGroups: null,
      },
    })
  })

  it('keeps its queue, and gets one only if it has none', () => {
    expect(changeOf(group({ queue: 'a' }), group({ queue: 'b' }), false)).toBeUndefined()
    expect(changeOf(group({}), group({ queue: 'b' }), false)).toEqual({ spec: { queue: 'b' } })
  })

  it('keeps its owner, and the note of it, while that one lives', () => {
    const owned = (uid: string) => ({
      ownerReferences: [{ apiVersion: 'v1', kind: 'Thing', name: 'o', uid }],
      annotations: { 'kai.scheduler/top-owner-metadata': uid },
    })
    const [known, wanted] = [group({}, owned('1')), group({}, owned('2'))]
    expect(changeOf(known, wanted, true)).toBeUndefined()
    expect(changeOf(known, wanted, false)).toEqual({ metadata: owned('2') })
  })
})
