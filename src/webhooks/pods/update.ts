import { GROUP_ROLE, RETRIABLE_IN_GROUP, ROLE_HASH } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { annotationPath, type FieldError, forbidden, invalid, labelPath } from '../../validation/field-error.ts'
import {
  forbidsRetries,
  GROUP_SIZES,
  groupNameOf,
  groupNamePath,
  groupRoleOf,
  type ParsedGroup,
  parseGroup,
} from '../../workload/group.ts'
import { isDeleting, isGated, isMarkedManaged, isSuspended, roleHashOf } from '../../workload/pod-facts.ts'
import { roleHash } from '../../workload/role-hash.ts'
import { IMMUTABLE, immutable, queueMarkUpdateErrors } from '../queue-marks.ts'
import type { World } from '../world.ts'
import { admissionGatesUpdateErrors } from './admission-gates.ts'
import { wrongRoleHash } from './mutation.ts'
import { commonErrors } from './validation.ts'

/** How a pod may change: Kueue's rules in Kueue's order, then the ones that Kueue lacks. */
export function updateErrors(
  before: Pod,
  after: Pod,
  group: ParsedGroup,
  namespace: string,
  world: World,
): readonly FieldError[] {
  const lull = { before: isSuspended(before), after: isSuspended(after) }
  return [
    ...queueMarkUpdateErrors(before, after, lull, namespace, world),
    ...admissionGatesUpdateErrors(before, after),
    ...newErrors(before, after, group),
    ...retriableErrors(before, after),
    ...groupNameErrors(before, after),
    ...groupSizeErrors(before, after, group),
    ...roleHashErrors(before, after),
  ]
}

/**
 * A pod on its way out is judged by what changes, and so is one that was lifted, which nothing here can stop any more.
 * What was wrong with it before must not keep a controller from taking its finalizer away, or the pod would never leave.
 */
function newErrors(before: Pod, after: Pod, group: ParsedGroup): readonly FieldError[] {
  if (isDeleting(before)) return []
  const errors = commonErrors(after, group)
  if (errors.length === 0 || isGated(before) || !isMarkedManaged(before)) return errors
  const known = new Set(commonErrors(before, parseGroup(before)).map(({ field, type }) => `${type} ${field}`))
  return errors.filter(({ field, type }) => !known.has(`${type} ${field}`))
}

function retriableErrors(before: Pod, after: Pod): readonly FieldError[] {
  if (groupNameOf(after) === undefined || !forbidsRetries(before) || forbidsRetries(after)) return []
  const detail = "unretriable pod group can't be converted to retriable"
  return [forbidden(annotationPath(RETRIABLE_IN_GROUP), detail)]
}

function groupNameErrors(before: Pod, after: Pod): readonly FieldError[] {
  const was = groupNameOf(before)
  return was === undefined ? [] : immutable(groupNamePath(after), was, groupNameOf(after) ?? '')
}

/**
 * A member that changes its mind about the size of the group leaves the others waiting for ever; Kueue lets it. A
 * size that is added, or that can't be read, is judged by the other rules.
 */
function groupSizeErrors(before: Pod, after: Pod, group: ParsedGroup): readonly FieldError[] {
  if (group.errors.length > 0) return []
  const errors = GROUP_SIZES.flatMap(({ path, of }) => {
    const [was, is] = [of(before), of(after)]
    const gone = is === undefined && groupNameOf(after) === undefined
    return was === undefined || gone ? [] : immutable(path, was, is ?? '')
  })
  const role = groupRoleOf(before)
  if (role === undefined || groupNameOf(after) === undefined) return errors
  return [...errors, ...immutable(labelPath(GROUP_ROLE), role, groupRoleOf(after) ?? '')]
}

/**
 * The role is stamped once. Later the spec may move away from it, because the lift adds node selectors and
 * tolerations; so an edit is refused unless it brings the true hash to a pod that still waits.
 */
function roleHashErrors(before: Pod, after: Pod): readonly FieldError[] {
  const [was, is] = [roleHashOf(before), roleHashOf(after)]
  if (was === is || !isMarkedManaged(before)) return []
  const computed = roleHash(after.spec)
  if (is === computed && isGated(after)) return []
  const detail = isGated(after) ? wrongRoleHash(computed) : 'the role of a pod does not change once its gate is lifted'
  return [invalid(annotationPath(ROLE_HASH), is ?? '', `${IMMUTABLE}: ${detail}`)]
}
