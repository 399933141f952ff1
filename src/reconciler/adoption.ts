import type { Action } from '../workload/actions.ts'
import { MAX_OWNERS, ownerReference } from '../workload/compose.ts'
import { isDeleting, uidOf } from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import type { Engine } from './engine.ts'
import type { Seating } from './lifting.ts'
import type { Unit } from './unit.ts'

/**
 * A pod that comes later owns the Workload as well, before it is lifted: else the garbage collector takes the Workload
 * when the first ones go, and nobody remembers who was lifted on it. Who has no place in it does not own it. The list
 * has bounds, since an object of a few megabytes can never be written again: of a very large group as many own the
 * Workload as are enough to keep it, and others follow when they go.
 */
export function adopt(unit: Unit, workload: QueuedWorkload, seating: Seating, engine: Engine): readonly Action[] {
  const owners = workload.metadata.ownerReferences ?? []
  if (unit.kind === 'single' && owners.length > 0) return []
  const known = new Set(owners.map(owner => owner.uid))
  const members = [...seating.taken, ...seating.lift.map(({ pod }) => pod)]
  const staying = members.filter(pod => known.has(uidOf(pod)) && !isDeleting(pod)).length
  const room = Math.min(MAX_OWNERS - staying, 2 * MAX_OWNERS - owners.length)
  const missing = members.filter(pod => !known.has(uidOf(pod))).slice(0, Math.max(0, room))
  if (missing.length === 0) return []
  return engine.adopt(workload, [...owners, ...missing.map(pod => ownerReference(pod, unit.kind))])
}
