import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import {
  ADMISSION_GATE,
  MANAGED,
  MIRROR_POD,
  OFFLINE_IDENTITY,
  QUEUE_NAME,
  SCHEDULING,
  SERVICE_NAME,
  SYSTEM_NAMESPACE,
} from '../../src/kube/vocabulary/names.ts'
import { WEBHOOKS } from '../../src/webhooks/all.ts'
import { resourceIn } from '../../src/webhooks/webhook.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const base = join(root, 'manifests', 'base')
const kustomization = parseYaml(readFileSync(join(base, 'kustomization.yaml'), 'utf8'))
const files: readonly string[] = kustomization.resources
const manifests = files.flatMap(file =>
  parseAllDocuments(readFileSync(join(base, file), 'utf8')).map(document => document.toJS()),
)

function only(kind: string) {
  const found = manifests.filter(manifest => manifest.kind === kind)
  expect(found, kind).toHaveLength(1)
  return found[0]
}

const packageVersion: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

describe('the kustomization', () => {
  it('lists every file of its folder', () => {
    const present = readdirSync(base).filter(file => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    expect([...files].sort()).toEqual(present.sort())
  })

  it('names the version of the package, in labels and image', () => {
    expect(kustomization.labels[0].pairs['app.kubernetes.io/version']).toBe(packageVersion)
    expect(kustomization.images).toEqual([{ name: 'muster-dev/muster', newTag: packageVersion }])
    expect(only('Deployment').spec.template.spec.containers[0].image).toBe(`muster-dev/muster:${packageVersion}`)
  })

  it('puts everything that has a namespace into muster-system', () => {
    const clusterWide = ['Namespace', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding']
    for (const { kind, metadata } of manifests) {
      const isClusterWide = clusterWide.includes(kind) || kind.endsWith('WebhookConfiguration')
      expect(metadata.namespace, `${kind} ${metadata.name}`).toBe(isClusterWide ? undefined : SYSTEM_NAMESPACE)
    }
    expect(only('Namespace').metadata.name).toBe(SYSTEM_NAMESPACE)
    expect(only('Namespace').metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })
})

describe('rights', () => {
  const rules = manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role').flatMap(role => role.rules)

  it('name every verb, resource and group', () => {
    expect(rules.length).toBeGreaterThan(0)
    expect(JSON.stringify(rules)).not.toContain('*')
    for (const rule of rules) expect(rule.nonResourceURLs).toBeUndefined()
  })

  it('reach Secrets only in the own namespace, and read only the own one', () => {
    const [clusterRole, role] = [only('ClusterRole'), only('Role')]
    const ofSecrets = (rule: { resources: string[] }): boolean => rule.resources.includes('secrets')
    expect(clusterRole.rules.filter(ofSecrets)).toEqual([])
    for (const rule of role.rules.filter(ofSecrets)) {
      if (rule.verbs.includes('create')) expect(rule.verbs).toEqual(['create'])
      else expect(rule.resourceNames).toEqual(['muster-tls'])
    }
  })

  it('change no webhook configuration but the own two', () => {
    const touching = rules.filter(rule => rule.apiGroups.includes('admissionregistration.k8s.io'))
    expect(touching).toHaveLength(1)
    expect(touching[0].resourceNames).toEqual(['muster'])
    expect(touching[0].verbs).not.toContain('create')
    expect(touching[0].verbs).not.toContain('delete')
  })

  it('never create or replace a pod', () => {
    const onPods = rules.filter(rule => rule.apiGroups.includes('') && rule.resources.includes('pods'))
    expect(onPods.flatMap(rule => rule.verbs).sort()).toEqual(['delete', 'get', 'list', 'patch', 'watch'])
  })

  it('belong to the ServiceAccount of the Deployment', () => {
    const account = only('ServiceAccount').metadata.name
    expect(account).toBe('muster')
    expect(only('Deployment').spec.template.spec.serviceAccountName).toBe(account)
    for (const kind of ['ClusterRoleBinding', 'RoleBinding']) {
      expect(only(kind).subjects).toEqual([{ kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE }])
    }
  })
})

describe('the Deployment', () => {
  const { spec } = only('Deployment')
  const pod = spec.template.spec
  const [container] = pod.containers

  it('keeps two replicas apart and never goes below them in a rollout', () => {
    expect(spec.replicas).toBe(2)
    expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
    expect(pod.topologySpreadConstraints[0].whenUnsatisfiable).toBe('ScheduleAnyway')
    const [term] = pod.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution
    expect(term.podAffinityTerm.topologyKey).toBe('kubernetes.io/hostname')
    expect(only('PodDisruptionBudget').spec.minAvailable).toBe(1)
  })

  it('meets the restricted pod security standard, with a read-only root', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  it('is probed on the health port and has time to drain', () => {
    expect(container.ports.map((port: { containerPort: number }) => port.containerPort)).toEqual([8443, 8080])
    expect(container.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'health' })
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'health' })
    // A watch that returns within the delay of a reflector must not cost the process.
    const { periodSeconds, failureThreshold } = container.livenessProbe
    expect(periodSeconds * (failureThreshold - 1)).toBeGreaterThanOrEqual(20)
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'health' })
    expect(pod.terminationGracePeriodSeconds).toBe(60)
  })

  it('asks for what it needs and is not throttled', () => {
    expect(container.resources).toEqual({
      requests: { cpu: '100m', memory: '128Mi' },
      limits: { memory: '512Mi' },
    })
  })

  it('is what the Service, the budget and the network policy select', () => {
    const labels = spec.template.metadata.labels
    const budget = only('PodDisruptionBudget').spec.selector.matchLabels
    const policy = only('NetworkPolicy').spec.podSelector.matchLabels
    for (const selector of [only('Service').spec.selector, spec.selector.matchLabels, budget, policy]) {
      expect(labels).toMatchObject(selector)
    }
    expect(only('Service').metadata.name).toBe(SERVICE_NAME)
    expect(only('Service').spec.ports).toEqual([
      { name: 'webhooks', port: 443, targetPort: 'webhooks', protocol: 'TCP' },
    ])
  })

  it('reads the configuration from the ConfigMap, which holds the defaults', () => {
    const map = only('ConfigMap')
    expect(pod.volumes).toEqual([{ name: 'config', configMap: { name: map.metadata.name } }])
    expect(container.volumeMounts).toEqual([{ name: 'config', mountPath: '/etc/muster', readOnly: true }])
    expect(container.args).toEqual(['serve', '--config=/etc/muster/config.yaml'])
    expect(parseConfiguration(map.data['config.yaml'], 'config.yaml')).toEqual({
      configuration: DEFAULT_CONFIGURATION,
      warnings: [],
    })
  })
})

