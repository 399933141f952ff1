import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { type Records, unitKeyOf, unitKeyOfWorkload } from '../../src/reconciler/unit.ts'
import type { QueuedWorkload } from '../../src/workload/queued-workload.ts'

/** What the caches would know if these were all the pods and Workloads of a cluster. */
export function recordsOf(
  pods: readonly Pod[],
  workloads: readonly QueuedWorkload[] = [],
  selects: Records['selects'] = () => true,
  prebuiltOf: Records['prebuiltOf'] = () => undefined,
): Records {
  return {
    podsOf: key => pods.filter(pod => unitKeyOf(pod) === key),
    workloadsOf: key => workloads.filter(workload => unitKeyOfWorkload(workload) === key),
    workload: (namespace, name) =>
      workloads.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    ownedBy: uid => workloads.filter(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid)),
    pod: (namespace, name) => pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    owns: () => true,
    prebuiltOf,
    selects,
  }
}
