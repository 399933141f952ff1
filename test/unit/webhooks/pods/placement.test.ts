import { describe, expect, it } from 'vitest'
import { answerText } from '../../../../src/admission/answer.ts'
import { applyPatch } from '../../../../src/admission/patch.ts'
import type { Pod } from '../../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED, type ServedScheduling } from '../../../../src/kube/vocabulary/served-scheduling.ts'
import { RecentRoles } from '../../../../src/server/recent-roles.ts'
import { reviewPodMutation, reviewPodValidation } from '../../../../src/webhooks/pods/pods.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { podGroupNameFor } from '../../../../src/workload/placement.ts'
import { errorsOf, type PodOptions, podOf, queuedPod, requestOf, worldOf } from './fixtures.ts'

const SERVED: ServedScheduling = {
  ...NOTHING_SERVED,
  kubernetes: { version: 'v1beta1', podGroups: true, composites: false },
}
const OURS = podGroupNameFor('team-a', 'train')

const worldWith = (served: ServedScheduling): World => ({ ...worldOf(), scheduling: () => served })
const world = worldWith(SERVED)

const member = (options: PodOptions = {}, group = 'train'): Pod =>
  podOf({
    ...options,
    labels: { 'queue-name': 'q', 'pod-group-name': group, ...options.labels },
    annotations: { 'pod-group-total-count': '8', ...options.annotations },
  })
const named = (podGroupName: string) => ({ schedulingGroup: { podGroupName } })

function mutated(pod: Pod, in_: World = world): Pod {
  const verdict = reviewPodMutation(requestOf(pod), in_)
  if (verdict.kind !== 'allowed') throw new Error('denied')
  return applyPatch(pod, verdict.patch)
}

describe('a new member of a group', () => {
  it('names the PodGroup of its group, the same as every other member and another than any other group', () => {
    expect(mutated(member()).spec.schedulingGroup).toEqual({ podGroupName: OURS })
    expect(mutated(member({ spec: { priority: 7 } })).spec.schedulingGroup).toEqual({ podGroupName: OURS })
    expect(mutated(member({}, 'other')).spec.schedulingGroup).toEqual({
      podGroupName: podGroupNameFor('team-a', 'other'),
    })
    expect(OURS).toMatch(/^muster-group-train-[0-9a-f]{20}$/)
    expect(podGroupNameFor('team-b', 'train')).not.toBe(OURS)
  })

  it.each(['Train', 'my_group', '_', 'a..b', 'toString'])(
    'of %s names one that can be, and is judged by the name of its group',
    group => {
      const pod = mutated(member({}, group))
      expect(pod.spec.schedulingGroup?.podGroupName).toMatch(
        /^muster-group-[a-z0-9]([-a-z0-9]*[a-z0-9])?-[0-9a-f]{20}$/,
      )
      expect(podGroupNameFor('team-a', group)).not.toBe(podGroupNameFor('team-a', group.toLowerCase() + group))
      const verdict = reviewPodValidation(requestOf(pod), world)
      expect(errorsOf(verdict).map(({ field }) => field)).toContain('metadata.labels[kueue.x-k8s.io/pod-group-name]')
    },
  )

  it('gets it in the patch that pods of its role share, and no other group does', () => {
    const remembering: World = { ...world, roles: new RecentRoles() }
    const groupOf = (group: string): string => {
      const request = requestOf(member({}, group))
      return answerText(request, reviewPodMutation(request, remembering), true)
    }
    const decoded = (text: string) => Buffer.from(JSON.parse(text).response.patch, 'base64').toString()
    expect(decoded(groupOf('train'))).toContain(OURS)
    expect(decoded(groupOf('other'))).toContain(podGroupNameFor('team-a', 'other'))
  })

  it.each([
    ['nothing is served', member(), worldWith(NOTHING_SERVED)],
    ['its scheduler is of nobody', member({ spec: { schedulerName: 'theirs' } }), world],
    ['it has no group', podOf({ labels: { 'queue-name': 'q' } }), world],
    ['its group is admitted ahead of its pods', member({ annotations: { 'pod-group-fast-admission': 'true' } }), world],
    ['its group serves', member({ annotations: { 'pod-group-serving': 'true' } }), world],
    ['it is not queued', podOf({ labels: { 'pod-group-name': 'train' } }), world],
  ])('names none where %s', (_, pod, in_) => {
    expect(mutated(pod, in_).spec.schedulingGroup).toBeUndefined()
  })

  it('keeps the one that its author has written, and is not given another the second time', () => {
    expect(mutated(member({ spec: named('own') })).spec.schedulingGroup).toEqual({ podGroupName: 'own' })
    const once = mutated(member())
    expect(mutated(once)).toEqual(once)
  })

  it('has one for its role where it announces others', () => {
    const sets = JSON.stringify([
      { name: 'driver', count: 1 },
      { name: 'worker', count: 3, template: { spec: {} } },
    ])
    const driver = podOf({
      labels: { 'queue-name': 'q', 'pod-group-name': 'spark', 'pod-group-role': 'driver' },
      annotations: { 'pod-group-sets': sets },
    })
    const worker = podOf({ labels: { 'queue-name': 'q', 'pod-group-name': 'spark', 'pod-group-role': 'worker' } })
    expect(mutated(driver).spec.schedulingGroup).toEqual({ podGroupName: podGroupNameFor('team-a', 'spark', 'driver') })
    expect(mutated(worker).spec.schedulingGroup).toEqual({ podGroupName: podGroupNameFor('team-a', 'spark') })
  })
})

describe('the PodGroup of a group', () => {
  const validated = (pod: Pod) => errorsOf(reviewPodValidation(requestOf(pod), world))
  const FIELD = 'spec.schedulingGroup.podGroupName'
  const marks = {
    labels: { 'pod-group-name': 'train' },
    annotations: { 'pod-group-total-count': '8', 'role-hash': 'dc85db45' },
  }

  it('takes its members', () => {
    expect(validated(queuedPod({ ...marks, spec: named(OURS) }))).toEqual([])
  })

  it.each([
    ['a pod outside of all queues', podOf({ spec: named(OURS) })],
    ['a queued pod without a group', queuedPod({ spec: named(OURS) })],
    ['a member of another group', queuedPod({ ...marks, labels: { 'pod-group-name': 'other' }, spec: named(OURS) })],
    ['a name that Muster would give to nobody here', queuedPod({ ...marks, spec: named('muster-group-x') })],
  ])('refuses %s', (_, pod) => {
    expect(validated(pod)).toMatchObject([{ field: FIELD, type: 'Forbidden' }])
  })

  it('is nobody else’s business', () => {
    expect(validated(podOf({ spec: named('their-own') }))).toEqual([])
    expect(validated(podOf({ spec: { schedulingGroup: 'no object' } }))).toEqual([])
  })
})
