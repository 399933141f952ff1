import { isQueued, isStopping, isSuspended } from '../../workload/job-facts.ts'
import { areCharged, chargedPodSets, type JobPodSet } from '../../workload/jobs/queued-job.ts'
import { queueOf } from '../../workload/pod-facts.ts'
import type { Ending, PodSet, QueuedWorkload } from '../../workload/queued-workload.ts'
import { FAILED_TO_START } from '../admitted.ts'
import type { Engine, Misplaced } from '../engine.ts'
import {
  heldWrite,
  isDirty,
  type Placed,
  queuedWrite,
  startConflict,
  startTimeWrite,
  startWrite,
  wasStartedOn,
} from './job-writes.ts'
import { acting, cleaned, type In, type JobDecision, NOTHING, type Owned, stop, tellJob } from './stopping.ts'

/** The Workload may run. A Job that waits for it is started; one that runs is held to what it was admitted with. */
export function admitted(unit: Owned, state: In<'admitted'>, engine: Engine, now: string): JobDecision {
  const { kind, job, workload } = unit
  const again = (why: string) => () => engine.requeue(workload, why, now)
  const wanted = chargedPodSets(job, unit.defaults)
  if (!isSuspended(job)) return running(unit, state, engine, now)
  if (isStopping(job)) return stop(unit, 'it was stopped', engine, again('it was stopped'))
  // Without our webhook, which writes the mark in the same breath: he is not started against his will.
  if (wasStartedOn(job, workload)) return { actions: [heldWrite(kind, job)], standings: [] }
  if (isDirty(job)) return cleaned(unit, engine)
  const changed = 'it has changed since it was admitted, and waits again'
  if (!areCharged(wanted, workload.spec.podSets) || queueOf(job) !== workload.spec.queueName) {
    return stop(unit, changed, engine, again(changed))
  }
  // The last pods of an earlier run still use what it was admitted with.
  if (!job.progress.stopped) return NOTHING
  if (job.progress.startTime) return acting([startTimeWrite(kind, job)])
  const placed = placedBy(workload, engine)
  if ('problem' in placed && placed.passing)
    return { actions: [], standings: tellJob(unit, 'LiftBlocked', placed.problem) }
  if ('problem' in placed) return acting(engine.finish(workload, failedToStart(placed.problem), now))
  const conflict = startConflict(kind, job, placed)
  if (conflict !== undefined) return acting(engine.finish(workload, failedToStart(conflict), now))
  return {
    actions: [startWrite(kind, job, placed, state.since)],
    standings: tellJob(unit, 'Lifting', `admitted by queue ${state.queue}; starting`),
  }
}

const failedToStart = (message: string): Ending => ({ reason: FAILED_TO_START, message })

function placedBy(workload: QueuedWorkload, engine: Engine): readonly Placed[] | Misplaced {
  const placed: Placed[] = []
  for (const podSet of workload.spec.podSets) {
    const update = engine.placement(workload, podSet)
    if ('problem' in update) return update
    placed.push({ podSet, update, assigned: assignedTo(workload, podSet) })
  }
  return placed
}

function assignedTo({ status }: QueuedWorkload, { name, count }: PodSet): number {
  return status?.admission?.podSetAssignments?.find(assignment => assignment.name === name)?.count ?? count
}

/**
 * It runs on its admission: what it needs no more it gives back, and more than it was given it cannot have; nor what it
 * has given back, as a JobSet needs it of which somebody deletes a Job that had succeeded: others may run on it.
 */
function running(unit: Owned, state: In<'admitted'>, engine: Engine, now: string): JobDecision {
  const { kind, job, workload } = unit
  if (!isQueued(job)) {
    const note = `it ran before it was queued: it goes on, and counts in queue ${state.queue}`
    return { actions: [queuedWrite(kind, job)], standings: tellJob(unit, 'Lifting', note) }
  }
  const given = new Map(workload.spec.podSets.map(podSet => [podSet.name, assignedTo(workload, podSet)]))
  const before = new Map(workload.status?.reclaimablePods?.map(({ name, count }) => [name, count]))
  const left = (name: string): number => (given.get(name) ?? 0) - (before.get(name) ?? 0)
  const beyond = job.podSets.find(({ name, needed }) => needed > left(name))
  if (beyond !== undefined) {
    const { name, needed } = beyond
    const back = before.has(name) ? `, of which it has given back ${before.get(name)}` : ''
    const why = `it runs ${needed} pods, and was admitted with ${given.get(name) ?? 0}${back}`
    return stop(unit, why, engine, () => engine.requeue(workload, why, now))
  }
  // Who makes it smaller now may be too late: its controller makes the pods that it was started with, and then takes some away.
  if (job.progress.unseen) return NOTHING
  const done = job.podSets.map(podSet => {
    const { name } = podSet
    return [name, doneOf(given.get(name) ?? 0, podSet, before.get(name) ?? 0)] as const
  })
  return acting(engine.reclaim?.(workload, new Map(done)) ?? [])
}

/**
 * Of a single pod there is no part to give back: with it the Job has ended. Nor of one that is not wanted any more but
 * still there: a Job that shrinks has its pods until they have terminated. What it has given back others may have by
 * now: a pod that is lost with its node terminates beside the one that replaces it, and takes nothing back.
 */
function doneOf(given: number, { needed, present = 0 }: JobPodSet, before: number): number {
  return given <= 1 ? 0 : Math.max(given - Math.max(needed, present), before)
}
