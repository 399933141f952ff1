import type { Pod } from '../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import { creatorOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { type Decision, tell } from './decision.ts'
import type { Seating } from './lifting.ts'
import type { Unit } from './unit.ts'

/**
 * What becomes of pods for which their group has no place. They are deleted only if they came after the Workload and if
 * whoever made a member made them, too: else the name of a group that somebody took first would be a way to have the
 * pods of others deleted. The rest stay behind the gate, where they take nothing, and may still replace one that fails.
 */
export function dismiss(unit: Unit, workload: QueuedWorkload, { taken, lift, excess }: Seating): Decision {
  const creators = new Set([...taken, ...lift.map(({ pod }) => pod)].map(creatorOf))
  const { deleted = [], kept = [] } = Object.groupBy(excess, pod =>
    creators.has(creatorOf(pod)) && cameAfter(pod, workload) ? 'deleted' : 'kept',
  )
  const full = `group ${unit.name} has all its pods already`
  return {
    actions: deleted.map((pod): Action => ({ kind: 'DeletePod', pod: targetOf(pod) })),
    standings: [
      ...tell(deleted, 'ExcessPod', `${full}; this one is deleted`),
      ...tell(kept, 'ExcessPod', `${full}; this one is not deleted, and starts only if it can replace one that failed`),
    ],
  }
}

/** Or in the same second: creation times have no fractions. */
function cameAfter({ metadata: { creationTimestamp } }: Pod, workload: QueuedWorkload): boolean {
  return (creationTimestamp ?? '') >= (workload.metadata.creationTimestamp ?? '')
}
