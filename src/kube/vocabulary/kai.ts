import type { Resource } from './api.ts'

/** KAI's own words. Its scheduler knows a pod by an annotation alone: whose name stands there, in whose gang it is. */
export const KAI_POD_GROUP = 'pod-group-name'
/** A pod with the name of a SubGroup that its PodGroup has not is left out of the gang without a word. */
export const KAI_SUBGROUP = 'kai.scheduler/subgroup-name'
export const KAI_QUEUE = 'kai.scheduler/queue'
export const KAI_NODE_POOL = 'kai.scheduler/node-pool'
export const KAI_PREEMPTIBILITY = 'kai.scheduler/preemptibility'
/** Bare keys, as KAI has them. */
export const KAI_PRIORITY = 'priorityClassName'
export const KAI_PROJECT = 'project'
export const KAI_USER = 'user'
export const RAY_PRIORITY = 'ray.io/priority-class-name'
export const KAI_TOPOLOGY = 'kai.scheduler/topology'
export const KAI_TOPOLOGY_REQUIRED = 'kai.scheduler/topology-required-placement'
export const KAI_TOPOLOGY_PREFERRED = 'kai.scheduler/topology-preferred-placement'
/** On a PodGroup: for whom it was made, as YAML. */
export const KAI_TOP_OWNER = 'kai.scheduler/top-owner-metadata'
/** On a pod or the object above it: what it says of Workloads and PodGroups is to be ignored. */
export const KAI_IGNORE = 'kai.scheduler/ignore-workload-api'
/** What KAI's scheduler writes on PodGroups. */
export const KAI_WRITTEN: readonly string[] = [
  'kai.scheduler/stale-podgroup-timestamp',
  'kai.scheduler/last-start-timestamp',
]

/** Who names no queue is in this one. */
export const KAI_DEFAULT_QUEUE = 'default-queue'

export const KAI_POD_GROUPS: Resource = {
  group: 'scheduling.run.ai',
  version: 'v2alpha2',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
}
export const KAI_TOPOLOGIES: Resource = {
  group: 'kai.scheduler',
  version: 'v1alpha1',
  plural: 'topologies',
  kind: 'Topology',
  namespaced: false,
}
