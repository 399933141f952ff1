import type { Configuration } from '../config/configuration.ts'
import { STATUS_POLICY } from '../kube/vocabulary/names.ts'
import type { InstalledPolicy, InstalledPolicyBinding } from '../kube/vocabulary/webhook-configurations.ts'
import type { Finding } from './finding.ts'

/** What is installed; undefined for what is not there. */
export interface StatusPolicyFacts {
  readonly policy: InstalledPolicy | undefined
  readonly binding: InstalledPolicyBinding | undefined
}

/** The condition in which the policy lists the status writers. */
const WRITERS = 'not-a-status-writer'

/**
 * A policy cannot read Muster's configuration, so those who may write the status of queued pods are listed in both.
 * Where the lists differ, either somebody writes what he should not, or somebody's pods never run.
 */
export function compareStatusPolicy(
  { guard }: Configuration,
  { policy, binding }: StatusPolicyFacts,
): readonly Finding[] {
  const { policyName, validationActions } = binding?.spec ?? {}
  if (policy === undefined || policyName !== STATUS_POLICY || !validationActions?.includes('Deny')) {
    const what = `ValidatingAdmissionPolicy ${STATUS_POLICY} is not installed and bound with Deny`
    const needs = 'kubectl apply -k manifests/, on Kubernetes 1.30 or later'
    return [{ kind: 'slips', text: `forged ends of pods, which free quota while the pods run: ${what}; ${needs}` }]
  }
  const expression = policy.spec?.matchConditions?.find(({ name }) => name === WRITERS)?.expression ?? ''
  const listed = writersIn(expression)
  if (listed === undefined) {
    const text = `condition ${WRITERS} of policy ${STATUS_POLICY} is not a list of users`
    return [{ kind: 'unclear', text }]
  }
  const wanted = guard.statusWriters
  const strangers = listed.filter(user => !wanted.includes(user))
  const missing = wanted.filter(user => !listed.includes(user))
  const where = `policy ${STATUS_POLICY}`
  const slips = `status of queued pods from ${strangers.join(', ')}: listed in ${where}, but not in guard.statusWriters`
  const blocked = `status of queued pods from ${missing.join(', ')}: listed in guard.statusWriters, but not in ${where}`
  return [
    ...(strangers.length > 0 ? [{ kind: 'slips' as const, text: slips }] : []),
    ...(missing.length > 0 ? [{ kind: 'blocked' as const, text: blocked }] : []),
  ]
}

const LIST = /^!\(request\.userInfo\.username in \[([^\]]*)\]\)$/
const ITEM = /^(?:'([^'\\]+)'|"([^"\\]+)")$/

function writersIn(expression: string): readonly string[] | undefined {
  const list = LIST.exec(expression.replace(/\s+/g, ' ').trim())?.[1]?.trim()
  if (list === undefined) return undefined
  const items = list === '' ? [] : list.split(',').map(item => ITEM.exec(item.trim()))
  const users = items.map(item => item?.[1] ?? item?.[2])
  return users.every(user => user !== undefined) ? users : undefined
}
