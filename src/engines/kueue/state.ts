import type { Condition } from '../../kube/vocabulary/objects.ts'
import type { AdmissionState, Told } from '../../reconciler/engine.ts'
import { condition, isTrue } from '../../workload/queued-workload.ts'
import type { KueueWorkload } from './objects.ts'

/**
 * Kueue's words for "it does not fit now, or never will", since 0.20 and before: a scheduler that has looked at a
 * Workload and left it where it is says `Pending`. Everything else (a queue that is missing or stopped, a gate of the
 * Workload's own) keeps it from being looked at.
 */
const DOES_NOT_FIT: ReadonlySet<string> = new Set([
  'WaitingForQuota',
  'ExceedsMaxQuota',
  'NoMatchingFlavor',
  'TopologyPlacementFailed',
  'WaitingForPreemptedWorkloads',
  'Pending',
])

/**
 * Where a Workload stands with Kueue. `Evicted` stays true until it is admitted again, so it asks for something only as
 * long as quota is held: afterwards the Workload waits like any other.
 */
export function stateOf(workload: KueueWorkload): AdmissionState {
  const end = condition(workload, 'Finished')
  if (end?.status === 'True') return { kind: 'finished', reason: end.reason, message: end.message }
  const { spec, status, metadata } = workload
  const evicted = condition(workload, 'Evicted')
  const isEvicted = evicted?.status === 'True'
  if (spec.active === false) {
    const cause = isEvicted ? evicted : deactivationOf(workload)
    const why = cause?.message ?? `Workload ${metadata.name} was deactivated`
    return { kind: 'evicted', why, inactive: true }
  }
  if (isEvicted && isTrue(workload, 'QuotaReserved')) return { kind: 'evicted', why: evicted.message, inactive: false }
  const admitted = condition(workload, 'Admitted')
  if (admitted?.status === 'True') {
    const queue = status?.admission?.clusterQueue ?? spec.queueName
    return { kind: 'admitted', queue, since: admitted.lastTransitionTime }
  }
  return { kind: 'waiting', ...toldBy(workload) }
}

/** Why Kueue itself has switched it off: that is said before, and the eviction comes after. */
export function deactivationOf(workload: KueueWorkload): Condition | undefined {
  const target = condition(workload, 'DeactivationTarget')
  return target?.status === 'True' ? target : undefined
}

function toldBy(workload: KueueWorkload): { readonly told?: Told } {
  if (workload.spec.queueName === '') {
    const message = 'it has no queue: set the label kueue.x-k8s.io/queue-name on its pods'
    return { told: { reason: 'WaitingForAdmission', message } }
  }
  const reserved = condition(workload, 'QuotaReserved')
  if (reserved === undefined) return {}
  if (reserved.status === 'True') return { told: { reason: 'WaitingForAdmission', message: awaited(workload) } }
  const { message } = reserved
  // How much is lacking Kueue says anew whenever a pod ends.
  if (DOES_NOT_FIT.has(reserved.reason))
    return { told: { reason: 'OverQueueLimits', message, steady: reserved.reason } }
  return { told: { reason: 'WaitingForAdmission', message } }
}

/** Quota is reserved: what is it that Kueue waits for? */
function awaited({ status }: KueueWorkload): string {
  const queue = status?.admission?.clusterQueue
  const open = (status?.admissionChecks ?? []).filter(({ state }) => state !== 'Ready')
  const checks = open.map(({ name, state, message }) => `${name} (${state}${message ? `: ${message}` : ''})`)
  const where = `quota is reserved in ClusterQueue ${queue}`
  return checks.length === 0 ? `${where}; Kueue has yet to admit it` : `${where}; waits for ${checks.join(', ')}`
}
