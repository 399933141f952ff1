import type { Pod } from '../kube/vocabulary/objects.ts'
import { forbidsRetries, serves } from '../workload/group.ts'
import { isFailed, isGated, isSucceeded, isTerminal } from '../workload/pod-facts.ts'
import { podCount, type QueuedWorkload } from '../workload/queued-workload.ts'
import type { Unit } from './unit.ts'

export interface UnitEnd {
  readonly reason: 'Succeeded' | 'Failed'
  readonly message: string
}

/**
 * Whether the unit has come to its end, and how. A group ends when all its pods have succeeded, or when every
 * pod is terminal and one of them says that failures are not to be retried. Kueue calls both a success; a group
 * in which a pod failed for good did not succeed. A group that serves has no end: its pods come and go.
 *
 * Only pods that were lifted have a say. Anybody who may create pods can put one more behind the gate, with any mark
 * and any status on it; of those, only the ones that are `expected`, to take a place, keep the group from its end.
 */
export function outcomeOf(unit: Unit, workload: QueuedWorkload, expected: readonly Pod[]): UnitEnd | undefined {
  return unit.kind === 'single' ? singleOutcome(unit) : groupOutcome(unit, workload, expected)
}

function singleOutcome({ pods: [pod] }: Unit): UnitEnd | undefined {
  if (pod === undefined || !isTerminal(pod)) return undefined
  const message = pod.status?.message ?? `Pod ${isFailed(pod) ? 'failed' : 'succeeded'}.`
  return { reason: isFailed(pod) ? 'Failed' : 'Succeeded', message }
}

function groupOutcome(unit: Unit, workload: QueuedWorkload, expected: readonly Pod[]): UnitEnd | undefined {
  const pods = unit.pods.filter(pod => !isGated(pod))
  if (pods.some(serves)) return undefined
  const total = podCount(workload)
  const succeeded = pods.filter(isSucceeded).length
  const message = `Pods succeeded: ${succeeded}/${total}.`
  if (succeeded >= total) return { reason: 'Succeeded', message }
  const noRetry = pods.some(forbidsRetries)
  const over = pods.length > 0 && expected.length === 0 && pods.every(isTerminal)
  return over && noRetry ? { reason: 'Failed', message } : undefined
}
