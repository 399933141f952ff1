import type { Pod } from '../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import { isByController } from '../workload/creator.ts'
import { roleNameOf } from '../workload/group-plan.ts'
import { creatorOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { type Decision, tell } from './decision.ts'
import type { Seating } from './lifting.ts'
import type { Unit } from './unit.ts'

/**
 * What becomes of pods for which their group has no place. They are deleted only if they came after the Workload and if
 * whoever made all members of their role made them, too: else the name of a group that somebody took first, or a place
 * in it, would be a way to have the pods of others deleted. What a controller made stays as well, since it would make
 * another. They wait behind the gate, where they take nothing, and may still replace one that fails.
 */
export function dismiss(unit: Unit, workload: QueuedWorkload, { taken, lift, excess }: Seating): Decision {
  const creators = new Map<string, Set<string | undefined>>()
  for (const pod of [...taken, ...lift.map(({ pod }) => pod)]) {
    const role = roleNameOf(pod)
    creators.set(role, (creators.get(role) ?? new Set()).add(creatorOf(pod)))
  }
  const isOwn = (pod: Pod): boolean => {
    const known = creators.get(roleNameOf(pod))
    return known?.size === 1 && known.has(creatorOf(pod)) && !isByController(creatorOf(pod))
  }
  const { deleted = [], kept = [] } = Object.groupBy(excess, pod =>
    isOwn(pod) && cameAfter(pod, workload) ? 'deleted' : 'kept',
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
