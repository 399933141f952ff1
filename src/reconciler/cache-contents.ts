import type { Pod } from '../kube/vocabulary/objects.ts'
import { requestsOf } from '../workload/requests.ts'

/** What `kubectl apply` leaves on an object: as large as the object, and read by nobody here. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * What the cache keeps of a pod. The spec is needed once, for the template of its Workload, and as text it takes a
 * fifth of the memory that it takes as objects; what every decision looks at stays as it is.
 */
export function podForCache(pod: Pod): Pod {
  const { schedulingGates, nodeName, nodeSelector, tolerations, priority } = pod.spec
  const { phase, message } = pod.status ?? {}
  return {
    metadata: withoutLastApplied(pod.metadata),
    spec: {
      ...(schedulingGates && { schedulingGates }),
      ...(nodeName !== undefined && { nodeName }),
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(priority != null && { priority }),
    },
    specText: JSON.stringify(pod.spec),
    requests: requestsOf(pod),
    status: { ...(phase !== undefined && { phase }), ...(message !== undefined && { message }) },
  }
}

function withoutLastApplied(metadata: Pod['metadata']): Pod['metadata'] {
  if (metadata.annotations?.[LAST_APPLIED] === undefined) return metadata
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations
  return { ...metadata, annotations }
}
