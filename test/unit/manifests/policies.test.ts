import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { KAI_POD_GROUPS } from '../../../src/kube/vocabulary/kai.ts'
import {
  BREAK_GLASS,
  MANAGED,
  OFFLINE_IDENTITY,
  PODSET_LABEL,
  STATUS_POLICY,
} from '../../../src/kube/vocabulary/names.ts'
import { WEBHOOKS } from '../../../src/webhooks/all.ts'
import { resourceIn } from '../../../src/webhooks/webhook.ts'
import { BATCH_JOB } from '../../../src/workload/jobs/batch-job.ts'
import { JOB_SET } from '../../../src/workload/jobs/job-set.ts'
import { isOurPodGroupName, podGroupNameFor } from '../../../src/workload/placement.ts'
import { manifests, named } from './read.ts'

interface Condition {
  readonly name: string
  readonly expression: string
}

interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly operations: readonly string[]
}

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
    for (const mark of [MANAGED, PODSET_LABEL]) {
      expect(conditions.queued).toContain(`'${mark}' in oldObject.metadata.labels`)
    }
    expect(conditions.queued).toContain(`'${MANAGED}' in oldObject.metadata.finalizers`)
    expect(conditions['not-a-node']).toContain("'system:nodes' in request.userInfo.groups")
    const listed = DEFAULT_CONFIGURATION.guard.statusWriters.map(user => `'${user}'`).join(', ')
    expect(conditions['not-a-status-writer']).toBe(`!(request.userInfo.username in [${listed}])`)
  })

  it('hold the account of Muster, and nobody else, to what it writes', () => {
    const account = policies.filter(({ metadata }) => metadata.name.startsWith('muster-account'))
    expect(account).toHaveLength(7)
    for (const { metadata } of account) {
      expect(conditionsOf(metadata.name)).toEqual({
        'muster-itself': `request.userInfo.username == '${OFFLINE_IDENTITY}'`,
      })
    }
    const [secret, lease] = named('Role', 'muster').rules.flatMap(
      (rule: { resourceNames?: string[] }) => rule.resourceNames ?? [],
    )
    const { expression } = named('ValidatingAdmissionPolicy', 'muster-account-names').spec.validations[0]
    expect(expression).toContain(`request.name == '${secret}'`)
    expect(expression).toContain(`request.name == '${lease}'`)
  })

  it('keep the pods of started Jobs with them, by whatever Muster and the Job controller find them', () => {
    const conditions = conditionsOf('muster-job-pods')
    expect(conditions['of-a-started-job']).toContain(`'${PODSET_LABEL}' in oldObject.metadata`)
    const labels = named('ValidatingAdmissionPolicy', 'muster-job-pods').spec.validations[1].expression
    const inBindings = named('ValidatingAdmissionPolicy', 'muster-job-bindings').spec.validations[0].expression
    for (const { podLabel } of [BATCH_JOB, JOB_SET]) {
      for (const expression of [labels, inBindings]) expect(expression).toContain(`'${podLabel}'`)
    }
    const { controllers } = DEFAULT_CONFIGURATION.guard
    const usual = [BATCH_JOB, JOB_SET].flatMap(({ framework }) => controllers[framework] ?? [])
    expect(usual.length).toBeGreaterThan(1)
    for (const user of usual) expect(conditions['not-a-controller']).toContain(`'${user}'`)
  })

  it('keep the Jobs of started JobSets with them, by the marks that their pods have', () => {
    const conditions = conditionsOf('muster-jobset-jobs')
    for (const mark of [PODSET_LABEL, JOB_SET.podLabel])
      expect(conditions['of-a-started-jobset']).toContain(`'${mark}'`)
    expect(conditions['not-a-controller']).toBe(conditionsOf('muster-job-pods')['not-a-controller'])
    expect(conditions['not-muster-itself']).toContain(OFFLINE_IDENTITY)
    // It deletes in the background whatever is left, and a namespace whose Jobs refuse that does not go.
    expect(conditions['not-the-end-of-its-namespace']).toContain(
      "'system:serviceaccount:kube-system:namespace-controller'",
    )
  })

  it('keep the names of placed groups for Muster', () => {
    const [prefix] = /'(muster-[a-z]+-)'/.exec(conditionsOf('muster-pod-groups')['ours-by-name'] ?? '')?.slice(1) ?? []
    expect(podGroupNameFor('ml', 'train').startsWith(prefix ?? 'none')).toBe(true)
    expect(isOurPodGroupName(prefix ?? '')).toBe(true)
    expect(conditionsOf('muster-pod-groups')['not-muster-itself']).toContain(OFFLINE_IDENTITY)
    const { matchConstraints } = named('ValidatingAdmissionPolicy', 'muster-pod-groups').spec
    const groups = matchConstraints.resourceRules.map(({ apiGroups }: PolicyRule) => apiGroups[0])
    expect(groups).toEqual(['scheduling.k8s.io', KAI_POD_GROUPS.group])
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
    expect(passing.map(({ metadata }) => metadata.name)).toEqual([
      STATUS_POLICY,
      'muster-job-pods',
      'muster-job-bindings',
      'muster-jobset-jobs',
      'muster-queued-size',
      'muster-pod-groups',
      'muster-pod-group-members',
      'muster-job-group-members',
      'muster-job-groups',
    ])
    for (const policy of passing) {
      for (const { apiGroups, resources, operations } of policy.spec.matchConstraints.resourceRules) {
        const each = resources.flatMap((resource: string) => operations.map((verb: string) => [verb, resource]))
        for (const [verb, resource] of each) expect(recorded).toContain(`${verb} ${apiGroups[0]}/${resource}`)
      }
    }
  })
})
