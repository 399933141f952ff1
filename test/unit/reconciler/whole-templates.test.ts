import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { perform } from '../../../src/reconciler/perform.ts'
import { withWholeTemplates } from '../../../src/reconciler/whole-templates.ts'
import { managedPod } from '../../support/pods.ts'
import { workloadOf } from '../../support/workloads.ts'

const pod = {
  ...managedPod({ annotations: { 'provreq.kueue.x-k8s.io/ValidUntilSeconds': '0', mine: 'stays' } }),
  spec: {
    containers: [
      {
        name: 'main',
        image: 'x:1',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
          { name: 'A', value: '3' },
        ],
      },
    ],
    volumes: [{ name: 'data' }],
  },
} as KubeObject as Pod
const wanted = workloadOf([managedPod()])
const models = [{ podSet: 'main', pod: { namespace: 'ml', name: 'train', uid: 'uid-train' } }]
const server = (found: Pod | undefined) => ({
  get: async <T extends KubeObject>(): Promise<T> => {
    if (found === undefined) throw new ApiError(404, 'NotFound', 'gone')
    return found as KubeObject as T
  },
})
const specOf = (workload: KubeObject | undefined) =>
  (workload as typeof wanted | undefined)?.spec.podSets[0]?.template.spec

describe('the templates of a Workload that others read, too', () => {
  it('are the pods as they are, with each variable once', async () => {
    const whole = await withWholeTemplates(wanted, models, server(pod))
    expect(specOf(whole)).toEqual({
      containers: [
        {
          name: 'main',
          image: 'x:1',
          env: [
            { name: 'A', value: '3' },
            { name: 'B', value: '2' },
          ],
        },
      ],
      volumes: [{ name: 'data' }],
    })
  })

  it('come with what the pods say to who provides capacity, and with nothing else of theirs', async () => {
    const whole = await withWholeTemplates(wanted, models, server(pod))
    expect(whole?.metadata.annotations).toMatchObject({ 'provreq.kueue.x-k8s.io/ValidUntilSeconds': '0' })
    expect(whole?.metadata.annotations).not.toHaveProperty('mine')
  })

  it.each([
    ['is gone', undefined],
    ['has a successor', { ...pod, metadata: { ...pod.metadata, uid: 'other' } }],
    ['is too large for a Workload', { ...pod, spec: { containers: [{ name: 'x'.repeat(1_000_001) }] } }],
  ])('are what admission reads when the pod %s', async (_, found) => {
    expect(await withWholeTemplates(wanted, models, server(found))).toBeUndefined()
  })

  it('are what admission reads when the API server refuses them as a whole', async () => {
    const created: (typeof wanted)[] = []
    const api = {
      ...server(pod),
      create: async (_: unknown, object: typeof wanted) => {
        created.push(object)
        if (created.length === 1) throw new ApiError(422, 'Invalid', 'ports: Duplicate value')
        return object
      },
    }
    const action = { kind: 'EnsureObject' as const, resource: WORKLOADS, wanted, models }
    expect(await perform(action, api as never, () => {})).toEqual({ kind: 'done' })
    expect(created.map(specOf)).toEqual([expect.objectContaining({ volumes: [{ name: 'data' }] }), specOf(wanted)])
  })
})