interface Entry {
  readonly clientConfig: { readonly service: { readonly path: string } }
  readonly rules: readonly { readonly resources: readonly string[] }[]
}

describe('the webhooks', () => {
  const mutating = only('MutatingWebhookConfiguration')
  const validating = only('ValidatingWebhookConfiguration')
  const both = [mutating.webhooks[0], validating.webhooks[0]]
  const bindings = validating.webhooks[1]
  const jobs = validating.webhooks.slice(2)

  it('have the names and paths of the contract', () => {
    for (const { metadata } of [mutating, validating]) expect(metadata.name).toBe('muster')
    expect(mutating.webhooks).toHaveLength(1)
    const service = { name: SERVICE_NAME, namespace: SYSTEM_NAMESPACE, port: 443 }
    expect(both[0].clientConfig).toEqual({ service: { ...service, path: '/mutate/pods' } })
    expect(both[1].clientConfig).toEqual({ service: { ...service, path: '/validate/pods' } })
    expect(bindings.name).toBe('bindings.validate.muster.dev')
    expect(bindings.clientConfig).toEqual({ service: { ...service, path: '/validate/bindings' } })
    const kinds = ['jobs', 'cronjobs', 'jobsets']
    expect(jobs.map(({ name }: { name: string }) => name)).toEqual(kinds.map(kind => `${kind}.validate.muster.dev`))
    for (const { clientConfig } of jobs) {
      expect(clientConfig).toEqual({ service: { ...service, path: '/validate/jobs' } })
    }
  })

  it('are not called for Jobs that say nothing about their scheduling', () => {
    for (const { matchConditions } of jobs) {
      expect(matchConditions[0].name).toBe('asks-to-be-scheduled')
      expect(matchConditions[0].expression).toContain(`'${SCHEDULING}' in`)
    }
  })

  it('ask for what the webhooks say they judge, no more and no less', () => {
    const installed = [mutating, validating].flatMap(({ kind, webhooks }) =>
      webhooks.flatMap((entry: Entry) =>
        entry.rules.flatMap(rule =>
          rule.resources.map(resource => ({
            kind,
            path: entry.clientConfig.service.path,
            ...rule,
            resources: [resource],
          })),
        ),
      ),
    )
    const ours = WEBHOOKS.flatMap(({ mutating: mutates, path, rules }) =>
      rules.map(rule => ({
        kind: mutates ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
        path,
        apiGroups: [rule.of.group],
        apiVersions: [rule.of.version],
        resources: [resourceIn(rule)],
        operations: rule.operations,
        scope: 'Namespaced',
      })),
    )
    expect(installed).toEqual(ours)
  })

  it('leave kube-system and Muster itself alone, answer fast, and have no side effects', () => {
    for (const webhook of [...both, bindings, ...jobs]) {
      expect(webhook).toMatchObject({
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        timeoutSeconds: 3,
        namespaceSelector: {
          matchExpressions: [
            { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', SYSTEM_NAMESPACE] },
          ],
        },
      })
    }
    expect(both[0].reinvocationPolicy).toBe('IfNeeded')
  })

  it('are not called for pods that ask for nothing, nor for mirror pods', () => {
    for (const { matchConditions } of both) {
      const [mirror, queue] = matchConditions
      expect(mirror.name).toBe('not-a-mirror-pod')
      expect(mirror.expression).toContain(`'${MIRROR_POD}' in object.metadata.annotations`)
      expect(queue.name).toBe('asks-for-a-queue')
      for (const name of [QUEUE_NAME, MANAGED, ADMISSION_GATE]) expect(queue.expression).toContain(`'${name}'`)
    }
    expect(both[1].matchConditions[1].expression).toContain('[object, oldObject].exists(pod, pod != null &&')
  })

  it('are not called for a status that leaves the marks alone', () => {
    const condition = both[1].matchConditions[2]
    expect(condition.name).toBe('not-a-mere-status')
    expect(condition.expression).toContain("request.subResource != 'status' ||")
  })

  it('are called for a status that changes any mark, and for Bindings that write one', () => {
    expect(both[1].matchConditions[2].expression).toContain("key.startsWith('muster.dev/')")
    const [condition] = bindings.matchConditions
    for (const mark of ["startsWith('kueue.x-k8s.io/')", "startsWith('muster.dev/')", `== '${MIRROR_POD}'`]) {
      expect(condition.expression).toContain(mark)
    }
  })

  it('are not called for what Muster itself writes, under the identity that its manifests give it', () => {
    const own = both[1].matchConditions[3]
    expect(own.name).toBe('not-muster-itself')
    expect(own.expression).toBe(`request.userInfo.username != '${OFFLINE_IDENTITY}'`)
  })

  it('see all pods but mirror pods in the overlay for that', () => {
    const overlay = parseYaml(readFileSync(join(root, 'manifests/overlays/all-pods/kustomization.yaml'), 'utf8'))
    const targets = overlay.patches.map((patch: { target: { kind: string } }) => patch.target.kind)
    expect(targets).toEqual(['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
    for (const { patch } of overlay.patches) {
      expect(parseYaml(patch)).toEqual([
        { op: 'test', path: '/webhooks/0/matchConditions/1/name', value: 'asks-for-a-queue' },
        { op: 'remove', path: '/webhooks/0/matchConditions/1' },
      ])
    }
  })
})

describe('the Workload definition', () => {
  const { metadata, spec } = only('CustomResourceDefinition')
  const [version] = spec.versions

  it('is workloads.muster.dev/v1alpha1, namespaced, with a status of its own', () => {
    expect(metadata.name).toBe('workloads.muster.dev')
    expect(spec).toMatchObject({ group: 'muster.dev', scope: 'Namespaced' })
    expect(spec.names).toMatchObject({ kind: 'Workload', plural: 'workloads', shortNames: ['mwl'] })
    expect(version).toMatchObject({ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } })
  })

  it('prints QUEUE, PODS, ADMITTED, FINISHED and AGE', () => {
    const names = version.additionalPrinterColumns.map((column: { name: string }) => column.name)
    expect(names).toEqual(['QUEUE', 'PODS', 'ADMITTED', 'FINISHED', 'AGE'])
  })

  it('has the fields of the contract, within the limits of Kueue', () => {
    const { spec: fields, status } = version.schema.openAPIV3Schema.properties
    expect(Object.keys(fields.properties)).toEqual(['queueName', 'podSets', 'priority', 'active'])
    expect(fields.properties.podSets).toMatchObject({ minItems: 1, maxItems: 18 })
    expect(Object.keys(fields.properties.podSets.items.properties)).toEqual(['name', 'count', 'template'])
    expect(status.properties.conditions).toMatchObject({ maxItems: 16, 'x-kubernetes-list-map-keys': ['type'] })
    expect(Object.keys(status.properties.admission.properties)).toEqual(['clusterQueue', 'podSetAssignments'])
  })
})
