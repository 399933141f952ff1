import type { KueueVersion } from '../../kube/vocabulary/kueue.ts'
import type { Vacancy } from '../../reconciler/engine.ts'
import { type ConditionChange, condition, isTrue, withConditions } from '../../workload/queued-workload.ts'
import { replacementChanges } from '../conditions.ts'
import type { KueueStatus, KueueWorkload } from './objects.ts'
import { isForGroup } from './workloads.ts'

/** Whom Kueue itself puts back into the queue at once; all others wait for a backoff, or for somebody's consent. */
const AT_ONCE: ReadonlySet<string> = new Set(['Preempted', 'NodeFailures'])

/**
 * The pods have stopped: quota is given back in the words in which Kueue's own integrations do that, in one write. How
 * often it came back and when it may come again (`status.requeueState`) is Kueue's and stays.
 */
export function givenBack(
  version: KueueVersion,
  workload: KueueWorkload,
  why: string,
  now: string,
  missing: Vacancy,
): KueueStatus | undefined {
  if (!isTrue(workload, 'QuotaReserved')) return undefined
  const evicted = condition(workload, 'Evicted')
  const reason = evicted?.status === 'True' ? evicted.reason : 'Deactivated'
  // A group waits for its replacements by a condition of its own; the Workload of a single pod ends with its pod.
  const comesBack = AT_ONCE.has(reason) && (missing.places === 0 || isForGroup(workload))
  const changes: readonly ConditionChange[] = [
    { type: 'QuotaReserved', status: 'False', reason: 'PendingEvaluation', message: why },
    ...(condition(workload, 'Admitted') === undefined ? [] : [NOT_ADMITTED]),
    { type: 'Requeued', status: comesBack ? 'True' : 'False', reason, message: why },
    ...(isTrue(workload, 'PodsReady') ? [NOT_STARTED] : []),
    ...(isForGroup(workload) ? replacementChanges(workload, missing) : []),
  ]
  const conditions = withConditions(workload, changes, now)
  if (conditions === undefined) return undefined
  return { conditions, admission: null, ...timeSpent(version, workload, now) }
}

const NOT_ADMITTED: ConditionChange = {
  type: 'Admitted',
  status: 'False',
  reason: 'NoReservation',
  message: 'The workload has no reservation',
}

const NOT_STARTED: ConditionChange = {
  type: 'PodsReady',
  status: 'False',
  reason: 'WaitForStart',
  message: 'it has no pods that run',
}

/** The limit on its execution time counts all its admissions, and whoever ends one adds it up. */
function timeSpent(version: KueueVersion, workload: KueueWorkload, now: string): KueueStatus {
  const admitted = condition(workload, 'Admitted')
  if (admitted?.status !== 'True') return {}
  const key = version === 'v1beta2' ? 'accumulatedPastExecutionTimeSeconds' : 'accumulatedPastExexcutionTimeSeconds'
  const seconds = Math.trunc((Date.parse(now) - Date.parse(admitted.lastTransitionTime)) / 1000)
  return { [key]: (workload.status?.[key] ?? 0) + Math.max(0, seconds) }
}
