import { describe, expect, it } from 'vitest'
import { applyPatch } from '../../../../src/admission/patch.ts'
import { REVIEW_REASONS } from '../../../../src/admission/reasons.ts'
import type { AdmissionRequest, Operation, UserInfo } from '../../../../src/admission/review.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import { OFFLINE_IDENTITY } from '../../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED } from '../../../../src/kube/vocabulary/served-scheduling.ts'
import { localWorld } from '../../../../src/webhooks/local-world.ts'
import { reviewPodGroupMutation, reviewPodGroupValidation } from '../../../../src/webhooks/pod-groups/pod-groups.ts'
import { reviewPodMutation } from '../../../../src/webhooks/pods/pods.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { podGroupNameFor } from '../../../../src/workload/placement.ts'

const world = (config: Configuration = DEFAULT_CONFIGURATION, kai = true): World => ({
  ...localWorld(config),
  scheduling: () => ({ ...NOTHING_SERVED, kai }),
})

const ADA: UserInfo = { username: 'ada', groups: ['system:authenticated'] }
const GROUPER: UserInfo = { username: 'system:serviceaccount:kai-scheduler:pod-grouper' }
const MUSTER: UserInfo = { username: OFFLINE_IDENTITY }
const GATE = { name: 'muster.dev/pod-group' }
const MARK = { 'muster.dev/pod-group': 'reference' }

interface Change {
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly spec?: Partial<Pod['spec']>
}

const podOf = ({ labels, annotations, spec }: Change = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ml', ...(labels && { labels }), ...(annotations && { annotations }) },
  spec: { schedulerName: 'kai-scheduler', schedulingGroup: { podGroupName: 'pg' }, ...spec },
})

const held = (change: Change = {}): Pod =>
  podOf({ ...change, labels: { ...MARK, ...change.labels }, spec: { schedulingGates: [GATE], ...change.spec } })

function request(operation: Operation, object: Pod, user: UserInfo, oldObject?: Pod, subResource?: string) {
  const kind = { group: '', version: 'v1', kind: 'Pod' }
  const resource = { group: '', version: 'v1', resource: 'pods' }
  const base = { uid: 'u', kind, resource, operation, namespace: 'ml', userInfo: user, object }
  return {
    ...base,
    ...(oldObject && { oldObject }),
    ...(subResource && { subResource }),
  } as unknown as AdmissionRequest
}

const create = (pod: Pod, at = world()) => reviewPodGroupMutation(request('CREATE', pod, ADA), at)

