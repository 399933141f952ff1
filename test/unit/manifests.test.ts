import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { DEFAULT_CONFIGURATION } from '../../src/config/configuration.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import {
  ADMISSION_GATE,
  BREAK_GLASS,
  CHILD_OF,
  HELD,
  MANAGED,
  MIRROR_POD,
  OFFLINE_IDENTITY,
  QUEUE_NAME,
  QUEUED,
  RESOURCE_IN_USE,
  SCHEDULING,
  SERVICE_NAME,
  STATUS_POLICY,
  STOPPING,
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

function named(kind: string, name: string) {
  const found = manifests.filter(manifest => manifest.kind === kind && manifest.metadata.name === name)
  expect(found, `${kind} ${name}`).toHaveLength(1)
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
      const isClusterWide = clusterWide.includes(kind) || /WebhookConfiguration|AdmissionPolicy/.test(kind)
      expect(metadata.namespace, `${kind} ${metadata.name}`).toBe(isClusterWide ? undefined : SYSTEM_NAMESPACE)
    }
    expect(only('Namespace').metadata.name).toBe(SYSTEM_NAMESPACE)
    expect(only('Namespace').metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })
})

describe('rights', () => {
  const [clusterRole, role] = [named('ClusterRole', 'muster'), only('Role')]
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

interface Condition {
  readonly name: string
  readonly expression: string
}

interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly operations: readonly string[]
}

interface Entry {
  readonly matchConditions: readonly Condition[]
  readonly clientConfig: { readonly service: { readonly path: string } }
  readonly rules: readonly { readonly resources: readonly string[] }[]
}

const condition = ({ matchConditions }: Entry, name: string): string =>
  matchConditions.find(each => each.name === name)?.expression ?? ''

describe('the webhooks', () => {
  const mutating = only('MutatingWebhookConfiguration')
  const validating = only('ValidatingWebhookConfiguration')
  const both = [mutating.webhooks[0], validating.webhooks[0]]
  const queueing = mutating.webhooks[1]
  const bindings = validating.webhooks[1]
  const jobs = validating.webhooks.slice(2, 5)
  const workloads = validating.webhooks[5]
  const labels = validating.webhooks[6]

  it('have the names and paths of the contract', () => {
    for (const { metadata } of [mutating, validating]) expect(metadata.name).toBe('muster')
    expect(mutating.webhooks).toHaveLength(2)
    expect(queueing.name).toBe('jobs.muster.dev')
    const service = { name: SERVICE_NAME, namespace: SYSTEM_NAMESPACE, port: 443 }
    expect(both[0].clientConfig).toEqual({ service: { ...service, path: '/mutate/pods' } })
    expect(both[1].clientConfig).toEqual({ service: { ...service, path: '/validate/pods' } })
    expect(queueing.clientConfig).toEqual({ service: { ...service, path: '/mutate/jobs' } })
    expect(bindings.name).toBe('bindings.validate.muster.dev')
    expect(bindings.clientConfig).toEqual({ service: { ...service, path: '/validate/bindings' } })
    const kinds = ['jobs', 'cronjobs', 'jobsets']
    expect(jobs.map(({ name }: { name: string }) => name)).toEqual(kinds.map(kind => `${kind}.validate.muster.dev`))
    for (const { clientConfig } of jobs) {
      expect(clientConfig).toEqual({ service: { ...service, path: '/validate/jobs' } })
    }
    expect(workloads.name).toBe('workloads.validate.muster.dev')
    expect(workloads.clientConfig).toEqual({ service: { ...service, path: '/validate/workloads' } })
    expect(labels.name).toBe('queue-labels.validate.muster.dev')
    expect(labels.clientConfig).toEqual({ service: { ...service, path: '/validate/queue-labels' } })
    expect(validating.webhooks).toHaveLength(7)
  })

  it('are not called for Jobs that say nothing about their scheduling, nor about a queue', () => {
    for (const { name, matchConditions } of jobs) {
      const isQueueable = name !== 'cronjobs.validate.muster.dev'
      expect(matchConditions[0].name).toBe(`asks-to-be-scheduled${isQueueable ? '-or-queued' : ''}`)
      expect(matchConditions[0].expression).toContain(`'${SCHEDULING}' in`)
      if (!isQueueable) continue
      expect(matchConditions[0].expression).toContain(`'${QUEUE_NAME}' in`)
      const marks = [QUEUED, HELD, STOPPING, CHILD_OF].map(mark => `'${mark}'`).join(', ')
      expect(matchConditions[0].expression).toContain(`key in [${marks}]`)
    }
    expect(condition(queueing, 'asks-for-a-queue')).toBe(`'${QUEUE_NAME}' in object.metadata.?labels.orValue({})`)
  })

  it('are called to suspend a Job when it is new, or suspended, or resumed, or comes to a queue', () => {
    const expression = condition(queueing, 'is-new-or-suspended-or-resumed')
    expect(expression.startsWith("request.operation == 'CREATE' ||")).toBe(true)
    expect(expression).toContain('object.spec.?suspend.orValue(false) != oldObject.spec.?suspend.orValue(false)')
    for (const mark of [QUEUED, CHILD_OF]) expect(expression).toContain(`'${mark}'`)
  })

  it('are not called for the status that the usual controllers of Jobs and JobSets write', () => {
    const { controllers } = DEFAULT_CONFIGURATION.guard
    const [ofJobs, , ofJobSets] = jobs.map((entry: Entry) => condition(entry, 'not-a-mere-status'))
    for (const user of controllers['batch/job'] ?? []) expect(ofJobs).toContain(`'${user}'`)
    for (const user of controllers['jobset.x-k8s.io/jobset'] ?? []) expect(ofJobSets).toContain(`'${user}'`)
  })

  it('are called for a new parallelism only where it may be that of a gang', () => {
    const [{ expression }] = jobs[0].matchConditions
    const [, change = ''] = expression.split("request.operation == 'UPDATE'")
    expect(change).toContain('object.spec.parallelism != oldObject.spec.parallelism')
    expect(change).toContain("oldObject.spec.completionMode == 'Indexed'")
    expect(change).toContain('oldObject.spec.completions == oldObject.spec.parallelism')
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
    const byPhase = [...WEBHOOKS].sort((a, b) => Number(b.mutating) - Number(a.mutating))
    const ours = byPhase.flatMap(({ mutating: mutates, path, rules }) =>
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
    for (const webhook of [...both, queueing, bindings, ...jobs, workloads]) {
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
    for (const { reinvocationPolicy } of mutating.webhooks) expect(reinvocationPolicy).toBe('IfNeeded')
  })

  it('hold nobody up who is only warned', () => {
    const advisory = new Set(WEBHOOKS.filter(webhook => webhook.advisory).map(({ path }) => path))
    for (const { clientConfig, failurePolicy } of validating.webhooks) {
      expect(failurePolicy).toBe(advisory.has(clientConfig.service.path) ? 'Ignore' : 'Fail')
    }
    expect(labels).toMatchObject({ timeoutSeconds: 1, namespaceSelector: workloads.namespaceSelector })
    expect(labels.matchConditions[0].expression).toContain(`'${QUEUE_NAME}' in`)
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

  it('are not called for changes of pods that leave the marks alone', () => {
    const expression = condition(both[1], 'touches-our-marks')
    expect(expression.startsWith("request.operation == 'CREATE' ||")).toBe(true)
    expect(expression).toContain("request.subResource == 'resize'")
    for (const part of ['labels', 'annotations']) expect(expression).toContain(`pair[0].metadata.${part}.exists(key,`)
    for (const prefix of ['kueue.x-k8s.io/', 'muster.dev/']) {
      expect(expression.split(`key.startsWith('${prefix}')`), prefix).toHaveLength(3)
    }
    expect(expression).toContain(`'${MANAGED}' in pair[0].metadata.finalizers`)
    expect(expression).toContain(`gate.name == '${ADMISSION_GATE}'`)
  })

  it('are called for Workloads when something of ours changes, and not for the garbage collector', () => {
    const expression = condition(workloads, 'touches-what-is-ours')
    expect(expression.startsWith("request.operation == 'CREATE' ||")).toBe(true)
    for (const part of ['status', 'ownerReferences', "key != 'active'", 'labels', 'annotations', RESOURCE_IN_USE]) {
      expect(expression).toContain(part)
    }
    expect(condition(workloads, 'not-the-garbage-collector')).toContain(
      'system:serviceaccount:kube-system:generic-garbage-collector',
    )
  })

  it('are called for Bindings that write a mark', () => {
    const expression = condition(bindings, 'writes-a-mark')
    for (const mark of ["startsWith('kueue.x-k8s.io/')", "startsWith('muster.dev/')", `== '${MIRROR_POD}'`]) {
      expect(expression).toContain(mark)
    }
  })

  it('are not called for what Muster itself writes, under the identity that its manifests give it', () => {
    for (const entry of [both[1], queueing, jobs[0], jobs[2], workloads]) {
      expect(condition(entry, 'not-muster-itself')).toBe(`request.userInfo.username != '${OFFLINE_IDENTITY}'`)
    }
  })

  it('let the break-glass group pass where they validate, and not where they gate', () => {
    for (const entry of validating.webhooks) {
      expect(condition(entry, 'not-break-glass'), entry.name).toBe(
        `!(has(request.userInfo.groups) && '${BREAK_GLASS}' in request.userInfo.groups)`,
      )
    }
    expect(JSON.stringify(both[0])).not.toContain(BREAK_GLASS)
    // What waits already can be resumed by hand.
    const emergency = condition(queueing, 'not-resumed-in-an-emergency')
    expect(emergency.startsWith("request.operation == 'CREATE' ||")).toBe(true)
    expect(emergency).toContain(BREAK_GLASS)
  })

  it('see all pods of chosen namespaces in the overlay for that, but for what the cluster needs to live', () => {
    const folder = join(root, 'manifests/overlays/all-pods')
    const { patches } = parseYaml(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))
    for (const { target } of patches.slice(0, 2)) {
      expect(target).toEqual({ kind: '(Mutating|Validating)WebhookConfiguration', name: 'muster' })
    }
    // Somebody has to say which namespaces: the file is not there.
    expect(patches[0].path).toBe('namespace-selector.yaml')
    expect(readdirSync(folder)).not.toContain('namespace-selector.yaml')
    const [example] = parseYaml(readFileSync(join(folder, 'namespace-selector.example.yaml'), 'utf8'))
    expect(example).toMatchObject({ op: 'add', path: '/webhooks/0/namespaceSelector/matchExpressions/-' })
    const [test, replace] = parseYaml(patches[1].patch)
    expect(test).toEqual({ op: 'test', path: '/webhooks/0/matchConditions/1/name', value: 'asks-for-a-queue' })
    expect(replace).toMatchObject({ op: 'replace', path: '/webhooks/0/matchConditions/1' })
    expect(replace.value.expression).toContain(`!(request.namespace in ['kube-system', '${SYSTEM_NAMESPACE}'])`)
    expect(replace.value.expression).toContain("'system-node-critical'")
    // And all Jobs and JobSets, in the same namespaces.
    expect(patches[2].target).toEqual({ kind: 'MutatingWebhookConfiguration', name: 'muster' })
    const [testJobs, replaceJobs, copy] = parseYaml(patches[2].patch)
    expect(testJobs).toEqual({ op: 'test', path: '/webhooks/1/matchConditions/0/name', value: 'asks-for-a-queue' })
    expect(replaceJobs.value.expression).toBe(`!(request.namespace in ['kube-system', '${SYSTEM_NAMESPACE}'])`)
    expect(copy).toEqual({
      op: 'copy',
      from: '/webhooks/0/namespaceSelector',
      path: '/webhooks/1/namespaceSelector',
    })
  })
})

describe('the policies', () => {
  const policies = manifests.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
  const conditionsOf = (name: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      named('ValidatingAdmissionPolicy', name).spec.matchConditions.map((each: Condition) => [
        each.name,
        each.expression,
      ]),
    )

  it('are each bound by a binding of the same name, and refuse, but for the one that only records', () => {
    expect(policies.length).toBeGreaterThan(5)
    for (const { metadata, spec } of policies) {
      const records = metadata.name === 'muster-break-glass'
      expect(metadata.name).toMatch(/^muster-/)
      expect(spec.failurePolicy).toBe(records ? 'Ignore' : 'Fail')
      expect(named('ValidatingAdmissionPolicyBinding', metadata.name).spec).toEqual({
        policyName: metadata.name,
        validationActions: [records ? 'Audit' : 'Deny'],
      })
    }
    expect(manifests.filter(({ kind }) => kind === 'ValidatingAdmissionPolicyBinding')).toHaveLength(policies.length)
  })

  it('say why they refuse', () => {
    for (const { metadata, spec } of policies) {
      for (const { message, reason } of spec.validations ?? []) {
        expect(message.length, metadata.name).toBeGreaterThan(40)
        expect(reason).toBe('Forbidden')
      }
    }
  })

  it('take the status of queued pods from nodes and from the status writers of the configuration', () => {
    const conditions = conditionsOf(STATUS_POLICY)
    expect(conditions.queued).toContain(`'${MANAGED}' in oldObject.metadata.labels`)
    expect(conditions.queued).toContain(`'${MANAGED}' in oldObject.metadata.finalizers`)
    expect(conditions['not-a-node']).toContain("'system:nodes' in request.userInfo.groups")
    const listed = DEFAULT_CONFIGURATION.guard.statusWriters.map(user => `'${user}'`).join(', ')
    expect(conditions['not-a-status-writer']).toBe(`!(request.userInfo.username in [${listed}])`)
  })

  it('hold the account of Muster, and nobody else, to what it writes', () => {
    const account = policies.filter(({ metadata }) => metadata.name.startsWith('muster-account'))
    expect(account).toHaveLength(5)
    for (const { metadata } of account) {
      expect(conditionsOf(metadata.name)).toEqual({
        'muster-itself': `request.userInfo.username == '${OFFLINE_IDENTITY}'`,
      })
    }
    const [secret, lease] = only('Role').rules.flatMap((rule: { resourceNames?: string[] }) => rule.resourceNames ?? [])
    const { expression } = named('ValidatingAdmissionPolicy', 'muster-account-names').spec.validations[0]
    expect(expression).toContain(`request.name == '${secret}'`)
    expect(expression).toContain(`request.name == '${lease}'`)
  })

  it('record the break-glass group wherever it passes', () => {
    const { spec } = named('ValidatingAdmissionPolicy', 'muster-break-glass')
    expect(conditionsOf('muster-break-glass')['break-glass']).toContain(`'${BREAK_GLASS}' in request.userInfo.groups`)
    expect(spec.auditAnnotations).toEqual([{ key: 'used-by', valueExpression: 'request.userInfo.username' }])
    const recorded = new Set(
      spec.matchConstraints.resourceRules.flatMap((rule: PolicyRule) =>
        rule.resources.flatMap(resource => rule.operations.map(each => `${each} ${rule.apiGroups[0]}/${resource}`)),
      ),
    )
    const judged = WEBHOOKS.filter(({ mutating }) => !mutating).flatMap(({ rules }) =>
      rules.flatMap(rule => rule.operations.map(each => `${each} ${rule.of.group}/${resourceIn(rule)}`)),
    )
    expect(judged.filter(each => !recorded.has(each))).toEqual([])
    const passing = policies.filter(({ metadata }) => 'not-break-glass' in conditionsOf(metadata.name))
    expect(passing.map(({ metadata }) => metadata.name)).toEqual([STATUS_POLICY])
    for (const policy of passing) {
      for (const { apiGroups, resources, operations } of policy.spec.matchConstraints.resourceRules) {
        for (const resource of resources) expect(recorded).toContain(`${operations[0]} ${apiGroups[0]}/${resource}`)
      }
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
    expect(Object.keys(fields.properties.podSets.items.properties)).toEqual(['name', 'count', 'minCount', 'template'])
    expect(status.properties.conditions).toMatchObject({ maxItems: 16, 'x-kubernetes-list-map-keys': ['type'] })
    expect(Object.keys(status.properties.admission.properties)).toEqual(['clusterQueue', 'podSetAssignments'])
  })
})
