import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { OFFLINE_IDENTITY } from '../../../../src/kube/vocabulary/names.ts'
import { reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import {
  brief,
  controller,
  GATE,
  K,
  likeKueue,
  type PodOptions,
  podOf,
  queuedPod,
  requestOf,
  type WorldOptions,
  worldOf,
} from './fixtures.ts'

const update = (old: PodOptions, next: PodOptions, world: WorldOptions = {}): Verdict =>
  reviewPodValidation(requestOf(podOf(next), { old: podOf(old) }), worldOf(world))

const label = (key: string): string => `metadata.labels[${K}${key}]`
const annotation = (key: string): string => `metadata.annotations[${K}${key}]`
const gates = [GATE]
const group = { labels: { 'pod-group-name': 'g' }, annotations: { 'pod-group-total-count': '2' } }
const kep = (more: Record<string, string>, role = 'worker'): PodOptions => ({
  labels: { 'pod-group-name': 'g', 'pod-group-role': role },
  annotations: { 'pod-group-roles': '2', ...more },
})

describe('an update is refused for', () => {
  it.each<[string, PodOptions, PodOptions, readonly string[], WorldOptions?]>([
    [
      'another queue on a running pod',
      { labels: { 'queue-name': 'a' } },
      { labels: { 'queue-name': 'b' } },
      [`Invalid ${label('queue-name')}`],
    ],
    [
      'a queue on a running pod that had none',
      {},
      { labels: { 'queue-name': 'b' } },
      [`Invalid ${label('queue-name')}`],
    ],
    [
      'no queue in a namespace with a default one',
      { labels: { 'queue-name': 'a' }, gates },
      { gates },
      [`Invalid ${label('queue-name')}`],
      { defaultQueue: true },
    ],
    [
      'a malformed prebuilt name on a waiting pod',
      { gates },
      { labels: { 'prebuilt-workload-name': 'B_' }, gates },
      [`Invalid ${label('prebuilt-workload-name')}`],
    ],
    [
      'another prebuilt name on a running pod',
      { labels: { 'prebuilt-workload-name': 'a' } },
      { labels: { 'prebuilt-workload-name': 'b' } },
      [`Invalid ${label('prebuilt-workload-name')}`],
    ],
    [
      'another time limit in the update that lifts the gate',
      { labels: { 'max-exec-time-seconds': '1' }, gates },
      { labels: { 'max-exec-time-seconds': '2' } },
      [`Invalid ${label('max-exec-time-seconds')}`],
    ],
    [
      'a priority class on a running pod',
      {},
      { labels: { 'priority-class': 'high' } },
      [`Invalid ${label('priority-class')}`],
    ],
    [
      'a priority class taken away',
      { labels: { 'priority-class': 'high' }, gates },
      { gates },
      [`Invalid ${label('priority-class')}`],
    ],
    ['elasticity', {}, { annotations: { 'elastic-job': 'true' } }, [`Invalid ${annotation('elastic-job')}`]],
    [
      'a new admission gate',
      { annotations: { 'admission-gated-by': 'a.io/x' } },
      { annotations: { 'admission-gated-by': 'a.io/x,a.io/y' } },
      [`Forbidden ${annotation('admission-gated-by')}`],
    ],
    [
      'a first admission gate',
      {},
      { annotations: { 'admission-gated-by': 'a.io/x' } },
      [`Forbidden ${annotation('admission-gated-by')}`],
    ],
    [
      'retriability regained',
      { ...group, annotations: { ...group.annotations, 'retriable-in-group': 'false' } },
      group,
      [`Forbidden ${annotation('retriable-in-group')}`],
    ],
    ['no group any more', group, {}, [`Invalid ${label('pod-group-name')}`]],
    [
      'another size of the group',
      group,
      { ...group, annotations: { 'pod-group-total-count': '3' } },
      [`Invalid ${annotation('pod-group-total-count')}`],
    ],
    [
      'another dialect',
      group,
      { labels: group.labels, annotations: { 'pod-group-count': '2' } },
      [`Invalid ${annotation('pod-group-total-count')}`],
    ],
    ['another number of roles', kep({}), kep({ 'pod-group-roles': '3' }), [`Invalid ${annotation('pod-group-roles')}`]],
    [
      'another size of the role',
      kep({ 'pod-group-role-count': '3' }),
      kep({}),
      [`Invalid ${annotation('pod-group-role-count')}`],
    ],
    ['another role', kep({}), kep({}, 'driver'), [`Invalid ${label('pod-group-role')}`]],
  ])('%s', (_what, old, next, expected, world) => {
    const verdict = update(old, next, world)
    expect(verdict).toMatchObject({ kind: 'denied', code: 422 })
    expect(brief(verdict)).toEqual(expected)
  })
})

describe('an update is accepted for', () => {
  it.each<[string, PodOptions, PodOptions, WorldOptions?]>([
    [
      'another queue on a waiting pod',
      { labels: { 'queue-name': 'a' }, gates },
      { labels: { 'queue-name': 'b' }, gates },
    ],
    ['no queue on a waiting pod', { labels: { 'queue-name': 'a' }, gates }, { gates }],
    [
      'another queue on a finished pod that is not ours',
      { labels: { 'queue-name': 'a' } },
      { labels: { 'queue-name': 'b' }, phase: 'Succeeded' },
    ],
    [
      'another time limit on a waiting pod',
      { labels: { 'max-exec-time-seconds': '1' }, gates },
      { labels: { 'max-exec-time-seconds': '2' }, gates },
    ],
    ['a priority class on a waiting pod', { gates }, { labels: { 'priority-class': 'high' }, gates }],
    [
      'fewer admission gates',
      { annotations: { 'admission-gated-by': 'a.io/x,a.io/y' } },
      { annotations: { 'admission-gated-by': 'a.io/y' } },
    ],
    ['a group for a pod that had none', {}, group],
    [
      'the name of the group moved from the label to the annotation',
      group,
      { annotations: { ...group.annotations, 'pod-group-name': 'g' } },
    ],
    [
      'a finalizer taken off a pod that is leaving, whatever else is wrong with it',
      { labels: { 'pod-group-name': 'BAD' }, finalizers: ['a/b'], deletionTimestamp: '2026-01-01T00:00:00Z' },
      { labels: { 'pod-group-name': 'BAD' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
    ],
  ])('%s', (_what, old, next, world) => {
    expect(update(old, next, world)).toMatchObject({ kind: 'allowed', reason: 'Valid' })
  })
})

it('a namespace that is gone is known by its name', () => {
  const [old, next] = [podOf(), podOf({ labels: { 'queue-name': 'b' } })]
  const world = worldOf({ namespaceLabels: 'absent' })
  const reviewIn = (namespace: string): Verdict => reviewPodValidation(requestOf(next, { old, namespace }), world)
  expect(reviewIn('kube-system')).toMatchObject({ kind: 'allowed', reason: 'NamespaceNotSelected' })
  expect(reviewIn('team-a')).toMatchObject({ kind: 'denied' })
})

describe('the role hash of a managed pod', () => {
  const edit = (hash: string | undefined, lifted = false): Verdict => {
    const old = queuedPod(lifted ? { gates: [] } : {})
    const { [`${K}role-hash`]: _, ...rest } = old.metadata.annotations ?? {}
    const annotations = hash === undefined ? rest : { ...rest, [`${K}role-hash`]: hash }
    const next = { ...old, metadata: { ...old.metadata, annotations } }
    return reviewPodValidation(requestOf(next, { old, user: { username: OFFLINE_IDENTITY } }), worldOf())
  }

  it.each([
    ['another', '00000000'],
    ['none', undefined],
  ])('does not become %s', (_what, hash) => {
    expect(brief(edit(hash))).toEqual([`Invalid ${annotation('role-hash')}`])
  })

  it('may be corrected while the pod waits, and not later', () => {
    const old = queuedPod({ annotations: { 'role-hash': '00000000' } })
    expect(reviewPodValidation(requestOf(queuedPod(), { old }), worldOf())).toMatchObject({ kind: 'allowed' })
    const lifted = queuedPod({ annotations: { 'role-hash': '00000000' }, gates: [] })
    const verdict = reviewPodValidation(requestOf(queuedPod({ gates: [] }), { old: lifted }), worldOf())
    expect(brief(verdict)).toEqual([`Invalid ${annotation('role-hash')}`])
  })

  it('stays when the lift changes the spec', () => {
    const lifted = queuedPod({ gates: [], spec: { nodeSelector: { zone: 'a' } } })
    const request = requestOf(lifted, { old: queuedPod(), user: { username: OFFLINE_IDENTITY } })
    expect(reviewPodValidation(request, worldOf())).toMatchObject({ kind: 'allowed' })
  })
})

describe('what was wrong with a pod before', () => {
  const marks = {
    labels: { 'pod-group-name': 'g', 'pod-group-role': 'w' },
    annotations: { 'pod-group-total-count': '2' },
  }
  const before = queuedPod({ gates: [], ...marks })
  const freed = queuedPod({ gates: [], finalizers: [], ...marks })

  it('does not keep Muster from letting go of one that was lifted', () => {
    const request = requestOf(freed, { old: before, user: { username: OFFLINE_IDENTITY } })
    expect(reviewPodValidation(request, worldOf())).toMatchObject({ kind: 'allowed' })
  })

  it('is told while it waits, and so is what is new', () => {
    const denied = { kind: 'denied' }
    const waiting = requestOf(queuedPod({ ...marks, spec: { priority: 1 } }), { old: queuedPod(marks) })
    expect(reviewPodValidation(waiting, worldOf())).toMatchObject(denied)
    const worse = queuedPod({
      gates: [],
      ...marks,
      annotations: { 'pod-group-total-count': '2', 'pod-group-count': 'x' },
    })
    const request = requestOf(worse, { old: before, user: { username: OFFLINE_IDENTITY } })
    expect(reviewPodValidation(request, worldOf())).toMatchObject(denied)
  })
})

describe('the warning about a queued owner', () => {
  const owners = [controller('batch/v1', 'Job', 'job')]
  const marked = { owners, labels: { managed: 'true' } }
  const kueue = likeKueue(['pod', 'batch/job'])
  const warned = { warnings: [expect.stringMatching(/^pod owner is managed by kueue.{0,220}$/)] }

  it('is given while the label is there', () => {
    expect(update(marked, marked, kueue)).toMatchObject({ kind: 'allowed', ...warned })
  })

  it('is not given when the parent suspends the pod', () => {
    const suspended = { ...marked, annotations: { 'pod-suspending-parent': 'job' } }
    expect(update(suspended, suspended, kueue)).toMatchObject({ kind: 'allowed', warnings: [] })
  })

  it('is not given where nothing queues the owner, or where others create its pods', () => {
    expect(update(marked, marked)).toMatchObject({ kind: 'allowed', warnings: [] })
    expect(update(marked, marked, { engine: 'kueue' })).toMatchObject({ kind: 'allowed', warnings: [] })
  })
})
