import type { UserInfo } from '../../admission/review.ts'
import { ADMISSION_GATE, CREATOR, MANAGED, ROLE_HASH } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import {
  annotationPath,
  type FieldError,
  forbidden,
  invalid,
  labelPath,
  required,
} from '../../validation/field-error.ts'
import {
  creatorOf,
  hasOurFinalizer,
  isGated,
  isMarkedManaged,
  LIFT_MARKS,
  queueOf,
  roleHashOf,
} from '../../workload/pod-facts.ts'
import { whoMay } from '../exemption.ts'
import type { World } from '../world.ts'
import { creatorStampOf, wrongRoleHash } from './mutation.ts'

/**
 * Claims that a pod of ours may not come with. Kueue trusts them all: a false role hash then charges a large pod as a
 * small one, and a reconciler's label set beforehand kills the workload at its admission. With the stamp of another, a
 * pod would be taken for the surplus of his group.
 */
export function claimErrors(
  pod: Pod,
  namespace: string,
  user: UserInfo | undefined,
  world: World,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const role = roleHashOf(pod)
  if (role !== undefined) {
    const computed = world.roles.hashOf(pod.spec)
    if (role !== computed && !isCompletedLater(pod))
      errors.push(invalid(annotationPath(ROLE_HASH), role, wrongRoleHash(computed)))
  }
  const creator = creatorOf(pod)
  if (creator !== undefined && creator !== creatorStampOf(pod, namespace, user, world)) {
    errors.push(forbidden(annotationPath(CREATOR), 'says that somebody else has created the pod: remove it'))
  }
  const detail = 'is written when the pod is admitted; remove it from the manifest'
  for (const { path, of } of LIFT_MARKS) {
    if (of(pod) !== undefined) errors.push(forbidden(path, detail))
  }
  return errors
}

/**
 * The API server fills in the requests of a pod that has limits of its own after our mutation, and the role of such a
 * pod is that of before. Nothing is gained by a false one: what it asks for is compared with what its role is charged.
 */
function isCompletedLater({ spec }: Pod): boolean {
  return Object.keys(spec.resources?.limits ?? {}).length > 0
}

/**
 * Our label and finalizer on a pod that is not ours. The reconciler would count it, and lift what it never gated; and
 * with the finalizer alone the pod could not be deleted, for nobody watches it.
 */
export function forgedMarkErrors(pod: Pod, why: string, world: World): readonly FieldError[] {
  const errors: FieldError[] = []
  const detail = `is set by Muster on the pods that it queues, and this is none (${why}): remove it; ${whoMay(world)}`
  if (isMarkedManaged(pod)) errors.push(forbidden(labelPath(MANAGED), detail))
  if (hasOurFinalizer(pod)) errors.push(forbidden('metadata.finalizers', `'${MANAGED}' ${detail}`))
  return errors
}

/**
 * The backstop. In the second round the API server does not call a mutating webhook that did not match in the first,
 * so a queue label that a later webhook adds never reaches our mutator; and a webhook after us can drop our gate. The
 * validating phase sees the pod as it will be stored, and a pod of ours is not stored ungated.
 */
export function ungatedErrors(pod: Pod): readonly FieldError[] {
  if (isGated(pod)) return []
  const queue = queueOf(pod)
  const asked = queue === '' ? 'pods here wait for admission' : `the pod asks for queue "${queue}"`
  const detail =
    `${asked} but carries no gate '${ADMISSION_GATE}': another admission webhook removed it, or set the queue after ` +
    `Muster's webhook had run: set the label on the pod itself, or let that webhook run first ('${MANAGED}' must be set ` +
    `too). If this is true of every pod, Muster's own mutating webhook is not there: muster doctor says so`
  return [required('spec.schedulingGates', detail)]
}
