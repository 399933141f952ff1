import { workloadRequests } from '../engines/builtin/requests.ts'
import type { Amounts } from '../kube/vocabulary/objects.ts'
import { condition, type QueuedWorkload } from '../workload/queued-workload.ts'

/** What a Workload asks for; undefined where that is nothing that can be counted. */
export function asksOf(workload: QueuedWorkload): Amounts | undefined {
  try {
    return workloadRequests(workload)
  } catch {
    return undefined
  }
}

/** Since when it waits, in the queue in which it is. */
export function waitsSince(workload: QueuedWorkload): string | undefined {
  const { spec, status, metadata } = workload
  if (status?.waiting?.queueName === spec.queueName) return status.waiting.since
  return condition(workload, 'QuotaReserved')?.lastTransitionTime ?? metadata.creationTimestamp ?? undefined
}

export const holdsSince = (workload: QueuedWorkload): string | undefined =>
  condition(workload, 'QuotaReserved')?.lastTransitionTime
