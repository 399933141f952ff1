import { PODS } from '../../../../src/kube/vocabulary/resources.ts'
import { condition, GATE, GUARD, gated, HOLD, KEEP, NODE, OTHER_UID, owner, pod, TOLERATIONS } from '../objects.ts'
import type { Chapter } from '../play.ts'

const OURS = { key: 'example.com/ours', operator: 'Exists' }

export const podSpec: Chapter = {
  name: 'pod-spec',
  async play(p) {
    const it = p.at('it')
    const strategic = (step: string, spec: object) => p.strategic(step, PODS, it, { spec })
    const merge = (step: string, spec: object) => p.merge(step, PODS, it, { spec })
    const created = (await p.create('a pod with three gates', PODS, pod('it', {}, gated(GATE, HOLD, KEEP)))).metadata
    const { uid } = created

    await strategic('a gate is taken off by its name', { schedulingGates: [{ $patch: 'delete', name: HOLD }] })
    await strategic('a gate that is not there', { schedulingGates: [{ $patch: 'delete', name: HOLD }] })
    await strategic('a gate is added', { schedulingGates: [{ name: HOLD }] })
    await strategic('a gate that is there is added', { schedulingGates: [{ name: GATE }] })
    await merge('a gate is added to the list', gated(GATE, KEEP, HOLD))
    await merge('the gates in another order', gated(KEEP, GATE))
    await merge('the list without one gate', gated(GATE))

    await strategic('a node selector behind a gate', { nodeSelector: { zone: 'x' } })
    await strategic('the same node selector', { nodeSelector: { zone: 'x' } })
    await strategic('one more entry', { nodeSelector: { rack: 'r1' } })
    await strategic('another value', { nodeSelector: { zone: 'y' } })
    await strategic('an entry less', { nodeSelector: { zone: null } })
    await merge('no node selector', { nodeSelector: null })

    await merge('a toleration more', { tolerations: [...TOLERATIONS, OURS] })
    await merge('a toleration in front', { tolerations: [{ ...OURS, key: 'example.com/front' }, ...TOLERATIONS, OURS] })
    await merge('a toleration less', { tolerations: TOLERATIONS })
    await merge('no tolerations', { tolerations: null })
    await strategic('only a toleration, by strategic merge', { tolerations: [OURS] })
    const patient = TOLERATIONS.map(toleration => ({ ...toleration, tolerationSeconds: 60 }))
    await merge('other tolerationSeconds', {
      tolerations: [{ ...OURS, key: 'example.com/front' }, ...patient, OURS],
    })

    await merge('a hostname', { hostname: 'elsewhere' })
    await merge('a deadline', { activeDeadlineSeconds: 100 })
    await merge('a shorter deadline', { activeDeadlineSeconds: 50 })
    await merge('a longer deadline', { activeDeadlineSeconds: 100 })
    await merge('no deadline', { activeDeadlineSeconds: null })
    await strategic('another image', { containers: [{ name: 'main', image: 'registry.example/none:2' }] })
    await strategic('another container', { containers: [{ name: 'side', image: 'registry.example/none:1' }] })
    await strategic('a command', { containers: [{ name: 'main', command: ['true'] }] })
    await merge('a node', { nodeName: NODE })
    await merge('a gate and a hostname', { ...gated(GATE, HOLD), hostname: 'elsewhere' })

    await p.bind('a gated pod is bound', it, NODE)
    // As the reconciler lifts: the gate and everything that admission adds, in one write.
    const { resourceVersion } = (await p.get('before the lift', PODS, it)).metadata
    const lift = (tolerations: readonly object[], metadata: object = {}) => ({
      metadata: { uid, labels: { admitted: 'yes' }, annotations: { by: 'queue' }, ...metadata },
      spec: {
        schedulingGates: [{ $patch: 'delete', name: GATE }],
        nodeSelector: { slot: 's1' },
        tolerations,
      },
    })
    const all = [{ ...OURS, key: 'example.com/front' }, ...patient, OURS, { ...OURS, key: 'example.com/slot' }]
    await p.strategic('lifted on an old version', PODS, it, lift(all, { resourceVersion: created.resourceVersion }))
    await p.strategic('lifted without a toleration', PODS, it, lift(all.slice(1), { resourceVersion }))
    await p.strategic('lifted to another zone', PODS, it, {
      ...lift(all),
      spec: { schedulingGates: [{ $patch: 'delete', name: GATE }], nodeSelector: { zone: 'y' } },
    })
    await p.strategic('lifted in another life', PODS, it, lift(all, { uid: OTHER_UID }))
    await p.strategic('lifted', PODS, it, lift(all, { resourceVersion }))
    await p.strategic('lifted again', PODS, it, {
      metadata: { uid },
      spec: { schedulingGates: [{ $patch: 'delete', name: GATE }] },
    })
    await strategic('a gate where there is none', { schedulingGates: [{ name: GATE }] })
    await strategic('a node selector without a gate', { nodeSelector: { late: 'yes' } })
    await merge('no node selector without a gate', { nodeSelector: null })
    await p.bind('nobody is bound', p.at('nobody'), NODE)
    await p.bind('the pod is bound', it, NODE)
    await p.get('it is on its node', PODS, it)
    await p.bind('the pod is bound again', it, NODE)
    await p.bind('the pod is bound elsewhere', it, 'elsewhere')
    await merge('another node', { nodeName: 'elsewhere' })
    await strategic('a gate on a bound pod', { schedulingGates: [{ name: GATE }] })
  },
}

