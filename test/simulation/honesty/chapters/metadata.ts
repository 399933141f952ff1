import { WORKLOADS } from '../../../../src/engines/builtin/workloads.ts'

import { PODS } from '../../../../src/kube/vocabulary/resources.ts'

import type { Stored } from '../../model/server.ts'
import { GATE, GUARD, gated, HOLD, KEEP, OTHER_UID, owner, pod, workload } from '../objects.ts'
import type { Chapter, Play } from '../play.ts'

/** Labels, versions and uids: the same for a pod and for a Workload, unless the server says otherwise. */
async function preconditions(p: Play, resource: typeof PODS, object: Stored): Promise<void> {
  const { kind } = resource
  const it = p.at('it')
  const merge = (step: string, metadata: object) => p.merge(`${kind}: ${step}`, resource, it, { metadata })
  const json = (step: string, body: unknown) => p.json(`${kind}: ${step}`, resource, it, body)
  const { uid, resourceVersion } = (await p.create(`${kind}: created`, resource, object)).metadata

  await merge('a label more', { labels: { a: '1', b: '2' } })
  await merge('the same label', { labels: { a: '1' } })
  await merge('a label less', { labels: { a: null } })
  await merge('a label that is not there less', { labels: { a: null } })
  await merge('the last label less', { labels: { b: null } })
  await merge('no labels', { labels: {} })
  await merge('labels null', { labels: null })
  await merge('nothing', {})

  await merge('an old version', { resourceVersion, labels: { a: '2' } })
  await merge('an old version and no change', { resourceVersion })
  const current = (await p.get(`${kind}: read`, resource, it)).metadata
  await merge('the current version', { resourceVersion: current.resourceVersion, labels: { a: '3' } })
  await merge('no version', { resourceVersion: null, labels: { a: '4' } })
  await merge('an empty version', { resourceVersion: '', labels: { a: '5' } })
  await merge('the right uid', { uid, labels: { a: '6' } })
  await merge('another uid', { uid: OTHER_UID, labels: { a: '7' } })
  await merge('another uid and no change', { uid: OTHER_UID })
  await merge('another uid and an old version', { uid: OTHER_UID, resourceVersion })
  await merge('no uid', { uid: null, labels: { a: '8' } })
  await merge('another name', { name: 'that' })
  await merge('another namespace', { namespace: 'default' })
  await merge('another time of birth', { creationTimestamp: '2026-01-01T00:00:00Z' })
  await merge('a deletion', { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 })
  await p.merge(`${kind}: nobody is patched`, resource, p.at('nobody'), { metadata: { uid } })

  await json('a test that holds', [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/metadata/labels/c', value: '1' },
  ])
  await json('a test that fails', [
    { op: 'test', path: '/metadata/uid', value: OTHER_UID },
    { op: 'add', path: '/metadata/labels/c', value: '2' },
  ])
  await json('a test of what is not there', [{ op: 'test', path: '/metadata/labels/z', value: '1' }])
  await json('a test below what is not there', [{ op: 'test', path: '/metadata/annotations/z', value: '1' }])
  await json('a test for null of what is not there', [{ op: 'test', path: '/metadata/labels/z', value: null }])
  await json('remove what is not there', [{ op: 'remove', path: '/metadata/labels/z' }])
  await json('remove below what is not there', [{ op: 'remove', path: '/metadata/annotations/z' }])
  await json('replace what is not there', [{ op: 'replace', path: '/metadata/labels/z', value: '1' }])
  await json('add below what is not there', [{ op: 'add', path: '/metadata/annotations/z', value: '1' }])
  await json('an old version by JSON Patch', [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ])
  await json('no list of operations', { metadata: {} })
  await json('a list of no operations', [])
  await json('an operation that nobody knows', [{ op: 'swap', path: '/metadata/labels' }])
}

async function finalizersByIndex(p: Play, resource: typeof PODS): Promise<void> {
  const { kind } = resource
  const it = p.at('it')
  const json = (step: string, body: unknown) => p.json(`${kind}: ${step}`, resource, it, body)
  const at = (index: number | string) => `/metadata/finalizers/${index}`
  await json('a finalizer by index where there is none', [{ op: 'test', path: at(0), value: KEEP }])
  await json('finalizers as a list', [{ op: 'add', path: '/metadata/finalizers', value: [KEEP, GUARD] }])
  await json('a finalizer at the end', [{ op: 'add', path: at('-'), value: HOLD }])
  await json('a finalizer in the middle', [{ op: 'add', path: at(1), value: GATE }])
  await json('another finalizer than meant', [
    { op: 'test', path: at(0), value: GUARD },
    { op: 'remove', path: at(0) },
  ])
  await json('the finalizer that was meant', [
    { op: 'test', path: at(0), value: KEEP },
    { op: 'remove', path: at(0) },
  ])
  await json('an index beyond the end', [{ op: 'remove', path: at(3) }])
  await json('a test beyond the end', [{ op: 'test', path: at(3), value: KEEP }])
  await json('an insertion beyond the end', [{ op: 'add', path: at(4), value: KEEP }])
  await json('a replacement beyond the end', [{ op: 'replace', path: at(3), value: KEEP }])
  await json('a replacement by itself', [{ op: 'replace', path: at(0), value: GATE }])
  await json('a finalizer twice', [{ op: 'add', path: at('-'), value: GUARD }])
  await json('all finalizers', [{ op: 'remove', path: '/metadata/finalizers' }])
  await p.merge(`${kind}: finalizers by merge`, resource, it, { metadata: { finalizers: [KEEP, GUARD] } })
  await p.merge(`${kind}: other finalizers by merge`, resource, it, { metadata: { finalizers: [HOLD] } })
  await p.merge(`${kind}: no finalizers by merge`, resource, it, { metadata: { finalizers: [] } })
  await p.merge(`${kind}: a name that is no finalizer`, resource, it, { metadata: { finalizers: ['keep'] } })
}