describe('a new pod of KAI that names a group', () => {
  it('waits behind our gate, with the mark by which it is found', () => {
    const verdict = create(podOf())
    expect(verdict).toMatchObject({ kind: 'allowed', reason: 'HeldForPodGroup' })
    if (verdict.kind !== 'allowed') return
    const pod = applyPatch(podOf(), verdict.patch)
    expect(pod.metadata.labels).toEqual(MARK)
    expect(pod.spec.schedulingGates).toEqual([GATE])
    expect(create(pod)).toMatchObject({ reason: 'AlreadyHeld', patch: [] })
  })

  it('is the same by the field of 1.35', () => {
    const spec = { schedulingGroup: null, workloadRef: { name: 'w', podGroup: 'g' } }
    expect(create(podOf({ spec }))).toMatchObject({ reason: 'HeldForPodGroup' })
  })

  it('keeps labels, annotations and gates of others, and brings no link along', () => {
    const pod = podOf({
      labels: { app: 'a', 'kai.scheduler/subgroup-name': 'worker' },
      annotations: { 'pod-group-name': "victim's", mine: 'yes' },
      spec: { schedulingGates: [{ name: 'example.com/other' }] },
    })
    const verdict = create(pod)
    const after = verdict.kind === 'allowed' ? applyPatch(pod, verdict.patch) : pod
    expect(after.metadata.labels).toEqual({ app: 'a', ...MARK })
    expect(after.metadata.annotations).toEqual({ mine: 'yes' })
    expect(after.spec.schedulingGates).toEqual([{ name: 'example.com/other' }, GATE])
  })

  it.each([
    ['NotPlacedByKai', podOf({ spec: { schedulerName: 'default-scheduler' } })],
    ['NotPlacedByKai', podOf({ spec: { schedulerName: '' } })],
    ['NamesNoGroup', podOf({ spec: { schedulingGroup: null } })],
    ['NamesNoGroup', podOf({ spec: { schedulingGroup: {} } })],
    ['OptedOut', podOf({ annotations: { 'kai.scheduler/ignore-workload-api': 'true' } })],
    ['HasNode', podOf({ spec: { nodeName: 'n1' } })],
    ['MirrorPod', podOf({ annotations: { 'kubernetes.io/config.mirror': 'x' } })],
  ])('is not held, by a reason that the command line knows: %s', (reason, pod) => {
    expect(REVIEW_REASONS).toContain(reason)
    expect(create(pod)).toMatchObject({ kind: 'allowed', reason, patch: [] })
  })

  it.each(['True', '1', 'false', ''])('is held with the opt-out %j, which is none', value => {
    expect(create(podOf({ annotations: { 'kai.scheduler/ignore-workload-api': value } }))).toMatchObject({
      reason: 'HeldForPodGroup',
    })
  })

  it('is not held where KAI is not served, or not to be used, or its namespace is nobody’s business', () => {
    expect(create(podOf(), world(DEFAULT_CONFIGURATION, false))).toMatchObject({ reason: 'NotPlacedByKai' })
    const { coScheduling, integrations } = DEFAULT_CONFIGURATION
    const without = { ...DEFAULT_CONFIGURATION, coScheduling: { ...coScheduling, backend: 'kubernetes' as const } }
    expect(create(podOf(), world(without))).toMatchObject({ reason: 'NotPlacedByKai' })
    const podOptions = { ...integrations.podOptions, namespaceSelector: { matchLabels: { team: 'a' } } }
    const elsewhere = { ...DEFAULT_CONFIGURATION, integrations: { ...integrations, podOptions } }
    expect(create(podOf(), world(elsewhere))).toMatchObject({ reason: 'NamespaceNotSelected' })
  })
})

const validateNew = (pod: Pod, user = ADA) => reviewPodGroupValidation(request('CREATE', pod, user), world())

describe('a new pod, after all mutators', () => {
  it('is right as Muster has left it', () => {
    expect(validateNew(held())).toMatchObject({ kind: 'allowed' })
  })

  it.each([
    ['gate', podOf({ labels: MARK }), 'spec.schedulingGates'],
    ['mark', podOf({ spec: { schedulingGates: [GATE] } }), 'metadata.labels[muster.dev/pod-group]'],
  ])('is refused when its %s is gone', (_, pod, field) => {
    expect(validateNew(pod)).toMatchObject({ kind: 'denied', errors: [{ field, type: 'Forbidden' }] })
  })

  it('is refused with a link that came afterwards', () => {
    expect(validateNew(held({ annotations: { 'pod-group-name': "victim's" } }))).toMatchObject({
      errors: [{ field: 'metadata.annotations[pod-group-name]' }],
    })
  })

  it.each([
    ['mark', podOf({ labels: MARK, spec: { schedulerName: 'default-scheduler' } })],
    ['gate', podOf({ spec: { schedulerName: 'default-scheduler', schedulingGates: [GATE] } })],
  ])('may not carry our %s by itself', (_, pod) => {
    expect(validateNew(pod)).toMatchObject({ kind: 'denied', code: 403 })
    expect(validateNew(pod, MUSTER)).toMatchObject({ kind: 'allowed' })
  })
})

const linked = (name: string, change: Change = {}): Pod =>
  podOf({ ...change, labels: { ...MARK, ...change.labels }, annotations: { 'pod-group-name': name } })

