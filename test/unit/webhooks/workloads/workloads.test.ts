import { describe, expect, it } from 'vitest'
import type { AdmissionRequest, UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import { OFFLINE_IDENTITY, RESOURCE_IN_USE } from '../../../../src/kube/vocabulary/names.ts'
import { localWorld } from '../../../../src/webhooks/local-world.ts'
import { reviewWorkloadValidation } from '../../../../src/webhooks/workloads/workloads.ts'

const admin: UserInfo = { username: 'ada', groups: ['system:masters', 'system:authenticated'] }
const muster: UserInfo = { username: OFFLINE_IDENTITY }
const collector: UserInfo = { username: 'system:serviceaccount:kube-system:generic-garbage-collector' }

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1', blockOwnerDeletion: true }
const workload = {
  apiVersion: 'muster.dev/v1alpha1',
  kind: 'Workload',
  metadata: {
    name: 'pod-a',
    namespace: 'ml',
    uid: '9',
    labels: { team: 'blue' },
    annotations: { 'muster.dev/queue-order': '2026-01-01T00:00:00Z', note: 'hello' },
    finalizers: [RESOURCE_IN_USE],
    ownerReferences: [owner],
  },
  spec: {
    queueName: 'team-a',
    active: true,
    priority: 0,
    podSets: [{ name: 'main', count: 1, template: { spec: {} } }],
  },
  status: { conditions: [{ type: 'Admitted', status: 'True' }] },
}
type Workload = typeof workload

const withMeta = (change: object): Workload => ({ ...workload, metadata: { ...workload.metadata, ...change } })
const withSpec = (change: object): Workload => ({ ...workload, spec: { ...workload.spec, ...change } })

function review(
  change: Partial<AdmissionRequest>,
  user: UserInfo = admin,
  exemptGroups: readonly string[] = [],
): Verdict {
  const guard = { ...DEFAULT_CONFIGURATION.guard, exemptGroups }
  return reviewWorkloadValidation(
    {
      uid: 'x',
      kind: { group: 'muster.dev', version: 'v1alpha1', kind: 'Workload' },
      resource: { group: 'muster.dev', version: 'v1alpha1', resource: 'workloads' },
      name: 'pod-a',
      namespace: 'ml',
      operation: 'UPDATE',
      oldObject: workload,
      object: workload,
      userInfo: user,
      ...change,
    },
    localWorld({ ...DEFAULT_CONFIGURATION, guard }),
  )
}

const fieldsOf = (verdict: Verdict): readonly string[] =>
  verdict.kind === 'denied' ? verdict.errors.map(({ type, field }) => `${type} ${field}`) : []

const forgeries: readonly [string, Partial<AdmissionRequest>, readonly string[]][] = [
  ['a Workload is made', { operation: 'CREATE', oldObject: null }, ['spec']],
  [
    'it is admitted by hand',
    { object: { ...workload, status: { conditions: [] } } as Workload, subResource: 'status' },
    ['status'],
  ],
  [
    'its status is made where there was none',
    { oldObject: { ...workload, status: undefined } as never, subResource: 'status' },
    ['status'],
  ],
  ['it moves to another queue', { object: withSpec({ queueName: 'team-b' }) }, ['spec.queueName']],
  ['it overtakes', { object: withSpec({ priority: 1000 }) }, ['spec.priority']],
  [
    'its order in the queue changes',
    { object: withMeta({ annotations: { 'muster.dev/queue-order': '2000-01-01T00:00:00Z', note: 'hello' } }) },
    ['metadata.annotations[muster.dev/queue-order]'],
  ],
  ['it shrinks', { object: withSpec({ podSets: [{ ...workload.spec.podSets[0], count: 0 }] }) }, ['spec.podSets']],
  [
    'it loses a field',
    { object: { ...workload, spec: { podSets: workload.spec.podSets, active: true, priority: 0 } } as never },
    ['spec.queueName'],
  ],
  ['it gets a field that a later version reads', { object: withSpec({ constructor: 'x' }) }, ['spec.constructor']],
  [
    'it gets a mark of the queue',
    { object: withMeta({ labels: { team: 'blue', 'kueue.x-k8s.io/x': 'y' } }) },
    ['metadata.labels[kueue.x-k8s.io/x]'],
  ],
  ['our finalizer goes', { object: withMeta({ finalizers: [] }) }, ['metadata.finalizers']],
  [
    'our finalizer goes with the status',
    { object: withMeta({ finalizers: null }), subResource: 'status' },
    ['metadata.finalizers'],
  ],
  ['our finalizer is put on what was let go', { oldObject: withMeta({ finalizers: [] }) }, ['metadata.finalizers']],
  [
    'it gets another owner',
    { object: withMeta({ ownerReferences: [{ ...owner, uid: '2' }] }) },
    ['metadata.ownerReferences'],
  ],
  ['it is taken from its owners', { object: withMeta({ ownerReferences: null }) }, ['metadata.ownerReferences']],
  [
    'everything goes at once',
    { object: { metadata: null, spec: [] } as never },
    [
      'spec.queueName',
      'spec.priority',
      'spec.podSets',
      'status',
      'metadata.annotations[muster.dev/queue-order]',
      'metadata.finalizers',
      'metadata.ownerReferences',
    ],
  ],
]

const uses: readonly [string, Partial<AdmissionRequest>][] = [
  ['switch it off', { object: withSpec({ active: false }) }],
  ['label it', { object: withMeta({ labels: { team: 'red', more: 'x' } }) }],
  ['annotate it', { object: withMeta({ annotations: { 'muster.dev/queue-order': '2026-01-01T00:00:00Z' } }) }],
  [
    'hold it with a finalizer of their own',
    { object: withMeta({ finalizers: ['example.com/mine', RESOURCE_IN_USE] }) },
  ],
  ['apply it as it is', {}],
  ['delete it', { operation: 'DELETE', object: null }],
]

describe('the guard of Workloads', () => {
  it.each(forgeries)('refuses, from an administrator too: %s', (_, change, fields) => {
    const verdict = review(change)
    expect(verdict).toMatchObject({ kind: 'denied', code: 403, reason: 'Forbidden' })
    expect([...fieldsOf(verdict)].sort()).toEqual(fields.map(field => `Forbidden ${field}`).sort())
    if (verdict.kind === 'denied') {
      expect(verdict.message).toContain(`only Muster itself (${OFFLINE_IDENTITY}) may change this`)
    }
  })

  it.each(forgeries)('lets Muster: %s', (_, change) => {
    expect(review(change, muster)).toEqual({ kind: 'allowed', reason: 'Valid', patch: [], warnings: [] })
  })

  it.each(forgeries)('lets somebody exempt, and tells the audit log: %s', (_, change, [field = '']) => {
    const verdict = review(change, admin, ['system:masters'])
    expect(verdict).toMatchObject({ kind: 'allowed', reason: 'Exempt' })
    expect(verdict).toHaveProperty('audit.exemption', expect.stringContaining('group system:masters: '))
    expect(verdict).toHaveProperty('audit.exemption', expect.stringContaining(field))
  })

  it.each(uses)('lets people %s', (_, change) => {
    expect(review(change)).toMatchObject({ kind: 'allowed' })
  })

  it.each([collector, { username: 'system:kube-controller-manager' }])(
    'lets the garbage collector take owners away, and nothing else: $username',
    user => {
      expect(review({ object: withMeta({ ownerReferences: [] }) }, user)).toMatchObject({ kind: 'allowed' })
      const more = withMeta({ ownerReferences: [], finalizers: [] })
      expect(fieldsOf(review({ object: more }, user))).toEqual(['Forbidden metadata.finalizers'])
    },
  )

  it("leaves the scheduler's Workloads alone", () => {
    const kind = { group: 'scheduling.k8s.io', version: 'v1beta1', kind: 'Workload' }
    expect(review({ kind, operation: 'CREATE' })).toMatchObject({ kind: 'allowed', reason: 'NotAWorkload' })
  })
})
