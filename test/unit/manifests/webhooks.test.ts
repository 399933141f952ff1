import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { KAI_POD_GROUP, KAI_SUBGROUP } from '../../../src/kube/vocabulary/kai.ts'
import {
  ADMISSION_GATE,
  BREAK_GLASS,
  CHILD_OF,
  GROUP_TEMPLATE_NAME,
  GROUPED,
  HELD,
  MANAGED,
  MIRROR_POD,
  OFFLINE_IDENTITY,
  POD_GROUP,
  QUEUE_NAME,
  QUEUED,
  RESOURCE_IN_USE,
  ROOT_GROUP,
  SCHEDULING,
  SERVICE_NAME,
  STOPPING,
  SYSTEM_NAMESPACE,
} from '../../../src/kube/vocabulary/names.ts'
import { WEBHOOKS } from '../../../src/webhooks/all.ts'
import { resourceIn } from '../../../src/webhooks/webhook.ts'
import { only, root } from './read.ts'

interface Condition {
  readonly name: string
  readonly expression: string
}

interface Entry {
  readonly name: string
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
  const keeping = mutating.webhooks[2]
  const implicit = mutating.webhooks[3]
  const bindings = validating.webhooks[1]
  const jobs = validating.webhooks.slice(2, 5)
  const workloads = validating.webhooks[5]
  const labels = validating.webhooks[6]
  const groups = [mutating.webhooks[4], validating.webhooks[7]]

  it('have the names and paths of the contract', () => {
    for (const { metadata } of [mutating, validating]) expect(metadata.name).toBe('muster')
    expect(mutating.webhooks).toHaveLength(5)
    expect(keeping.name).toBe('cronjobs.muster.dev')
    expect(implicit.name).toBe('implicit-gangs.muster.dev')
    expect(queueing.name).toBe('jobs.muster.dev')
    const service = { name: SERVICE_NAME, namespace: SYSTEM_NAMESPACE, port: 443 }
    expect(both[0].clientConfig).toEqual({ service: { ...service, path: '/mutate/pods' } })
    expect(both[1].clientConfig).toEqual({ service: { ...service, path: '/validate/pods' } })
    for (const { clientConfig } of [queueing, keeping]) {
      expect(clientConfig).toEqual({ service: { ...service, path: '/mutate/jobs' } })
    }
    expect(implicit.clientConfig).toEqual({ service: { ...service, path: '/mutate/implicit-gangs' } })
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
    expect(groups.map(({ name }: { name: string }) => name)).toEqual([
      'pod-groups.muster.dev',
      'pod-groups.validate.muster.dev',
    ])
    expect(groups.map(({ clientConfig }: Entry) => clientConfig.service.path)).toEqual([
      '/mutate/pod-groups',
      '/validate/pod-groups',
    ])
    expect(validating.webhooks).toHaveLength(8)
  })

