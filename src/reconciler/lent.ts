import type { Action } from '../workload/actions.ts'
import { serves } from '../workload/group.ts'
import * as is from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { type Standing, tell } from './decision.ts'
import type { Engine } from './engine.ts'
import { type Seating, sitsIn } from './lifting.ts'
import type { Unit } from './unit.ts'

/** By podSet, how many places of an admission others may run on by now. */
export type Lent = ReadonlyMap<string, number>

const NOTE =
  'the place that it would take was given back when another pod had done its work there, and others may run on it: it is ' +
  'free when the group is admitted anew'

/**
 * A place that was given back for a pod that had succeeded is not to be had again within the same admission, also when
 * that pod is gone: whoever has come for it waits.
 */
export function withoutLent(
  seating: Seating,
  lent: Lent,
): { readonly seating: Seating; readonly held: readonly Standing[] } {
  if (lent.size === 0) return { seating, held: [] }
  const left = new Map(lent)
  const { held = [], lift = [] } = Object.groupBy(seating.lift.toReversed(), ({ podSet }) => {
    const owed = left.get(podSet.name) ?? 0
    left.set(podSet.name, owed - 1)
    return owed > 0 ? 'held' : 'lift'
  })
  const pods = held.map(({ pod }) => pod)
  return { seating: { ...seating, lift: lift.toReversed() }, held: tell(pods, 'LiftBlocked', NOTE) }
}

/**
 * Such a place where nobody runs on the admission any more: the group waits anew, and is charged for whom it has. Not on a
 * Workload that others have made.
 */
export function beginAnew(
  unit: Unit,
  workload: QueuedWorkload,
  seating: Seating,
  engine: Engine,
  now: string,
): readonly Action[] {
  if (unit.pods.some(is.mayRun)) return []
  const lent = engine.lent?.(workload, succeededIn(unit, workload)) ?? new Map()
  return withoutLent(seating, lent).held.length === 0 ? [] : (engine.abandon?.(workload, now) ?? [])
}

/** How many places of each podSet nobody needs any more. A group that serves has no end: who has ended in it comes again. */
export const spareIn = (unit: Unit, workload: QueuedWorkload): ReadonlyMap<string, number> =>
  unit.pods.some(pod => !is.isGated(pod) && serves(pod)) ? new Map() : succeededIn(unit, workload)

/** How many pods of each podSet have done their work. */
export function succeededIn(unit: Unit, workload: QueuedWorkload): ReadonlyMap<string, number> {
  const done = unit.pods.filter(pod => is.isSucceeded(pod) && !is.isGated(pod))
  return new Map(
    workload.spec.podSets.map(podSet => [podSet.name, done.filter(pod => sitsIn(unit, pod, podSet)).length]),
  )
}
