import {
  PREFERRED_TOPOLOGY,
  SLICE_CONSTRAINTS,
  SLICE_SIZE,
  SLICE_TOPOLOGY,
  UNCONSTRAINED_TOPOLOGY,
} from '../kube/vocabulary/names.ts'
import type { Pod, StringMap } from '../kube/vocabulary/objects.ts'
import { parseBool, parseInt32 } from '../validation/numbers.ts'
import { podSetGroupOf, requiredTopologyOf } from './group.ts'
import { annotationMark, type Mark } from './pod-facts.ts'

/** How close together the pods of a podSet have to be, as Kueue's Workloads say it. */
export interface TopologyRequest {
  readonly required?: string
  readonly preferred?: string
  readonly unconstrained?: boolean
  readonly podIndexLabel?: string
  readonly podSetGroupName?: string
  readonly podSetSliceRequiredTopology?: string
  readonly podSetSliceSize?: number
}

/** Besides those that a group has for kube-scheduler, too. */
export const TOPOLOGY_MARKS: readonly Mark[] = [
  ...[PREFERRED_TOPOLOGY, UNCONSTRAINED_TOPOLOGY, SLICE_TOPOLOGY, SLICE_SIZE, SLICE_CONSTRAINTS],
].map(annotationMark)

/** By which pods of a group are ranked in the domains that they are given; without it any order does. */
const POD_INDEX_LABEL = 'kueue.x-k8s.io/pod-group-pod-index'

/** As they are written: what is empty is there, too, and is refused. */
export const topologyIn = (annotations: StringMap | null | undefined) => ({
  preferred: annotations?.[PREFERRED_TOPOLOGY],
  unconstrained: annotations?.[UNCONSTRAINED_TOPOLOGY],
  sliceTopology: annotations?.[SLICE_TOPOLOGY],
  sliceSize: annotations?.[SLICE_SIZE],
  sliceConstraints: annotations?.[SLICE_CONSTRAINTS],
})

/** Of several layers of slices nothing is handed on. */
export const hasSliceLayers = ({ metadata }: Pod): boolean => Boolean(topologyIn(metadata.annotations).sliceConstraints)

export const asksForTopology = (pod: Pod): boolean => hasSliceLayers(pod) || topologyRequestOf(pod) !== undefined

/** What is malformed the webhook has refused. */
export function topologyRequestOf(pod: Pod): TopologyRequest | undefined {
  const { preferred, unconstrained, sliceTopology, sliceSize = '' } = topologyIn(pod.metadata.annotations)
  const [required, group] = [requiredTopologyOf(pod), podSetGroupOf(pod)]
  const anywhere = parseBool(unconstrained ?? '')
  const size = parseInt32(sliceSize)
  const level =
    (required && { required }) ||
    (preferred && { preferred }) ||
    (anywhere !== undefined && { unconstrained: anywhere })
  const slice = sliceTopology &&
    'value' in size && {
      podSetSliceRequiredTopology: sliceTopology,
      podSetSliceSize: size.value,
    }
  if (!level && !slice) return undefined
  return {
    ...level,
    ...(slice || {}),
    podIndexLabel: POD_INDEX_LABEL,
    ...(group && (required || preferred) && { podSetGroupName: group }),
  }
}
