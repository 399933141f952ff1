import type { Pod } from '../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import { isByController } from '../workload/creator.ts'
import { groupSelector } from '../workload/group.ts'
import { roleNameOf } from '../workload/group-plan.ts'
import { creatorOf, isDeleting, isSucceeded } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { type Decision, tell } from './decision.ts'
import type { Seating } from './lifting.ts'
import type { Unit } from './unit.ts'

/**
 * What becomes of pods for which their group has no place. They are deleted only if they came after the Workload and if
 * whoever made all members of their role made them, too: else the name of a group that somebody took first, or a place
 * in it, would be a way to have the pods of others deleted. What a controller made stays as well, since it would make
 * another. And so do as many as have come for those who are about to leave: who deletes a pod and makes another does not
 * wait until the first has ended. They wait behind the gate, where they take nothing, and may still replace one.
 */
export function dismiss(unit: Unit, workload: QueuedWorkload, { taken, lift, excess }: Seating): Decision {
  const seated = Map.groupBy([...taken, ...lift.map(({ pod }) => pod)], roleNameOf)
  const creators = new Map([...seated].map(([role, pods]) => [role, new Set(pods.map(creatorOf))]))
  const isOwn = (pod: Pod): boolean => {
    const known = creators.get(roleNameOf(pod))
    return known?.size === 1 && known.has(creatorOf(pod)) && !isByController(creatorOf(pod))
  }
  const leaving = new Map([...seated].map(([role, pods]) => [role, pods.filter(isLeaving).length]))
  const succeeds = (pod: Pod): boolean => {
    const left = leaving.get(roleNameOf(pod)) ?? 0
    leaving.set(roleNameOf(pod), left - 1)
    return left > 0
  }
  const {
    next = [],
    deleted = [],
    kept = [],
  } = Object.groupBy(excess, pod => {
    if (succeeds(pod)) return 'next'
    return isOwn(pod) && cameAfter(pod, workload) ? 'deleted' : 'kept'
  })
  const full = `group ${unit.name} has all its pods already`
  return {
    actions: deleted.length === 0 ? [] : [whileSeated(unit, seatedBeside(deleted, seated), deleted)],
    standings: [
      ...tell(deleted, 'ExcessPod', `${full}; this one is deleted`),
      ...tell(next, 'ExcessPod', `${full}; this one takes the place of one that is being deleted when that has ended`),
      ...tell(kept, 'ExcessPod', `${full}; this one is not deleted, and starts only if it can replace one that failed`),
    ],
  }
}

/** It has a place, and gives it back. Who has succeeded has used it up. */
const isLeaving = (pod: Pod): boolean => isDeleting(pod) && !isSucceeded(pod)

type ByRole = ReadonlyMap<string, readonly Pod[]>

/** Those who have the places that these would need. */
const seatedBeside = (pods: readonly Pod[], seated: ByRole): readonly Pod[] =>
  [...new Set(pods.map(roleNameOf))].flatMap(role => seated.get(role) ?? [])

function whileSeated({ namespace, name }: Unit, seated: readonly Pod[], deleted: readonly Pod[]): Action {
  const labelSelector = groupSelector(name)
  return {
    ...{ kind: 'WhileSeated', namespace, seated: seated.map(targetOf) },
    ...(labelSelector !== undefined && { labelSelector }),
    actions: deleted.map((pod): Action => ({ kind: 'DeletePod', pod: targetOf(pod) })),
  }
}

/** Or in the same second: creation times have no fractions. */
function cameAfter({ metadata: { creationTimestamp } }: Pod, workload: QueuedWorkload): boolean {
  return (creationTimestamp ?? '') >= (workload.metadata.creationTimestamp ?? '')
}