const update = (before: Pod, after: Pod, user = GROUPER) =>
  reviewPodGroupMutation(request('UPDATE', after, user, before), world())

describe('the link of a pod that Muster looks after', () => {
  it('is what it was, whatever the pod-grouper of KAI writes', () => {
    const [before, after] = [linked('pg'), linked('pg-p-uid', { labels: { 'kai.scheduler/subgroup-name': 'worker' } })]
    const verdict = update(before, after)
    expect(verdict).toMatchObject({ kind: 'allowed', reason: 'LinkRestored' })
    expect(verdict.warnings).toHaveLength(2)
    expect(verdict.kind === 'allowed' && applyPatch(after, verdict.patch)).toEqual(before)
  })

  it('is not there as long as its group is not', () => {
    const after = held({ annotations: { 'pod-group-name': 'pg-p-uid' } })
    const verdict = update(held({ annotations: {} }), after)
    expect(verdict.kind === 'allowed' && applyPatch(after, verdict.patch)).toEqual(held({ annotations: {} }))
  })

  it('comes back with all annotations', () => {
    const after: Pod = { ...podOf({ labels: MARK }) }
    const verdict = update(linked('pg'), after)
    expect(verdict.kind === 'allowed' && applyPatch(after, verdict.patch)).toEqual(linked('pg'))
  })

  it('is Muster’s to write', () => {
    expect(update(held(), linked('pg'), MUSTER)).toMatchObject({ reason: 'NotOurs', patch: [] })
  })

  it('is taken off by who frees the pod in an emergency', () => {
    const inNeed = { ...ADA, groups: ['muster:break-glass'] }
    expect(update(linked('pg'), podOf(), inNeed)).toMatchObject({ reason: 'NotOurs', patch: [] })
    expect(update(linked('pg'), podOf({ labels: MARK }), inNeed)).toMatchObject({ reason: 'NotOurs', patch: [] })
  })

  it('is nobody’s business on a pod without the mark', () => {
    expect(update(podOf(), podOf({ annotations: { 'pod-group-name': 'pg-p-uid' } }))).toMatchObject({ patch: [] })
  })

  it('does not keep others from anything else', () => {
    expect(update(linked('pg'), linked('pg', { labels: { theirs: '1' } }))).toMatchObject({
      reason: 'LinkUntouched',
      patch: [],
    })
  })
})

const validate = (before: Pod, after: Pod, user = ADA, subResource?: string) =>
  reviewPodGroupValidation(request('UPDATE', after, user, before, subResource), world())

describe('the guard of pods that wait for their group', () => {
  it('lets Muster lift the gate, and nobody else', () => {
    const after = linked('pg')
    expect(validate(held(), after)).toMatchObject({
      kind: 'denied',
      code: 403,
      errors: [{ field: 'spec.schedulingGates' }, { field: 'metadata.annotations[pod-group-name]' }],
    })
    expect(validate(held(), after, GROUPER)).toMatchObject({ kind: 'denied' })
    expect(validate(held(), after, MUSTER)).toMatchObject({ kind: 'allowed' })
  })

  it.each([
    ['taken away', held(), podOf({ spec: { schedulingGates: [GATE] } })],
    ['changed', held(), held({ labels: { 'muster.dev/pod-group': 'group' } })],
    ['given', podOf(), podOf({ labels: MARK })],
  ])('lets nobody have the mark %s', (_, before, after) => {
    const field = 'metadata.labels[muster.dev/pod-group]'
    expect(validate(before, after)).toMatchObject({ kind: 'denied', errors: [{ field }] })
    expect(validate(before, after, ADA, 'status')).toMatchObject({ kind: 'denied', errors: [{ field }] })
  })

  it('sees a link that is bent through the status', () => {
    expect(validate(linked('pg'), linked('other'), ADA, 'status')).toMatchObject({ kind: 'denied' })
  })

  it('lets a pod that is deleted go its way', () => {
    const before = held()
    const deleted = { ...before, metadata: { ...before.metadata, deletionTimestamp: '2026-11-18T00:00:00Z' } }
    expect(validate(deleted, { ...deleted, spec: podOf().spec })).toMatchObject({ kind: 'allowed' })
  })

  it('lets others write what is theirs', () => {
    const after = held({ labels: { theirs: '1' }, annotations: { theirs: '1' } })
    expect(validate(held(), after)).toMatchObject({ kind: 'allowed' })
  })

  it('opens for those whom the configuration exempts, and says so', () => {
    const guard = { ...DEFAULT_CONFIGURATION.guard, exemptUsers: ['ada'] }
    const at = world({ ...DEFAULT_CONFIGURATION, guard })
    const verdict = reviewPodGroupValidation(request('UPDATE', linked('pg'), ADA, held()), at)
    expect(verdict).toMatchObject({ kind: 'allowed', reason: 'Exempt' })
  })
})

