import { frameworkOf } from '../../kube/vocabulary/frameworks.ts'
import { controllerOf } from '../../kube/vocabulary/objects.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { childOf, isSuspended } from '../../workload/job-facts.ts'
import { createsFor, isGarbageCollector } from '../creators.ts'
import { whoMay } from '../exemption.ts'
import { walkUp } from '../owners.ts'
import type { World } from '../world.ts'
import { JOBS } from './kinds.ts'
import type { Change } from './queue-guard.ts'
import { isTurnedBack } from './replacement.ts'
import type { QueueableObject } from './shape.ts'
import { podsOf } from './size.ts'

/**
 * The Jobs of a JobSet wait with it and run with it, and nobody charges them: who could resume one of them, or make it
 * larger, would have its pods run past the queue. Their root's controller does both, and decides nothing.
 */
export function childErrors(change: Change, world: World): readonly FieldError[] {
  const { before, after, kind, user } = change
  if (kind.kind !== JOBS.kind) return []
  const fields = [
    ...(isSuspended(before) && !isSuspended(after) ? ['spec.suspend'] : []),
    ...(podsOf(after, kind) > podsOf(before, kind) ? ['spec.parallelism'] : []),
    ...(JSON.stringify(before.spec.template) === JSON.stringify(after.spec.template) ? [] : ['spec.template']),
    ...(isTurnedBack(before, after, kind) ? ['spec.podReplacementPolicy'] : []),
    ...(leavesController(before, after) && !isGarbageCollector(user) ? ['metadata.ownerReferences'] : []),
  ]
  if (fields.length === 0) return []
  const controller = controllerOf(before.metadata.ownerReferences)
  if (controller !== undefined && createsFor(controller, user, world.config)) return []
  const root = rootOf(change, world)
  if (root === undefined) return []
  return fields.map(field => forbidden(field, `this Job waits and runs with ${root}; ${whoMay(world)}`))
}

/**
 * Without it nobody would know any more, at the next change, with whom it waits. The uid alone is not enough: the garbage
 * collector looks for the name, finds nobody there, and deletes the Job without waiting for its pods.
 */
const leavesController = (before: QueueableObject, after: QueueableObject): boolean => {
  const [was, is] = [before, after].map(({ metadata }) => controllerOf(metadata.ownerReferences))
  return (['apiVersion', 'kind', 'name', 'uid'] as const).some(key => was?.[key] !== is?.[key])
}

/** By its stamp, whatever has become of its owners since. One without it had no reason to be seen at its creation. */
function rootOf({ before, namespace }: Change, world: World): string | undefined {
  const stamped = childOf(before)
  if (stamped !== undefined) return stamped
  const ancestry = walkUp(before, namespace, world)
  return ancestry.kind === 'queued' ? `${frameworkOf(ancestry.owner)}:${ancestry.owner.name}` : undefined
}
