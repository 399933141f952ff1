import type { Resource } from '../kube/api.ts'

/**
 * Where the objects of each framework are served. The version is the one that is watched; a pod may name its owner by
 * any version, and metadata is the same in all of them.
 */
const RESOURCES: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  deployment: ['apps/v1', 'Deployment'],
  statefulset: ['apps/v1', 'StatefulSet'],
  replicaset: ['apps/v1', 'ReplicaSet'],
  'batch/job': ['batch/v1', 'Job'],
  'jobset.x-k8s.io/jobset': ['jobset.x-k8s.io/v1alpha2', 'JobSet'],
  'kubeflow.org/jaxjob': ['kubeflow.org/v1', 'JAXJob'],
  'kubeflow.org/mpijob': ['kubeflow.org/v2beta1', 'MPIJob'],
  'kubeflow.org/paddlejob': ['kubeflow.org/v1', 'PaddleJob'],
  'kubeflow.org/pytorchjob': ['kubeflow.org/v1', 'PyTorchJob'],
  'kubeflow.org/tfjob': ['kubeflow.org/v1', 'TFJob'],
  'kubeflow.org/xgboostjob': ['kubeflow.org/v1', 'XGBoostJob'],
  'leaderworkerset.x-k8s.io/leaderworkerset': ['leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet'],
  'ray.io/raycluster': ['ray.io/v1', 'RayCluster'],
  'ray.io/rayjob': ['ray.io/v1', 'RayJob'],
  'ray.io/rayservice': ['ray.io/v1', 'RayService'],
  'sparkoperator.k8s.io/sparkapplication': ['sparkoperator.k8s.io/v1beta2', 'SparkApplication'],
  'trainer.kubeflow.org/trainjob': ['trainer.kubeflow.org/v1alpha1', 'TrainJob'],
  'workload.codeflare.dev/appwrapper': ['workload.codeflare.dev/v1beta2', 'AppWrapper'],
}

/** Undefined for `pod`: pods that own pods are rare, and all pods of a cluster are too many to watch for them. */
export function ownerResource(framework: string): Resource | undefined {
  const entry = Object.hasOwn(RESOURCES, framework) ? RESOURCES[framework] : undefined
  return entry === undefined ? undefined : resourceOf(...entry)
}

/** Every kind that the owner walk knows has the plain plural of its name. */
export function resourceOf(apiVersion: string, kind: string): Resource {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion]
  return { group: group ?? '', version: version ?? '', plural: `${kind.toLowerCase()}s`, kind, namespaced: true }
}
