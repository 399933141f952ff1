import * as is from '../workload/pod-facts.ts'
import { ABANDONED, type QueuedWorkload } from '../workload/queued-workload.ts'
import type { Engine } from './engine.ts'
import type { Unit } from './unit.ts'

export const workloadsOf = ({ workload, orphans }: Unit): readonly QueuedWorkload[] =>
  workload === undefined ? orphans : [workload, ...orphans]

/**
 * A Workload without pods: they were deleted and it was left behind (`--cascade=orphan`), or they have joined others.
 * It would hold quota for ever, or the name of its group. Owners that are simply gone are the garbage collector's, for
 * they may also be pods that we have not seen yet.
 */
export function isForsaken(unit: Unit, workload: QueuedWorkload, engine: Engine): boolean {
  const { deletionTimestamp, ownerReferences } = workload.metadata
  if (deletionTimestamp != null) return false
  if (isLeftBehind(unit, workload, engine)) return true
  if (!(ownerReferences ?? []).every(({ uid }) => unit.elsewhere.has(uid))) return false
  if (unit.outside.some(is.mayRun)) return false
  const own = unit.workload === workload && (unit.kind === 'single' || engine.isForGroup(workload))
  if (!own || unit.pods.length === 0) return true
  return engine.read(workload).kind === 'finished' && unit.pods.every(is.isGated)
}

/** Given up, and nobody runs on it: those who wait, and have not done their work, get another one. */
function isLeftBehind(unit: Unit, workload: QueuedWorkload, engine: Engine): boolean {
  const state = engine.read(workload)
  return state.kind === 'finished' && state.reason === ABANDONED && !unit.pods.some(is.mayRun)
}
