import { missingBackend } from '../../workload/backend.ts'
import { type Complaint, complaint } from './diagnosis.ts'
import type { Facts } from './facts.ts'
import { describeRights } from './rights.ts'

/** The policies of manifests/base: a test holds the list to them. */
export const POLICIES: readonly string[] = [
  'muster-account-jobs',
  'muster-account-names',
  'muster-account-pod-groups',
  'muster-account-pods',
  'muster-account-scheduling',
  'muster-account-subresources',
  'muster-account-webhooks',
  'muster-job-bindings',
  'muster-job-group-members',
  'muster-job-groups',
  'muster-job-pods',
  'muster-jobset-jobs',
  'muster-pod-group-members',
  'muster-pod-groups',
  'muster-pod-status',
  'muster-queued-size',
  'muster-workload-size',
]

const OLDEST = { major: 1, minor: 30 }

/** Groups that say nothing of who somebody is, or say that he may do everything already. */
const EVERYBODY = ['system:authenticated', 'system:unauthenticated', 'system:serviceaccounts', 'system:masters']

/** What Muster finds in the cluster, and what it is allowed there. */
export function checkSurroundings(facts: Facts): readonly Complaint[] {
  const { kubernetes, config, served, missing, configErrors } = facts
  const old =
    kubernetes !== undefined &&
    (kubernetes.major < OLDEST.major || (kubernetes.major === OLDEST.major && kubernetes.minor < OLDEST.minor))
  const backend = config && missingBackend(config.coScheduling, served)
  const wide = config?.guard.exemptGroups.filter(group => EVERYBODY.includes(group)) ?? []
  return [
    ...configErrors.map(error => complaint('ConfigurationWrong', error)),
    ...(old ? [complaint('KubernetesTooOld', `it is ${kubernetes.major}.${kubernetes.minor}`)] : []),
    ...(backend === undefined ? [] : [complaint('BackendMissing', backend)]),
    ...checkKueue(facts),
    ...(missing === 'denied' || missing.length === 0
      ? []
      : [complaint('RightMissing', `it has no right to ${describeRights(missing)}`)]),
    ...checkPolicies(facts),
    ...(wide.length > 0 ? [complaint('ExemptionTooWide', `guard.exemptGroups has ${wide.join(', ')}`)] : []),
  ]
}

function checkKueue({ config, kueueServed, kueueOnPods }: Facts): readonly Complaint[] {
  if (config?.engine === 'kueue') {
    return kueueServed ? [] : [complaint('KueueMissing', 'no workloads.kueue.x-k8s.io are served')]
  }
  if (!kueueServed || kueueOnPods === undefined) return []
  return [complaint('KueueBeside', `${kueueOnPods}, and the engine here is builtin`)]
}

function checkPolicies({ policies, bindings }: Facts): readonly Complaint[] {
  if (policies === 'denied' || bindings === 'denied') return []
  const present = new Set(policies.map(({ metadata }) => metadata.name))
  const bound = new Set(
    bindings.filter(({ spec }) => spec?.validationActions?.includes('Deny')).map(({ spec }) => spec?.policyName),
  )
  const missing = POLICIES.filter(name => !present.has(name))
  const unbound = POLICIES.filter(name => present.has(name) && !bound.has(name))
  return [
    ...(missing.length > 0 ? [complaint('PolicyMissing', `not there: ${missing.join(', ')}`)] : []),
    ...(unbound.length > 0 ? [complaint('PolicyMissing', `not bound with Deny: ${unbound.join(', ')}`)] : []),
  ]
}
