import type { Action } from '../../workload/actions.ts'
import { ABANDONED, type Ending, jobUidOf, type QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Engine } from '../engine.ts'
import type { JobUnit } from './job-unit.ts'
import { holds, whenNoPodIsLeft } from './stopping.ts'

/** Its Job is gone, or on its way out: what its pods hold they hold until they have ended, and then nothing is left. */
export function leave(unit: JobUnit, workload: QueuedWorkload, engine: Engine, now: string): readonly Action[] {
  const end = { reason: GONE, message: `${unit.kind.resource.kind} ${unit.name} is gone` }
  const actions = isCollected(workload, engine) ? engine.release(workload) : drop(workload, end, engine, now)
  if (!holds(workload, engine) || actions.length === 0) return actions
  return [whenNoPodIsLeft(unit, jobUidOf(workload), workload, actions)]
}

/** Deleted already, or about to be by the garbage collector: what came to its own end has nothing left to decide. */
function isCollected(workload: QueuedWorkload, engine: Engine): boolean {
  const { metadata } = workload
  if (metadata.deletionTimestamp != null) return true
  const state = engine.read(workload)
  return state.kind === 'finished' && !DROPPED.has(state.reason) && (metadata.ownerReferences ?? []).length > 0
}

/** Why a Workload ends whose Job does not: it has left the queue, and comes back with another one. */
const GONE = 'OwnerNotFound'
export const HELD_BACK = 'Held'
export const EMPTY = ABANDONED
export const DROPPED: ReadonlySet<string> = new Set([GONE, HELD_BACK, EMPTY])

export const drop = (workload: QueuedWorkload, end: Ending, engine: Engine, now: string): readonly Action[] =>
  engine.abandon?.(workload, now, end) ?? []
