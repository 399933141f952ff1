import type { Resource } from './api.ts'

export const KUEUE_GROUP = 'kueue.x-k8s.io'

/** The versions in which Kueue serves its Workloads, the one to use where both are first. They are not to be mixed. */
export const KUEUE_VERSIONS = ['v1beta2', 'v1beta1'] as const
export type KueueVersion = (typeof KUEUE_VERSIONS)[number]

const kind = (version: KueueVersion, plural: string, kind: string, namespaced: boolean): Resource => ({
  group: KUEUE_GROUP,
  version,
  plural,
  kind,
  namespaced,
})

export interface KueueKinds {
  readonly workloads: Resource
  readonly flavors: Resource
  readonly priorityClasses: Resource
}

const kindsOf = (version: KueueVersion): KueueKinds => ({
  workloads: kind(version, 'workloads', 'Workload', true),
  flavors: kind(version, 'resourceflavors', 'ResourceFlavor', false),
  priorityClasses: kind(version, 'workloadpriorityclasses', 'WorkloadPriorityClass', false),
})

/** Each of them once: resources are told apart by identity. */
export const KUEUE_KINDS: Readonly<Record<KueueVersion, KueueKinds>> = {
  v1beta2: kindsOf('v1beta2'),
  v1beta1: kindsOf('v1beta1'),
}

/** Finalizer of Kueue's Workloads: it goes when their pods have stopped. */
export const KUEUE_RESOURCE_IN_USE = 'kueue.x-k8s.io/resource-in-use'
/** On the Workload of a group of pods. Kueue takes no other Workload of the name for the group's. */
export const IS_GROUP_WORKLOAD = 'kueue.x-k8s.io/is-group-workload'
/** Kueue's second gate. Its own pod integration sets it on every pod, and it falls with the first where nothing is placed by topology. */
export const TOPOLOGY_GATE = 'kueue.x-k8s.io/topology'
/** Kueue's webhooks for pods. They stand in its configurations as long as nobody takes them out. */
export const KUEUE_POD_WEBHOOKS: readonly string[] = ['mpod.kb.io', 'vpod.kb.io']
