import type { Resource } from './api.ts'

export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
}
export const JOBS: Resource = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true }
export const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true }

export const EVENTS: Resource = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
}

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}

export const MUTATING_WEBHOOKS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
}

export const VALIDATING_WEBHOOKS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
}

export const VALIDATING_POLICIES: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
}

export const VALIDATING_POLICY_BINDINGS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  namespaced: false,
}

/** Create-only: the answer to "who am I?". */
export const SELF_SUBJECT_REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}

/** Create-only: the answer to "may I?". */
export const SELF_SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
}

/** Kueue's. The built-in engine knows no LocalQueue objects, but respects one named `default` where Kueue is there. */
export const LOCAL_QUEUES: Resource = {
  group: 'kueue.x-k8s.io',
  version: 'v1beta2',
  plural: 'localqueues',
  kind: 'LocalQueue',
  namespaced: true,
}

export const JOB_SETS: Resource = {
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  plural: 'jobsets',
  kind: 'JobSet',
  namespaced: true,
}
export const LIMIT_RANGES: Resource = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
}
export const RUNTIME_CLASSES: Resource = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
}

export const CLUSTER_ROLES: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
}

export const PRIORITY_CLASSES: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
}

/** What kube-scheduler places by, in the versions that have PodGroups: 1.37 and 1.36. */
export type PodGroupVersion = 'v1beta1' | 'v1alpha2'

const scheduling = (version: PodGroupVersion | 'v1alpha1', plural: string, kind: string): Resource => ({
  group: 'scheduling.k8s.io',
  version,
  plural,
  kind,
  namespaced: true,
})

export const SCHEDULING_WORKLOADS: Readonly<Record<PodGroupVersion, Resource>> = {
  v1beta1: scheduling('v1beta1', 'workloads', 'Workload'),
  v1alpha2: scheduling('v1alpha2', 'workloads', 'Workload'),
}
/** In 1.35 groups are parts of a Workload. */
export const SCHEDULING_WORKLOADS_135: Resource = scheduling('v1alpha1', 'workloads', 'Workload')
export const POD_GROUPS: Readonly<Record<PodGroupVersion, Resource>> = {
  v1beta1: scheduling('v1beta1', 'podgroups', 'PodGroup'),
  v1alpha2: scheduling('v1alpha2', 'podgroups', 'PodGroup'),
}
/** Alpha in 1.37, in a version of their own. */
export const COMPOSITE_POD_GROUPS: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1alpha3',
  plural: 'compositepodgroups',
  kind: 'CompositePodGroup',
  namespaced: true,
}
