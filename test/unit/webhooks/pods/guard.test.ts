import { describe, expect, it } from 'vitest'
import type { UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { OFFLINE_IDENTITY } from '../../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import {
  brief,
  controller,
  errorsOf,
  GATE,
  K,
  MANAGED,
  podOf,
  queuedPod,
  requestOf,
  type WorldOptions,
  worldOf,
} from './fixtures.ts'

const alice: UserInfo = { username: 'alice', groups: ['system:masters', 'system:authenticated'] }
const muster: UserInfo = { username: OFFLINE_IDENTITY, groups: ['system:serviceaccounts'] }

const waiting = queuedPod()
const lifted = queuedPod({ gates: [] })

function change(
  old: Pod,
  next: Pod,
  user: UserInfo | undefined = alice,
  world: WorldOptions = {},
  sub?: string,
): Verdict {
  const options = { old, ...(user && { user }), ...(sub && { subResource: sub }) }
  return reviewPodValidation(requestOf(next, options), worldOf(world))
}

const sized = (cpu: string, more: Readonly<Record<string, string>> = {}): Pod =>
  queuedPod({ gates: [], spec: { containers: [{ name: 'main', resources: { requests: { cpu, ...more } } }] } })
const withMeta = (pod: Pod, meta: Partial<Pod['metadata']>): Pod => ({ ...pod, metadata: { ...pod.metadata, ...meta } })
const withoutLabel = (pod: Pod, key: string): Pod => {
  const { [K + key]: _, ...labels } = pod.metadata.labels ?? {}
  return withMeta(pod, { labels })
}
const withLabel = (pod: Pod, key: string, value: string): Pod =>
  withMeta(pod, { labels: { ...pod.metadata.labels, [K + key]: value } })

type Bypass = readonly [string, Pod, Pod, readonly string[]]

const bypasses: readonly Bypass[] = [
  ['the gate goes', waiting, lifted, ['Forbidden spec.schedulingGates']],
  [
    'the gate and the label go together',
    waiting,
    withoutLabel(lifted, 'managed'),
    ['Forbidden spec.schedulingGates', `Forbidden metadata.labels[${MANAGED}]`],
  ],
  [
    'the gate goes from a pod that has lost its queue',
    withoutLabel(waiting, 'queue-name'),
    withoutLabel(lifted, 'queue-name'),
    ['Forbidden spec.schedulingGates'],
  ],
  [
    'the gate makes room for a foreign one',
    waiting,
    queuedPod({ gates: ['foreign.io/gate'] }),
    ['Forbidden spec.schedulingGates'],
  ],
  ['the label goes', lifted, withoutLabel(lifted, 'managed'), [`Forbidden metadata.labels[${MANAGED}]`]],
  ['the finalizer goes', lifted, queuedPod({ gates: [], finalizers: [] }), ['Forbidden metadata.finalizers']],
  [
    'the finalizer goes from a pod that is being deleted',
    queuedPod({ deletionTimestamp: '2026-01-01T00:00:00Z' }),
    queuedPod({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [] }),
    ['Forbidden metadata.finalizers'],
  ],
  [
    'the queue of a finished pod changes',
    queuedPod({ gates: [], phase: 'Failed' }),
    queuedPod({ gates: [], phase: 'Failed', labels: { 'queue-name': 'other' } }),
    [`Forbidden metadata.labels[${K}queue-name]`],
  ],
  [
    'a lifted pod joins a group',
    lifted,
    withMeta(withLabel(lifted, 'pod-group-name', 'g'), {
      annotations: { ...lifted.metadata.annotations, [`${K}pod-group-total-count`]: '2' },
    }),
    [`Forbidden metadata.labels[${K}pod-group-name]`, `Forbidden metadata.annotations[${K}pod-group-total-count]`],
  ],
  [
    'a waiting pod gets the podSet of an admitted one',
    waiting,
    withLabel(waiting, 'podset', 'main'),
    [`Forbidden metadata.labels[${K}podset]`],
  ],
  [
    'a pod is declared queued after its creation',
    podOf(),
    podOf({ labels: { managed: 'true' } }),
    [`Forbidden metadata.labels[${MANAGED}]`],
  ],
  [
    'a pod that waits behind a gate of the same name is declared queued',
    podOf({ gates: [GATE] }),
    podOf({ gates: [GATE], labels: { managed: 'true' } }),
    [`Forbidden metadata.labels[${MANAGED}]`],
  ],
  [
    'a pod that waits behind a gate of the same name gets a queue',
    podOf({ gates: [GATE] }),
    podOf({ gates: [GATE], labels: { 'queue-name': 'q' } }),
    [`Forbidden metadata.labels[${K}queue-name]`],
  ],
  [
    'a pod that names a queued owner is declared queued',
    podOf({ owners: [controller('batch/v1', 'Job', 'job')] }),
    podOf({ owners: [controller('batch/v1', 'Job', 'job')], labels: { managed: 'true' } }),
    [`Forbidden metadata.labels[${MANAGED}]`],
  ],
  [
    'a pod gets the finalizer after its creation',
    podOf(),
    podOf({ finalizers: [MANAGED] }),
    ['Forbidden metadata.finalizers'],
  ],
  [
    'the label comes back to a pod that has lost it',
    withoutLabel(lifted, 'managed'),
    lifted,
    [`Forbidden metadata.labels[${MANAGED}]`],
  ],
  [
    'the finalizer goes from a pod without the label that could still start',
    withoutLabel(waiting, 'managed'),
    withoutLabel(queuedPod({ finalizers: [] }), 'managed'),
    ['Forbidden metadata.finalizers'],
  ],
  ...(['muster.dev/creator', `${K}workload`] as const).map(
    (key): Bypass => [
      `what Muster has written of a pod that waits changes: ${key}`,
      queuedPod({ annotations: { [key]: 'a' } }),
      queuedPod({ annotations: { [key]: 'b' } }),
      [`Forbidden metadata.annotations[${key}]`],
    ],
  ),
]

