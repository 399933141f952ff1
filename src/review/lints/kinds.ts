import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { nearest } from '../../kube/vocabulary/nearest.ts'
import type { Found } from './catalog.ts'

interface Group {
  readonly versions: readonly string[]
  readonly kinds: readonly string[]
  /** Kinds of others come in versions that nobody here can know. */
  readonly isOpen?: true
}

const foreign = (version: string, kinds: string): Group => ({
  versions: [version],
  kinds: kinds.split(' '),
  isOpen: true,
})

/**
 * What every API server of the last years serves, by group: its versions, and its kinds that people write; and what
 * others bring along whose objects ask for queues.
 */
const GROUPS: Readonly<Record<string, Group>> = {
  '': {
    versions: ['v1'],
    kinds: (
      'Binding ConfigMap Endpoints Event LimitRange List Namespace Node PersistentVolume PersistentVolumeClaim Pod ' +
      'PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount'
    ).split(' '),
  },
  apps: {
    versions: ['v1'],
    kinds: ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  },
  autoscaling: { versions: ['v1', 'v2'], kinds: ['HorizontalPodAutoscaler', 'Scale'] },
  batch: { versions: ['v1'], kinds: ['CronJob', 'Job'] },
  policy: { versions: ['v1'], kinds: ['Eviction', 'PodDisruptionBudget'] },
  'jobset.x-k8s.io': { versions: ['v1alpha2'], kinds: ['JobSet'] },
  'networking.k8s.io': {
    versions: ['v1', 'v1beta1', 'v1alpha1'],
    kinds: ['Ingress', 'IngressClass', 'IPAddress', 'NetworkPolicy', 'ServiceCIDR'],
  },
  'rbac.authorization.k8s.io': {
    versions: ['v1'],
    kinds: ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  },
  'kueue.x-k8s.io': foreign(
    'v1beta1',
    'AdmissionCheck ClusterQueue Cohort LocalQueue MultiKueueCluster MultiKueueConfig ProvisioningRequestConfig ' +
      'ResourceFlavor Topology Workload WorkloadPriorityClass',
  ),
  'leaderworkerset.x-k8s.io': foreign('v1', 'LeaderWorkerSet'),
  'ray.io': foreign('v1', 'RayCluster RayCronJob RayJob RayService'),
  'sparkoperator.k8s.io': foreign('v1beta2', 'ScheduledSparkApplication SparkApplication SparkConnect'),
  'kubeflow.org': foreign('v1', 'JAXJob MPIJob Notebook PaddleJob Profile PyTorchJob TFJob XGBoostJob'),
}

const HOMES: ReadonlyMap<string, string> = new Map(
  Object.entries(GROUPS).flatMap(([group, { versions, kinds }]) =>
    kinds.map(kind => [kind, group === '' ? (versions[0] ?? '') : `${group}/${versions[0]}`] as const),
  ),
)

/** Versions that others have left, of kinds that they still have. */
const LEFT: Readonly<Record<string, Pick<Group, 'versions' | 'kinds'>>> = {
  'kueue.x-k8s.io': {
    versions: ['v1alpha1', 'v1alpha2'],
    kinds: ['AdmissionCheck', 'ClusterQueue', 'LocalQueue', 'ResourceFlavor', 'Workload', 'WorkloadPriorityClass'],
  },
}

/** Groups that are gone for good: their kinds live elsewhere now. */
const GONE: readonly string[] = ['extensions']

