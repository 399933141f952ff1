import type { Configuration } from '../config/configuration.ts'

const RAY_CLUSTER = ['headGroupSpec.template', 'workerGroupSpecs[].template']
const under = (prefix: string, paths: readonly string[]): readonly string[] => paths.map(path => `${prefix}.${path}`)

/**
 * Where kinds keep the templates of their pods, by `group/Kind`. `[]` stands for every item of a list, `*` for every
 * value of a map.
 */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  '/ReplicationController': ['spec.template'],
  '/PodTemplate': ['template'],
  'apps/Deployment': ['spec.template'],
  'apps/StatefulSet': ['spec.template'],
  'apps/ReplicaSet': ['spec.template'],
  'apps/DaemonSet': ['spec.template'],
  'batch/Job': ['spec.template'],
  'batch/CronJob': ['spec.jobTemplate.spec.template'],
  'jobset.x-k8s.io/JobSet': ['spec.replicatedJobs[].template.spec.template'],
  'leaderworkerset.x-k8s.io/LeaderWorkerSet': [
    'spec.leaderWorkerTemplate.leaderTemplate',
    'spec.leaderWorkerTemplate.workerTemplate',
  ],
  'ray.io/RayCluster': under('spec', RAY_CLUSTER),
  'ray.io/RayJob': [...under('spec.rayClusterSpec', RAY_CLUSTER), 'spec.submitterPodTemplate'],
  'ray.io/RayService': under('spec.rayClusterConfig', RAY_CLUSTER),
  'kubeflow.org/JAXJob': ['spec.jaxReplicaSpecs.*.template'],
  'kubeflow.org/MPIJob': ['spec.mpiReplicaSpecs.*.template'],
  'kubeflow.org/PaddleJob': ['spec.paddleReplicaSpecs.*.template'],
  'kubeflow.org/PyTorchJob': ['spec.pytorchReplicaSpecs.*.template'],
  'kubeflow.org/TFJob': ['spec.tfReplicaSpecs.*.template'],
  'kubeflow.org/XGBoostJob': ['spec.xgbReplicaSpecs.*.template'],
  'kubeflow.org/Notebook': ['spec.template'],
  'sparkoperator.k8s.io/SparkApplication': ['spec.driver.template', 'spec.executor.template'],
  'argoproj.io/Rollout': ['spec.template'],
  'batch.volcano.sh/Job': ['spec.tasks[].template'],
}

export const KINDS_WITH_TEMPLATES: readonly string[] = Object.keys(PATHS)

/** What the configuration names goes before the table. */
export function podTemplatePaths(
  { group, kind }: { readonly group: string; readonly kind: string },
  { review }: Configuration,
): readonly string[] {
  const key = `${group}/${kind}`
  const named = review.templates.find(each => each.kind === key || `/${each.kind}` === key)
  if (named !== undefined) return named.paths
  return Object.hasOwn(PATHS, key) ? (PATHS[key] ?? []) : []
}
