import { KAI_POD_GROUP } from '../../kube/vocabulary/kai.ts'
import { POD_GROUP } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { annotationPath, type FieldError, forbidden, labelPath } from '../../validation/field-error.ts'
import { isOurPodGroupName } from '../../workload/placement.ts'
import { awaitsPodGroup, isDeleting, isMarkedManaged, kaiLinkOf, podGroupMarkOf } from '../../workload/pod-facts.ts'
import { whoMay } from '../exemption.ts'
import { kaiGroupFor } from '../pods/placement.ts'
import type { World } from '../world.ts'
import { LINKS } from './mutation.ts'
import { whyNotHeld } from './scope.ts'

const GATES = 'spec.schedulingGates'

/** A new pod, after all mutators: it is held if it has to be, and nobody else carries our marks. */
export function newPodErrors(pod: Pod, namespace: string, world: World): readonly FieldError[] {
  const why = whyNotHeld(pod, namespace, world)
  const only = whoMay(world)
  if (why !== undefined && isMember(pod, namespace, world)) return []
  const errors: FieldError[] = []
  if (why === undefined) {
    const detail =
      'was taken away after Muster had set it; the pod waits until the group that it names has its PodGroup'
    if (!awaitsPodGroup(pod)) errors.push(forbidden(GATES, `the gate '${POD_GROUP}' ${detail}`))
    if (podGroupMarkOf(pod) !== 'reference') errors.push(forbidden(labelPath(POD_GROUP), detail))
    return [...errors, ...linkErrors(pod)]
  }
  const detail = `is set by Muster on pods of KAI that name a group (${why}); ${only}`
  if (awaitsPodGroup(pod)) errors.push(forbidden(GATES, `'${POD_GROUP}' ${detail}`))
  if (podGroupMarkOf(pod) !== undefined) errors.push(forbidden(labelPath(POD_GROUP), detail))
  return [...errors, ...strangerErrors(pod)]
}

/** Of a group that waits in a queue and is placed by KAI: Muster has linked it, and to the PodGroup of that group. */
function isMember(pod: Pod, namespace: string, world: World): boolean {
  if (!isMarkedManaged(pod) || podGroupMarkOf(pod) !== 'group') return false
  return kaiLinkOf(pod) !== undefined && kaiLinkOf(pod) === kaiGroupFor(pod, namespace, world)
}

/** KAI starts a gang when so many pods name it, in whatever namespace: a stranger takes the place of a member. */
function strangerErrors(pod: Pod): readonly FieldError[] {
  const link = kaiLinkOf(pod)
  if (link === undefined || !isOurPodGroupName(link)) return []
  const detail = `PodGroup '${link}' is of a group that waits in a queue, and this pod is no member of it`
  return [forbidden(annotationPath(KAI_POD_GROUP), detail)]
}

function linkErrors(pod: Pod): readonly FieldError[] {
  const detail = 'was set after Muster had dropped it: Muster writes it when the PodGroup is there'
  return LINKS.filter(link => link.of(pod) !== undefined).map(({ path }) => forbidden(path, detail))
}

/** Whoever lifts the gate lets a pod start alone that was to start with others. */
export function changedPodErrors(before: Pod, after: Pod, world: World): readonly FieldError[] {
  const only = whoMay(world)
  const errors: FieldError[] = []
  if (awaitsPodGroup(before) && !awaitsPodGroup(after) && !isDeleting(before)) {
    errors.push(forbidden(GATES, `the gate '${POD_GROUP}' is lifted when the PodGroup of the pod is there; ${only}`))
  }
  if (podGroupMarkOf(before) !== podGroupMarkOf(after)) {
    errors.push(forbidden(labelPath(POD_GROUP), `is written by Muster; ${only}`))
  }
  if (podGroupMarkOf(before) === undefined) {
    return kaiLinkOf(before) === kaiLinkOf(after) ? errors : [...errors, ...strangerErrors(after)]
  }
  const bent = LINKS.filter(link => link.of(before) !== link.of(after))
  return [...errors, ...bent.map(({ path }) => forbidden(path, `is kept by Muster; ${only}`))]
}
