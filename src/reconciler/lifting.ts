import type { Pod } from '../kube/vocabulary/objects.ts'
import { chargeOf, uncovered } from '../workload/charge.ts'
import { isAdmittedAhead } from '../workload/group.ts'
import { roleNameOf } from '../workload/group-plan.ts'
import { creatorOf, isGated, isTerminal, isWaiting, podSetOf, takesPlace } from '../workload/pod-facts.ts'
import type { PodSet, QueuedWorkload } from '../workload/queued-workload.ts'
import type { Standing } from './decision.ts'
import type { Unit } from './unit.ts'

/** A free place and the pod that takes it. */
export interface Seat {
  readonly pod: Pod
  readonly podSet: PodSet
}

/** Who takes the places of an admitted Workload. */
export interface Seating {
  /** Lifted pods: each takes a place, or has rightly used it up. */
  readonly taken: readonly Pod[]
  readonly lift: readonly Seat[]
  /** Gated pods for which their role has no place left, newest last. */
  readonly excess: readonly Pod[]
  /** Gated pods that can have no place, and why: no role of the group is theirs, or it is not charged for them. */
  readonly misfits: readonly Standing[]
  /** Places that no pod takes: a member failed or was deleted and nobody has come in its stead. */
  readonly vacant: number
}

const WRONG_SHAPE = 'its shape is none of those of its group; delete it, or give it the shape of the pod it replaces'

/**
 * Seats gated pods in the free places of their role, oldest first, never more than were admitted, and none that asks for
 * more than its place was charged with. A failed pod frees its place for a replacement; a succeeded one has used it up.
 */
export function seat(unit: Unit, workload: QueuedWorkload): Seating {
  const places = workload.spec.podSets.map(podSet => ({ podSet, charge: chargeOf(podSet), taken: 0 }))
  const taken = unit.pods.filter(pod => !isGated(pod) && takesPlace(pod))
  for (const pod of taken) {
    // What is too long to be kept now, with the tolerations of its queue say, was covered when it was lifted.
    const own = places.filter(
      ({ podSet, charge }) =>
        sitsIn(unit, pod, podSet) && (pod.excess !== undefined || !uncovered(pod, podSet, charge)),
    )
    // What it was lifted as cannot be told any more: it takes a place wherever it may have one.
    for (const place of own.length > 0 ? own : places) place.taken += 1
  }
  const lift: Seat[] = []
  const excess: Pod[] = []
  const misfits: Standing[] = []
  let vacant = 0
  const waiting = foundersFirst(
    unit.pods.filter(pod => isWaiting(pod) && !isTerminal(pod)),
    unit.pods[0],
  )
  for (const { podSet, charge, taken } of places) {
    const free = Math.max(0, podSet.count - taken)
    let left = free
    for (const pod of waiting) {
      if (!plays(unit, pod, podSet)) continue
      const problem = uncovered(pod, podSet, charge)
      if (problem !== undefined) misfits.push(misfit(pod, pod.excess ?? tooLarge(problem)))
      else if (left > 0) {
        lift.push({ pod, podSet })
        left -= 1
      } else excess.push(pod)
    }
    vacant += left
  }
  const strangers = waiting.filter(pod => !places.some(({ podSet }) => plays(unit, pod, podSet)))
  misfits.push(...strangers.map(pod => misfit(pod, WRONG_SHAPE)))
  return { taken, lift, excess, misfits, vacant: expectsReplacements(unit) ? vacant : 0 }
}

/** Who made the first pod of a group is asked before strangers: one place that somebody else takes is one too few. */
function foundersFirst(pods: readonly Pod[], first: Pod | undefined): readonly Pod[] {
  const founder = first && creatorOf(first)
  if (pods.every(pod => creatorOf(pod) === founder)) return pods
  const { own = [], others = [] } = Object.groupBy(pods, pod => (creatorOf(pod) === founder ? 'own' : 'others'))
  return [...own, ...others]
}

const misfit = (pod: Pod, note: string): Standing => ({ pod, reason: 'InvalidGroup', note })

const tooLarge = (problem: string): string =>
  `it ${problem}; delete it and create it with no more, and mind what a LimitRange, a RuntimeClass or a webhook adds`

/**
 * A single pod has no replacement, and a group that is gone altogether wants none. With fast admission, or with a
 * driver that announces its workers, the Workload is there before its pods: a place not taken yet is not a loss.
 */
function expectsReplacements({ kind, pods }: Unit): boolean {
  return kind === 'group' && pods.length > 0 && !pods.some(isAdmittedAhead)
}

/** Whether the pod belongs to the podSet. */
function plays(unit: Unit, pod: Pod, podSet: PodSet): boolean {
  return unit.kind === 'single' || roleNameOf(pod) === podSet.name
}

/** Whether a lifted pod sits in a place of the podSet: what it says of itself and what the lift wrote on it agree. */
export function sitsIn(unit: Unit, pod: Pod, podSet: PodSet): boolean {
  return plays(unit, pod, podSet) && (podSetOf(pod) ?? podSet.name) === podSet.name
}
