import type { Resource } from '../kube/vocabulary/api.ts'
import { kindOfFramework } from '../kube/vocabulary/frameworks.ts'

/**
 * The version in which the objects of each framework are watched. A pod may name its owner by any version, and metadata
 * is the same in all of them. `pod` is missing: pods that own pods are rare, and all pods are too many to watch for them.
 */
const VERSIONS: Readonly<Record<string, string>> = {
  deployment: 'v1',
  statefulset: 'v1',
  'batch/job': 'v1',
  'jobset.x-k8s.io/jobset': 'v1alpha2',
  'kubeflow.org/jaxjob': 'v1',
  'kubeflow.org/mpijob': 'v2beta1',
  'kubeflow.org/paddlejob': 'v1',
  'kubeflow.org/pytorchjob': 'v1',
  'kubeflow.org/tfjob': 'v1',
  'kubeflow.org/xgboostjob': 'v1',
  'leaderworkerset.x-k8s.io/leaderworkerset': 'v1',
  'ray.io/raycluster': 'v1',
  'ray.io/rayjob': 'v1',
  'ray.io/rayservice': 'v1',
  'sparkoperator.k8s.io/sparkapplication': 'v1beta2',
  'trainer.kubeflow.org/trainjob': 'v1alpha1',
  'workload.codeflare.dev/appwrapper': 'v1beta2',
}

export const REPLICA_SETS: Resource = resourceOf('apps/v1', 'ReplicaSet')

/** Where the objects of a framework are watched; undefined for those that are not. */
export function ownerResource(framework: string): Resource | undefined {
  const version = Object.hasOwn(VERSIONS, framework) ? VERSIONS[framework] : undefined
  const known = kindOfFramework(framework)
  return version === undefined || known === undefined ? undefined : resourceOf(`${known.group}/${version}`, known.kind)
}

/** Every kind that the owner walk knows has the plain plural of its name. */
export function resourceOf(apiVersion: string, kind: string): Resource {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion]
  return { group: group ?? '', version: version ?? '', plural: `${kind.toLowerCase()}s`, kind, namespaced: true }
}
