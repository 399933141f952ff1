import type { Resource } from './api.ts'
import { parseApiVersion } from './api-version.ts'
import type { OwnerReference } from './objects.ts'

interface Framework {
  readonly group: string
  readonly kind: string
  /**
   * The version in which its objects are watched. An owner reference may name any other that the API serves: metadata
   * is the same in all of them, so kinds are told apart by group alone.
   */
  readonly watched?: string
}

/** Kueue's integrations by the names that stand in `integrations.frameworks`, and the kinds they manage. */
const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  // Pods that own pods are rare, and all pods are too many to watch for them.
  pod: { group: '', kind: 'Pod' },
  deployment: { group: 'apps', kind: 'Deployment', watched: 'v1' },
  statefulset: { group: 'apps', kind: 'StatefulSet', watched: 'v1' },
  'batch/job': { group: 'batch', kind: 'Job', watched: 'v1' },
  'jobset.x-k8s.io/jobset': { group: 'jobset.x-k8s.io', kind: 'JobSet', watched: 'v1alpha2' },
  'kubeflow.org/jaxjob': { group: 'kubeflow.org', kind: 'JAXJob', watched: 'v1' },
  'kubeflow.org/mpijob': { group: 'kubeflow.org', kind: 'MPIJob', watched: 'v2beta1' },
  'kubeflow.org/paddlejob': { group: 'kubeflow.org', kind: 'PaddleJob', watched: 'v1' },
  'kubeflow.org/pytorchjob': { group: 'kubeflow.org', kind: 'PyTorchJob', watched: 'v1' },
  'kubeflow.org/tfjob': { group: 'kubeflow.org', kind: 'TFJob', watched: 'v1' },
  'kubeflow.org/xgboostjob': { group: 'kubeflow.org', kind: 'XGBoostJob', watched: 'v1' },
  'leaderworkerset.x-k8s.io/leaderworkerset': {
    group: 'leaderworkerset.x-k8s.io',
    kind: 'LeaderWorkerSet',
    watched: 'v1',
  },
  'ray.io/raycluster': { group: 'ray.io', kind: 'RayCluster', watched: 'v1' },
  'ray.io/rayjob': { group: 'ray.io', kind: 'RayJob', watched: 'v1' },
  'ray.io/rayservice': { group: 'ray.io', kind: 'RayService', watched: 'v1' },
  'sparkoperator.k8s.io/sparkapplication': {
    group: 'sparkoperator.k8s.io',
    kind: 'SparkApplication',
    watched: 'v1beta2',
  },
  'trainer.kubeflow.org/trainjob': { group: 'trainer.kubeflow.org', kind: 'TrainJob', watched: 'v1alpha1' },
  'workload.codeflare.dev/appwrapper': { group: 'workload.codeflare.dev', kind: 'AppWrapper', watched: 'v1beta2' },
}

/** Stands between a Deployment and its pods: nobody lists it in a configuration, everybody means it. */
const REPLICA_SETS = resourceOf({ group: 'apps', version: 'v1', kind: 'ReplicaSet' })

const PASS_THROUGH = kindKey(REPLICA_SETS.group, REPLICA_SETS.kind)

const BY_KIND: ReadonlyMap<string, string> = new Map(
  Object.entries(FRAMEWORKS).map(([name, { group, kind }]) => [kindKey(group, kind), name]),
)

export const KNOWN_FRAMEWORKS: readonly string[] = Object.keys(FRAMEWORKS)

type Owner = Pick<OwnerReference, 'apiVersion' | 'kind'>

/** The framework that manages an owner's kind. */
export function frameworkOf(owner: Owner): string | undefined {
  return BY_KIND.get(ownerKindKey(owner))
}

export function isPassThrough(owner: Owner): boolean {
  return ownerKindKey(owner) === PASS_THROUGH
}

/**
 * By which the creators of an owner's children are named: the framework of its kind, that of Deployments for the
 * ReplicaSets between them and their pods, and `group/kind` in lower case for what is no framework.
 */
export function controllerKindOf(owner: Owner): string {
  const key = ownerKindKey(owner)
  return key === PASS_THROUGH ? 'deployment' : (BY_KIND.get(key) ?? key.toLowerCase())
}

/** What has to be watched to know the owners of these frameworks. Names that nobody knows have nothing to watch. */
export function watchedOwners(frameworks: readonly string[]): readonly Resource[] {
  const resources = frameworks.flatMap(name => {
    const known = Object.hasOwn(FRAMEWORKS, name) ? FRAMEWORKS[name] : undefined
    return known?.watched === undefined ? [] : [resourceOf({ ...known, version: known.watched })]
  })
  return frameworks.includes('deployment') ? [...resources, REPLICA_SETS] : resources
}

/** Where to ask for an owner, in the version by which it is named. */
export function ownerResource({ apiVersion, kind }: Owner): Resource {
  return resourceOf({ ...parseApiVersion(apiVersion), kind })
}

/** By which an owner finds the cache of its kind, whichever version names it. */
export function ownerKindKey({ apiVersion, kind }: Owner): string {
  // What comes from a file may be no reference at all.
  return typeof apiVersion === 'string' ? kindKey(parseApiVersion(apiVersion).group, kind) : ''
}

export function kindKey(group: string, kind: string): string {
  return `${group}/${kind}`
}

/** Every kind that the owner walk knows has the plain plural of its name. */
function resourceOf({ group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>): Resource {
  return { group, version, plural: `${kind.toLowerCase()}s`, kind, namespaced: true }
}
