import { ADMISSION_GATE, GROUP_NAME, MANAGED, QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { type FieldError, forbidden, labelPath } from '../../validation/field-error.ts'
import { groupNameOf } from '../../workload/group.ts'
import { hasOurFinalizer, isGated, isMarkedManaged, LIFT_MARKS, queueOf } from '../../workload/pod-facts.ts'
import { whoMay } from '../exemption.ts'
import type { World } from '../world.ts'

/**
 * Anyone who may update pods can take a scheduling gate away: Kubernetes leaves it to others to say who may
 * (KEP-3521), and Kueue notices only afterwards, when the pod has run. Here it is refused.
 *
 * The guard looks at our own marks and at nothing else, so that nobody is hindered in what is theirs: the kubelet
 * writes status, the garbage collector owner references, controllers their labels and finalizers.
 */
export function guardErrors(before: Pod, after: Pod, world: World): readonly FieldError[] {
  const only = whoMay(world)
  if (!isGuarded(before)) return forgedMarkErrors(before, after, only)
  const errors: FieldError[] = []
  if (isGated(before) && !isGated(after)) {
    const detail = `the gate '${ADMISSION_GATE}' is lifted when the pod is admitted; ${only}`
    errors.push(forbidden('spec.schedulingGates', detail))
  }
  if (isMarkedManaged(before) && !isMarkedManaged(after)) {
    errors.push(forbidden(labelPath(MANAGED), `a queued pod stays queued until it is deleted; ${only}`))
  }
  if (hasOurFinalizer(before) && !hasOurFinalizer(after)) {
    const detail = `'${MANAGED}' is removed when the end of the pod has been counted; ${only}`
    errors.push(forbidden('metadata.finalizers', detail))
  }
  errors.push(...liftedPodErrors(before, after, only), ...liftMarkErrors(before, after, only))
  return errors
}

/** `pods/resize`: a pod that grows behind its gate is admitted with less than it will use. */
export function resizeErrors(before: Pod, world: World): readonly FieldError[] {
  if (!isGuarded(before) || !isGated(before)) return []
  const detail = `a pod that waits for admission keeps the size it asked for: delete it and create it anew; ${whoMay(world)}`
  return [forbidden('spec.containers', detail)]
}

/** Either mark is enough: the one that is left when somebody exempt took the other away still means us. */
const isGuarded = (pod: Pod): boolean => isMarkedManaged(pod) || hasOurFinalizer(pod)

/** Kueue's "suspended" takes in finished pods, whose queue it would let change under the books. */
function liftedPodErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  if (isGated(before)) return []
  const errors: FieldError[] = []
  if (queueOf(before) !== queueOf(after)) {
    errors.push(forbidden(labelPath(QUEUE_NAME), `the pod was admitted through queue "${queueOf(before)}"; ${only}`))
  }
  if (groupNameOf(before) === undefined && groupNameOf(after) !== undefined) {
    errors.push(forbidden(labelPath(GROUP_NAME), `the pod was admitted on its own and can't join a group; ${only}`))
  }
  return errors
}

function liftMarkErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  const detail = `is written when the pod is admitted; ${only}`
  return LIFT_MARKS.filter(({ of }) => of(before) !== of(after)).map(({ path }) => forbidden(path, detail))
}

/**
 * A pod that was not queued when it was created can't be declared queued later: it may be running. Whoever its owner
 * is: a template can put the label there at the creation, and nobody has to do it afterwards.
 */
function forgedMarkErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  if (!isMarkedManaged(after) || isGated(before)) return []
  return [forbidden(labelPath(MANAGED), `is set when a pod is created in a queue, and not later; ${only}`)]
}
