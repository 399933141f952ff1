import { describe, expect, it } from 'vitest'
import type { UserInfo } from '../../../../src/admission/review.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import { named, only } from '../../manifests/read.ts'
import {
  brief,
  controller,
  errorsOf,
  GATE,
  K,
  MANAGED,
  ownerObject,
  podOf,
  queuedPod,
  requestOf,
  type WorldOptions,
  worldOf,
} from '../../webhooks/pods/fixtures.ts'

const TENANT: UserInfo = { username: 'alice', groups: ['system:authenticated'] }
const withKueue = (options: WorldOptions = {}) => worldOf({ engine: 'kueue', ...options })
const created = (pod: Pod, options: WorldOptions = {}) => {
  const request = requestOf(pod, { user: TENANT })
  return [reviewPodMutation(request, withKueue(options)), reviewPodValidation(request, withKueue(options))] as const
}
const refusals = (old: Pod, next: Pod, subResource = '') =>
  brief(reviewPodValidation(requestOf(next, { old, user: TENANT, subResource }), withKueue()))
const without = (pod: Pod, ...keys: readonly string[]): Pod => {
  const labels = Object.entries(pod.metadata.labels ?? {}).filter(([key]) => !keys.includes(key))
  return { ...pod, metadata: { ...pod.metadata, labels: Object.fromEntries(labels) } }
}
const sized = (cpu: string): Pod =>
  queuedPod({ gates: [], spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } })

/** By their numbers in docs/kueue.md: those that a review has to prevent, with Kueue as the engine. */
describe("the weaknesses of Kueue's own pod integration, at the gate", () => {
  const [waiting, lifted] = [queuedPod(), queuedPod({ gates: [] })]
  const QUEUE_LABEL = `${K}queue-name`

  it('G1: nobody takes the gate away', () => {
    expect(refusals(waiting, lifted)).toEqual(['Forbidden spec.schedulingGates'])
  })

  it('G2: nobody takes it from a pod that he took out of its queue before', () => {
    const out = without(waiting, QUEUE_LABEL)
    expect(refusals(out, without(lifted, QUEUE_LABEL))).toEqual(['Forbidden spec.schedulingGates'])
  })

  it('G3: nobody takes it together with the label', () => {
    expect(refusals(waiting, without(lifted, MANAGED))).toEqual([
      'Forbidden spec.schedulingGates',
      `Forbidden metadata.labels[${MANAGED}]`,
    ])
  })

  it('G4: nobody has the role of a smaller pod', () => {
    const forged = podOf({ labels: { 'queue-name': 'q' }, annotations: { 'role-hash': '4ebdd4a6' } })
    expect(created(forged).flatMap(brief)).toContain(`Invalid metadata.annotations[${K}role-hash]`)
    const later = queuedPod({ annotations: { 'role-hash': '4ebdd4a6' } })
    expect(refusals(waiting, later)).toContain(`Invalid metadata.annotations[${K}role-hash]`)
  })

  it('G6: nobody is excused by an owner that he names', () => {
    const job = controller('batch/v1', 'Job', 'train')
    const pod = podOf({ labels: { 'queue-name': 'q' }, owners: [job] })
    const world = { objects: [ownerObject(job, { queue: 'q' })], frameworks: ['pod', 'batch/job'] }
    expect(created(pod, world)[0]).toMatchObject({ reason: 'Gated' })
    const controllers: UserInfo = { username: 'system:serviceaccount:kube-system:job-controller', groups: [] }
    const fromTheJob = reviewPodMutation(requestOf(pod, { user: controllers }), withKueue(world))
    expect(fromTheJob).toMatchObject({ kind: 'allowed', patch: [] })
  })

  it('G7: nobody grows beyond what he was admitted with, and nobody is touched for another image', () => {
    expect(refusals(lifted, sized('64'), 'resize')).toEqual(['Forbidden spec.containers'])
    const image = queuedPod({
      gates: [],
      spec: { containers: [{ name: 'main', image: 'other:2', resources: { requests: { cpu: '1' } } }] },
    })
    expect(refusals(lifted, image)).toEqual([])
  })

  it('G8: only pods that ask for a queue depend on Muster, and it has two replicas', () => {
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
      const [pods] = named(kind, 'muster').webhooks as readonly Webhook[]
      expect(pods?.name).toMatch(/^pods\./)
      expect(pods?.matchConditions.map(({ expression }) => expression).join()).toContain(QUEUE_LABEL)
    }
    expect(only('Deployment').spec.replicas).toBe(2)
  })

  it('G19: who has a parent that suspends him is queued like any other, by all marks', () => {
    const [verdict] = created(podOf({ labels: { 'queue-name': 'q' }, annotations: { 'pod-suspending-parent': 'x' } }))
    expect(JSON.stringify(verdict)).toContain(MANAGED)
    expect(JSON.stringify(verdict)).toContain(GATE)
    const [alone] = created(podOf({ annotations: { 'pod-suspending-parent': 'x' } }))
    expect(alone).toMatchObject({ kind: 'allowed', patch: [] })
  })

  it('G20: who has a node already is told so, with his queue and the remedy', () => {
    const [verdict] = created(podOf({ labels: { 'queue-name': 'q' }, spec: { nodeName: 'node-1' } }))
    expect(brief(verdict)).toEqual(['Forbidden spec.nodeName'])
    expect(errorsOf(verdict)[0]?.detail).toContain('kubernetes.io/hostname: node-1')
  })

  it.each([
    ['podset', { labels: { 'queue-name': 'q', podset: 'main' } }],
    ['local-queue-name', { labels: { 'queue-name': 'q', 'local-queue-name': 'other' } }],
    ['cluster-queue-name', { labels: { 'queue-name': 'q', 'cluster-queue-name': 'other' } }],
    ['workload', { labels: { 'queue-name': 'q' }, annotations: { workload: 'other' } }],
  ])('G22: a new pod with the mark %s of a lifted one is refused, and kills no Workload later', (mark, options) => {
    expect(JSON.stringify(created(podOf(options)).flatMap(errorsOf))).toContain(`kueue.x-k8s.io/${mark}`)
  })

  it('G26: a time limit that no Workload has room for is refused', () => {
    const limited = (seconds: string) =>
      created(queuedPod({ labels: { 'max-exec-time-seconds': seconds } })).flatMap(brief)
    expect(limited('2147483648')).toContain(`Invalid metadata.labels[${K}max-exec-time-seconds]`)
    expect(limited('2147483647')).toEqual([])
  })
})

interface Webhook {
  readonly name: string
  readonly matchConditions: readonly { readonly expression: string }[]
}
