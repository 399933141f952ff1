import type { AdmissionRequest, AdmissionReview } from '../../src/admission/review.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'

/** A pod as the API server sends it on CREATE. */
export function pod(overrides: Partial<Pod> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'train-0',
      namespace: 'team-a',
      labels: { 'kueue.x-k8s.io/queue-name': 'team-a', app: 'train' },
    },
    spec: { containers: [{ name: 'main' }] },
    status: {},
    ...overrides,
  }
}

/** A review of a pod as kube-apiserver writes it, `object` after the short fields. */
export function podReview(overrides: Partial<AdmissionRequest> = {}): AdmissionReview {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      name: 'train-0',
      namespace: 'team-a',
      operation: 'CREATE',
      userInfo: { username: 'alice', groups: ['system:authenticated'] },
      object: pod(),
      oldObject: null,
      dryRun: false,
      ...overrides,
    },
  }
}
