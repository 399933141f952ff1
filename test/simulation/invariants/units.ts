import type { Pod } from '../../../src/kube/vocabulary/objects.ts'

import { PODS } from '../../../src/kube/vocabulary/resources.ts'

import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { asPod, asWorkload, groupOf, isManaged, unitOf } from '../facts.ts'
import type { ModelServer } from '../model/server.ts'

export interface TrueUnit {
  readonly name: string
  readonly pods: readonly Pod[]
  readonly workload: QueuedWorkload | undefined
}

/** The Workload that speaks for a pod, as the API server has it now. */
export function workloadOfPod(server: ModelServer, pod: Pod): QueuedWorkload | undefined {
  const group = groupOf(pod)
  const { namespace, uid } = pod.metadata
  if (group !== undefined) {
    const found = server.find(server.workloads, namespace, group)
    return found && asWorkload(found)
  }
  const owned = server
    .all(server.workloads)
    .find(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.ownerReferences?.some(owner => owner.uid === uid && owner.controller),
    )
  return owned && asWorkload(owned)
}

export function membersOf(server: ModelServer, pod: Pod): readonly Pod[] {
  const unit = unitOf(pod)
  return server
    .all(PODS)
    .map(asPod)
    .filter(other => isManaged(other) && unitOf(other) === unit)
}

/** Every unit that has pods. */
export function unitsOf(server: ModelServer): readonly TrueUnit[] {
  const units = new Map<string, Pod[]>()
  for (const object of server.all(PODS)) {
    const pod = asPod(object)
    if (!isManaged(pod)) continue
    const members = units.get(unitOf(pod))
    if (members === undefined) units.set(unitOf(pod), [pod])
    else members.push(pod)
  }
  return [...units].map(([name, pods]) => {
    const [first] = pods
    return { name, pods, workload: first && workloadOfPod(server, first) }
  })
}
