import type { ReviewReason } from '../../admission/reasons.ts'
import type { Configuration } from '../../config/configuration.ts'
import { KAI_IGNORE } from '../../kube/vocabulary/kai.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import { backendOf } from '../../workload/backend.ts'
import { groupReferenceOf } from '../../workload/group-reference.ts'
import { isMirror } from '../../workload/pod-facts.ts'
import { existingNamespaceSelected } from '../namespace.ts'
import type { World } from '../world.ts'

/** Undefined: the pod waits for its PodGroup of KAI. Else why it does not, in one word. */
export function whyNotHeld(pod: Pod, namespace: string, world: World): ReviewReason | undefined {
  const { coScheduling } = world.config
  if (backendOf(pod.spec.schedulerName, coScheduling, world.scheduling()) !== 'kai') return 'NotPlacedByKai'
  if (groupReferenceOf(pod) === undefined) return 'NamesNoGroup'
  if (isMirror(pod)) return 'MirrorPod'
  if (!existingNamespaceSelected(namespace, world)) return 'NamespaceNotSelected'
  // The owner may say it for the pod: that is known when somebody looks, and then the gate is lifted.
  if (pod.metadata.annotations?.[KAI_IGNORE] === 'true') return 'OptedOut'
  // It runs where it is: the API server takes no gate beside a node.
  return pod.spec.nodeName ? 'HasNode' : undefined
}

/** Without KAI there nobody would lift the gate, so none is set; those that are there are guarded all the same. */
export function kaiEnabled({ coScheduling: { backend } }: Configuration, { kai }: ServedScheduling): boolean {
  return kai && (backend === 'auto' || backend === 'kai')
}
