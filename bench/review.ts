export interface SampleOptions {
  /** The controller of the pod: a Job, which Muster looks up, or a kind that it does not know, which it does not. */
  readonly owner: 'Job' | 'Run'
  /** With the marks of our mutating webhook, as the validating one gets it. */
  readonly marked?: boolean
  /** Environment variables; 8 make a review of 2.8 kB. */
  readonly settings?: number
}

/** Of the pod below. */
const ROLE_HASH = '8086512c'
export const JOB_UID = '2d0e9a4c-6f0a-4a7e-9d6b-0f6f3c1f2b11'

/** A pod of a training job as the API server sends it to a webhook, defaults filled in: in a group, with an owner. */
export function sampleReview({ owner, marked = false, settings = 8 }: SampleOptions): Buffer {
  const tolerations = ['not-ready', 'unreachable'].map(state => ({
    key: `node.kubernetes.io/${state}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }))
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'train-worker-17',
      namespace: 'ml-research',
      labels: {
        'kueue.x-k8s.io/queue-name': 'team-a',
        'kueue.x-k8s.io/pod-group-name': 'train',
        app: 'train',
        ...(marked && { 'kueue.x-k8s.io/managed': 'true' }),
      },
      annotations: {
        'kueue.x-k8s.io/pod-group-total-count': '32',
        'example.com/experiment': 'run-2026-11-16',
        ...(marked && { 'kueue.x-k8s.io/role-hash': ROLE_HASH }),
      },
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: owner,
          name: 'train',
          uid: JOB_UID,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...(marked && { finalizers: ['kueue.x-k8s.io/managed'] }),
    },
    spec: {
      ...(marked && { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] }),
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'datasets' } },
        {
          name: 'kube-api-access',
          projected: {
            sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }],
            defaultMode: 420,
          },
        },
      ],
      containers: [
        {
          name: 'worker',
          image: 'images.example.com/train:1.42',
          command: ['python', '-m', 'train', '--epochs', '90', '--shards', '32'],
          ports: [{ name: 'nccl', containerPort: 29500, protocol: 'TCP' }],
          env: Array.from({ length: settings }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}` })),
          resources: {
            limits: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '1' },
            requests: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '1' },
          },
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
          ],
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      serviceAccount: 'default',
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations,
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: {},
  }
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      name: 'train-worker-17',
      namespace: 'ml-research',
      operation: 'CREATE',
      userInfo: { username: 'ada@example.com', groups: ['ml-engineers', 'system:authenticated'] },
      object: pod,
      oldObject: null,
      dryRun: false,
      options: {
        kind: 'CreateOptions',
        apiVersion: 'meta.k8s.io/v1',
        fieldManager: 'kubectl-create',
        fieldValidation: 'Strict',
      },
    },
  }
  return Buffer.from(JSON.stringify(review))
}
