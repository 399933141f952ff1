import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MANAGED } from '../../../src/kube/vocabulary/names.ts'
import { queuedPod } from '../support/manifests.ts'
import {
  ADMIN,
  Battlefield,
  IN_NEED,
  NODE,
  OWNER,
  POD_GARBAGE_COLLECTOR,
  patch,
  RED,
  ROOT,
  type User,
} from './support.ts'

let field: Battlefield

beforeAll(async () => {
  field = await Battlefield.open('status')
  await field.runningPod('runs')
  await field.waitingPod('waits')
})

afterAll(async () => {
  await field?.close()
})

/** Every write of a status by somebody who does not run the pod. */
describe('a forged end', () => {
  const POLICY = "ValidatingAdmissionPolicy 'muster-pod-status'"
  const ended = (name: string) => ({ name, state: { terminated: { exitCode: 0, reason: 'Completed' } } })
  const status = (pod: string, change: object): readonly string[] => patch('pod', pod, change, '--subresource=status')
  const STRANGER: User = { as: 'system:serviceaccount:kube-system:default' }

  it.each([
    ['Succeeded, by the admin of the namespace', ADMIN, { phase: 'Succeeded' }],
    ['Failed, by who may do everything there', OWNER, { phase: 'Failed' }],
    ['Failed, by the administrator of the cluster', ROOT, { phase: 'Failed' }],
    ['no phase at all', ADMIN, { phase: null }],
  ])('is no end: %s', async (_, user, change) => {
    const text = await field.refused(user, status('runs', { status: change }))
    expect(text).toContain(POLICY)
    expect(text).toContain('status.phase: the phase of a queued pod comes from the node that runs it')
    expect(text).toContain('guard.statusWriters')
    expect((await field.get('runs')).status?.phase).toBe('Running')
  })

  it('is none before the pod has started either', async () => {
    expect(await field.refused(ADMIN, status('waits', { status: { phase: 'Failed' } }))).toContain(POLICY)
  })

  it('is none by a replacement of the whole status', async () => {
    const pod = await field.get('runs')
    const object = { ...pod, status: { ...pod.status, phase: 'Succeeded' } }
    expect(await field.refused(OWNER, ['replace', '--subresource=status', '-f', '-'], object)).toContain(POLICY)
  })

  it('is none by server-side apply', async () => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'runs' }, status: { phase: 'Failed' } }
    const apply = ['apply', '--server-side', '--force-conflicts', '--subresource=status', '-f', '-']
    expect(await field.refused(OWNER, apply, object)).toContain(POLICY)
  })

  it('is none by containers that are said to have stopped', async () => {
    for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
      const text = await field.refused(ADMIN, status('runs', { status: { [list]: [ended('main')] } }))
      expect(text, list).toMatch(/what the containers of a queued pod do comes from the node|is invalid/)
    }
  })

  it('is none by the mark of the pod garbage collector', async () => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' }]
    expect(await field.refused(ADMIN, status('runs', { status: { conditions } }))).toContain(
      'DeletionByPodGC is the mark of the pod garbage collector',
    )
  })

  it('is none when the pod says in the same breath that it was never queued', async () => {
    const change = { metadata: { labels: { [MANAGED]: null }, finalizers: null }, status: { phase: 'Succeeded' } }
    expect(await field.refused(OWNER, status('runs', change))).toContain(POLICY)
  })

  it('is none from an account of kube-system that is no controller', async () => {
    const role = ['create', 'clusterrolebinding', 'stranger', '--clusterrole=cluster-admin']
    await field.plane.kubectl([...role, '--serviceaccount=kube-system:default'])
    expect(await field.refused(STRANGER, status('runs', { status: { phase: 'Failed' } }))).toContain(POLICY)
  })

  describe('but', () => {
    it('a node reports what its pods do', async () => {
      const pod = await field.runningPod('of-node-0', { nodeSelector: { 'kubernetes.io/hostname': 'node-0' } })
      expect(pod.spec.nodeName).toBe('node-0')
      await field.passes(NODE, status('of-node-0', { status: { phase: 'Succeeded', containerStatuses: [] } }))
      expect((await field.get('of-node-0')).status?.phase).toBe('Succeeded')
    })

    it('a status writer of the configuration does, as KWOK does for all pods here', async () => {
      await field.passes(ADMIN, ['create', '-f', '-'], queuedPod({ namespace: RED, name: 'ends', outcome: 'succeed' }))
      await field.plane.kubectl([
        ...['wait', 'pod/ends', '-n', RED, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=30s'],
      ])
    })

    it('the pod garbage collector fails the pods of a node that is gone', async () => {
      await field.runningPod('lost')
      const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' }]
      await field.passes(POD_GARBAGE_COLLECTOR, status('lost', { status: { phase: 'Failed', conditions } }))
      expect((await field.get('lost')).status?.phase).toBe('Failed')
    })

    it('a tenant writes conditions of his own on his queued pods', async () => {
      await field.runningPod('has-a-readiness-gate')
      const conditions = [{ type: 'example.com/warm', status: 'True' }]
      await field.passes(ADMIN, [
        'patch',
        'pod',
        'has-a-readiness-gate',
        '--subresource=status',
        '-p',
        JSON.stringify({ status: { conditions } }),
      ])
    })

    it('whatever he likes on pods that are in no queue', async () => {
      const plain = queuedPod({ namespace: RED, name: 'plain' }) as { metadata: object }
      await field.passes(ADMIN, ['create', '-f', '-'], { ...plain, metadata: { name: 'plain' } })
      await field.passes(ADMIN, status('plain', { status: { phase: 'Failed' } }))
    })

    it('who breaks the glass writes it, and the audit log says who', async () => {
      await field.runningPod('stuck')
      await field.passes(IN_NEED, status('stuck', { status: { phase: 'Failed' } }))
      const used = (await field.plane.audit()).find(
        ({ objectRef }) => objectRef?.name === 'stuck' && objectRef.subresource === 'status',
      )
      expect(used?.annotations).toMatchObject({ 'muster-break-glass/used-by': 'root' })
    })
  })
})

