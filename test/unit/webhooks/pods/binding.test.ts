import { describe, expect, it } from 'vitest'
import type { AdmissionRequest, UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import type { ObjectMeta } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewBinding } from '../../../../src/webhooks/pods/binding.ts'
import { brief, K, podOf, requestOf, type WorldOptions, worldOf } from './fixtures.ts'

const alice: UserInfo = { username: 'alice', groups: ['system:masters'] }

function bind(metadata: ObjectMeta, user = alice, options: WorldOptions = {}, resource = 'pods'): Verdict {
  const request: AdmissionRequest = {
    ...requestOf(podOf(), { user, ...(resource === 'pods' && { subResource: 'binding' }) }),
    kind: { group: '', version: 'v1', kind: 'Binding' },
    resource: { group: '', version: 'v1', resource },
    object: { metadata: { name: 'trainer', ...metadata } },
  }
  return reviewBinding(request, worldOf(options))
}

describe('a Binding', () => {
  it.each<[string, ObjectMeta, string]>([
    ['another queue', { labels: { [`${K}queue-name`]: 'other' } }, `metadata.labels[${K}queue-name]`],
    ['no label of ours', { labels: { [`${K}managed`]: 'false' } }, `metadata.labels[${K}managed]`],
    ['another group', { annotations: { [`${K}pod-group-name`]: 'g' } }, `metadata.annotations[${K}pod-group-name]`],
    ['another role', { annotations: { [`${K}role-hash`]: 'x' } }, `metadata.annotations[${K}role-hash]`],
    ['another creator', { annotations: { 'muster.dev/creator': 'x' } }, 'metadata.annotations[muster.dev/creator]'],
    [
      'the mark of a static pod, which nobody reviews',
      { annotations: { 'kubernetes.io/config.mirror': 'x' } },
      'metadata.annotations[kubernetes.io/config.mirror]',
    ],
    ['another gang of KAI', { annotations: { 'pod-group-name': 'other' } }, 'metadata.annotations[pod-group-name]'],
    [
      'another part of its gang of KAI',
      { labels: { 'kai.scheduler/subgroup-name': 'x' } },
      'metadata.labels[kai.scheduler/subgroup-name]',
    ],
  ])('is refused when it gives the pod %s', (_what, metadata, field) => {
    for (const resource of ['pods', 'bindings']) {
      expect(brief(bind(metadata, alice, {}, resource))).toEqual([`Forbidden ${field}`])
    }
    expect(bind(metadata, { username: 'root' }, { exemptUsers: ['root'] })).toMatchObject({ kind: 'allowed' })
    expect(bind(metadata, alice, { frameworks: ['batch/job'] })).toMatchObject({ reason: 'PodsNotEnabled' })
  })

  it.each<[string, ObjectMeta]>([
    ['says where the pod runs', {}],
    ['gives the pod the topology of its node', { labels: { 'topology.kubernetes.io/zone': 'a' } }],
    ['carries a note of its scheduler', { annotations: { 'scheduler.example.com/score': '7' }, labels: null }],
  ])('is let through when it %s', (_what, metadata) => {
    expect(bind(metadata)).toMatchObject({ kind: 'allowed', reason: 'Valid' })
  })
})