async function owners(p: Play, resource: typeof PODS): Promise<void> {
  const { kind } = resource
  const it = p.at('it')
  const merge = (step: string, ownerReferences: unknown) =>
    p.merge(`${kind}: ${step}`, resource, it, { metadata: { ownerReferences } })
  const parents = [
    await p.create(`${kind}: a parent`, PODS, pod(`${kind.toLowerCase()}-one`)),
    await p.create(`${kind}: another parent`, PODS, pod(`${kind.toLowerCase()}-two`)),
  ] as const
  await merge('one owner', [owner(parents[0], true)])
  await merge('two owners', [owner(parents[0], true), owner(parents[1])])
  await merge('the other order', [owner(parents[1]), owner(parents[0], true)])
  await merge('two that control', [owner(parents[0], true), owner(parents[1], true)])
  await merge('one owner twice', [owner(parents[0]), owner(parents[0])])
  await merge('an owner without a uid', [{ ...owner(parents[0]), uid: '' }])
  if (resource === PODS) {
    const strategic = (step: string, body: object) =>
      p.strategic(`${kind}: ${step}`, resource, it, { metadata: { ownerReferences: [body] } })
    await strategic('an owner taken off by its uid', { $patch: 'delete', uid: parents[1].metadata.uid })
    await strategic('an owner that is none taken off', { $patch: 'delete', uid: OTHER_UID })
    await strategic('an owner put on', owner(parents[1]))
    await strategic('an owner changed', { uid: parents[0].metadata.uid, controller: false })
  }
  await merge('no owners', [])
}

export const metadata: Chapter = {
  name: 'metadata',
  async play(p) {
    await preconditions(p, PODS, pod('it', {}, gated(GATE)))
    await finalizersByIndex(p, PODS)
    await owners(p, PODS)
    await finalizersByValue(p)
  },
}

export const workloadMetadata: Chapter = {
  name: 'workload-metadata',
  async play(p) {
    await preconditions(p, WORKLOADS, workload('it'))
    await finalizersByIndex(p, WORKLOADS)
    await owners(p, WORKLOADS)
  },
}

/** As the reconciler does it on pods. */
async function finalizersByValue(p: Play): Promise<void> {
  const it = p.at('it')
  const strategic = (step: string, change: object) => p.strategic(step, PODS, it, { metadata: change })
  await strategic('finalizers by strategic merge', { finalizers: [KEEP, GUARD] })
  await strategic('a finalizer that is there', { finalizers: [KEEP] })
  await strategic('both in another order', { finalizers: [GUARD, KEEP] })
  await strategic('one more', { finalizers: [HOLD] })
  await strategic('one more after another', { finalizers: [KEEP, GATE] })
  await strategic('one taken off', { '$deleteFromPrimitiveList/finalizers': [KEEP] })
  await strategic('one that is not there taken off', { '$deleteFromPrimitiveList/finalizers': [KEEP] })
  await strategic('one off and one on', { '$deleteFromPrimitiveList/finalizers': [GUARD], finalizers: [KEEP] })
  await strategic('two taken off', { '$deleteFromPrimitiveList/finalizers': [HOLD, KEEP] })
  await strategic('one taken off where there is none', { '$deleteFromPrimitiveList/finalizers': [KEEP] })
  await strategic('labels by strategic merge', { labels: { team: 'blue' } })
  await strategic('a label taken off by strategic merge', { labels: { team: null } })
  await strategic('nothing by strategic merge', {})
  const { uid } = (await p.get('the pod again', PODS, it)).metadata
  await strategic('the right uid by strategic merge', { uid, labels: { team: 'red' } })
  await strategic('another uid by strategic merge', { uid: OTHER_UID, labels: { team: 'green' } })
  await strategic('an old version by strategic merge', { resourceVersion: '1' })
  await p.strategic('a strategic merge of nobody', PODS, p.at('nobody'), { metadata: { uid } })
}
