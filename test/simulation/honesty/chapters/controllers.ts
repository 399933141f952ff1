import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'

import { EVENTS, NAMESPACES, PODS } from '../../../../src/kube/vocabulary/resources.ts'

import { isDeleting } from '../../facts.ts'
import { event, GATE, gated, KEEP, owner, pod, workload } from '../objects.ts'
import type { Chapter } from '../play.ts'

export const collection: Chapter = {
  name: 'collection',
  async play(p) {
    const one = await p.create('one pod', PODS, pod('one'))
    const two = await p.create('another pod', PODS, pod('two'))
    const held = await p.create('a pod that a finalizer holds', PODS, pod('held', { finalizers: [KEEP] }))
    const owned = (...owners: (typeof one)[]) => ({ ownerReferences: owners.map(by => owner(by)) })
    await p.create('a Workload of one', WORKLOADS, workload('of-one', owned(one)))
    await p.create('a Workload of one, held', WORKLOADS, workload('of-one-held', { ...owned(one), finalizers: [KEEP] }))
    await p.create('a Workload of two', WORKLOADS, workload('of-two', owned(one, two)))
    await p.create('a Workload of a held pod', WORKLOADS, workload('of-held', owned(held)))
    const nobody = pod('nobody', { uid: '11111111-1111-1111-1111-111111111111' })
    await p.create('a Workload of one who never was', WORKLOADS, workload('of-nobody', owned(nobody)))
    const successor = pod('two', { uid: '22222222-2222-2222-2222-222222222222' })
    await p.create('a Workload of another life of a name', WORKLOADS, workload('of-former', owned(successor)))
    await p.create('a Workload of nobody', WORKLOADS, workload('free'))

    await p.delete('the pod goes', PODS, p.at('one'))
    await p.delete('the held pod is deleted', PODS, p.at('held'))
    await p.gone('its Workload goes', WORKLOADS, p.at('of-one'))
    await p.until('its held Workload is deleted', WORKLOADS, p.at('of-one-held'), isDeleting)
    const alone = (count: number) => (object: { metadata: { ownerReferences?: readonly unknown[] | null } }) =>
      object.metadata.ownerReferences?.length === count
    await p.until('one of two owners is struck off', WORKLOADS, p.at('of-two'), alone(1))
    await p.gone('the Workload of nobody that ever was goes', WORKLOADS, p.at('of-nobody'))
    await p.gone('the Workload of another life goes', WORKLOADS, p.at('of-former'))
    await p.get('an owner that only waits for its finalizer is an owner', WORKLOADS, p.at('of-held'))
    await p.get('who has no owner is nobody to collect', WORKLOADS, p.at('free'))
    await p.delete('the other pod goes', PODS, p.at('two'))
    await p.gone('the Workload of both goes', WORKLOADS, p.at('of-two'))
    await p.strategic('the held pod is let go', PODS, p.at('held'), {
      metadata: { '$deleteFromPrimitiveList/finalizers': [KEEP] },
    })
    await p.gone('its Workload goes then', WORKLOADS, p.at('of-held'))
    await p.merge('the held Workload is let go', WORKLOADS, p.at('of-one-held'), { metadata: { finalizers: null } })
    await p.get('and is gone', WORKLOADS, p.at('of-one-held'))
  },
}

export const namespaceDeletion: Chapter = {
  name: 'namespace-deletion',
  async play(p) {
    // The namespace controller comes back to a namespace after half the time that its pods may need.
    const brief = { terminationGracePeriodSeconds: 1 }
    await p.create('a pod', PODS, pod('free', {}, brief))
    await p.create('a gated pod, held', PODS, pod('held', { finalizers: [KEEP] }, { ...brief, ...gated(GATE) }))
    await p.create('a Workload', WORKLOADS, workload('free'))
    await p.create('a Workload, held', WORKLOADS, workload('held', { finalizers: [KEEP] }))
    await p.delete('the namespace is deleted', NAMESPACES, { name: p.namespace })
    await p.create('a new pod', PODS, pod('late'))
    await p.create('a new Workload', WORKLOADS, workload('late'))
    await p.create('a new Event', EVENTS, event('late', p.namespace))
    await p.create('a pod without a name', PODS, pod(''))
    await p.create('a pod of a name that is taken', PODS, pod('held'))
    await p.merge('what is there can change', PODS, p.at('held'), { metadata: { labels: { a: '1' } } })
    await p.gone('the pod goes', PODS, p.at('free'))
    await p.until('the held pod is deleted', PODS, p.at('held'), isDeleting)
    await p.delete('the namespace is deleted again', NAMESPACES, { name: p.namespace })
    await p.create('still no new pod', PODS, pod('late'))
    await p.stage.sleep(5_000)
    await p.get('while there are pods, a Workload stays', WORKLOADS, p.at('free'))
    await p.get('and another one', WORKLOADS, p.at('held'))
    await p.strategic('the held pod is let go', PODS, p.at('held'), {
      metadata: { '$deleteFromPrimitiveList/finalizers': [KEEP] },
    })
    await p.gone('then the Workload goes', WORKLOADS, p.at('free'))
    await p.until('and the held one is deleted', WORKLOADS, p.at('held'), isDeleting)
    await p.merge('the held Workload is let go', WORKLOADS, p.at('held'), { metadata: { finalizers: null } })
    await p.gone('the namespace goes', NAMESPACES, { name: p.namespace })
    await p.create('a pod in a namespace that was', PODS, pod('late'))
    await p.get('and nobody is there', PODS, p.at('held'))
  },
}
