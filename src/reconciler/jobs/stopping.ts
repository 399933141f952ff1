import type { Action } from '../../workload/actions.ts'
import { isHeld, isStopping, isSuspended } from '../../workload/job-facts.ts'
import type { QueuedJob } from '../../workload/jobs/queued-job.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import type { JobStanding } from '../decision.ts'
import type { AdmissionState, Engine } from '../engine.ts'
import type { JobUnit } from './job-unit.ts'
import { isDirty, restoreWrite, startTimeWrite, stopWrite } from './job-writes.ts'

export interface JobDecision {
  readonly actions: readonly Action[]
  readonly standings: readonly JobStanding[]
}

/** A unit whose Job is there. */
export type Present = JobUnit & { readonly job: QueuedJob }
export type Owned = Present & { readonly workload: QueuedWorkload }
export type In<Kind extends AdmissionState['kind']> = Extract<AdmissionState, { readonly kind: Kind }>

export const NOTHING: JobDecision = { actions: [], standings: [] }

export const acting = (actions: readonly Action[]): JobDecision => ({ actions, standings: [] })

export function tellJob({ kind, job }: Present, reason: Reason, note: string, since?: string): readonly JobStanding[] {
  return [{ kind, job, reason, note, ...(since !== undefined && { since }) }]
}

export const holds = (workload: QueuedWorkload, engine: Engine): boolean =>
  engine.holdsQuota(workload) && engine.read(workload).kind !== 'finished'

export function whenNoPodIsLeft(
  { kind, namespace, job }: JobUnit,
  uid: string,
  workload: QueuedWorkload,
  actions: readonly Action[],
): Action {
  const asOf = [job, workload].map(object => object?.metadata.resourceVersion ?? '').join('/')
  return { kind: 'UnlessPodsLeft', namespace, labelSelector: `${kind.podLabel}=${uid}`, asOf, actions }
}

/**
 * Write by write, each of them to be done again by whoever finds it undone: suspend it, wait until its controller has
 * taken its pods away, make its start time and its templates what they were. `then` is for when nothing is left.
 */
export function stop(unit: Present, why: string, engine: Engine, then: () => readonly Action[]): JobDecision {
  const { kind, job, workload } = unit
  const standings = tellJob(unit, 'Evicted', why)
  const unmarked = isHeld(job) && isDirty(job) && !isStopping(job)
  // Also where its user has suspended it: else nobody knows, if he changes his mind, that it has been stopped.
  if (!isSuspended(job) || unmarked) return { actions: [stopWrite(kind, job)], standings }
  if (!job.progress.stopped) return { actions: [], standings }
  if (isDirty(job) && job.progress.startTime) return { actions: [startTimeWrite(kind, job)], standings }
  const restore = isDirty(job) ? [restoreWrite(kind, job, workload)] : []
  const back = then()
  const isHolding = back.length > 0 && workload !== undefined && holds(workload, engine)
  // Where its status does not say whether pods are left, it must not look as if it could start again: not beside them.
  if (restore.length > 0 && !(isHolding && kind.endsEarly)) return { actions: restore, standings }
  const actions = [...restore, ...back]
  if (!isHolding) return { actions, standings }
  return { actions: [whenNoPodIsLeft(unit, job.metadata.uid ?? '', workload, actions)], standings }
}

/** What is left of a stop, or of a Job that this one was copied from, is nothing that anybody has to be told. */
export const cleaned = (unit: Present, engine: Engine): JobDecision => acting(stop(unit, '', engine, () => []).actions)
