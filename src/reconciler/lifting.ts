import type { Pod } from '../kube/vocabulary/objects.ts'
import { isAdmittedAhead } from '../workload/group.ts'
import { roleNameOf } from '../workload/group-plan.ts'
import { isGated, isTerminal, isWaiting, takesPlace } from '../workload/pod-facts.ts'
import type { PodSet, QueuedWorkload } from '../workload/queued-workload.ts'
import type { Unit } from './unit.ts'

/** A free place and the pod that takes it. */
export interface Seat {
  readonly pod: Pod
  readonly podSet: PodSet
}

/** Who takes the places of an admitted Workload. */
export interface Seating {
  readonly lift: readonly Seat[]
  /** Gated pods for which their role has no place left, newest last. */
  readonly excess: readonly Pod[]
  /** Gated pods whose shape is none of the admitted ones, or is too much to be compared with them. */
  readonly unknownRole: readonly Pod[]
  /** Places that no pod takes: a member failed or was deleted and nobody has come in its stead. */
  readonly vacant: number
}

/**
 * Seats gated pods in the free places of their role, oldest first, and never more than were admitted.
 * A failed pod frees its place for a replacement; a succeeded one has used it up.
 */
export function seat(unit: Unit, workload: QueuedWorkload): Seating {
  const lift: Seat[] = []
  const excess: Pod[] = []
  let vacant = 0
  const seated = new Set<Pod>()
  for (const podSet of workload.spec.podSets) {
    const members = unit.pods.filter(pod => plays(unit, pod, podSet))
    const taken = members.filter(pod => !isGated(pod) && takesPlace(pod)).length
    const waiting = members.filter(pod => isWaiting(pod) && !isTerminal(pod) && pod.excess === undefined)
    const free = Math.max(0, podSet.count - taken)
    lift.push(...waiting.slice(0, free).map(pod => ({ pod, podSet })))
    excess.push(...waiting.slice(free))
    vacant += Math.max(0, free - waiting.length)
    for (const member of members) seated.add(member)
  }
  const unknownRole = unit.pods.filter(pod => isWaiting(pod) && (!seated.has(pod) || pod.excess !== undefined))
  return { lift, excess, unknownRole, vacant: expectsReplacements(unit) ? vacant : 0 }
}

/**
 * A single pod has no replacement, and a group that is gone altogether wants none. With fast admission, or with a
 * driver that announces its workers, the Workload is there before its pods: a place not taken yet is not a loss.
 */
function expectsReplacements({ kind, pods }: Unit): boolean {
  return kind === 'group' && pods.length > 0 && !pods.some(isAdmittedAhead)
}

/** Whether the pod belongs to the podSet. */
export function plays(unit: Unit, pod: Pod, podSet: PodSet): boolean {
  return unit.kind === 'single' || roleNameOf(pod) === podSet.name
}
