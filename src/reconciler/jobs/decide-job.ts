import type { Action } from '../../workload/actions.ts'
import { isHeld, isQueued, isSuspended } from '../../workload/job-facts.ts'
import { areCharged, chargedPodSets, type QueuedJob } from '../../workload/jobs/queued-job.ts'
import { workloadName } from '../../workload/names.ts'
import { queueOf } from '../../workload/pod-facts.ts'
import type { Ending, PodSet, QueuedWorkload } from '../../workload/queued-workload.ts'
import { FAILED_TO_START } from '../admitted.ts'
import type { JobStanding } from '../decision.ts'
import type { AdmissionState, Engine } from '../engine.ts'
import { turnAt } from '../latecomers.ts'
import { admitted } from './admitted-job.ts'
import type { JobUnit } from './job-unit.ts'
import { isDirty, queuedWrite } from './job-writes.ts'
import { DROPPED, drop, EMPTY, HELD_BACK, leave } from './leaving.ts'
import {
  acting,
  cleaned,
  holds,
  type In,
  type JobDecision,
  NOTHING,
  type Owned,
  type Present,
  stop,
  tellJob,
  whenNoPodIsLeft,
} from './stopping.ts'

/**
 * What to do for one Job or JobSet, from nothing but the objects as they are now. It runs only on an admitted Workload:
 * every other state first stops it, and gives its quota back only when no pod of it is left.
 */
export function decideJob(unit: JobUnit, engine: Engine, now: string): JobDecision {
  const { job, workload, orphans, leftOut } = unit
  const left = orphans.flatMap(orphan => leave(unit, orphan, engine, now))
  if (job === undefined) return { actions: left, standings: leftOut === undefined ? [] : passOver(unit, leftOut) }
  const present = { ...unit, job }
  const { actions, standings } =
    workload === undefined ? withoutWorkload(present, engine) : decideFor({ ...present, workload }, engine, now)
  return { actions: [...left, ...actions], standings }
}

/** No webhook of ours looks at it any more, so its user can start it himself, and nobody else will. */
function passOver(unit: JobUnit, job: QueuedJob): readonly JobStanding[] {
  const note =
    `Muster does not queue the ${unit.kind.resource.kind}s of namespace ${unit.namespace} ` +
    '(integrations.podOptions.namespaceSelector), and had made no Workload for this one: set spec.suspend to false to ' +
    'start it'
  return tellJob({ ...unit, job }, 'LiftBlocked', note)
}

function decideFor(unit: Owned, engine: Engine, now: string): JobDecision {
  const { job, workload } = unit
  if (job.metadata.deletionTimestamp != null) return acting(leave(unit, workload, engine, now))
  const { end } = job.progress
  const state = engine.read(workload)
  if (end !== undefined) return ended(unit, end, state, engine, now)
  if (workload.metadata.deletionTimestamp != null) {
    return stop(unit, `Workload ${workload.metadata.name} was deleted`, engine, () => engine.release(workload))
  }
  if (state.kind === 'finished') return finished(unit, state, engine, now)
  // Its queue had nothing to give away when it came, and has limits by now.
  const held = engine.secure(workload)
  if (held.length > 0) return acting(held)
  if (isHeld(job)) {
    const end = { reason: HELD_BACK, message: HELD_NOTE }
    return stop(unit, HELD_NOTE, engine, () => drop(workload, end, engine, now))
  }
  if (state.kind === 'evicted') return evicted(unit, state, engine, now)
  if (state.kind === 'admitted') return admitted(unit, state, engine, now)
  return waiting(unit, state, engine, now)
}

const HELD_NOTE = 'suspended by its user: it keeps no place, and waits again when he sets suspend to false'

/** Whatever becomes of its Workload, it has nothing to wait for. */
function ended(unit: Owned, end: Ending, state: AdmissionState, engine: Engine, now: string): JobDecision {
  const { kind, job, workload } = unit
  if (state.kind === 'finished') return acting(engine.release(workload))
  const isGoing = workload.metadata.deletionTimestamp != null
  const actions = isGoing ? engine.release(workload) : engine.finish(workload, end, now)
  // Up to Kubernetes 1.30 a Job has failed when its pods are told to go, and nobody counts them down afterwards.
  const isEarly = kind.endsEarly || job.podSets.some(({ present = 0 }) => present > 0)
  if (!isEarly || actions.length === 0 || !holds(workload, engine)) return acting(actions)
  return acting([whenNoPodIsLeft(unit, job.metadata.uid ?? '', workload, actions)])
}

