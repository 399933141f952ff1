import { isDnsLabel } from '../kube/vocabulary/formats.ts'
import { CLUSTER_QUEUE_LABEL, LOCAL_QUEUE_LABEL, PODSET_LABEL, WORKLOAD_ANNOTATION } from '../kube/vocabulary/names.ts'
import type { Pod, StringMap, Toleration } from '../kube/vocabulary/objects.ts'
import { specOf } from './asked.ts'
import { foreignGates } from './pod-facts.ts'
import type { PodSet, PodSetUpdate, QueuedWorkload } from './queued-workload.ts'

/** What a pod lacks of an update, in the words of a patch. */
export interface PodAdditions {
  readonly labels?: StringMap
  readonly annotations?: StringMap
  readonly nodeSelector?: StringMap
  /** All of them: in a patch the list is replaced as a whole. */
  readonly tolerations?: readonly Toleration[]
  /** Gates that fall with ours. */
  readonly gates?: readonly string[]
  /** The pod as it was looked at, where adding to something newer could overwrite what others wrote. */
  readonly resourceVersion?: string
}

const MAPS = ['labels', 'annotations', 'nodeSelector'] as const

/** What the admission gives every pod of a podSet: the marks by which others account for it, and where it may run. */
export function updateOf(workload: QueuedWorkload, podSet: PodSet): PodSetUpdate {
  const { admission } = workload.status ?? {}
  const assigned = assignmentOf(workload, podSet)
  const queue = workload.spec.queueName
  const clusterQueue = admission?.clusterQueue ?? ''
  return {
    ...assigned,
    labels: {
      ...assigned?.labels,
      [PODSET_LABEL]: podSet.name,
      ...(queue !== '' && { [LOCAL_QUEUE_LABEL]: queue }),
      // A queue may have a longer name than a label has room for.
      ...(isDnsLabel(clusterQueue) && { [CLUSTER_QUEUE_LABEL]: clusterQueue }),
    },
    annotations: { ...assigned?.annotations, [WORKLOAD_ANNOTATION]: workload.metadata.name ?? '' },
  }
}

function assignmentOf(workload: QueuedWorkload, podSet: PodSet): PodSetUpdate | undefined {
  const assigned = workload.status?.admission?.podSetAssignments?.find(({ name }) => name === podSet.name)
  if (assigned === undefined) return undefined
  const { labels, annotations, nodeSelector, tolerations } = assigned
  return {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
  }
}

/** Why the pod cannot have the update: it says something else already. Nobody's word is overwritten. */
export function conflictWith(pod: Pod, update: PodSetUpdate, who = `pod ${pod.metadata.name}`): string | undefined {
  const { placedBehind } = update
  if (placedBehind !== undefined && !foreignGates(pod).includes(placedBehind)) {
    return `${who} has no gate ${placedBehind}, behind which Kueue would place it by topology`
  }
  for (const map of MAPS) {
    const wanted = update[map]
    if (wanted === undefined) continue
    const own = mapOf(pod, map)
    for (const [key, value] of Object.entries(wanted)) {
      const has = Object.hasOwn(own, key) ? own[key] : undefined
      if (has === undefined || has === value) continue
      return `conflict for ${map}: ${who} says ${key}=${has}, and its admission ${key}=${value}`
    }
  }
  return undefined
}

/** The part of the update that the pod does not have yet: none after it was sent, however often it is asked. */
export function additionsTo(pod: Pod, update: PodSetUpdate): PodAdditions {
  const additions: { -readonly [key in keyof PodAdditions]: PodAdditions[key] } = {}
  for (const map of MAPS) {
    const wanted = update[map]
    if (wanted === undefined) continue
    const own = mapOf(pod, map)
    const missing = Object.entries(wanted).filter(([key]) => !Object.hasOwn(own, key))
    if (missing.length > 0) additions[map] = Object.fromEntries(missing)
  }
  if (update.tolerations !== undefined) {
    const known = specOf(pod).tolerations ?? []
    const more = update.tolerations.filter(wanted => !known.some(toleration => tolerateTheSame(toleration, wanted)))
    if (more.length > 0) additions.tolerations = [...known, ...more]
  }
  const gates = update.gates?.filter(gate => foreignGates(pod).includes(gate)) ?? []
  if (gates.length > 0) additions.gates = gates
  // Of the pod as it was decided on: one that has joined another group since would be lifted on what is not its own.
  const { resourceVersion } = pod.metadata
  if (resourceVersion !== undefined) additions.resourceVersion = resourceVersion
  return additions
}

function mapOf(pod: Pod, map: (typeof MAPS)[number]): StringMap {
  return (map === 'nodeSelector' ? specOf(pod).nodeSelector : pod.metadata[map]) ?? {}
}

/** How long it is tolerated does not matter: the API server lets that change later. */
function tolerateTheSame(a: Toleration, b: Toleration): boolean {
  const text = ({ key = '', operator = '', value = '', effect = '' }: Toleration) =>
    JSON.stringify([key, operator || 'Equal', value, effect])
  return text(a) === text(b)
}
