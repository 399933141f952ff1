import { ADMISSION_GATE, MANAGED, QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { type FieldError, forbidden, labelPath } from '../../validation/field-error.ts'
import { GROUP_MARKS } from '../../workload/group.ts'
import {
  ADMITTED_MARKS,
  CREATOR_MARK,
  hasOurFinalizer,
  isDeleting,
  isGated,
  isMarkedManaged,
  LIFT_MARKS,
  type Mark,
  queueOf,
} from '../../workload/pod-facts.ts'
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
  if (!isGuarded(before) && !isGuarded(after)) return lateQueueErrors(before, after, only)
  return [...takenErrors(before, after, only), ...givenErrors(before, after, only), ...markErrors(before, after, only)]
}

/**
 * A pod that came with our gate and without a queue waits for whoever put the gate there. With a queue written on it
 * later it would look like one of ours, and nobody would count it when its gate falls.
 */
function lateQueueErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  if (!isGated(before) || queueOf(before) !== '' || queueOf(after) === '') return []
  const detail = `a pod is queued when it is created, and this one was not: create it anew with its queue; ${only}`
  return [forbidden(labelPath(QUEUE_NAME), detail)]
}

/** Either mark is enough: the one that is left when somebody exempt took the other away still means us. */
export const isGuarded = (pod: Pod): boolean => isMarkedManaged(pod) || hasOurFinalizer(pod)

function takenErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  if (!isGuarded(before)) return []
  const errors: FieldError[] = []
  if (isGated(before) && !isGated(after)) {
    const detail = `the gate '${ADMISSION_GATE}' is lifted when the pod is admitted; ${only}`
    errors.push(forbidden('spec.schedulingGates', detail))
  }
  if (isMarkedManaged(before) && !isMarkedManaged(after)) {
    errors.push(forbidden(labelPath(MANAGED), `a queued pod stays queued until it is deleted; ${only}`))
  }
  if (hasOurFinalizer(before) && !hasOurFinalizer(after) && needsFinalizer(before)) {
    const detail = `'${MANAGED}' is removed when the end of the pod has been counted; ${only}`
    errors.push(forbidden('metadata.finalizers', detail))
  }
  return errors
}

/**
 * Without the label nobody here watches the pod, and nobody would ever take the finalizer off. Then it is free to go,
 * or the pod could not be deleted; only the gate of a pod that could still start keeps it.
 */
function needsFinalizer(pod: Pod): boolean {
  return isMarkedManaged(pod) || (isGated(pod) && !isDeleting(pod))
}

/** A pod that was not queued when it was created can't be declared queued later: it may be running. */
function givenErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  const detail = `is set when a pod is created in a queue, and not later; ${only}`
  const errors: FieldError[] = []
  if (!isMarkedManaged(before) && isMarkedManaged(after)) errors.push(forbidden(labelPath(MANAGED), detail))
  if (!hasOurFinalizer(before) && hasOurFinalizer(after)) {
    errors.push(forbidden('metadata.finalizers', `'${MANAGED}' ${detail}`))
  }
  return errors
}

/**
 * What Muster writes is Muster's, always. What the pod was admitted with is settled when the gate is lifted: whoever
 * could say afterwards that the pod is another's, or of another size, would have its seat twice. The other rules go by
 * Kueue's "suspended", which takes in finished pods; the books do not.
 */
function markErrors(before: Pod, after: Pod, only: string): readonly FieldError[] {
  if (!isGuarded(before)) return []
  const written = changed(OUR_MARKS, before, after, `is written by Muster; ${only}`)
  if (isGated(before)) return written
  return [...changed(SETTLED_MARKS, before, after, `the pod was admitted with this; ${only}`), ...written]
}

/** `retriable-in-group` and `priority-class` are not among them: they speak of what is to come. */
const SETTLED_MARKS: readonly Mark[] = [...ADMITTED_MARKS, ...GROUP_MARKS]
const OUR_MARKS: readonly Mark[] = [...LIFT_MARKS, CREATOR_MARK]

function changed(marks: readonly Mark[], before: Pod, after: Pod, detail: string): readonly FieldError[] {
  return marks.filter(({ of }) => of(before) !== of(after)).map(({ path }) => forbidden(path, detail))
}
