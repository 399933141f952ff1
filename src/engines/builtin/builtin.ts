import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../../config/configuration.ts'
import { RESOURCE_IN_USE } from '../../kube/vocabulary/names.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { type Action, targetOf } from '../../workload/actions.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import { abandonBy, byConditions } from '../conditions.ts'
import { admit, FifoQueues } from './fifo.ts'
import { composeWorkload, isForGroup, isForJob, QUEUE_ORDER, WORKLOADS, workloadForCache } from './workloads.ts'

/** The engine that comes with Muster: Workloads of its own kind, first in, first out per queue, decided in this process. */
export function builtinEngine(queues: Configuration['queues']): Engine {
  const common = byConditions({ workloads: WORKLOADS, finalizer: RESOURCE_IN_USE, queueOrder: QUEUE_ORDER })
  return {
    ...common,
    abandon: abandonBy(common),
    takeOver: (workload, now) => admit(workload, {}, now),
    reclaim,
    name: 'builtin',
    holds: ['pod', 'batch/job', 'jobset.x-k8s.io/jobset'],
    decider: new FifoQueues(queues),
    compose: composeWorkload,
    forCache: workloadForCache,
    isForGroup,
  }
}

/** What the pods of a Job have done gives its share back. A group keeps its own until its end: its pods may be replaced. */
function reclaim(workload: QueuedWorkload, done: ReadonlyMap<string, number>): readonly Action[] {
  if (!isForJob(workload)) return []
  const wanted = [...done].flatMap(([name, count]) => (count > 0 ? [{ name, count }] : []))
  if (isDeepStrictEqual(wanted, workload.status?.reclaimablePods ?? [])) return []
  const resourceVersion = workload.metadata.resourceVersion ?? ''
  const status = { reclaimablePods: wanted }
  return [{ kind: 'SetStatus', resource: WORKLOADS, workload: targetOf(workload), resourceVersion, status }]
}
