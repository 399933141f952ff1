import type { KubernetesVersion } from '../programs/catalog.ts'

/**
 * - `all`: everything workload-aware that the version knows.
 * - `generic`: PodGroups and their scheduler, and nothing that makes them (GenericWorkload alone).
 * - `none`: what most clusters run.
 */
export type FeatureGates = 'all' | 'generic' | 'none'

interface Features {
  readonly gates: readonly string[]
  readonly apis: readonly string[]
}

/** A gate that a version does not know ends its programs at the start, so each has its own list. */
const EVERYTHING: Readonly<Record<KubernetesVersion, Features>> = {
  '1.37': {
    gates: ['GenericWorkload', 'WorkloadWithJob', 'TopologyAwareWorkloadScheduling', 'CompositePodGroup'],
    apis: ['scheduling.k8s.io/v1beta1', 'scheduling.k8s.io/v1alpha3'],
  },
  '1.36': {
    gates: [
      ...['GenericWorkload', 'GangScheduling', 'WorkloadAwarePreemption', 'WorkloadWithJob'],
      'TopologyAwareWorkloadScheduling',
    ],
    apis: ['scheduling.k8s.io/v1alpha2'],
  },
  '1.35': { gates: ['GenericWorkload', 'GangScheduling'], apis: ['scheduling.k8s.io/v1alpha1'] },
}

/** Without what the Job controller does by itself, and without groups of groups. */
const LEFT_OUT = new Set(['WorkloadWithJob', 'TopologyAwareWorkloadScheduling', 'CompositePodGroup'])

const enabled = (names: readonly string[]): string => names.map(name => `${name}=true`).join(',')

/** For each of the API server, the controller manager and the scheduler. */
export function featureFlags(features: FeatureGates, version: KubernetesVersion): readonly string[] {
  const { gates } = EVERYTHING[version]
  const wanted = features === 'generic' ? gates.filter(gate => !LEFT_OUT.has(gate)) : gates
  return features === 'none' ? [] : [`--feature-gates=${enabled(wanted)}`]
}

/** For the API server: beta and alpha versions of an API are served on demand. */
export function apiFlags(features: FeatureGates, version: KubernetesVersion): readonly string[] {
  const { apis } = EVERYTHING[version]
  return features === 'none' ? [] : [`--runtime-config=${enabled(features === 'generic' ? apis.slice(0, 1) : apis)}`]
}
