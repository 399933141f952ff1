import { describe, expect, it } from 'vitest'
import { answerText } from '../../../../src/admission/answer.ts'
import { applyPatch } from '../../../../src/admission/patch.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { RecentRoles } from '../../../../src/server/recent-roles.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import { creatorStamp } from '../../../../src/workload/creator.ts'
import {
  askingWorld,
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

const review = (pod: Pod, options: WorldOptions = {}): Verdict => reviewPodMutation(requestOf(pod), worldOf(options))
const asks = { labels: { 'queue-name': 'q' } }

describe('a pod that asks for a queue', () => {
  it('gets the label, the finalizer, its role and the gate in the smallest patch', () => {
    expect(review(podOf(asks))).toMatchObject({
      kind: 'allowed',
      reason: 'Gated',
      warnings: [],
      patch: [
        { op: 'add', path: '/metadata/labels/kueue.x-k8s.io~1managed', value: 'true' },
        { op: 'add', path: '/metadata/finalizers', value: [MANAGED] },
        { op: 'add', path: '/metadata/annotations', value: { [`${K}role-hash`]: 'dc85db45' } },
        { op: 'add', path: '/spec/schedulingGates', value: [{ name: GATE }] },
      ],
    })
  })

  it('gets the role of its own shape, however alike the pod before it was', () => {
    const rolesOf = (cpu: string): unknown => {
      const spec = { containers: [{ name: 'main', resources: { requests: { cpu } } }] }
      const verdict = review(podOf({ ...asks, annotations: { 'a/b': 'c' }, spec }))
      return verdict.kind === 'allowed' && verdict.patch.find(({ path }) => path.endsWith('role-hash'))?.value
    }
    const [one, two, again] = [rolesOf('1'), rolesOf('2'), rolesOf('1')]
    expect([one, again]).toEqual(['dc85db45', 'dc85db45'])
    expect(two).toMatch(/^(?!dc85db45)[0-9a-f]{8}$/)
  })

  it('gets the gate behind which Kueue places it, where Kueue is asked to', () => {
    const gatesOf = (pod: Pod, engine: 'builtin' | 'kueue') => {
      const verdict = review(pod, { engine })
      return verdict.kind === 'allowed' ? applyPatch(pod, verdict.patch).spec.schedulingGates : verdict
    }
    const near = { ...asks, annotations: { 'podset-required-topology': 'rack' } }
    const both = [{ name: GATE }, { name: `${K}topology` }]
    expect(gatesOf(podOf(near), 'kueue')).toEqual(both)
    expect(gatesOf(podOf({ ...near, gates: ['a.io/b'] }), 'kueue')).toEqual([{ name: 'a.io/b' }, ...both])
    expect(gatesOf(podOf({ ...near, gates: [`${K}topology`] }), 'kueue')).toEqual(both.toReversed())
    expect(gatesOf(podOf(near), 'builtin')).toEqual([{ name: GATE }])
    expect(gatesOf(podOf(asks), 'kueue')).toEqual([{ name: GATE }])
  })

  it('keeps foreign gates, finalizers and annotations in place', () => {
    const pod = podOf({ ...asks, annotations: { 'a/b': 'c' }, finalizers: ['x/y'], gates: ['foreign.io/gate'] })
    const verdict = review(pod)
    const result = verdict.kind === 'allowed' ? applyPatch(pod, verdict.patch) : pod
    expect(result.spec.schedulingGates).toEqual([{ name: 'foreign.io/gate' }, { name: GATE }])
    expect(result.metadata.finalizers).toEqual(['x/y', MANAGED])
    expect(result.metadata.annotations).toEqual({ 'a/b': 'c', [`${K}role-hash`]: 'dc85db45' })
  })

  it('patches a pod whose maps and lists are null', () => {
    const pod = podOf({ spec: { schedulingGates: null } })
    const empty = { ...pod, metadata: { ...pod.metadata, labels: null, annotations: null, finalizers: null } }
    const verdict = review(empty, { defaultQueue: true })
    expect(verdict.kind === 'allowed' && applyPatch(empty, verdict.patch).metadata).toMatchObject({
      labels: { [`${K}queue-name`]: 'default', [MANAGED]: 'true' },
      finalizers: [MANAGED],
    })
  })

  it('is left as it is when it has everything already', () => {
    expect(review(queuedPod())).toMatchObject({ reason: 'AlreadyGated', patch: [] })
  })

  it('gets the true label instead of a false one', () => {
    const verdict = review(podOf({ labels: { 'queue-name': 'q', managed: 'no' } }))
    expect(verdict).toMatchObject({
      patch: expect.arrayContaining([
        { op: 'replace', path: '/metadata/labels/kueue.x-k8s.io~1managed', value: 'true' },
      ]),
    })
  })

  it('is judged by the namespace of the request', () => {
    const pod = podOf(asks)
    const request = requestOf(pod, { namespace: 'kube-system' })
    expect(reviewPodMutation(request, worldOf())).toMatchObject({ reason: 'NamespaceNotSelected', patch: [] })
  })

  it('is denied with the remedy when it has a node already', () => {
    const verdict = review(podOf({ ...asks, spec: { nodeName: 'node-7' } }))
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(brief(verdict)).toEqual(['Forbidden spec.nodeName'])
    expect(errorsOf(verdict)[0]?.detail).toContain('kubernetes.io/hostname: node-7')
  })

  it('is denied in a namespace that does not exist', () => {
    expect(brief(review(podOf(asks), { namespaceLabels: 'absent' }))).toEqual(['Invalid metadata.namespace'])
  })

  it('waits for the labels of a namespace that nobody has seen', () => {
    const world = askingWorld(worldOf(), 'namespace')
    reviewPodMutation(requestOf(podOf(asks)), world)
    expect(world.open).toEqual([{ kind: 'namespace', namespace: 'team-a' }])
  })
})

describe('the role hash of a new pod', () => {
  const withHash = (hash: string) => podOf({ ...asks, annotations: { 'role-hash': hash } })

  it('is refused when it is preset and false', () => {
    const verdict = review(withHash('00000000'))
    expect(verdict).toMatchObject({ kind: 'denied', code: 422 })
    expect(brief(verdict)).toEqual(['Invalid metadata.annotations[kueue.x-k8s.io/role-hash]'])
  })

  it('is kept when it is preset and true', () => {
    const verdict = review(withHash('dc85db45'))
    expect(verdict.kind === 'allowed' && verdict.patch.map(op => op.path)).not.toContainEqual(
      expect.stringContaining('annotations'),
    )
  })

  it('is filled in when it is preset and empty', () => {
    expect(review(withHash(''))).toMatchObject({
      patch: expect.arrayContaining([expect.objectContaining({ op: 'replace', value: 'dc85db45' })]),
    })
  })

  it('follows a pod that another webhook changed after us', () => {
    const changed = queuedPod({ spec: { nodeSelector: { zone: 'b' } } })
    expect(review(changed)).toMatchObject({
      patch: [{ op: 'replace', path: '/metadata/annotations/kueue.x-k8s.io~1role-hash' }],
    })
  })
})

describe('pods that are left alone', () => {
  it.each<[string, string, Pod, WorldOptions]>([
    ['without a queue', 'NoQueue', podOf(), {}],
    ['while pods are not enabled', 'PodsNotEnabled', podOf(asks), { frameworks: ['batch/job'] }],
    [
      'that mirror a static pod',
      'MirrorPod',
      podOf({ ...asks, annotations: { 'kubernetes.io/config.mirror': 'x' }, spec: { nodeName: 'n' } }),
      {},
    ],
    [
      'outside the namespace selector',
      'NamespaceNotSelected',
      podOf(asks),
      { namespaceSelector: { matchLabels: { team: 'a' } } },
    ],
    ['outside the pod selector', 'PodNotSelected', podOf(asks), { podSelector: { matchLabels: { app: 'x' } } }],
  ])('%s', (_what, reason, pod, options) => {
    expect(review(pod, options)).toMatchObject({ kind: 'allowed', reason, patch: [] })
  })

  it('without a queue in a namespace that nobody has seen, and nobody asks for it', () => {
    const world = askingWorld(worldOf(), 'namespace')
    expect(reviewPodMutation(requestOf(podOf()), world)).toMatchObject({ reason: 'NoQueue', patch: [] })
    expect(world.open).toEqual([])
  })

  it('in every operation but creation, and in every subresource', () => {
    const update = requestOf(podOf(asks), { old: podOf(asks) })
    expect(reviewPodMutation(update, worldOf())).toMatchObject({ reason: 'NotACreation', patch: [] })
    const eviction = requestOf(podOf(asks), { operation: 'CREATE', subResource: 'eviction' })
    expect(reviewPodMutation(eviction, worldOf())).toMatchObject({ reason: 'NotACreation', patch: [] })
  })
})

describe('pods that ask for nothing', () => {
  it('wait in the queue `default` where there is one', () => {
    const verdict = review(podOf(), { defaultQueue: true })
    expect(verdict.kind === 'allowed' && verdict.patch[0]).toEqual({
      op: 'add',
      path: '/metadata/labels',
      value: { [`${K}queue-name`]: 'default', [MANAGED]: 'true' },
    })
  })

  it('wait without a queue under manageJobsWithoutQueueName', () => {
    const verdict = review(podOf(), { manageAll: true })
    expect(verdict).toMatchObject({ reason: 'Gated' })
    expect(verdict.kind === 'allowed' && verdict.patch[0]?.value).toEqual({ [MANAGED]: 'true' })
  })
})

describe('an object that is no pod', () => {
  it.each<[string, unknown, string]>([
    ['nothing', null, 'Required object'],
    ['no metadata', { spec: {} }, 'Required metadata'],
    ['no spec', { metadata: {} }, 'Required spec'],
    ['a label that is no string', { metadata: { labels: { a: true } }, spec: {} }, 'Invalid metadata.labels[a]'],
    ['annotations that are a list', { metadata: { annotations: [] }, spec: {} }, 'Invalid metadata.annotations'],
    [
      'gates that are no objects',
      { metadata: {}, spec: { schedulingGates: ['x'] } },
      'Invalid spec.schedulingGates[0]',
    ],
    ['finalizers that are no list', { metadata: { finalizers: 'x' }, spec: {} }, 'Invalid metadata.finalizers'],
  ])('is refused: %s', (_what, object, error) => {
    const request = { ...requestOf(podOf()), object: object as Pod }
    expect(brief(reviewPodMutation(request, worldOf()))).toEqual([error])
  })
})

describe('the stamp of the creator', () => {
  const KEY = 'muster.dev/creator'
  const asked = podOf({ labels: { 'queue-name': 'q' }, annotations: { x: 'y' } })
  const stamped = (username: string, namespace = 'team-a', pod = asked): string | undefined => {
    const verdict = reviewPodMutation(requestOf(pod, { user: { username }, namespace }), worldOf())
    if (verdict.kind === 'denied') throw new Error(verdict.message)
    return applyPatch(pod, verdict.patch).metadata.annotations?.[KEY]
  }
  const judged = (pod: Pod, username: string) => reviewPodValidation(requestOf(pod, { user: { username } }), worldOf())

  it('tells authors apart without naming them, and one author by namespace', () => {
    expect(stamped('alice')).toMatch(/^[0-9a-f]{32}$/)
    expect(stamped('alice')).toBe(stamped('alice', 'team-a', podOf({ labels: { 'queue-name': 'other' } })))
    expect(new Set([stamped('alice'), stamped('bob'), stamped('alice', 'team-b')]).size).toBe(3)
    expect(stamped('alice')).toBe(creatorStamp('alice', 'uid-of-team-a'))
  })

  it('is of the object that a controller makes the pod for, and of whoever only names one', () => {
    const world = worldOf({ controllers: { 'example.com/widget': ['widgets'] } })
    const made = (username: string, uid: string) => {
      const ownerReferences = [controller('example.com/v1', 'Widget', uid)]
      const pod = { ...asked, metadata: { ...asked.metadata, ownerReferences } }
      const verdict = reviewPodMutation(requestOf(pod, { user: { username } }), world)
      if (verdict.kind === 'denied') throw new Error(verdict.message)
      return applyPatch(pod, verdict.patch).metadata.annotations?.[KEY]
    }
    expect(made('widgets', '1')).toMatch(/^c-[0-9a-f]{32}$/)
    expect(made('widgets', '2')).not.toBe(made('widgets', '1'))
    expect(made('alice', '1')).toBe(creatorStamp('alice', 'uid-of-team-a'))
  })

  it('is the same with a memory and without, for each of two authors of one role', () => {
    const roles = new RecentRoles()
    for (const username of ['alice', 'bob', 'alice']) {
      const request = requestOf(asked, { user: { username } })
      const verdict = reviewPodMutation(request, { ...worldOf(), roles })
      expect(answerText(request, verdict, true)).toBe(answerText(request, reviewPodMutation(request, worldOf()), true))
    }
  })

  it('is the same with a memory and without, with annotations and without any', () => {
    const roles = new RecentRoles()
    const { annotations: _none, ...bare } = asked.metadata
    const kinds: readonly (Readonly<Record<string, string>> | undefined)[] = [undefined, {}, undefined, { a: 'b' }]
    for (const annotations of kinds) {
      const metadata = { ...bare, ...(annotations && { annotations }) }
      const request = requestOf({ ...asked, metadata }, { user: { username: 'alice' } })
      const verdict = reviewPodMutation(request, { ...worldOf(), roles })
      expect(answerText(request, verdict, true)).toBe(answerText(request, reviewPodMutation(request, worldOf()), true))
    }
  })

  it('is accepted from its owner, refused from others, and from who has no name', () => {
    const copy = (username: string) => queuedPod({ annotations: { [KEY]: creatorStamp(username, 'uid-of-team-a') } })
    expect(stamped('alice', 'team-a', copy('alice'))).toBe(creatorStamp('alice', 'uid-of-team-a'))
    expect(judged(copy('alice'), 'alice')).toMatchObject({ kind: 'allowed' })
    for (const username of ['bob', '']) {
      expect(brief(judged(copy('alice'), username))).toEqual([`Forbidden metadata.annotations[${KEY}]`])
    }
  })

  it('is not given where nobody is named, as in a file', () => {
    const verdict = reviewPodMutation(requestOf(asked), worldOf())
    expect(JSON.stringify(verdict)).not.toContain(KEY)
  })
})
