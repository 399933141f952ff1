import type { Pod } from '../../kube/vocabulary/objects.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { backendOf } from '../../workload/backend.ts'
import { groupReferenceOf } from '../../workload/group-reference.ts'
import { isOurPodGroupName, placedIn, podGroupOf } from '../../workload/placement.ts'
import { kaiLinkOf } from '../../workload/pod-facts.ts'
import type { World } from '../world.ts'

/**
 * The PodGroup that a new member of a group is given: it cannot be added later. A pod that names one already keeps it,
 * and whoever wrote it there makes that PodGroup. Undefined: none.
 */
export function podGroupFor(pod: Pod, namespace: string, world: World): string | undefined {
  if (pod.spec.schedulingGroup != null) return undefined
  const backend = backendOf(pod.spec.schedulerName, world.config.coScheduling, world.scheduling())
  return backend === 'kubernetes' ? placedIn(pod, namespace) : undefined
}

/**
 * The PodGroup of KAI that a new member of a group is linked to. Its own link stays: then its author makes the PodGroup.
 * It could be set later, too, but KAI's own pod-grouper keeps away only from pods that have one.
 */
export function kaiGroupFor(pod: Pod, namespace: string, world: World): string | undefined {
  const backend = backendOf(pod.spec.schedulerName, world.config.coScheduling, world.scheduling())
  if (backend !== 'kai' || groupReferenceOf(pod) !== undefined) return undefined
  const [link, place] = [kaiLinkOf(pod), placedIn(pod, namespace)]
  return link === undefined || link === place ? place : undefined
}

/**
 * A gang starts when so many pods name its PodGroup, whoever made them: with a stranger among them it would start
 * without one of its own.
 */
export function strangerErrors(pod: Pod, namespace: string, isMember: boolean): readonly FieldError[] {
  const name = podGroupOf(pod)
  if (name === undefined || !isOurPodGroupName(name)) return []
  if (isMember && placedIn(pod, namespace) === name) return []
  const detail =
    `PodGroup '${name}' is of a group that waits in a queue, and this pod is no member of it: remove it; Muster sets it ` +
    'on the pods of such a group'
  return [forbidden('spec.schedulingGroup.podGroupName', detail)]
}