/** What a pod is admitted with. None of these is refused to everybody by the rules for wrong fields. */
const settled: readonly (readonly ['labels' | 'annotations', string])[] = [
  ['labels', `${K}queue-name`],
  ['annotations', `${K}pod-group-fast-admission`],
  ['annotations', `${K}pod-group-serving`],
  ['labels', `${K}prebuilt-workload-name`],
  ['annotations', `${K}prebuilt-workload-name`],
  ['labels', `${K}podset`],
  ['labels', `${K}local-queue-name`],
  ['labels', `${K}cluster-queue-name`],
  ['annotations', `${K}workload`],
  ['annotations', 'muster.dev/creator'],
]

describe('the guard', () => {
  it.each(bypasses)('refuses, for anybody: %s', (_what, old, next, expected) => {
    const verdict = change(old, next)
    expect(verdict).toMatchObject({ kind: 'denied', code: 403, reason: 'Forbidden' })
    expect(brief(verdict)).toEqual(expected)
  })

  it.each(bypasses)('refuses, for a request without a user: %s', (_what, old, next) => {
    expect(change(old, next, undefined)).toMatchObject({ kind: 'denied', code: 403 })
  })

  it.each(bypasses)('allows, for Muster itself: %s', (_what, old, next) => {
    expect(change(old, next, muster)).toMatchObject({ kind: 'allowed' })
  })

  it.each(bypasses)('allows, for an exempt user or group: %s', (_what, old, next) => {
    expect(change(old, next, alice, { exemptUsers: ['alice'] })).toMatchObject({ kind: 'allowed', reason: 'Exempt' })
    const admin = { username: 'bob', groups: ['platform-admins'] }
    expect(change(old, next, admin, { exemptGroups: ['platform-admins'] })).toMatchObject({ kind: 'allowed' })
  })

  it('leaves a pod that came with the gate and without a queue to who put the gate there', () => {
    const other = podOf({ gates: [GATE] })
    expect(change(other, podOf({ gates: [GATE], labels: { 'example.com/app': 'mine' } }))).toMatchObject({
      kind: 'allowed',
    })
    expect(change(other, podOf({ gates: [] }))).toMatchObject({ kind: 'allowed' })
    expect(change(waiting, withLabel(waiting, 'queue-name', 'other'))).toMatchObject({ kind: 'allowed' })
  })

  it.each(settled)('keeps what a lifted pod was admitted with, by every way: %s %s', (kind, key) => {
    // At its end Kueue's rules let go of the pod, and only the guard is left.
    const phase = 'Succeeded'
    for (const [was, is] of [
      ['a', 'b'],
      ['a', undefined],
      [undefined, 'b'],
    ] as const) {
      const having = (value: string | undefined): Pod =>
        queuedPod({ gates: [], phase, ...(value && { [kind]: { [key]: value } }) })
      // The queue of the fixture is there without being asked for.
      const error = `Forbidden metadata.${kind}[${key}]`
      for (const sub of [undefined, 'status']) {
        expect(brief(change(having(was), having(is), alice, {}, sub))).toEqual([error])
        expect(change(having(was), having(is), muster, {}, sub)).toMatchObject({ kind: 'allowed' })
        expect(change(having(was), having(was), alice, {}, sub)).toMatchObject({ kind: 'allowed' })
      }
    }
  })

  it('says who may', () => {
    const verdict = change(waiting, lifted, alice, { exemptUsers: ['root'], exemptGroups: ['platform-admins'] })
    expect(errorsOf(verdict)[0]?.detail).toContain(
      `only Muster itself (${OFFLINE_IDENTITY}) and the users root and members of platform-admins may change this`,
    )
  })

  it('leaves a trace in the audit log of what an exemption was used for, and of nothing else', () => {
    const both = withoutLabel(lifted, 'managed')
    expect(change(waiting, both, alice, { exemptUsers: ['alice'] })).toMatchObject({
      audit: { exemption: `user alice: spec.schedulingGates, metadata.labels[${MANAGED}]` },
    })
    expect(change(waiting, lifted, alice, { exemptGroups: ['system:masters'] })).toMatchObject({
      audit: { exemption: 'group system:masters: spec.schedulingGates' },
    })
    const harmless = withMeta(waiting, { annotations: { ...waiting.metadata.annotations, note: 'hello' } })
    expect(change(waiting, harmless, alice, { exemptUsers: ['alice'] })).not.toHaveProperty('audit')
    expect(change(waiting, lifted, muster)).not.toHaveProperty('audit')
  })

  it('exempts nobody without a name', () => {
    expect(change(waiting, lifted, { username: '' }, { exemptUsers: [''] })).toMatchObject({ kind: 'denied' })
  })

  it('reports a wrong field before it asks who wrote it', () => {
    const verdict = change(waiting, withLabel(lifted, 'queue-name', 'other'))
    expect(verdict).toMatchObject({ code: 422 })
  })
})

