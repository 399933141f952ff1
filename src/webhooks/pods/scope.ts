import type { ReviewReason } from '../../admission/reasons.ts'
import type { UserInfo } from '../../admission/review.ts'
import { type Denied, forbiddenRequest } from '../../admission/verdict.ts'
import type { Configuration } from '../../config/configuration.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import { isMirror, queueOf } from '../../workload/pod-facts.ts'
import { namespaceSelected } from '../namespace.ts'
import { findQueuedAncestor } from '../owners.ts'
import type { World } from '../world.ts'

/** Whether a pod is ours to gate. `ignored` says why not, in one word. */
export type Scope =
  | { readonly kind: 'ignored'; readonly reason: ReviewReason }
  | { readonly kind: 'ours'; readonly defaultQueue: boolean }
  | Denied

const ignored = (reason: ReviewReason): Scope => ({ kind: 'ignored', reason })

/** Without `pod` in `integrations.frameworks` nobody would lift a gate, so none is set and none is guarded. */
export function podsEnabled({ integrations }: Configuration): boolean {
  return integrations.frameworks.includes('pod')
}

/**
 * The decisions of KEP-976, "Pods subject to queueing". What a pod says of itself comes first: a pod that nobody asks
 * to queue is let through even when its namespace or its owner can't be looked up.
 *
 * Kueue's annotation `pod-suspending-parent` is not asked about. There, it makes a gate without the managed label, and
 * a controller of the parent lifts it; here there is no such controller, and a pod that nobody lifts would wait for
 * ever. Such a pod is queued like any other.
 */
export function podScope(pod: Pod, namespace: string, user: UserInfo | undefined, world: World): Scope {
  if (!podsEnabled(world.config)) return ignored('PodsNotEnabled')
  // The API server refuses this annotation on a pod without a node, so it opens no way around the queue.
  if (isMirror(pod)) return ignored('MirrorPod')

  const { manageJobsWithoutQueueName, integrations } = world.config
  const defaultQueue = queueOf(pod) === '' && world.hasDefaultQueue(namespace)
  if (queueOf(pod) === '' && !defaultQueue && !manageJobsWithoutQueueName) return ignored('NoQueue')

  const selected = namespaceSelected(namespace, world)
  if (typeof selected !== 'boolean') return selected
  if (!selected) return ignored('NamespaceNotSelected')
  if (!matchesSelector(integrations.podOptions.podSelector, pod.metadata.labels ?? {})) return ignored('PodNotSelected')

  const ancestry = findQueuedAncestor(pod, namespace, user, world)
  if (ancestry.kind === 'broken') return forbiddenRequest([ancestry.error])
  if (ancestry.kind === 'queued') return ignored('OwnerQueued')
  return { kind: 'ours', defaultQueue }
}
