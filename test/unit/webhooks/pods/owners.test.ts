import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { KubeObject, OwnerReference } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewPodMutation } from '../../../../src/webhooks/pods/pods.ts'
import {
  askingWorld,
  brief,
  controller,
  errorsOf,
  ownerObject,
  podOf,
  requestOf,
  type WorldOptions,
  worldOf,
} from './fixtures.ts'

const job = controller('batch/v1', 'Job', 'job')
const jobSet = controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')
const wrapper = controller('workload.codeflare.dev/v1beta2', 'AppWrapper', 'wrapper')

function review(owner: OwnerReference, objects: readonly KubeObject[], options: WorldOptions = {}): Verdict {
  const pod = podOf({ labels: { 'queue-name': 'q' }, owners: [owner] })
  return reviewPodMutation(requestOf(pod), worldOf({ objects, ...options }))
}

const chain = (...links: readonly OwnerReference[]): readonly KubeObject[] =>
  links.map((link, index) => ownerObject(link, links[index + 1] ? { owner: links[index + 1] as OwnerReference } : {}))

describe('the walk up the owners', () => {
  const frameworks = ['pod', 'batch/job', 'workload.codeflare.dev/appwrapper']

  it('passes kinds of disabled frameworks on its way to an enabled one', () => {
    const objects = [
      ownerObject(job, { owner: jobSet }),
      ownerObject(jobSet, { owner: wrapper }),
      ownerObject(wrapper, { queue: 'q' }),
    ]
    expect(review(job, objects, { frameworks })).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('does not count the queue of a disabled framework', () => {
    const objects = [ownerObject(job, { owner: jobSet }), ownerObject(jobSet, { queue: 'q' })]
    expect(review(job, objects, { frameworks })).toMatchObject({ reason: 'Gated' })
  })

  it('knows a kind by any version of its API', () => {
    const old = controller('ray.io/v1alpha1', 'RayCluster', 'ray')
    const objects = [ownerObject(old, { queue: 'q' })]
    expect(review(old, objects, { frameworks: ['pod', 'ray.io/raycluster'] })).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('keeps what it found below an unknown kind', () => {
    const widget = controller('example.com/v1', 'Widget', 'w')
    expect(review(job, [ownerObject(job, { queue: 'q', owner: widget })])).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('keeps what it found below an owner with another uid', () => {
    const objects = [ownerObject(job, { queue: 'q', owner: jobSet }), ownerObject(jobSet, { uid: 'newer' })]
    expect(review(job, objects)).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('denies a pod whose owner is not there, and names the owner', () => {
    const verdict = review(job, [])
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(['Invalid metadata.ownerReferences[0]'])
    expect(errorsOf(verdict)[0]?.detail).toContain('workload owner not found: Job "job" (batch/v1)')
  })

  it('asks for an owner that no cache has seen', () => {
    const world = askingWorld(worldOf(), 'owner')
    reviewPodMutation(requestOf(podOf({ labels: { 'queue-name': 'q' }, owners: [job] })), world)
    const reference = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: job.uid }
    expect(world.open).toEqual([{ kind: 'owner', namespace: 'team-a', reference }])
  })

  it('denies a cycle', () => {
    const verdict = review(job, [ownerObject(job, { owner: jobSet }), ownerObject(jobSet, { owner: job })])
    expect(errorsOf(verdict)[0]?.detail).toContain('cyclic ownership')
  })

  it('follows ten owners and no more', () => {
    const links = Array.from({ length: 11 }, (_, i) => controller('batch/v1', 'Job', `job-${i}`))
    const [first] = links as [OwnerReference]
    expect(review(first, chain(...links.slice(0, 10)))).toMatchObject({ reason: 'Gated' })
    expect(errorsOf(review(first, chain(...links)))[0]?.detail).toContain('managed owner chain limit reached')
  })

  it('does not look at the owner of a pod that asks for nothing', () => {
    const pod = podOf({ owners: [job] })
    expect(reviewPodMutation(requestOf(pod), worldOf())).toMatchObject({ reason: 'NoQueue' })
  })

  it('queues a worker that names a group even when its driver is its queued owner', () => {
    const driver = controller('v1', 'Pod', 'driver')
    const world = worldOf({ objects: [ownerObject(driver, { queue: 'q' })] })
    const worker = (labels: Record<string, string>) =>
      podOf({ labels: { 'queue-name': 'q', ...labels }, owners: [driver] })
    expect(reviewPodMutation(requestOf(worker({})), world)).toMatchObject({ reason: 'OwnerQueued' })
    const member = worker({ 'pod-group-name': 'spark', 'pod-group-role': 'worker' })
    expect(reviewPodMutation(requestOf(member), world)).toMatchObject({ reason: 'Gated' })
  })
})