/** A slip in `apiVersion` or `kind`, of which kubectl would say only that there are no matches. */
export function kindFindings(group: string, version: string, kind: string): readonly Found[] {
  const own = Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined
  const home = HOMES.get(kind)
  if (own?.kinds.includes(kind)) {
    const left = Object.hasOwn(LEFT, group) ? LEFT[group] : undefined
    const isLeft = left?.kinds.includes(kind) === true && left.versions.includes(version)
    if (own.versions.includes(version) || (own.isOpen && !isLeft)) return []
    return wrong('apiVersion', `no API server serves ${kind} in version ${version}: write ${home}`)
  }
  // One that had its items would have been taken apart.
  if (own?.kinds.includes(kind.replace(/List$/, '')))
    return wrong('kind', `a ${kind} has its objects in items, a list: this one has none`)
  if (own !== undefined) {
    if (home !== undefined && !own.isOpen) return wrong('apiVersion', `${kind} is of ${home}`)
    const close = sameWord(kind, own.kinds) ?? nearest(kind, own.kinds)
    return close === undefined || distant(kind, close)
      ? []
      : wrong('kind', `there is no ${kind}; did you mean ${close}?`)
  }
  if (home === undefined) return []
  // Only the groups of Kubernetes itself have names without a dot; others may have a Job of their own.
  const close = nearest(group, Object.keys(GROUPS))
  const misspelt = GONE.includes(group) || !group.includes('.') || (close !== undefined && !distant(group, close))
  return misspelt && home !== undefined ? wrong('apiVersion', `there is no group ${group}: ${kind} is of ${home}`) : []
}

/** Objects of these are made without a name of their own. */
const NAMELESS: readonly string[] = ['Binding', 'Event', 'Eviction', 'List', 'Scale']

/** An object without a name, which no API server takes. */
export function nameFindings(object: Fields, group: string, kind: string): readonly Found[] {
  const metadata = object.metadata ?? {}
  if (!isKnown(group, kind) || NAMELESS.includes(kind) || !isObject(metadata)) return []
  const found = (message: string, field: string): readonly Found[] => [{ code: 'NameMissing', message, field }]
  const wrong = ['name', 'generateName', 'namespace'].find(key => typeof (metadata[key] ?? '') !== 'string')
  if (wrong !== undefined) return found(`metadata.${wrong} must be a text: put it in quotes`, `metadata.${wrong}`)
  if (metadata.name || metadata.generateName) return []
  return found(`a ${kind} needs a name: add metadata.name or metadata.generateName`, 'metadata')
}

/** Of what waits in such a queue nothing ever starts, and Kueue says so in its status only. */
export function localQueueFindings({ spec }: Fields, group: string, kind: string): readonly Found[] {
  if (group !== 'kueue.x-k8s.io' || kind !== 'LocalQueue') return []
  if (isObject(spec) && spec.clusterQueue) return []
  const message = 'a LocalQueue without its ClusterQueue admits nothing: what waits in it never starts'
  return [{ code: 'FieldMissing', message, field: 'spec.clusterQueue' }]
}

const isKnown = (group: string, kind: string): boolean =>
  Object.hasOwn(GROUPS, group) && (GROUPS[group]?.kinds.includes(kind) ?? false)

const CLUSTER_WIDE: readonly string[] = (
  'Namespace Node PersistentVolume ClusterRole ClusterRoleBinding IngressClass IPAddress ServiceCIDR ' +
  'ClusterQueue AdmissionCheck Cohort MultiKueueCluster MultiKueueConfig ProvisioningRequestConfig ResourceFlavor ' +
  'Topology WorkloadPriorityClass Profile'
).split(' ')

/** Whether an object of the kind that names no namespace is put into the one that is asked for. */
export const isNamespaced = (group: string, kind: string): boolean =>
  isKnown(group, kind) && !CLUSTER_WIDE.includes(kind)

/** What is in a kustomization counts when it is built, with all that its overlays change. */
export function renderFindings(group: string, kind: string): readonly Found[] {
  if (group !== 'kustomize.config.k8s.io') return []
  const message = `a ${kind} is no manifest: review what it builds, kustomize build FOLDER | muster review -`
  return [{ code: 'NotRendered', message, field: 'kind' }]
}

const wrong = (field: string, message: string): readonly Found[] => [{ code: 'UnknownKind', message, field }]

const sameWord = (kind: string, known: readonly string[]): string | undefined =>
  known.find(each => each.toLowerCase() === kind.toLowerCase() || `${each}s` === kind)

/** Two words that merely look alike: a slip changes one letter or two. */
const distant = (word: string, close: string): boolean =>
  Math.abs(word.length - close.length) > 2 ||
  nearest(word.toLowerCase().slice(0, 8), [close.toLowerCase().slice(0, 8)]) === undefined
