import type { Resource } from '../../kube/vocabulary/api.ts'
import { RESOURCE_IN_USE } from '../../kube/vocabulary/names.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import { askedOf } from '../../workload/asked.ts'
import type { WorkloadPlan } from '../../workload/compose.ts'
import { type QueuedWorkload, WORKLOAD_POD } from '../../workload/queued-workload.ts'

/** The built-in engine's own kind, from manifests/base/crd.yaml. */
export const WORKLOADS: Resource = {
  group: 'muster.dev',
  version: 'v1alpha1',
  plural: 'workloads',
  kind: 'Workload',
  namespaced: true,
}
/** Kueue's mark, so that people find it under the name they know. */
export const IS_GROUP_WORKLOAD = 'kueue.x-k8s.io/is-group-workload'
/** Where in its queue the Workload stands: the resource version at which it was complete, or came over from another. */
export const QUEUE_ORDER = 'muster.dev/queue-order'

export function composeWorkload(plan: WorkloadPlan): QueuedWorkload {
  const { name, namespace, kind, queueName, podSets, priority, ownerReferences, completeAt } = plan
  return {
    apiVersion: `${WORKLOADS.group}/${WORKLOADS.version}`,
    kind: WORKLOADS.kind,
    metadata: {
      name,
      namespace,
      annotations: {
        [QUEUE_ORDER]: completeAt,
        ...(kind === 'group' ? { [IS_GROUP_WORKLOAD]: 'true' } : { [WORKLOAD_POD]: ownerReferences[0]?.name ?? '' }),
      },
      finalizers: [RESOURCE_IN_USE],
      ownerReferences,
    },
    spec: { queueName, podSets, priority },
  }
}

export function isForGroup({ metadata }: QueuedWorkload): boolean {
  return metadata.annotations?.[IS_GROUP_WORKLOAD] === 'true'
}

/** Of the templates only what their pods ask for, and of the marks only ours: others may hang on as much as they like. */
export function workloadForCache(workload: QueuedWorkload): QueuedWorkload {
  const podSets = workload.spec.podSets.map(podSet => ({
    ...podSet,
    template: { spec: askedOf(podSet.template?.spec ?? {}) },
  }))
  const { labels: _, annotations, ...metadata } = workload.metadata
  return {
    ...workload,
    metadata: { ...metadata, ...(annotations && { annotations: ourMarks(annotations) }) },
    spec: { ...workload.spec, podSets },
  }
}

function ourMarks({ [QUEUE_ORDER]: order, [IS_GROUP_WORKLOAD]: forGroup, [WORKLOAD_POD]: pod }: StringMap): StringMap {
  return {
    ...(order !== undefined && { [QUEUE_ORDER]: order }),
    ...(forGroup !== undefined && { [IS_GROUP_WORKLOAD]: forGroup }),
    ...(pod !== undefined && { [WORKLOAD_POD]: pod }),
  }
}