export const podStatus: Chapter = {
  name: 'pod-status',
  async play(p) {
    const it = p.at('it')
    const status = p.at('it', 'status')
    const parent = await p.create('a parent', PODS, pod('parent'))
    const metadata = { labels: { a: '1' }, finalizers: [KEEP] }
    const created = (await p.create('a pod', PODS, pod('it', metadata, gated(GATE)))).metadata

    await p.merge('a phase where the spec is', PODS, it, { status: { phase: 'Running' } })
    await p.merge('a phase where the status is', PODS, status, { status: { phase: 'Running' } })
    await p.merge('the same phase', PODS, status, { status: { phase: 'Running' } })
    await p.merge('a spec where the status is', PODS, status, { spec: { schedulingGates: [] } })
    await p.merge('both where the status is', PODS, status, {
      spec: { schedulingGates: [] },
      status: { phase: 'Pending' },
    })
    await p.merge('both where the spec is', PODS, it, {
      spec: { nodeSelector: { zone: 'x' } },
      status: { phase: 'Running' },
    })
    await p.merge('a label where the status is', PODS, status, { metadata: { labels: { a: '2' } } })
    await p.merge('a finalizer where the status is', PODS, status, { metadata: { finalizers: [KEEP, GUARD] } })
    await p.merge('an owner where the status is', PODS, status, { metadata: { ownerReferences: [owner(parent)] } })
    await p.merge('another uid where the status is', PODS, status, {
      metadata: { uid: OTHER_UID },
      status: { phase: 'Running' },
    })
    await p.merge('an old version where the status is', PODS, status, {
      metadata: { resourceVersion: created.resourceVersion },
      status: { phase: 'Running' },
    })
    const conditions = [condition('example.com/A'), condition('example.com/B')]
    await p.strategic('conditions', PODS, status, { status: { conditions } })
    await p.strategic('one condition', PODS, status, { status: { conditions: [condition('example.com/A', 'False')] } })
    await p.strategic('a condition taken off', PODS, status, {
      status: { conditions: [{ $patch: 'delete', type: 'example.com/B' }] },
    })
    await p.merge('a phase of nobody', PODS, p.at('nobody', 'status'), { status: { phase: 'Running' } })
    await p.get('in the end', PODS, it)
  },
}
