import { describe, expect, it } from 'vitest'
import type { UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { KubeObject, OwnerReference } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewPodMutation } from '../../../../src/webhooks/pods/pods.ts'
import {
  askingWorld,
  brief,
  controller,
  errorsOf,
  likeKueue,
  ownerObject,
  podOf,
  requestOf,
  type WorldOptions,
  worldOf,
} from './fixtures.ts'

const job = controller('batch/v1', 'Job', 'job')
const jobSet = controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')
const wrapper = controller('workload.codeflare.dev/v1beta2', 'AppWrapper', 'wrapper')

const KUEUE = likeKueue(['pod', 'batch/job'])

function review(
  owner: OwnerReference,
  objects: readonly KubeObject[],
  options: WorldOptions = KUEUE,
  user?: UserInfo,
): Verdict {
  const pod = podOf({ labels: { 'queue-name': 'q' }, owners: [owner] })
  return reviewPodMutation(requestOf(pod, user ? { user } : {}), worldOf({ objects, ...options }))
}

const chain = (...links: readonly OwnerReference[]): readonly KubeObject[] =>
  links.map((link, index) => ownerObject(link, links[index + 1] ? { owner: links[index + 1] as OwnerReference } : {}))

describe('the walk up the owners', () => {
  const wrappers = likeKueue(['pod', 'batch/job', 'workload.codeflare.dev/appwrapper'])

  it('passes kinds of disabled frameworks on its way to an enabled one', () => {
    const objects = [
      ownerObject(job, { owner: jobSet }),
      ownerObject(jobSet, { owner: wrapper }),
      ownerObject(wrapper, { queue: 'q' }),
    ]
    expect(review(job, objects, wrappers)).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('does not count the queue of a disabled framework', () => {
    const objects = [ownerObject(job, { owner: jobSet }), ownerObject(jobSet, { queue: 'q' })]
    expect(review(job, objects, wrappers)).toMatchObject({ reason: 'Gated' })
  })

  it('knows a kind by any version of its API', () => {
    const old = controller('ray.io/v1alpha1', 'RayCluster', 'ray')
    const objects = [ownerObject(old, { queue: 'q' })]
    expect(review(old, objects, likeKueue(['pod', 'ray.io/raycluster']))).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('keeps what it found below an unknown kind', () => {
    const widget = controller('example.com/v1', 'Widget', 'w')
    expect(review(job, [ownerObject(job, { queue: 'q', owner: widget })])).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('keeps what it found below an owner with another uid', () => {
    const objects = [ownerObject(job, { queue: 'q', owner: jobSet }), ownerObject(jobSet, { uid: 'newer' })]
    expect(review(job, objects)).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('does not count the queue of an owner that has only the name of the one that is meant', () => {
    expect(review(job, [ownerObject(job, { queue: 'q', uid: 'newer' })])).toMatchObject({ reason: 'Gated' })
  })

  it('denies a pod whose owner is not there, and names the owner', () => {
    const verdict = review(job, [])
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(['Invalid metadata.ownerReferences[0]'])
    expect(errorsOf(verdict)[0]?.detail).toContain('workload owner not found: Job "job" (batch/v1)')
  })

  it('asks for an owner that no cache has seen', () => {
    const world = askingWorld(worldOf(KUEUE), 'owner')
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
})

describe('an owner excuses nobody by a claim', () => {
  const held = [ownerObject(job, { queue: 'q' })]
  const jobController = { username: 'system:serviceaccount:kube-system:job-controller' }
  const alice = { username: 'alice', groups: ['system:masters'] }
  const kueue: WorldOptions = { engine: 'kueue' }

  it('leaves the pods of a Job that Kueue holds alone when the Job controller creates them', () => {
    for (const username of [jobController.username, 'system:kube-controller-manager']) {
      expect(review(job, held, kueue, { username })).toMatchObject({ reason: 'OwnerQueued' })
    }
  })

  it('queues a pod whose author only says that such a Job owns it', () => {
    for (const user of [alice, { username: '' }, undefined]) {
      expect(review(job, held, kueue, user)).toMatchObject({ reason: 'Gated' })
    }
  })

  it('does not take the controller of one kind for that of another', () => {
    const replicaSets = { username: 'system:serviceaccount:kube-system:replicaset-controller' }
    expect(review(job, held, kueue, replicaSets)).toMatchObject({ reason: 'Gated' })
    const set = controller('apps/v1', 'ReplicaSet', 'web-1')
    const web = controller('apps/v1', 'Deployment', 'web')
    const objects = [ownerObject(set, { owner: web }), ownerObject(web, { queue: 'q' })]
    const deployments: WorldOptions = { engine: 'kueue', frameworks: ['pod', 'deployment'] }
    expect(review(set, objects, deployments, replicaSets)).toMatchObject({ reason: 'OwnerQueued' })
    expect(review(set, objects, deployments, jobController)).toMatchObject({ reason: 'Gated' })
  })

  it('queues the pods of a labelled Job where nothing queues the Job, and asks for no owner', () => {
    const podsOnly = { frameworks: ['pod'] }
    expect(review(job, held, podsOnly, jobController)).toMatchObject({ reason: 'Gated' })
    expect(review(job, [], podsOnly, jobController)).toMatchObject({ reason: 'Gated' })
    const anybody = { ...podsOnly, controllers: { 'batch/job': ['*'] } }
    expect(review(job, held, anybody, alice)).toMatchObject({ reason: 'Gated' })
  })

  it('queues the pods of a ReplicaSet or a StatefulSet whose author says that a Job or a JobSet owns it', () => {
    const frameworks = ['pod', 'batch/job', 'jobset.x-k8s.io/jobset']
    const makers = { ReplicaSet: 'replicaset-controller', StatefulSet: 'statefulset-controller' }
    for (const [kind, maker] of Object.entries(makers)) {
      const set = controller('apps/v1', kind, 'web')
      const user = { username: `system:serviceaccount:kube-system:${maker}` }
      for (const owner of [job, controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')]) {
        const objects = [ownerObject(set, { owner }), ownerObject(owner, { queue: 'q' })]
        expect(review(set, objects, { frameworks }, user)).toMatchObject({ reason: 'Gated' })
      }
    }
    const set = controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')
    const objects = [ownerObject(job, { owner: set }), ownerObject(set, { queue: 'q' })]
    expect(review(job, objects, { frameworks }, jobController)).toMatchObject({ reason: 'OwnerQueued' })
  })

  it('queues a pod whose queued owner is a pod: it holds nobody back', () => {
    const driver = controller('v1', 'Pod', 'driver')
    const world = worldOf({ ...KUEUE, objects: [ownerObject(driver, { queue: 'q' })] })
    const worker = (labels: Record<string, string>) =>
      podOf({ labels: { 'queue-name': 'q', ...labels }, owners: [driver] })
    expect(reviewPodMutation(requestOf(worker({})), world)).toMatchObject({ reason: 'Gated' })
    const member = worker({ 'pod-group-name': 'spark', 'pod-group-role': 'worker' })
    expect(reviewPodMutation(requestOf(member), world)).toMatchObject({ reason: 'Gated' })
  })
})
