import type { Configuration } from '../../config/configuration.ts'
import { RESOURCE_IN_USE } from '../../kube/vocabulary/names.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { abandonBy, byConditions } from '../conditions.ts'
import { FifoQueues } from './fifo.ts'
import { composeWorkload, isForGroup, QUEUE_ORDER, WORKLOADS, workloadForCache } from './workloads.ts'

/** The engine that comes with Muster: Workloads of its own kind, first in, first out per queue, decided in this process. */
export function builtinEngine(queues: Configuration['queues']): Engine {
  const common = byConditions({ workloads: WORKLOADS, finalizer: RESOURCE_IN_USE, queueOrder: QUEUE_ORDER })
  return {
    ...common,
    abandon: abandonBy(common),
    name: 'builtin',
    holds: ['pod'],
    decider: new FifoQueues(queues),
    compose: composeWorkload,
    forCache: workloadForCache,
    isForGroup,
  }
}