describe('a member of a group in a queue that KAI places', () => {
  const name = podGroupNameFor('ml', 'gang')
  const queued = (change: Change = {}): Pod =>
    podOf({
      labels: { 'kueue.x-k8s.io/queue-name': 'team-a', 'kueue.x-k8s.io/pod-group-name': 'gang', ...change.labels },
      annotations: { 'kueue.x-k8s.io/pod-group-total-count': '4', ...change.annotations },
      spec: { schedulingGroup: null, ...change.spec },
    })
  const gate = (pod: Pod, at = world()) => {
    const verdict = reviewPodMutation(request('CREATE', pod, ADA), at)
    return verdict.kind === 'allowed' ? applyPatch(pod, verdict.patch) : pod
  }

  it('is linked when it is created, so that the pod-grouper of KAI keeps away', () => {
    const pod = gate(queued())
    expect(pod.metadata.annotations?.['pod-group-name']).toBe(name)
    expect(pod.metadata.labels?.['muster.dev/pod-group']).toBe('group')
    expect(gate(pod)).toEqual(pod)
    expect(validateNew(pod)).toMatchObject({ kind: 'allowed' })
  })

  it.each([
    ['names a group of Kubernetes', queued({ spec: { schedulingGroup: { podGroupName: 'pg' } } }), undefined],
    ['has a link of its own', queued({ annotations: { 'pod-group-name': 'mine' } }), 'mine'],
    ['is placed by another scheduler', queued({ spec: { schedulerName: 'other' } }), undefined],
    [
      'is in no group',
      podOf({ labels: { 'kueue.x-k8s.io/queue-name': 'q' }, spec: { schedulingGroup: null } }),
      undefined,
    ],
  ])('is not linked when it %s', (_, pod, link) => {
    expect(gate(pod).metadata.annotations?.['pod-group-name']).toBe(link)
    expect(gate(pod).metadata.labels?.['muster.dev/pod-group']).toBeUndefined()
  })

  it('is nobody who writes the name of its PodGroup himself, now or later', () => {
    const stranger = podOf({ annotations: { 'pod-group-name': name }, spec: { schedulingGroup: null } })
    const field = 'metadata.annotations[pod-group-name]'
    expect(validateNew(stranger)).toMatchObject({ kind: 'denied', errors: [{ field }] })
    expect(validate(podOf({ spec: { schedulingGroup: null } }), stranger)).toMatchObject({ errors: [{ field }] })
    const forged = queued({ labels: { 'muster.dev/pod-group': 'group' }, annotations: { 'pod-group-name': name } })
    expect(validateNew(forged)).toMatchObject({ kind: 'denied' })
  })

  it('is not who has the marks and the link of another group', () => {
    const pod = gate(queued())
    const other = podGroupNameFor('ml', 'other')
    const annotations = { ...pod.metadata.annotations, 'pod-group-name': other }
    expect(validateNew({ ...pod, metadata: { ...pod.metadata, annotations } })).toMatchObject({ kind: 'denied' })
  })
})