describe('the guard does not hinder', () => {
  const tracked = queuedPod({ finalizers: ['batch.kubernetes.io/job-tracking', MANAGED] })
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const noRetries = queuedPod({ gates: [], annotations: { 'retriable-in-group': 'false' } })
  const owned = withMeta(waiting, { ownerReferences: [controller('example.com/v1', 'Widget', 'w')] })

  it.each<[string, Pod, Pod, string?]>([
    [
      'a controller that adds its label',
      waiting,
      withMeta(waiting, { labels: { ...waiting.metadata.labels, app: 'x' } }),
    ],
    ['the Job controller that removes its own finalizer', tracked, queuedPod()],
    ['the garbage collector that drops an owner', owned, waiting],
    ['a controller that adopts the pod', waiting, owned],
    ['a deletion', waiting, queuedPod(deleted)],
    ['a user who adds a toleration', waiting, queuedPod({ spec: { tolerations: [{ operator: 'Exists' }] } })],
    ['a foreign gate that is lifted', queuedPod({ gates: ['foreign.io/gate', GATE] }), waiting],
    ['the kubelet that reports status', lifted, { ...lifted, status: { phase: 'Running' } }, 'status'],
    ['an ephemeral container', lifted, lifted, 'ephemeralcontainers'],
    ['an eviction', waiting, waiting, 'eviction'],
    ['the resize of a lifted pod that gives something back', lifted, sized('500m'), 'resize'],
    ['the resize of a lifted pod that asks for the same in other words', lifted, sized('1000m'), 'resize'],
    ['the resize of a pod that was never ours', podOf(), sized('64'), 'resize'],
    ['a group that gives up retrying while it runs', lifted, noRetries, undefined],
    [
      'anybody who frees a pod of the finalizer that is left over without the label',
      withoutLabel(lifted, 'managed'),
      withoutLabel(queuedPod({ gates: [], finalizers: [] }), 'managed'),
    ],
    [
      'the end of a deleted pod that waits without the label',
      withoutLabel(queuedPod(deleted), 'managed'),
      withoutLabel(queuedPod({ ...deleted, finalizers: [] }), 'managed'),
    ],
    ['a pod with our gate that was never ours', podOf({ gates: [GATE] }), podOf()],
  ])('%s', (_what, old, next, sub) => {
    expect(change(old, next, alice, {}, sub)).toMatchObject({ kind: 'allowed' })
  })

  it('anything while pods are not enabled, since nobody would lift the gate', () => {
    expect(change(waiting, lifted, alice, { frameworks: ['batch/job'] })).toMatchObject({ kind: 'allowed' })
  })
})

