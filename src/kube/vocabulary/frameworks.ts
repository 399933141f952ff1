import type { OwnerReference } from './objects.ts'

/**
 * Kueue's integrations by the names that stand in `integrations.frameworks`, and the kinds they manage. The version
 * is left out on purpose: the same object can be named by any version that its API serves.
 */
const FRAMEWORKS: Readonly<Record<string, { readonly group: string; readonly kind: string }>> = {
  pod: { group: '', kind: 'Pod' },
  deployment: { group: 'apps', kind: 'Deployment' },
  statefulset: { group: 'apps', kind: 'StatefulSet' },
  'batch/job': { group: 'batch', kind: 'Job' },
  'jobset.x-k8s.io/jobset': { group: 'jobset.x-k8s.io', kind: 'JobSet' },
  'kubeflow.org/jaxjob': { group: 'kubeflow.org', kind: 'JAXJob' },
  'kubeflow.org/mpijob': { group: 'kubeflow.org', kind: 'MPIJob' },
  'kubeflow.org/paddlejob': { group: 'kubeflow.org', kind: 'PaddleJob' },
  'kubeflow.org/pytorchjob': { group: 'kubeflow.org', kind: 'PyTorchJob' },
  'kubeflow.org/tfjob': { group: 'kubeflow.org', kind: 'TFJob' },
  'kubeflow.org/xgboostjob': { group: 'kubeflow.org', kind: 'XGBoostJob' },
  'leaderworkerset.x-k8s.io/leaderworkerset': { group: 'leaderworkerset.x-k8s.io', kind: 'LeaderWorkerSet' },
  'ray.io/raycluster': { group: 'ray.io', kind: 'RayCluster' },
  'ray.io/rayjob': { group: 'ray.io', kind: 'RayJob' },
  'ray.io/rayservice': { group: 'ray.io', kind: 'RayService' },
  'sparkoperator.k8s.io/sparkapplication': { group: 'sparkoperator.k8s.io', kind: 'SparkApplication' },
  'trainer.kubeflow.org/trainjob': { group: 'trainer.kubeflow.org', kind: 'TrainJob' },
  'workload.codeflare.dev/appwrapper': { group: 'workload.codeflare.dev', kind: 'AppWrapper' },
}

const BY_KIND: ReadonlyMap<string, string> = new Map(
  Object.entries(FRAMEWORKS).map(([name, { group, kind }]) => [`${group}/${kind}`, name]),
)

export const KNOWN_FRAMEWORKS: readonly string[] = Object.keys(FRAMEWORKS)

/** The kind that a framework manages. */
export function kindOfFramework(name: string): { readonly group: string; readonly kind: string } | undefined {
  return Object.hasOwn(FRAMEWORKS, name) ? FRAMEWORKS[name] : undefined
}

/** The framework that manages an owner's kind. */
export function frameworkOf(owner: Pick<OwnerReference, 'apiVersion' | 'kind'>): string | undefined {
  return BY_KIND.get(`${groupOfVersion(owner.apiVersion)}/${owner.kind}`)
}

/** Stands between a pod and a Deployment: nobody lists it in a configuration, everybody means it. */
export function isPassThrough(owner: Pick<OwnerReference, 'apiVersion' | 'kind'>): boolean {
  return owner.kind === 'ReplicaSet' && groupOfVersion(owner.apiVersion) === 'apps'
}

function groupOfVersion(apiVersion: unknown): string {
  if (typeof apiVersion !== 'string') return '?'
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
