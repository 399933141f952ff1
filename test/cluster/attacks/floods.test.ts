import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { isGated, queuedJob, queuedPod } from '../support/manifests.ts'
import { ADMIN, Battlefield, CLOSED, CREATOR, EDITOR, IN_NEED, OWNER, patch, RED, ROOT } from './support.ts'

/** More than a policy may go through one by one: what it costs is limited. */
const FLOOD = 40_000

let field: Battlefield

beforeAll(async () => {
  field = await Battlefield.open('floods')
})

afterAll(async () => {
  await field?.close()
})

type Made = KubeObject & { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }
type Map = 'labels' | 'annotations'

const many = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index.toString(36)}`, '']))

function flooded(object: object, map: Map, count: number): object {
  const { metadata } = object as Made
  return { ...object, metadata: { ...metadata, [map]: { ...metadata[map], ...many(count) } } }
}

const each = <T>(count: number, make: (name: string) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(`k${index.toString(36)}`))
const volume = (name: string): object => ({ name, emptyDir: {} })

const create = ['create', '-f', '-']
const pod = (name: string): object => queuedPod({ namespace: RED, name, queue: CLOSED })
const job = (name: string, queue?: string): object =>
  queuedJob({ namespace: RED, name, ...(queue !== undefined && { queue }) })

describe('thousands of marks', () => {
  it.each<[Map, string, object]>([
    ['labels', 'a pod', pod('many')],
    ['annotations', 'a pod', pod('many')],
    ['labels', 'a Job', job('many', CLOSED)],
    ['annotations', 'a Job', job('many', CLOSED)],
  ])('come into no queue: %s of %s', async (map, _kind, object) => {
    for (const user of [ADMIN, OWNER, ROOT]) {
      expect(await field.refused(user, create, flooded(object, map, 1001))).toContain(`at most 1000 ${map}`)
    }
  })

  it('nor later, by a queue or by one more', async () => {
    await field.passes(OWNER, create, flooded(job('later'), 'annotations', 1001))
    const label = { metadata: { labels: { 'kueue.x-k8s.io/queue-name': CLOSED } }, spec: { suspend: true } }
    await field.passes(OWNER, patch('job', 'later', { spec: { suspend: true } }))
    expect(await field.refused(OWNER, patch('job', 'later', label))).toContain('at most 1000 annotations')
    await field.waitingPod('grows')
    const labels = { metadata: { labels: many(1001) } }
    for (const more of [[], ['--subresource=status']]) {
      expect(await field.refused(ADMIN, patch('pod', 'grows', labels, ...more))).toContain('at most 1000 labels')
    }
  })

  it('while hundreds are nobody’s affair', async () => {
    await field.passes(CREATOR, create, flooded(pod('hundreds'), 'labels', 900))
    await field.passes(OWNER, create, flooded(job('hundreds', CLOSED), 'annotations', 900))
    await field.passes(EDITOR, patch('job', 'hundreds', { metadata: { labels: { app: 'a' } } }))
    await field.passes(ADMIN, ['delete', 'pod', 'hundreds', '--wait=false'])
    await field.isGone('hundreds')
  })

  it.each<[string, object, object]>([
    ['tolerations', { tolerations: each(1001, key => ({ key, operator: 'Exists' })) }, {}],
    ['schedulingGates', { schedulingGates: each(1001, name => ({ name })) }, {}],
    ['volumes', { volumes: each(1001, name => ({ name, emptyDir: {} })) }, {}],
    ['finalizers', {}, { finalizers: each(1001, name => `example.com/${name}`) }],
  ])('of another kind make no pod that takes forever to write, and so to delete: %s', async (list, spec, metadata) => {
    const made = pod('slow') as { metadata: object; spec: object }
    const slow = { ...made, metadata: { ...made.metadata, ...metadata }, spec: { ...made.spec, ...spec } }
    expect(await field.refused(CREATOR, create, slow)).toContain(list)
  })

  it('while dozens of those are nobody’s affair either', async () => {
    const made = pod('dozens') as { spec: object }
    const spec = { tolerations: each(64, key => ({ key, operator: 'Exists' })), volumes: each(64, volume) }
    await field.passes(CREATOR, create, { ...made, spec: { ...made.spec, ...spec } })
    await field.passes(ADMIN, patch('pod', 'dozens', { metadata: { labels: { app: 'a' } } }))
    await field.passes(ADMIN, ['delete', 'pod', 'dozens', '--wait=false'])
    await field.isGone('dozens')
  })

  it('keep no pod that has them all the same from being deleted', async () => {
    await field.passes(IN_NEED, create, flooded(pod('heavy'), 'labels', FLOOD))
    expect(isGated(await field.get('heavy'))).toBe(true)
    await field.passes(ADMIN, ['delete', 'pod', 'heavy', '--wait=false'])
    await field.isGone('heavy')
  })

  it('of what is in no queue are their author’s, and keep no controller from it', async () => {
    await field.passes(OWNER, create, flooded(job('own'), 'annotations', FLOOD))
    await field.plane.kubectl(['wait', 'job/own', '-n', RED, '--for=jsonpath={.status.active}=1', '--timeout=60s'])
    await field.passes(OWNER, ['delete', 'job', 'own', '--cascade=foreground', '--wait=false'])
    await field.isGone('own', 'job')
  })
})
