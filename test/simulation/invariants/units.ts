import { CREATOR } from '../../../src/kube/vocabulary/names.ts'
import type { Pod } from '../../../src/kube/vocabulary/objects.ts'

import { PODS } from '../../../src/kube/vocabulary/resources.ts'

import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { asPod, asWorkload, groupOf, isGated, isManaged, unitOf } from '../facts.ts'
import type { ModelServer, Stored } from '../model/server.ts'

type Marks = Pick<Pod['metadata'], 'labels' | 'annotations'>
const LIFTED = new WeakMap<ModelServer, Map<string, Marks>>()

/** What a pod was when its gate fell, by its uid. To be called before anybody else listens. */
export function rememberLifts(server: ModelServer): void {
  const lifted = new Map<string, Marks>()
  LIFTED.set(server, lifted)
  server.subscribe(({ resource, type, before, after }) => {
    if (resource !== PODS || type !== 'updated' || before === undefined) return
    if (!isGated(asPod(before)) || isGated(asPod(after))) return
    const { labels, annotations } = asPod(after).metadata
    lifted.set(after.metadata.uid ?? '', { ...(labels && { labels }), ...(annotations && { annotations }) })
  })
}

/** The pod as what it was lifted as, if it was: nothing that is written on it later moves its place or its charge. */
export function trueSelf(server: ModelServer, object: Stored | Pod): Pod {
  const pod = object as Pod
  const marks = LIFTED.get(server)?.get(pod.metadata.uid ?? '')
  return marks === undefined ? pod : { ...pod, metadata: { ...pod.metadata, ...marks } }
}

export interface TrueUnit {
  readonly name: string
  readonly pods: readonly Pod[]
  readonly workload: QueuedWorkload | undefined
}

/** The Workload that speaks for a pod, as the API server has it now. */
export function workloadOfPod(server: ModelServer, pod: Pod): QueuedWorkload | undefined {
  const group = groupOf(trueSelf(server, pod))
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

export const creatorOf = ({ metadata }: Pod): string | undefined => metadata.annotations?.[CREATOR]

/** Surplus is sent away only if it came after the Workload, and if whoever made a member of the group made it. */
export function mayDismiss(pod: Pod, workload: QueuedWorkload, creators: ReadonlySet<string | undefined>): boolean {
  const late = (pod.metadata.creationTimestamp ?? '') >= (workload.metadata.creationTimestamp ?? '')
  return late && creators.has(creatorOf(pod))
}

export function membersOf(server: ModelServer, pod: Pod): readonly Pod[] {
  const unit = unitOf(trueSelf(server, pod))
  return server
    .all(PODS)
    .map(object => trueSelf(server, object))
    .filter(other => isManaged(other) && unitOf(other) === unit)
}

/** Every unit that has pods. */
export function unitsOf(server: ModelServer): readonly TrueUnit[] {
  const units = new Map<string, Pod[]>()
  for (const object of server.all(PODS)) {
    const pod = trueSelf(server, object)
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
