import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { readDocuments } from '../../../src/documents/documents.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { ClusterState } from '../../../src/review/cluster-state.ts'
import type { ReviewOptions } from '../../../src/review/review.ts'
import { file, job, path, pod, QUEUE, results, review, stdinOf } from './fixtures.ts'

describe('the cluster state', () => {
  const config = {
    ...DEFAULT_CONFIGURATION,
    integrations: {
      ...DEFAULT_CONFIGURATION.integrations,
      podOptions: { namespaceSelector: { matchLabels: { batch: 'yes' } }, podSelector: {} },
    },
  }
  const kueue: Configuration = { ...DEFAULT_CONFIGURATION, engine: 'kueue' }
  const jobController = { username: 'system:serviceaccount:kube-system:job-controller' }
  const gates = async (object: unknown, state: readonly unknown[], options: Partial<ReviewOptions> = {}) => {
    const clusterState = [file('state.json', { apiVersion: 'v1', kind: 'List', items: state })]
    const [result] = results(await review([file('subject.json', object)], { clusterState, ...options }))
    return result?.allowed ? result.patch.length > 0 : result?.errors[0]?.detail
  }
  const namespace = (name: string, labels = {}) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  const owner = (metadata: Record<string, unknown>) => ({ apiVersion: 'batch/v1', kind: 'Job', metadata })

  it('gives namespaces their labels; others have only their name', async () => {
    expect(await gates(pod(), [namespace('default', { batch: 'yes' })], { config })).toBe(true)
    expect(await gates(pod(), [namespace('other', { batch: 'yes' })], { config })).toBe(false)
    const named = { matchLabels: { 'kubernetes.io/metadata.name': 'default' } }
    const byName = {
      ...config,
      integrations: {
        ...config.integrations,
        podOptions: { ...config.integrations.podOptions, namespaceSelector: named },
      },
    }
    expect(await gates(pod(), [], { config: byName })).toBe(true)
    expect(await gates(pod(), [namespace('default', { 'kubernetes.io/metadata.name': 'x' })], { config: byName })).toBe(
      true,
    )
  })

  it('gives owners, by kind and name in the namespace', async () => {
    const child = pod({ ownerReferences: [job] })
    const owned = (state: readonly unknown[]) => gates(child, state, { config: kueue, user: jobController })
    const queued = { name: 'train', namespace: 'default', uid: 'job-1', labels: { [QUEUE]: 'q' } }
    expect(await owned([])).toContain('workload owner not found')
    expect(await owned([owner({ ...queued, namespace: 'elsewhere' })])).toContain('workload owner not found')
    expect(await owned([owner(queued)])).toBe(false)
    expect(await owned([owner({ ...queued, labels: null })])).toBe(true)
    expect(await owned([owner({ ...queued, uid: 'job-0' })])).toBe(true)
    expect(await owned([owner({ ...queued, uid: undefined, namespace: undefined })])).toBe(false)
    expect(await owned([{ ...owner(queued), apiVersion: 'batch/v1beta1' }])).toBe(false)
  })

  it('gives a LocalQueue named default', async () => {
    const queue = (metadata: object) => ({ apiVersion: 'kueue.x-k8s.io/v1beta2', kind: 'LocalQueue', metadata })
    const plain = pod({ labels: {} })
    expect(await gates(plain, [])).toBe(false)
    expect(await gates(plain, [queue({ name: 'default', namespace: 'default' })])).toBe(true)
    expect(await gates(plain, [queue({ name: 'default', namespace: 'other' })])).toBe(false)
    expect(await gates(plain, [queue({ name: 'other', namespace: 'default' })])).toBe(false)
  })

  it('is not in the reviewed files', async () => {
    const input = file('with-owner.json', {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ ...owner({ name: 'train', uid: 'job-1' }), spec: {} }, pod({ ownerReferences: [job] })],
    })
    expect(
      results(await review([input], { config: kueue, user: jobController })).map(({ allowed }) => allowed),
    ).toEqual([true, false])
  })

  it.each([
    ['no object', 'text\n', '1:1: is no object'],
    [
      'no name',
      'apiVersion: v1\nkind: Namespace\nmetadata: {labels: {a: b}}\n',
      '1:1: the object has no metadata.name',
    ],
    [
      'labels that are no texts',
      '# c\napiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {a: 1}}\n',
      '2:1: metadata.labels',
    ],
    ['a broken document', 'a: [\n', '2:1: is not valid YAML'],
  ])('with %s ends the review before it starts', async (_what, text, message) => {
    const report = await review([file('fine.json', pod())], { clusterState: [file('broken.yaml', text)] })
    expect(report.results).toEqual([])
    expect(report.unreadable.map(each => `${each.line}:${each.column}: ${each.message}`)[0]).toContain(message)
  })
})

