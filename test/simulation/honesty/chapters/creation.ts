import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'

import { EVENTS, LEASES, PODS } from '../../../../src/kube/vocabulary/resources.ts'

import { event, GATE, gated, HOLD, KEEP, owner, pod, workload } from '../objects.ts'
import type { Chapter } from '../play.ts'

export const creation: Chapter = {
  name: 'creation',
  async play(p) {
    const full = { labels: { team: 'blue' }, annotations: { note: 'seen' }, finalizers: [KEEP] }
    const first = await p.create('a pod is created', PODS, pod('full', full, gated(GATE, HOLD)))
    await p.get('and can be read', PODS, p.at('full'))
    await p.get('also under its status', PODS, p.at('full', 'status'))
    await p.create('a name that is taken', PODS, pod('full'))
    await p.create('no name', PODS, pod(''))
    await p.create('a namespace that is not there', PODS, pod('p', { namespace: 'missing' }))
    await p.create('neither a name nor a namespace', PODS, pod('', { namespace: 'missing' }))
    await p.create('a pod with a resource version', PODS, pod('versioned', { resourceVersion: '1' }))
    await p.create('a taken name with a resource version', PODS, pod('full', { resourceVersion: '1' }))
    const claims = { uid: 'mine', deletionTimestamp: '2026-11-16T10:00:00Z', deletionGracePeriodSeconds: 5 }
    await p.create('a pod with a uid and a deletion of its own', PODS, pod('claims', claims))
    await p.create('a pod with a status', PODS, { ...pod('running'), status: { phase: 'Running' } })
    await p.get('no pod', PODS, p.at('nobody'))

    const owned = { ownerReferences: [owner(first, true)], finalizers: [KEEP] }
    await p.create('a Workload is created', WORKLOADS, workload('full', owned))
    await p.get('and can be read as well', WORKLOADS, p.at('full'))
    await p.get('also under its own status', WORKLOADS, p.at('full', 'status'))
    await p.create('a name that a Workload has', WORKLOADS, workload('full'))
    await p.create('a Workload without a name', WORKLOADS, workload(''))
    await p.create('a Workload in no namespace', WORKLOADS, workload('w', { namespace: 'missing' }))
    await p.create('a Workload with a resource version', WORKLOADS, workload('versioned', { resourceVersion: '1' }))
    await p.create('a Workload with a uid and a deletion of its own', WORKLOADS, workload('claims', claims))
    await p.create('a Workload with a status', WORKLOADS, { ...workload('running'), status: { pods: 1 } })
    await p.create('a Workload that is not active', WORKLOADS, workload('off', {}, { active: false }))
    await p.get('no Workload', WORKLOADS, p.at('nobody'))

    await p.create('an Event is created', EVENTS, event('told', p.namespace))
    await p.create('an Event that is there', EVENTS, event('told', p.namespace))

    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec: { holderIdentity: 'a' } }
    const held = await p.create('a Lease is created', LEASES, { ...lease, metadata: { name: 'lease' } })
    await p.create('a Lease that is there', LEASES, { ...lease, metadata: { name: 'lease' } })
    const next = { ...held, spec: { holderIdentity: 'b' } }
    await p.replace('a Lease changes hands', LEASES, p.at('lease'), next)
    await p.replace('and again, by one who has not seen it', LEASES, p.at('lease'), next)
    const blind = { ...lease, metadata: { name: 'lease', namespace: p.namespace } }
    await p.replace('a Lease without a version', LEASES, p.at('lease'), blind)
    await p.delete('a Lease is deleted', LEASES, p.at('lease'))
    await p.get('no Lease', LEASES, p.at('lease'))
    await p.replace('a Lease that is gone', LEASES, p.at('lease'), next)
    const { uid: _, ...versioned } = next.metadata
    await p.replace('a Lease that is gone, by its version', LEASES, p.at('lease'), { ...next, metadata: versioned })
    await p.replace('a Lease that is gone, by its name', LEASES, p.at('lease'), blind)
  },
}
