import type { Resource } from '../../kube/vocabulary/api.ts'
import {
  COMPOSITE_POD_GROUPS,
  POD_GROUPS,
  type PodGroupVersion,
  SCHEDULING_WORKLOADS,
} from '../../kube/vocabulary/resources.ts'

/** Where the scheduler's objects of a kind are, on an API server that serves this version. */
export function schedulingResource(version: PodGroupVersion, kind: string): Resource {
  if (kind === 'CompositePodGroup') return COMPOSITE_POD_GROUPS
  return kind === 'Workload' ? SCHEDULING_WORKLOADS[version] : POD_GROUPS[version]
}
