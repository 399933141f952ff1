import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'

import { PODS } from '../../../../src/kube/vocabulary/resources.ts'

import { GATE, GUARD, gated, KEEP, NODE, OTHER_UID, pod, workload } from '../objects.ts'
import type { Chapter, Play } from '../play.ts'

const drop = (name: string) => ({ metadata: { '$deleteFromPrimitiveList/finalizers': [name] } })

export const deletion: Chapter = {
  name: 'deletion',
  async play(p) {
    const marker = await p.create('a pod to begin with', PODS, pod('first'))
    const watch = p.watch(PODS, { resourceVersion: marker.metadata.resourceVersion ?? '' })
    await p.delete('nobody is deleted', PODS, p.at('nobody'))
    await p.delete('nobody is deleted by uid', PODS, p.at('nobody'), { uid: OTHER_UID })
    await p.delete('another uid', PODS, p.at('first'), { uid: OTHER_UID })
    await p.delete('the right uid', PODS, p.at('first'), { uid: marker.metadata.uid ?? '' })
    await p.get('it is gone', PODS, p.at('first'))
    await p.shown('and the watch showed', watch)

    await heldPod(p)
    await p.shown('what a watch shows of a held pod', watch)
    await again(p)
    await p.shown('what a watch shows of a name that is used again', watch)
  },
}

/** A gated pod that somebody deletes while finalizers hold it: what the reconciler meets most. */
async function heldPod(p: Play): Promise<void> {
  const held = p.at('held')
  const change = (step: string, body: object) => p.strategic(step, PODS, held, body)
  const { uid } = (await p.create('a held pod', PODS, pod('held', { finalizers: [KEEP, GUARD] }, gated(GATE)))).metadata
  await p.delete('it is deleted', PODS, held)
  await p.get('and is still there', PODS, held)
  await p.delete('it is deleted again', PODS, held, { uid: uid ?? '' })
  await p.delete('it is deleted by force', PODS, held, { graceSeconds: 0 })
  await p.delete('it is deleted with patience', PODS, held, { graceSeconds: 60 })
  await p.get('which changes nothing', PODS, held)
  await change('a new finalizer', { metadata: { finalizers: ['example.com/late'] } })
  await change('a finalizer that it has', { metadata: { finalizers: [KEEP] } })
  await p.merge('a new finalizer in the place of an old one', PODS, held, {
    metadata: { finalizers: [KEEP, 'example.com/late'] },
  })
  await p.merge('a deletion taken back', PODS, held, {
    metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null },
  })
  await change('a label on its way out', { metadata: { labels: { a: '1' } } })
  await change('a gate on its way out', { spec: { schedulingGates: [{ $patch: 'delete', name: GATE }] } })
  await p.bind('it is bound on its way out', held, NODE)
  await p.merge('a phase on its way out', PODS, p.at('held', 'status'), { status: { phase: 'Failed' } })
  await change('one of two finalizers off', drop(KEEP))
  await change('another life of the last finalizer', {
    metadata: { uid: OTHER_UID, '$deleteFromPrimitiveList/finalizers': [GUARD] },
  })
  await change('the last finalizer off, with a label', {
    metadata: { uid, labels: { a: '2' }, '$deleteFromPrimitiveList/finalizers': [GUARD] },
  })
  await p.get('it is gone now', PODS, held)
  await change('the last finalizer off again', drop(GUARD))
}

async function again(p: Play): Promise<void> {
  const name = p.at('again')
  const first = (await p.create('a name', PODS, pod('again', { finalizers: [KEEP] }))).metadata
  await p.delete('its first life', PODS, name)
  await p.create('too early', PODS, pod('again'))
  await p.strategic('let go', PODS, name, drop(KEEP))
  await p.create('its second life', PODS, pod('again', { finalizers: [KEEP] }))
  await p.strategic('a patch for the first life', PODS, name, {
    metadata: { uid: first.uid, '$deleteFromPrimitiveList/finalizers': [KEEP] },
  })
  await p.delete('a deletion for the first life', PODS, name, { uid: first.uid ?? '' })
  await p.merge('a version of the first life', PODS, name, { metadata: { resourceVersion: first.resourceVersion } })
  await p.get('the second life', PODS, name)
}