describe('a Binding', () => {
  const binding = (name: string, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, ...metadata },
    target: { apiVersion: 'v1', kind: 'Node', name: 'node-0' },
  })
  const raw = (name: string): readonly string[] => [
    ...['create', '--raw', `/api/v1/namespaces/${RED}/pods/${name}/binding`, '-f', '-'],
  ]
  const unbound = async (name: string): Promise<void> => {
    const pod = queuedPod({ namespace: RED, name }) as { spec: object }
    await field.passes(ADMIN, ['create', '-f', '-'], { ...pod, spec: { ...pod.spec, schedulerName: 'nobody' } })
    await field.plane.kubectl([
      ...[
        'wait',
        `pod/${name}`,
        '-n',
        RED,
        '--for=jsonpath={.metadata.labels.kueue\\.x-k8s\\.io/podset}',
        '--timeout=30s',
      ],
    ])
  }

  const NOTHING = 'a Binding says where the pod runs, and nothing of its queue or group'

  it('does not move its pod to another queue, group or role', async () => {
    await unbound('moved')
    const labels = { 'kueue.x-k8s.io/queue-name': 'other', [MANAGED]: 'false' }
    expect(await field.refused(ADMIN, raw('moved'), binding('moved', { labels }))).toContain(NOTHING)
    const annotations = { 'kueue.x-k8s.io/workload': 'another' }
    expect(await field.refused(ADMIN, raw('moved'), binding('moved', { annotations }))).toContain(NOTHING)
    for (const marks of [
      { annotations: { 'pod-group-name': 'x' } },
      { labels: { 'kai.scheduler/subgroup-name': 'x' } },
    ])
      expect(await field.refused(ADMIN, raw('moved'), binding('moved', marks))).toContain(NOTHING)
    const forged = binding('moved', { annotations: { 'muster.dev/creator': 'another' } })
    const legacy = ['create', '--raw', `/api/v1/namespaces/${RED}/bindings`, '-f', '-']
    expect(await field.refused(OWNER, legacy, forged)).toContain(NOTHING)
    expect((await field.get('moved')).spec.nodeName).toBeUndefined()
  })

  it('binds its pod, with annotations of its own', async () => {
    await unbound('bound')
    await field.passes(ADMIN, raw('bound'), binding('bound', { annotations: { 'example.com/why': 'because' } }))
    const pod = await field.get('bound')
    expect(pod.spec.nodeName).toBe('node-0')
    expect(pod.metadata.annotations).toMatchObject({ 'example.com/why': 'because' })
  })
})
