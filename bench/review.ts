/** A pod of a training job as the API server sends it to a mutating webhook: about 2.7 kB, defaults filled in. */
export function sampleReview(): Buffer {
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
      labels: { 'kueue.x-k8s.io/queue-name': 'team-a', 'kueue.x-k8s.io/pod-group-name': 'train', app: 'train' },
      annotations: { 'kueue.x-k8s.io/pod-group-total-count': '32', 'example.com/experiment': 'run-2026-11-16' },
    },
    spec: {
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
          env: Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}` })),
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
