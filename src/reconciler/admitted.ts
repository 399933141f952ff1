import type { Pod } from '../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import { isAdmittedAhead } from '../workload/group.ts'
import * as is from '../workload/pod-facts.ts'
import { additionsTo, conflictWith } from '../workload/pod-set-update.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { type Placement, prepare } from './co-scheduler.ts'
import { type Decision, type Standing, tell } from './decision.ts'
import type { AdmissionState, Engine, Vacancy } from './engine.ts'
import { spareIn, succeededIn, withoutLent } from './lent.ts'
import type { Seat, Seating } from './lifting.ts'
import { dismiss } from './surplus.ts'
import type { Unit } from './unit.ts'

/** The Workload may start: gated pods take its free places. */
export function admitted(
  unit: Unit,
  workload: QueuedWorkload,
  state: Extract<AdmissionState, { readonly kind: 'admitted' }>,
  all: Seating,
  engine: Engine,
  now: string,
  placement: Placement,
): Decision {
  const lent = engine.lent?.(workload, succeededIn(unit, workload)) ?? new Map()
  const { seating, held: late } = withoutLent(all, lent)
  const { vacant, misfits } = seating
  const { lift: ready, blocked, forGood } = outfit(seating.lift, workload, state.since, engine)
  const hopeless = unit.pods.every(is.isGated) ? forGood.find(({ pod }) => countsIn(unit, pod)) : undefined
  if (hopeless !== undefined) {
    return { actions: engine.finish(workload, { reason: FAILED_TO_START, message: hopeless.note }, now), standings: [] }
  }
  const placing = prepare(placement, { unit, workload, workloads: engine.workloads, seating })
  const lift = ready.filter(({ pod }) => !placing.held.has(pod))
  const lifted = unit.pods.filter(is.mayRun)
  const held = lifted.filter(pod => is.foreignGates(pod).length > 0)
  const surplus = dismiss(unit, workload, seating)
  return {
    actions: [
      ...placing.actions,
      ...lift.map(({ action }) => action),
      ...surplus.actions,
      ...engine.awaitReplacements(workload, vacancyOf(seating), now),
      ...(engine.reportReady?.(workload, areReady(unit, seating), now) ?? []),
      ...(engine.reclaim?.(workload, spareIn(unit, workload)) ?? []),
    ],
    standings: [
      ...tell(
        lift.map(({ pod }) => pod),
        'Lifting',
        `admitted by queue ${state.queue}; lifting the gate`,
      ),
      ...blocked,
      ...placing.standings,
      ...held.map(pod => ({
        pod,
        reason: 'ForeignGates' as const,
        note: `still held by ${is.foreignGates(pod).join(', ')}`,
      })),
      ...surplus.standings,
      ...late,
      ...misfits,
      ...tell(vacant > 0 ? unit.pods.filter(is.isFailed) : [], 'WaitingForReplacement', replacementNote(vacant)),
    ],
    ...(placing.remarks.length > 0 && { remarks: placing.remarks }),
  }
}

/** What each pod gets with its lift, or why it cannot have it. */
function outfit(seats: readonly Seat[], workload: QueuedWorkload, admittedAt: string | undefined, engine: Engine) {
  const lift: { readonly pod: Pod; readonly action: Action }[] = []
  const blocked: Standing[] = []
  const forGood: Standing[] = []
  const updates = new Map(workload.spec.podSets.map(podSet => [podSet, engine.placement(workload, podSet)]))
  for (const { pod, podSet } of seats) {
    const update = updates.get(podSet) ?? {}
    const block = (note: string, passing = false): void => {
      const standing: Standing = { pod, reason: 'LiftBlocked', note }
      blocked.push(standing)
      if (!passing) forGood.push(standing)
    }
    if ('problem' in update) {
      block(update.problem, update.passing)
      continue
    }
    const conflict = conflictWith(pod, update)
    if (conflict === undefined) {
      const action: Action = { kind: 'LiftGate', pod: targetOf(pod), add: additionsTo(pod, update), admittedAt }
      lift.push({ pod, action })
    } else block(`${conflict}; delete the pod and create it without that`)
  }
  return { lift, blocked, forGood }
}

/** Nothing has started and nothing ever can: the end, so that it holds no quota and everybody can see why. */
export const FAILED_TO_START = 'FailedToStart'

/**
 * Whether a group without this pod is not what was admitted. Where the Workload is there before its pods, anybody can
 * take a place that is not taken yet, so there only whoever made the first pod makes pods that end the group.
 */
function countsIn({ pods: [first] }: Unit, pod: Pod): boolean {
  return first === undefined || !isAdmittedAhead(first) || is.creatorOf(pod) === is.creatorOf(first)
}

export const vacancyOf = ({ vacant }: Seating): Vacancy => ({ places: vacant, note: replacementNote(vacant) })

/** All places are taken, by pods that are ready or have done their work. */
function areReady(unit: Unit, { lift, taken, vacant }: Seating): boolean {
  const waits = lift.length > 0 || vacant > 0 || taken.length === 0
  return !waits && unit.pods.filter(is.mayRun).every(is.isReady)
}

function replacementNote(vacant: number): string {
  const pods = vacant === 1 ? '1 pod of the group has' : `${vacant} pods of the group have`
  return `${pods} failed or been deleted; create as many of the same shape, or delete the group`
}
