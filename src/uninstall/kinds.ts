import type { Resource } from '../kube/vocabulary/api.ts'
import {
  CLUSTER_ROLES,
  JOBS,
  LEASES,
  MUTATING_WEBHOOKS,
  PODS,
  SECRETS,
  VALIDATING_POLICIES,
  VALIDATING_POLICY_BINDINGS,
  VALIDATING_WEBHOOKS,
} from '../kube/vocabulary/resources.ts'

const kind = (group: string, plural: string, name: string, namespaced = true): Resource => ({
  ...{ group, version: 'v1', plural, kind: name, namespaced },
})

const RBAC = 'rbac.authorization.k8s.io'

export const DEPLOYMENTS = kind('apps', 'deployments', 'Deployment')
export const CRDS = kind('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', false)
export const CLUSTER_ROLE_BINDINGS = kind(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', false)
export const ROLE_BINDINGS = kind(RBAC, 'rolebindings', 'RoleBinding')

/** An object of the installation, wherever a version of the manifests has one. */
export interface OwnKind {
  readonly resource: Resource
  /** What the manifests call theirs; others of Muster are known by the label of its manifests. */
  readonly names: readonly string[]
}

const own = (resource: Resource, ...names: readonly string[]): OwnKind => ({ resource, names })

/** Objects for the whole cluster. A test holds the names to the manifests. */
const POLICY_NAMES: readonly string[] = [
  ...['muster-account-jobs', 'muster-account-kueue', 'muster-account-names', 'muster-account-pod-groups'],
  ...['muster-account-pods', 'muster-account-scheduling', 'muster-account-subresources', 'muster-account-webhooks'],
  ...['muster-break-glass', 'muster-job-bindings', 'muster-job-group-members', 'muster-job-groups'],
  ...['muster-job-pods', 'muster-jobset-jobs', 'muster-pod-group-members', 'muster-pod-groups', 'muster-pod-status'],
  ...['muster-queued-size', 'muster-workload-size'],
]

export const WIDE_KINDS: readonly OwnKind[] = [
  own(CLUSTER_ROLE_BINDINGS, 'muster', 'muster-kueue'),
  own(MUTATING_WEBHOOKS, 'muster'),
  own(VALIDATING_WEBHOOKS, 'muster'),
  own(VALIDATING_POLICY_BINDINGS, ...POLICY_NAMES),
  own(VALIDATING_POLICIES, ...POLICY_NAMES),
  own(CRDS, 'workloads.muster.dev'),
  own(CLUSTER_ROLES, 'muster', 'muster-kueue', 'muster-workloads-edit', 'muster-workloads-view'),
]

/**
 * Kinds of which somebody may have put objects of his own into Muster's namespace; those of CustomResourceDefinitions
 * come to them. What only says something about the namespace itself, as a quota does, goes with it.
 */
export const NARROW_KINDS: readonly OwnKind[] = [
  own(ROLE_BINDINGS, 'muster'),
  own(DEPLOYMENTS, 'muster'),
  own(kind('apps', 'statefulsets', 'StatefulSet')),
  own(kind('apps', 'daemonsets', 'DaemonSet')),
  own(kind('', 'persistentvolumeclaims', 'PersistentVolumeClaim')),
  own(kind('', 'services', 'Service'), 'muster'),
  own(kind('', 'configmaps', 'ConfigMap'), 'muster', 'muster-dashboard', 'kube-root-ca.crt'),
  own(SECRETS, 'muster-tls', 'muster-ca'),
  own(kind('', 'serviceaccounts', 'ServiceAccount'), 'muster', 'default'),
  own(kind(RBAC, 'roles', 'Role'), 'muster', 'muster-configuration-view'),
  own(LEASES, 'muster'),
  own(kind('policy', 'poddisruptionbudgets', 'PodDisruptionBudget'), 'muster'),
  own(kind('networking.k8s.io', 'networkpolicies', 'NetworkPolicy'), 'muster'),
  own(PODS),
  own(kind('', 'replicationcontrollers', 'ReplicationController')),
  own(kind('apps', 'replicasets', 'ReplicaSet')),
  own(JOBS),
  own(kind('batch', 'cronjobs', 'CronJob')),
  own(kind('networking.k8s.io', 'ingresses', 'Ingress')),
  own({ ...kind('autoscaling', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'), version: 'v2' }),
]

/** What the overlays call theirs, of kinds that others define. */
const CUSTOM_NAMES: Readonly<Record<string, readonly string[]>> = {
  'issuers.cert-manager.io': ['muster-self-signed', 'muster-ca'],
  'certificates.cert-manager.io': ['muster-ca', 'muster-tls'],
  'podmonitors.monitoring.coreos.com': ['muster'],
  'prometheusrules.monitoring.coreos.com': ['muster'],
}

export const customKind = (resource: Resource): OwnKind =>
  own(resource, ...(CUSTOM_NAMES[`${resource.plural}.${resource.group}`] ?? []))

/** Made by Kubernetes in every namespace, and anew when somebody deletes them. */
export const OF_EVERY_NAMESPACE: readonly string[] = ['kube-root-ca.crt', 'default']
