import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { parseConfiguration } from '../../../src/config/load.ts'
import { SERVICE_NAME, STATUS_POLICY, SYSTEM_NAMESPACE } from '../../../src/kube/vocabulary/names.ts'
import { base, files, kustomization, manifests, named, only, root } from './read.ts'

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
      const isClusterWide = clusterWide.includes(kind) || /WebhookConfiguration|AdmissionPolicy/.test(kind)
      expect(metadata.namespace, `${kind} ${metadata.name}`).toBe(isClusterWide ? undefined : SYSTEM_NAMESPACE)
    }
    expect(only('Namespace').metadata.name).toBe(SYSTEM_NAMESPACE)
    expect(only('Namespace').metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })
})

describe('rights', () => {
  const [clusterRole, role] = [named('ClusterRole', 'muster'), named('Role', 'muster')]
  const rules = [...clusterRole.rules, ...role.rules]

  it('name every verb, resource and group', () => {
    expect(rules.length).toBeGreaterThan(0)
    expect(JSON.stringify(rules)).not.toContain('*')
    for (const rule of rules) expect(rule.nonResourceURLs).toBeUndefined()
  })

  it('reach Secrets only in the own namespace, and read only the own one', () => {
    const ofSecrets = (rule: { resources: string[] }): boolean => rule.resources.includes('secrets')
    expect(clusterRole.rules.filter(ofSecrets)).toEqual([])
    for (const rule of role.rules.filter(ofSecrets)) {
      if (rule.verbs.includes('create')) expect(rule.verbs).toEqual(['create'])
      else expect(rule.resourceNames).toEqual(['muster-tls'])
    }
  })

  it('change no webhook configuration but the own two', () => {
    const touching = rules.filter(rule => rule.apiGroups.includes('admissionregistration.k8s.io'))
    expect(touching).toHaveLength(2)
    const [configurations, policies] = touching
    expect(configurations.resourceNames).toEqual(['muster'])
    expect(configurations.verbs).toEqual(['get', 'list', 'watch', 'patch'])
    // No policy holds who may change policies.
    expect(policies).toEqual({
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
      resourceNames: [STATUS_POLICY],
      verbs: ['get', 'list', 'watch'],
    })
  })

  it('let who views a namespace see its Workloads, and who edits it delete them and switch them off', () => {
    const [view, edit] = ['view', 'edit'].map(verb => named('ClusterRole', `muster-workloads-${verb}`))
    expect(view.metadata.labels).toEqual({ 'rbac.authorization.k8s.io/aggregate-to-view': 'true' })
    expect(edit.metadata.labels).toEqual({ 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' })
    const workloads = { apiGroups: ['muster.dev'], resources: ['workloads'] }
    expect(view.rules).toEqual([{ ...workloads, verbs: ['get', 'list', 'watch'] }])
    expect(edit.rules).toEqual([{ ...workloads, verbs: ['update', 'patch', 'delete', 'deletecollection'] }])
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
    expect(pod.terminationGracePeriodSeconds).toBe(120)
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
    expect(Object.keys(fields.properties.podSets.items.properties)).toEqual(['name', 'count', 'minCount', 'template'])
    expect(status.properties.conditions).toMatchObject({ maxItems: 16, 'x-kubernetes-list-map-keys': ['type'] })
    expect(Object.keys(status.properties.admission.properties)).toEqual(['clusterQueue', 'podSetAssignments'])
  })
})