function finished(unit: Owned, end: In<'finished'>, engine: Engine, now: string): JobDecision {
  const { job, workload } = unit
  if (DROPPED.has(end.reason)) return acting(drop(workload, end, engine, now))
  if (!isSuspended(job)) return stop(unit, `Workload ${workload.metadata.name} has finished`, engine, () => [])
  const note = `${end.message}; correct that, and delete Workload ${workload.metadata.name} to have it queued anew`
  return {
    actions: engine.release(workload),
    standings: tellJob(unit, end.reason === FAILED_TO_START ? 'LiftBlocked' : 'Finished', note),
  }
}

/** No Workload yet. What runs without one has either been there before us, and is taken over, or has lost its Workload. */
function withoutWorkload(unit: Present, engine: Engine): JobDecision {
  const { kind, job } = unit
  if (job.progress.end !== undefined || job.metadata.deletionTimestamp != null) return NOTHING
  const isNew = !isQueued(job)
  if (!isSuspended(job) && !isNew) return stop(unit, 'it has no Workload', engine, () => [])
  if (isSuspended(job) && isHeld(job)) return stop(unit, HELD_NOTE, engine, () => [])
  if (isSuspended(job) && isDirty(job)) return cleaned(unit, engine)
  if (isSuspended(job) && !job.progress.stopped) return NOTHING
  if (job.excess !== undefined) return { actions: [], standings: tellJob(unit, 'InvalidGroup', job.excess) }
  const podSets = chargedPodSets(job, unit.defaults)
  if (podSets.length === 0) {
    return { actions: [], standings: tellJob(unit, 'WaitingForPods', 'it asks for no pods: raise its parallelism') }
  }
  return acting([
    ...(isNew && isSuspended(job) ? [queuedWrite(kind, job)] : []),
    { kind: 'EnsureObject', resource: engine.workloads, wanted: compose(unit, podSets, engine) },
  ])
}

function compose(
  { kind, namespace, name, job, turn }: Present,
  podSets: readonly PodSet[],
  engine: Engine,
): QueuedWorkload {
  const { group, version, kind: ownerKind } = kind.resource
  const uid = job.metadata.uid ?? ''
  const owner = { apiVersion: `${group}/${version}`, kind: ownerKind, name, uid }
  return engine.compose({
    kind: 'job',
    job: { framework: kind.framework, uid },
    namespace,
    name: workloadName(kind.resource, name, uid),
    queueName: queueOf(job),
    podSets,
    priority: job.priority,
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    completeAt: turnAt(job.metadata.resourceVersion ?? '0', turn),
  })
}

function evicted(unit: Owned, { why }: In<'evicted'>, engine: Engine, now: string): JobDecision {
  const { workload } = unit
  const { actions, standings } = stop(unit, why, engine, () => engine.requeue(workload, why, now))
  const stopped = isSuspended(unit.job) && unit.job.progress.stopped
  return { actions: [...(stopped ? [] : engine.evict(workload, why, now)), ...actions], standings }
}

/** Not admitted: what was there before us is, without being asked; all others do not run. */
function waiting(unit: Owned, { told }: In<'waiting'>, engine: Engine, now: string): JobDecision {
  const { job, workload } = unit
  if (!isSuspended(job)) {
    if (!isQueued(job) && engine.takeOver !== undefined) return acting(engine.takeOver(workload, now))
    return stop(unit, 'it is not admitted by its queue', engine, () => [])
  }
  if (isDirty(job)) return cleaned(unit, engine)
  if (!isQueued(job)) return acting([queuedWrite(unit.kind, job)])
  if (job.excess !== undefined) return { actions: [], standings: tellJob(unit, 'InvalidGroup', job.excess) }
  if (engine.holdsQuota(workload)) return NOTHING
  const queue = queueOf(job)
  if (queue !== workload.spec.queueName) {
    return acting(engine.moveTo(workload, queue, job.metadata.resourceVersion ?? '0'))
  }
  const podSets = chargedPodSets(job, unit.defaults)
  if (podSets.length === 0) {
    const end = { reason: EMPTY, message: 'its Job asks for no pods any more' }
    return acting(drop(workload, end, engine, now))
  }
  if (!areCharged(podSets, workload.spec.podSets)) return acting([resized(workload, podSets, engine)])
  return { actions: [], standings: told === undefined ? [] : tellJob(unit, told.reason, told.message, told.since) }
}

/** In its place: whoever waits may ask for more or less. */
function resized(workload: QueuedWorkload, podSets: readonly PodSet[], engine: Engine): Action {
  const { name, namespace, ownerReferences } = workload.metadata
  const metadata = { ...{ name, namespace }, ...(ownerReferences && { ownerReferences }) }
  const wanted = { metadata, spec: { podSets } }
  return { kind: 'EnsureObject', resource: engine.workloads, wanted, known: workload }
}
