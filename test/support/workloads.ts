import { composeWorkload } from '../../src/engines/builtin/workloads.ts'
import type { Condition, Pod } from '../../src/kube/vocabulary/objects.ts'
import { composeGroup, composeSingle } from '../../src/workload/compose.ts'
import { singlePodWorkloadName } from '../../src/workload/names.ts'
import type { QueuedWorkload, WorkloadConditionType } from '../../src/workload/queued-workload.ts'

/** The Workload that the reconciler would create for these pods, as the API server would return it. */
export function workloadOf(pods: readonly Pod[], conditions: readonly Condition[] = []): QueuedWorkload {
  const [pod] = pods
  if (pod === undefined) throw new Error('a Workload needs a pod')
  const group = pod.metadata.labels?.['kueue.x-k8s.io/pod-group-name']
  const { name = '', uid = '' } = pod.metadata
  const composition =
    group === undefined ? composeSingle(singlePodWorkloadName(name, uid), pod) : composeGroup(group, pods)
  if (!('plan' in composition)) throw new Error(composition.note)
  return stored(composeWorkload(composition.plan), conditions)
}

function stored(workload: QueuedWorkload, conditions: readonly Condition[]): QueuedWorkload {
  const metadata = {
    ...workload.metadata,
    uid: `uid-${workload.metadata.name}`,
    resourceVersion: '200',
    creationTimestamp: '2026-11-16T10:00:01Z',
  }
  return { ...workload, metadata, status: { conditions } }
}

export function holds(type: WorkloadConditionType, reason = 'Because', message = 'because'): Condition {
  return { type, status: 'True', reason, message, lastTransitionTime: '2026-11-16T10:00:02Z' }
}

export const ADMITTED: readonly Condition[] = [holds('QuotaReserved'), holds('Admitted')]
