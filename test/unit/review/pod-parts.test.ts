import { describe, expect, it } from 'vitest'
import { file, results, review } from './fixtures.ts'

let files = 0
/** `CODE severity field` of each finding. */
async function found(objects: readonly object[]): Promise<readonly string[]> {
  const report = await review([file(`parts-${files++}.json`, objects.map(each => JSON.stringify(each)).join('\n'))])
  expect([report.unreadable, report.failures]).toEqual([[], []])
  return results(report).flatMap(({ findings }) =>
    findings.map(({ code, severity, field }) => `${code} ${severity} ${field}`),
  )
}

const made = (apiVersion: string, kind: string, spec: object) => ({ apiVersion, kind, metadata: { name: 'm' }, spec })
const pod = (container: object, more: object = {}) =>
  made('v1', 'Pod', { containers: [{ name: 'c', image: 'x', ...container }], ...more })
const volumes = [{ name: 'v', emptyDir: {} }]
const terms = (...matchExpressions: readonly object[]) => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  },
})

/** As the API server of Kubernetes 1.37.1 answers each of them. */
describe('what the parts of a pod need of each other, and what they are:', () => {
  it.each<[string, object, string]>([
    ['no image', pod({ image: null }), 'FieldMissing warning spec.containers[0].image'],
    ['an empty image', pod({ image: '' }), 'FieldMissing warning spec.containers[0].image'],
    [
      'no image in an init container',
      pod({}, { initContainers: [{ name: 'i' }] }),
      'FieldMissing warning spec.initContainers[0].image',
    ],
    [
      'a mount without its volume',
      pod({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
      'FieldMissing warning spec.containers[0].volumeMounts[0].name',
    ],
    [
      'a mount without a place',
      pod({ volumeMounts: [{ name: 'v' }] }, { volumes }),
      'FieldMissing warning spec.containers[0].volumeMounts[0].mountPath',
    ],
    [
      'two mounts in one place',
      pod(
        {
          volumeMounts: [
            { name: 'v', mountPath: '/v' },
            { name: 'v', mountPath: '/v' },
          ],
        },
        { volumes },
      ),
      'FieldInvalid error spec.containers[0].volumeMounts[1].mountPath',
    ],
    [
      'a device without its volume',
      pod({ volumeDevices: [{ name: 'v', devicePath: '/v' }] }),
      'FieldMissing warning spec.containers[0].volumeDevices[0].name',
    ],
    [
      'a claim that the pod does not have',
      pod({ resources: { claims: [{ name: 'gpu' }] } }),
      'FieldMissing warning spec.containers[0].resources.claims[0].name',
    ],
    [
      'a probe that asks nothing',
      pod({ livenessProbe: { periodSeconds: 5 } }),
      'FieldMissing warning spec.containers[0].livenessProbe',
    ],
    [
      'a probe that asks two things',
      pod({ readinessProbe: { exec: { command: ['a'] }, httpGet: { port: 80 } } }),
      'FieldInvalid error spec.containers[0].readinessProbe',
    ],
    [
      'a hook that does nothing',
      pod({ lifecycle: { preStop: {} } }),
      'FieldMissing warning spec.containers[0].lifecycle.preStop',
    ],
    [
      'a port without its number',
      pod({ ports: [{ name: 'a' }] }),
      'FieldMissing warning spec.containers[0].ports[0].containerPort',
    ],
    [
      'two ports of one name',
      pod({
        ports: [
          { name: 'a', containerPort: 80 },
          { name: 'a', containerPort: 81 },
        ],
      }),
      'FieldInvalid error spec.containers[0].ports[1].name',
    ],
    [
      'a variable without a name',
      pod({ env: [{ value: 'a' }] }),
      'FieldMissing warning spec.containers[0].env[0].name',
    ],
    [
      'a variable from nowhere',
      pod({ env: [{ name: 'A', valueFrom: {} }] }),
      'FieldMissing warning spec.containers[0].env[0].valueFrom',
    ],
    [
      'a variable from two places',
      pod({ env: [{ name: 'A', value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
      'FieldInvalid error spec.containers[0].env[0].valueFrom',
    ],
    [
      'a volume that is two things',
      pod({}, { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] }),
      'FieldInvalid error spec.volumes[0].hostPath',
    ],
    [
      'a volume in capitals',
      pod({}, { volumes: [{ name: 'V', emptyDir: {} }] }),
      'FieldInvalid error spec.volumes[0].name',
    ],
    [
      'a toleration of a value that exists',
      pod({}, { tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] }),
      'FieldInvalid error spec.tolerations[0].value',
    ],
    ['a toleration of nothing', pod({}, { tolerations: [{}] }), 'FieldInvalid error spec.tolerations[0].key'],
    [
      'a toleration for a time, of what is asked once',
      pod({}, { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }] }),
      'FieldInvalid error spec.tolerations[0].tolerationSeconds',
    ],
    [
      'a gate that is no name',
      pod({}, { schedulingGates: [{ name: 'a b' }] }),
      'FieldInvalid error spec.schedulingGates[0].name',
    ],
    [
      'pods that are spread over nothing',
      pod({}, { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }),
      'FieldMissing warning spec.topologySpreadConstraints[0].topologyKey',
    ],
    [
      'an operator of nobody',
      pod({}, terms({ key: 'a', operator: 'Is', values: ['b'] })),
      'FieldInvalid error spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator',
    ],
    [
      'a user in quotes',
      pod({ securityContext: { runAsUser: '1' } }),
      'FieldInvalid error spec.containers[0].securityContext.runAsUser',
    ],
    [
      'a rule that does nothing known',
      made('batch/v1', 'Job', {
        podFailurePolicy: { rules: [{ action: 'Fail' }] },
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } },
      }),
      'FieldInvalid error spec.podFailurePolicy.rules[0].action',
    ],
  ])('%s', async (_what, object, expected) => {
    expect(await found([object])).toEqual([expected])
  })

  it('nothing, where all is there', async () => {
    const right = pod(
      {
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
        ports: [{ containerPort: 80 }, { containerPort: 81 }],
        livenessProbe: { httpGet: { port: 'http' } },
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }],
        resources: { claims: [{ name: 'gpu' }] },
        securityContext: { runAsUser: 1, capabilities: { drop: ['ALL'] } },
      },
      {
        volumes,
        tolerations: [{ operator: 'Exists' }, { key: 'k', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }],
        resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }],
        schedulingGates: [{ name: 'example.com/gate' }],
        ...terms({ key: 'a', operator: 'In', values: ['b'] }),
      },
    )
    expect(await found([right])).toEqual([])
  })

  it('nothing of what an owner adds: the claims of a StatefulSet, and whatever controllers of others do', async () => {
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'data', mountPath: '/d' }] }] },
    }
    const set = { serviceName: 's', selector: { matchLabels: { app: 'a' } }, template }
    const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }]
    expect(await found([made('apps/v1', 'StatefulSet', { ...set, volumeClaimTemplates })])).toEqual([])
    expect(await found([made('apps/v1', 'StatefulSet', set)])).toEqual([
      'FieldMissing warning spec.template.spec.containers[0].volumeMounts[0].name',
    ])
    const driver = { template: { spec: { containers: [{ name: 'spark' }] } } }
    expect(await found([made('sparkoperator.k8s.io/v1beta2', 'SparkApplication', { driver })])).toEqual([])
  })
})
