import { forbidsRetries, serves } from '../workload/group.ts'
import { isFailed, isSucceeded, isTerminal } from '../workload/pod-facts.ts'
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
 */
export function outcomeOf(unit: Unit, workload: QueuedWorkload): UnitEnd | undefined {
  return unit.kind === 'single' ? singleOutcome(unit) : groupOutcome(unit, workload)
}

function singleOutcome({ pods: [pod] }: Unit): UnitEnd | undefined {
  if (pod === undefined || !isTerminal(pod)) return undefined
  const message = pod.status?.message ?? `Pod ${isFailed(pod) ? 'failed' : 'succeeded'}.`
  return { reason: isFailed(pod) ? 'Failed' : 'Succeeded', message }
}

function groupOutcome({ pods }: Unit, workload: QueuedWorkload): UnitEnd | undefined {
  if (pods.some(serves)) return undefined
  const total = podCount(workload)
  const succeeded = pods.filter(isSucceeded).length
  const message = `Pods succeeded: ${succeeded}/${total}.`
  if (succeeded >= total) return { reason: 'Succeeded', message }
  const noRetry = pods.some(forbidsRetries)
  if (pods.length > 0 && noRetry && pods.every(isTerminal)) return { reason: 'Failed', message }
  return undefined
}
