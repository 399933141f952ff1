import { isQueued, isStopping, isSuspended } from '../../workload/job-facts.ts'
import { areCharged, chargedPodSets, type JobPodSet } from '../../workload/jobs/queued-job.ts'
import { queueOf } from '../../workload/pod-facts.ts'
import type { PodSet, QueuedWorkload } from '../../workload/queued-workload.ts'
import { FAILED_TO_START } from '../admitted.ts'
import type { Engine } from '../engine.ts'
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
import { acting, cleaned, type In, type JobDecision, type Owned, stop, tellJob } from './stopping.ts'

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
  if (job.progress.startTime) return acting([startTimeWrite(kind, job)])
  const placed = placedBy(workload, engine)
  const conflict = startConflict(kind, job, placed)
  if (conflict !== undefined)
    return acting(engine.finish(workload, { reason: FAILED_TO_START, message: conflict }, now))
  return {
    actions: [startWrite(kind, job, placed, state.since)],
    standings: tellJob(unit, 'Lifting', `admitted by queue ${state.queue}; starting`),
  }
}

function placedBy(workload: QueuedWorkload, engine: Engine): readonly Placed[] {
  return workload.spec.podSets.map(podSet => ({
    podSet,
    update: engine.placement(workload, podSet),
    assigned: assignedTo(workload, podSet),
  }))
}

function assignedTo({ status }: QueuedWorkload, { name, count }: PodSet): number {
  return status?.admission?.podSetAssignments?.find(assignment => assignment.name === name)?.count ?? count
}

/** It runs on its admission: what it needs no more it gives back, and more than it was given it cannot have. */
function running(unit: Owned, state: In<'admitted'>, engine: Engine, now: string): JobDecision {
  const { kind, job, workload } = unit
  if (!isQueued(job)) {
    const note = `it ran before it was queued: it goes on, and counts in queue ${state.queue}`
    return { actions: [queuedWrite(kind, job)], standings: tellJob(unit, 'Lifting', note) }
  }
  const given = new Map(workload.spec.podSets.map(podSet => [podSet.name, assignedTo(workload, podSet)]))
  const beyond = job.podSets.find(({ name, needed }) => needed > (given.get(name) ?? 0))
  if (beyond !== undefined) {
    const why = `it runs ${beyond.needed} pods, and was admitted with ${given.get(beyond.name) ?? 0}`
    return stop(unit, why, engine, () => engine.requeue(workload, why, now))
  }
  const done = job.podSets.map(podSet => [podSet.name, doneOf(given.get(podSet.name) ?? 0, podSet)] as const)
  return acting(engine.reclaim?.(workload, new Map(done)) ?? [])
}

/**
 * Of a single pod there is no part to give back: with it the Job has ended. Nor of one that is not wanted any more but
 * still there: a Job that shrinks has its pods until they have terminated.
 */
function doneOf(given: number, { needed, present = 0 }: JobPodSet): number {
  return given > 1 ? Math.max(given - Math.max(needed, present), 0) : 0
}
