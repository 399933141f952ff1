import { KAI_POD_GROUP } from '../kube/vocabulary/kai.ts'
import { ADMISSION_GATE, MANAGED, POD_GROUP, ROLE_HASH } from '../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../kube/vocabulary/objects.ts'
import { PODS } from '../kube/vocabulary/resources.ts'
import {
  annotationMark,
  awaitsPodGroup,
  CREATOR_MARK,
  creatorOf,
  hasOurFinalizer,
  isDeleting,
  isGated,
  kaiLinkOf,
  LIFT_MARKS,
  labelMark,
  type Mark,
  managedLabelOf,
  podGroupMarkOf,
} from '../workload/pod-facts.ts'
import type { Choice, Remains } from './remains.ts'
import { nulled, remove, type Step } from './steps.ts'

/** All that Muster has written on a pod. What its author wrote, the queue and the group, is his. */
const MARKS: readonly Mark[] = [
  labelMark(MANAGED),
  labelMark(POD_GROUP),
  annotationMark(ROLE_HASH),
  CREATOR_MARK,
  ...LIFT_MARKS,
]

/** Kueue has the same label, gate and finalizer: where it looks after pods itself, Muster's are those with its stamp. */
export function isOurs(pod: Pod, { kueueQueuesPods }: Pick<Remains, 'kueueQueuesPods'>): boolean {
  if (creatorOf(pod) !== undefined || podGroupMarkOf(pod) !== undefined || awaitsPodGroup(pod)) return true
  return !kueueQueuesPods && (isGated(pod) || hasOurFinalizer(pod) || managedLabelOf(pod) !== undefined)
}

/** It could still start. */
export const isAlive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

/** Behind a gate of Muster's, with nobody left to lift it. */
export const waits = (pod: Pod): boolean => (isGated(pod) || awaitsPodGroup(pod)) && isAlive(pod) && !isDeleting(pod)

/** One write for a pod; a pod that is to be deleted keeps its gate until it is gone. Undefined: nothing is on it. */
export function freePod(pod: Pod, choice: Choice | undefined, kaiPodGroups: readonly KubeObject[]): Step | undefined {
  const waiting = waits(pod)
  const lifts = waiting ? choice === 'start' : true
  const gates = lifts ? gatesOn(pod) : []
  const marks = MARKS.filter(mark => mark.of(pod) !== undefined)
  const keys = (place: Mark['in']) => marks.filter(mark => mark.in === place).map(({ key }) => key)
  const annotations = [...keys('annotations'), ...(isAdrift(pod, kaiPodGroups) ? [KAI_POD_GROUP] : [])]
  const held = hasOurFinalizer(pod)
  if (gates.length === 0 && marks.length === 0 && annotations.length === 0 && !held) return undefined
  const metadata = {
    uid: pod.metadata.uid,
    labels: nulled(keys('labels')),
    annotations: nulled(annotations),
    ...(held && { '$deleteFromPrimitiveList/finalizers': [MANAGED] }),
  }
  const spec = { schedulingGates: gates.map(name => ({ $patch: 'delete', name })) }
  return {
    ...{ kind: 'patch', resource: PODS, object: pod },
    patch: { type: 'strategic', body: { metadata, ...(gates.length > 0 && { spec }) } },
    ...(waiting && choice && choice !== 'delete' && { waiter: choice }),
  }
}

export const deletePod = (pod: Pod, choice: Choice | undefined): Step | undefined =>
  choice === 'delete' && waits(pod) ? { ...remove(PODS, pod), waiter: choice } : undefined

const gatesOn = ({ spec }: Pod): readonly string[] =>
  (spec.schedulingGates ?? []).map(({ name }) => name).filter(name => [ADMISSION_GATE, POD_GROUP].includes(name))

/** Linked by Muster to a PodGroup of KAI that was never made: nobody would, and KAI's own pod-grouper leaves it alone. */
function isAdrift(pod: Pod, kaiPodGroups: readonly KubeObject[]): boolean {
  const link = kaiLinkOf(pod)
  if (link === undefined || podGroupMarkOf(pod) === undefined) return false
  return kaiPodGroups.every(({ metadata }) => metadata.name !== link || metadata.namespace !== pod.metadata.namespace)
}
