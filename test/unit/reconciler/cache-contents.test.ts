import { describe, expect, it } from 'vitest'
import { wholeSpecOf } from '../../../src/kube/vocabulary/objects.ts'
import { podForCache } from '../../../src/reconciler/cache-contents.ts'
import { composeSingle } from '../../../src/workload/compose.ts'
import { roleNameOf } from '../../../src/workload/group-plan.ts'

const pod = {
  metadata: {
    name: 'train',
    namespace: 'ml',
    uid: 'u',
    labels: { 'kueue.x-k8s.io/queue-name': 'team-a' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{...}', mine: 'stays' },
  },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'x:1',
        env: [{ name: 'A', value: 'b' }],
        resources: { requests: { cpu: '2' }, limits: {} },
      },
    ],
    initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '1Gi' } } }],
    overhead: { cpu: '100m' },
    schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }],
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    priority: 7,
    volumes: [{ name: 'data' }],
  },
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled' }] },
}

describe('what the cache keeps', () => {
  it('of a pod is what decisions look at, and the spec as text', () => {
    const kept = podForCache(pod)
    expect(kept.spec).toEqual({
      schedulingGates: pod.spec.schedulingGates,
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      priority: 7,
    })
    expect(kept.status).toEqual({ phase: 'Pending' })
    expect(kept.metadata.annotations).toEqual({ mine: 'stays' })
    expect(wholeSpecOf(kept)).toEqual(pod.spec)
  })

  it('of a pod makes the same Workload and the same role as the pod itself', () => {
    expect(composeSingle('w', podForCache(pod))).toEqual(composeSingle('w', pod))
    expect(roleNameOf(podForCache(pod))).toBe(roleNameOf(pod))
  })
})
