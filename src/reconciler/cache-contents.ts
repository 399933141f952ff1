import type { Container, Pod, PodSpec } from '../kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'

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
    status: { ...(phase !== undefined && { phase }), ...(message !== undefined && { message }) },
  }
}

function withoutLastApplied(metadata: Pod['metadata']): Pod['metadata'] {
  if (metadata.annotations?.[LAST_APPLIED] === undefined) return metadata
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations
  return { ...metadata, annotations }
}

/** What the cache keeps of a Workload: of the templates only what their pods ask for. */
export function workloadForCache(workload: QueuedWorkload): QueuedWorkload {
  const podSets = workload.spec.podSets.map(podSet => ({ ...podSet, template: { spec: asked(podSet.template?.spec) } }))
  return { ...workload, spec: { ...workload.spec, podSets } }
}

function asked({ containers, initContainers, overhead, resources }: PodSpec = {}): PodSpec {
  return {
    ...(containers && { containers: containers.map(askedByContainer) }),
    ...(initContainers && { initContainers: initContainers.map(askedByContainer) }),
    ...(overhead && { overhead }),
    ...(resources && { resources }),
  }
}

function askedByContainer({ name, resources, restartPolicy }: Container): Container {
  return {
    name,
    ...(resources?.requests && { resources: { requests: resources.requests } }),
    ...(restartPolicy !== undefined && { restartPolicy }),
  }
}