describe('subresources', () => {
  it('let no admitted pod grow, in any resource, by any container', () => {
    for (const [next, told] of [
      [sized('1001m'), 'the pod has 1 cpu of its queue and would use 1001m'],
      [sized('1', { 'nvidia.com/gpu': '1' }), 'the pod has 0 nvidia.com/gpu of its queue and would use 1'],
      [
        queuedPod({ gates: [], spec: { resources: { requests: { cpu: '64' } } } }),
        'the pod has 1 cpu of its queue and would use 64',
      ],
    ] as const) {
      const verdict = change(lifted, next, alice, {}, 'resize')
      expect(brief(verdict)).toEqual(['Forbidden spec.containers'])
      expect(errorsOf(verdict)[0]?.detail).toContain(told)
      expect(change(lifted, next, muster, {}, 'resize')).toMatchObject({ kind: 'allowed' })
    }
    expect(change(lifted, sized('a lot'), alice, {}, 'resize')).toMatchObject({ kind: 'denied' })
  })

  it('let no pod of a started Job grow either, also where pods themselves are not queued', () => {
    const ofJob = (cpu: string): Pod => ({
      ...sized(cpu),
      metadata: { name: 'train-x', labels: { [`${K}podset`]: 'main' } },
    })
    for (const frameworks of [['pod', 'batch/job'], ['batch/job']]) {
      const resize = (cpu: string): Verdict => change(ofJob('1'), ofJob(cpu), alice, { frameworks }, 'resize')
      expect(errorsOf(resize('2'))[0]?.detail).toContain('the pod has 1 cpu of its queue and would use 2')
      expect(resize('500m')).toMatchObject({ kind: 'allowed' })
    }
    const plain = (cpu: string): Pod => ({ ...sized(cpu), metadata: { name: 'train-x' } })
    expect(change(plain('1'), plain('2'), alice, {}, 'resize')).toMatchObject({ kind: 'allowed' })
    // Somebody else's mark, where no Job is queued here.
    expect(change(ofJob('1'), ofJob('2'), alice, { frameworks: ['pod'] }, 'resize')).toMatchObject({ kind: 'allowed' })
  })

  it('keep the size of a pod that waits', () => {
    const verdict = change(waiting, waiting, alice, {}, 'resize')
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(['Forbidden spec.containers'])
    expect(change(waiting, waiting, muster, {}, 'resize')).toMatchObject({ kind: 'allowed' })
  })

  it('are no way around the guard: pods/status carries metadata too', () => {
    const verdict = change(lifted, withoutLabel(lifted, 'managed'), alice, {}, 'status')
    expect(brief(verdict)).toEqual([`Forbidden metadata.labels[${MANAGED}]`])
  })
})