export const gracefulDeletion: Chapter = {
  name: 'graceful-deletion',
  async play(p) {
    const seven = await p.create(
      'a pod with seven seconds',
      PODS,
      pod('seven', {}, { terminationGracePeriodSeconds: 7 }),
    )
    const watch = p.watch(PODS, { resourceVersion: seven.metadata.resourceVersion ?? '' })
    await p.bind('it goes to a node', p.at('seven'), NODE)
    await p.delete('and is deleted', PODS, p.at('seven'))
    await p.get('it has seven seconds', PODS, p.at('seven'))

    const bound = p.at('bound')
    await p.create('a pod', PODS, pod('bound', {}))
    await p.bind('is bound', bound, NODE)
    await p.delete('is deleted', PODS, bound)
    await p.get('and has its time', PODS, bound)
    await p.delete('is deleted again', PODS, bound)
    await p.delete('is deleted with more time', PODS, bound, { graceSeconds: 60 })
    await p.get('as before', PODS, bound)
    await p.delete('is deleted with less time', PODS, bound, { graceSeconds: 5 })
    await p.get('has less time', PODS, bound)
    await p.merge('has failed', PODS, p.at('bound', 'status'), { status: { phase: 'Failed' } })
    await p.delete('is deleted once more', PODS, bound)
    await p.get('is still there', PODS, bound)
    await p.delete('is let go by its kubelet', PODS, bound, { graceSeconds: 0 })
    await p.get('is gone', PODS, bound)
    await p.shown('all of that in a watch', watch)

    const held = p.at('held')
    await p.create('a pod with a finalizer', PODS, pod('held', { finalizers: [KEEP, GUARD] }))
    await p.bind('a held pod is bound', held, NODE)
    await p.delete('a held pod is deleted', PODS, held)
    await p.strategic('a finalizer goes before the kubelet is done', PODS, held, drop(KEEP))
    await p.delete('the kubelet is done', PODS, held, { graceSeconds: 0 })
    await p.get('the other finalizer holds it', PODS, held)
    await p.strategic('the other goes too', PODS, held, drop(GUARD))
    await p.get('nothing holds it', PODS, held)

    const early = p.at('early')
    await p.create('another pod with a finalizer', PODS, pod('early', { finalizers: [KEEP] }))
    await p.bind('it is bound', early, NODE)
    await p.delete('it is deleted', PODS, early)
    await p.strategic('its only finalizer goes first', PODS, early, drop(KEEP))
    await p.get('its kubelet holds it', PODS, early)
    await p.delete('its kubelet is done', PODS, early, { graceSeconds: 0 })
    await p.shown('and of these in the watch', watch)

    for (const phase of ['Succeeded', 'Failed']) {
      const ended = p.at(phase.toLowerCase())
      await p.create(`a pod that will have ${phase}`, PODS, pod(ended.name, { finalizers: [KEEP] }))
      await p.bind(`${phase}: bound`, ended, NODE)
      await p.merge(`${phase}: ended`, PODS, { ...ended, subresource: 'status' }, { status: { phase } })
      await p.delete(`${phase}: deleted`, PODS, ended)
      await p.get(`${phase}: needs no time`, PODS, ended)
    }
    await p.create('a pod that is forced', PODS, pod('forced'))
    await p.bind('forced: bound', p.at('forced'), NODE)
    await p.delete('forced: deleted', PODS, p.at('forced'), { graceSeconds: 0 })
    await p.get('forced: gone', PODS, p.at('forced'))
    await p.create('a pod on no node', PODS, pod('free'))
    await p.delete('patience is no use to it', PODS, p.at('free'), { graceSeconds: 60 })
    await p.get('it is gone', PODS, p.at('free'))
    await p.shown('the ends of the others', watch)
  },
}

export const workloadDeletion: Chapter = {
  name: 'workload-deletion',
  async play(p) {
    const free = await p.create('a Workload', WORKLOADS, workload('free'))
    const watch = p.watch(WORKLOADS, { resourceVersion: free.metadata.resourceVersion ?? '' })
    await p.delete('another uid', WORKLOADS, p.at('free'), { uid: OTHER_UID })
    await p.delete('the right uid', WORKLOADS, p.at('free'), { uid: free.metadata.uid ?? '' })
    await p.get('gone at once', WORKLOADS, p.at('free'))
    await p.shown('the free one in a watch', watch)

    const held = p.at('held')
    const { uid } = (await p.create('a held one', WORKLOADS, workload('held', { finalizers: [KEEP, GUARD] }))).metadata
    await p.delete('deleted', WORKLOADS, held)
    await p.get('held', WORKLOADS, held)
    await p.delete('deleted again', WORKLOADS, held)
    await p.get('not changed', WORKLOADS, held)
    const keep = [KEEP, GUARD, 'example.com/late']
    await p.merge('a new finalizer', WORKLOADS, held, { metadata: { finalizers: keep } })
    await p.merge('a status on its way out', WORKLOADS, p.at('held', 'status'), { status: { pods: 1 } })
    await p.merge('a spec on its way out', WORKLOADS, held, { spec: { priority: 1 } })
    const path = '/metadata/finalizers/0'
    const release = (name: string) => [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path, value: name },
      { op: 'remove', path },
    ]
    await p.json('the wrong one released', WORKLOADS, held, release(GUARD))
    await p.json('one of two released', WORKLOADS, held, release(KEEP))
    await p.json('the last one released', WORKLOADS, held, release(GUARD))
    await p.json('released again', WORKLOADS, held, release(GUARD))
    await p.shown('the held one in a watch', watch)

    await p.create('the same name again', WORKLOADS, workload('held', { finalizers: [KEEP] }))
    await p.json('released for the first life', WORKLOADS, held, release(KEEP))
    await p.delete('a deletion for the first life', WORKLOADS, held, { uid: uid ?? '' })
    await p.merge('a merge for the first life', WORKLOADS, held, { metadata: { uid, labels: { a: '1' } } })
    await p.merge('a finalizer taken off while nobody deletes', WORKLOADS, held, { metadata: { finalizers: null } })
    await p.delete('then nothing holds it', WORKLOADS, held)
    await p.shown('the second life in a watch', watch)
  },
}