describe('files', () => {
  it('in folders are read to the bottom, sorted by path', async () => {
    const root = path('tree')
    mkdirSync(join(root, 'b/c'), { recursive: true })
    for (const name of ['z.yaml', 'b/c/m.json', 'a.yml', 'notes.txt']) {
      writeFileSync(
        join(root, name),
        name === 'notes.txt' ? '{' : JSON.stringify(pod({ name: name.replaceAll(/\W/g, '-') })),
      )
    }
    symlinkSync(root, join(root, 'b/loop.yaml'))
    symlinkSync(join(root, 'z.yaml'), join(root, 'b/link.yaml'))
    expect(results(await review([root])).map(({ name }) => name)).toEqual(['a-yml', 'b-c-m-json', 'z-yaml', 'z-yaml'])
  })

  it('that cannot be read are named, and the others are reviewed', async () => {
    mkdirSync(path('empty'), { recursive: true })
    writeFileSync(path('latin1.yaml'), Buffer.from([0x61, 0x3a, 0xe9]))
    const report = await review([path('missing'), path('empty'), path('latin1.yaml'), file('last.json', pod())])
    expect(report.unreadable).toEqual([
      { file: path('missing'), line: 0, column: 0, message: 'cannot be read: there is no such file or folder' },
      { file: path('empty'), line: 0, column: 0, message: 'the folder holds no .yaml, .yml or .json file' },
      { file: path('latin1.yaml'), line: 0, column: 0, message: 'is not UTF-8 text' },
    ])
    expect(results(report)).toMatchObject([{ allowed: true }])
  })

  it('without any object are an error', async () => {
    const { unreadable } = await review([file('comment.yaml', '# nothing\n')])
    expect(unreadable).toMatchObject([
      { file: path('comment.yaml'), message: 'nothing to review: there is no object in it' },
    ])
  })

  it('may come through standard input', async () => {
    const stdin = stdinOf(`${JSON.stringify(pod())}\n{"kind":"Pod"}`)
    const report = await review(['-'], { stdin })
    expect(results(report)).toMatchObject([{ source: { file: '-', document: 1, line: 1 } }])
    expect(report.unreadable).toMatchObject([
      { file: '-', line: 2, column: 1, message: expect.stringContaining('no apiVersion') },
    ])
  })

  it('says what is served for placing pods together, else nothing is', () => {
    const served = (...objects: readonly object[]) => {
      const state = new ClusterState()
      for (const document of readDocuments(objects.map(object => JSON.stringify(object)).join('\n'), 'state.json')) {
        if ('message' in document) throw new Error(document.message)
        expect(state.add(document)).toEqual([])
      }
      return state.world(DEFAULT_CONFIGURATION).scheduling()
    }
    const group = { kind: 'APIGroup', apiVersion: 'v1', name: 'scheduling.k8s.io', versions: [{ version: 'v1beta1' }] }
    const kubernetes = { version: 'v1beta1', podGroups: true, composites: false }
    expect(served({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })).toEqual(NOTHING_SERVED)
    expect(served(group)).toEqual({ ...NOTHING_SERVED, kubernetes })
    expect(served({ kind: 'APIGroupList', apiVersion: 'v1', groups: [group] })).toEqual({
      ...NOTHING_SERVED,
      kubernetes,
    })
    const podGroup = { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', metadata: { name: 'a' } }
    expect(served(podGroup).kubernetes?.version).toBe('v1alpha2')
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
    expect(served({ ...crd, metadata: { name: 'podgroups.scheduling.run.ai' } }).kai).toBe(true)
    const rules = [{ apiGroups: ['scheduling.k8s.io'], resources: ['podgroups'] }]
    const metadata = { name: 'system:controller:job-controller' }
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules }
    expect(served(group, role).jobController).toBe(true)
  })
})