  it('are not called for Jobs that say nothing about their scheduling, nor about a queue', () => {
    for (const { name, matchConditions } of jobs) {
      const isQueueable = name !== 'cronjobs.validate.muster.dev'
      expect(matchConditions[0].name).toBe(`asks-to-be-scheduled${isQueueable ? '-or-queued' : ''}`)
      expect(matchConditions[0].expression).toContain(`'${SCHEDULING}' in`)
      if (!isQueueable) continue
      expect(matchConditions[0].expression).toContain(`'${QUEUE_NAME}' in`)
      const marks = [QUEUED, HELD, STOPPING, CHILD_OF].map(mark => `'${mark}'`).join(', ')
      expect(matchConditions[0].expression).toContain(`[${marks}].exists(key, key in `)
    }
    const asks = condition(queueing, 'asks-for-a-queue-or-a-group')
    expect(
      asks.startsWith(`'${QUEUE_NAME}' in object.metadata.?labels.orValue({}) || has(object.spec.scheduling)`),
    ).toBe(true)
    for (const mark of [SCHEDULING, ROOT_GROUP, GROUP_TEMPLATE_NAME]) expect(asks).toContain(`'${mark}'`)
    const [ofJobs, , ofJobSets] = jobs.map(({ matchConditions }: Entry) => matchConditions[0]?.expression)
    for (const expression of [ofJobs, ofJobSets]) {
      for (const mark of [GROUPED, ROOT_GROUP]) expect(expression).toContain(`'${mark}' in`)
    }
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
    for (const webhook of [...both, queueing, keeping, bindings, ...jobs, workloads, ...groups]) {
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
    for (const { name, reinvocationPolicy } of mutating.webhooks) {
      if (name !== implicit.name) expect(reinvocationPolicy).toBe('IfNeeded')
    }
    // What another webhook has written for it is not ours to judge by its shape once more.
    expect(implicit).toMatchObject({ reinvocationPolicy: 'Never', namespaceSelector: queueing.namespaceSelector })
  })

  it('hold nobody up who is only warned', () => {
    const advisory = new Set(WEBHOOKS.filter(webhook => webhook.advisory).map(({ path }) => path))
    for (const { clientConfig, failurePolicy } of [...mutating.webhooks, ...validating.webhooks]) {
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

  it("are called for pods of KAI's scheduler that name a group, and not for the changes of others", () => {
    const [held, guarded] = groups
    const names = condition(held, 'names-a-group-or-changes-its-link')
    const { schedulerName } = DEFAULT_CONFIGURATION.coScheduling.kai
    for (const expression of [names, condition(guarded, 'waits-for-a-group')]) {
      expect(expression).toContain(`object.spec.?schedulerName.orValue('') == '${schedulerName}'`)
      expect(expression).toContain('(has(object.spec.schedulingGroup) || has(object.spec.workloadRef))')
      expect(expression).toContain(`'${POD_GROUP}' in`)
    }
    for (const expression of [names, condition(guarded, 'touches-its-marks')]) {
      for (const key of [KAI_POD_GROUP, KAI_SUBGROUP]) expect(expression).toContain(`[?'${key}'] !=`)
    }
  })

  it('are not called for changes of pods that leave the marks alone', () => {
    const expression = condition(both[1], 'touches-our-marks')
    expect(expression.startsWith("request.operation == 'CREATE' ||")).toBe(true)
    expect(expression).toContain("request.subResource == 'resize'")
    for (const part of ['labels', 'annotations']) {
      expect(expression).toContain(`pair[0].metadata.?${part}.orValue({}).exists(key,`)
    }
    for (const prefix of ['kueue.x-k8s.io/', 'muster.dev/']) {
      expect(expression.split(`key.startsWith('${prefix}')`), prefix).toHaveLength(3)
    }
    expect(expression).toContain(`'${MANAGED}' in pair[0].metadata.finalizers`)
    expect(expression).toContain(`gate.name == '${ADMISSION_GATE}'`)
  })

  it('go through all labels or annotations of an object only when one of them has changed', () => {
    const bounded = ['bindings.validate.muster.dev', 'workloads.validate.muster.dev']
    const entries: readonly Entry[] = [...mutating.webhooks, ...validating.webhooks]
    for (const { name, matchConditions } of entries.filter(({ name }) => !bounded.includes(name))) {
      for (const { expression } of matchConditions) {
        for (const map of ['labels', 'annotations']) {
          const walks = expression.split(new RegExp(`${map}(?:\\.orValue\\(\\{\\}\\))?\\.(?:exists|all)\\(`)).length
          const changes = expression.split(`object.metadata.?${map} != oldObject.metadata.?${map} &&`).length
          expect(walks, `${name}: ${map}`).toBe(changes)
        }
      }
    }
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
    const exact = [MIRROR_POD, KAI_POD_GROUP, KAI_SUBGROUP].map(key => `'${key}'`).join(', ')
    for (const mark of ["startsWith('kueue.x-k8s.io/')", "startsWith('muster.dev/')", `key in [${exact}]`]) {
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
    // And a pod of KAI is taken out of its group by hand; a new one waits.
    expect(condition(groups[0], 'not-freed-in-an-emergency')).toBe(emergency)
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
    expect(testJobs).toEqual({
      op: 'test',
      path: '/webhooks/1/matchConditions/0/name',
      value: 'asks-for-a-queue-or-a-group',
    })
    expect(replaceJobs.value.expression).toBe(`!(request.namespace in ['kube-system', '${SYSTEM_NAMESPACE}'])`)
    expect(copy).toEqual({
      op: 'copy',
      from: '/webhooks/0/namespaceSelector',
      path: '/webhooks/1/namespaceSelector',
    })
  })
})
