import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../../config/configuration.ts'
import { RESOURCE_IN_USE } from '../../kube/vocabulary/names.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { type Action, targetOf } from '../../workload/actions.ts'
import { OWN_FRAMEWORKS } from '../../workload/jobs/job-kinds.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import { abandonBy, byConditions } from '../conditions.ts'
import { admit, FifoQueues } from './fifo.ts'
import { composeWorkload, isForGroup, isForJob, QUEUE_ORDER, WORKLOADS, workloadForCache } from './workloads.ts'

export interface BuiltinEngine extends Engine {
  /** Other queues, or other limits, from now on. */
  reconfigure(queues: Configuration['queues']): void
}

/** The engine that comes with Muster: Workloads of its own kind, first in, first out per queue, decided in this process. */
export function builtinEngine(first: Configuration['queues']): BuiltinEngine {
  const namesOf = (queues: Configuration['queues']) => new Set(queues.map(({ name }) => name))
  let listed = namesOf(first)
  const decider = new FifoQueues(first)
  const subscribers = new Set<() => void>()
  const isOpen = (queueName: string) => !listed.has(queueName)
  const common = byConditions({
    ...{ workloads: WORKLOADS, finalizer: RESOURCE_IN_USE, queueOrder: QUEUE_ORDER },
    mayVanish: workload => isForJob(workload) && isOpen(workload.spec.queueName),
  })
  return {
    ...common,
    abandon: abandonBy(common),
    takeOver: (workload, now) => admit(workload, {}, now),
    reclaim: (workload, done) => (isOpen(workload.spec.queueName) ? [] : reclaim(workload, done)),
    name: 'builtin',
    holds: OWN_FRAMEWORKS,
    decider,
    onChange: changed => subscribers.add(changed),
    reconfigure: queues => {
      listed = namesOf(queues)
      decider.reconfigure(queues)
      for (const changed of subscribers) changed()
    },
    // A queue that nobody has listed has no limits, and no place that a stopped Job would have to lose again. So its
    // Jobs save the write that lets go of a Workload, which others need for as long as their pods use what it holds.
    compose: plan => composeWorkload(plan, plan.kind === 'job' && isOpen(plan.queueName)),
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
