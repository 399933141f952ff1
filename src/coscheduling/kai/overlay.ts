import {
  KAI_NODE_POOL,
  KAI_PREEMPTIBILITY,
  KAI_PRIORITY,
  KAI_TOP_OWNER,
  KAI_TOPOLOGY,
  KAI_TOPOLOGY_PREFERRED,
  KAI_TOPOLOGY_REQUIRED,
} from '../../kube/vocabulary/kai.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import {
  type Base,
  baseAnnotations,
  baseLabels,
  copied,
  defaultPriority,
  firstOf,
  isPreemptibility,
  podLabel,
  preemptibilityOf,
  priorities,
  queueOf,
} from './base.ts'
import type { KaiTopology, TopologyConstraint } from './objects.ts'

/** What is authoritative for a group: its metadata, the one that wins first, and what its fields say. */
export interface Authority {
  readonly labels: readonly StringMap[]
  readonly annotations: readonly StringMap[]
  readonly minMember: number
  /** Classes that its fields name, the first that exists wins. */
  readonly priorities: readonly (string | undefined)[]
  /** The node label by which it wants to be together. */
  readonly topologyKey: string | undefined
}

export interface Classes {
  readonly exists: (name: string) => boolean
}

export interface Scheduling {
  readonly queue: string
  readonly priorityClassName: string
  readonly preemptibility?: string
  readonly topologyConstraint?: TopologyConstraint
}

/** Why the group cannot be scheduled as it asks to be. */
export interface Problem {
  readonly problem: string
}

/** The Workload over the owner over the pod, field by field. */
export function schedulingOf(
  base: Base,
  authority: Authority,
  classes: Classes,
  topologies: Iterable<KaiTopology>,
): Scheduling | Problem {
  const topology = topologyOf(base, authority, topologies)
  if (topology !== undefined && 'problem' in topology) return topology
  const preemptibility =
    [firstOf(authority.labels, KAI_PREEMPTIBILITY)].find(isPreemptibility) ?? preemptibilityOf(base)
  return {
    queue: queueOf(base, authority.labels),
    priorityClassName: priorityOf(base, authority, classes),
    ...(preemptibility !== undefined && { preemptibility }),
    ...(topology !== undefined && { topologyConstraint: topology }),
  }
}

function priorityOf(base: Base, authority: Authority, { exists }: Classes): string {
  const candidates = [firstOf(authority.labels, KAI_PRIORITY), ...authority.priorities, ...priorities(base)]
  const named = candidates.find(name => name !== undefined && name !== '' && exists(name))
  return named ?? defaultPriority(base)
}

const TOPOLOGY = [KAI_TOPOLOGY, KAI_TOPOLOGY_REQUIRED, KAI_TOPOLOGY_PREFERRED]

function topologyOf(
  base: Base,
  { annotations, topologyKey }: Authority,
  topologies: Iterable<KaiTopology>,
): TopologyConstraint | Problem | undefined {
  const ofOwner = base.annotations
  // Levels belong together: those of one are not mixed with those of another.
  const said = annotations.find(map => TOPOLOGY.some(key => map[key]))
  if (said !== undefined) return constraint({ [KAI_TOPOLOGY]: ofOwner[KAI_TOPOLOGY] ?? '', ...said })
  if (topologyKey === undefined) return constraint(ofOwner)
  const named = ofOwner[KAI_TOPOLOGY] || topologyWith(topologyKey, topologies)
  return typeof named === 'string' ? { topology: named, requiredTopologyLevel: topologyKey } : named
}

function constraint(annotations: StringMap): TopologyConstraint | undefined {
  const [topology, required, preferred] = TOPOLOGY.map(key => annotations[key] ?? '')
  if (!topology && !required && !preferred) return undefined
  return {
    ...(topology && { topology }),
    ...(required && { requiredTopologyLevel: required }),
    ...(preferred && { preferredTopologyLevel: preferred }),
  }
}

/** KAI ignores a level without the name of its topology: the group would be scattered without a word. */
function topologyWith(key: string, topologies: Iterable<KaiTopology>): string | Problem {
  const names = [...topologies]
    .filter(({ spec }) => spec?.levels?.some(({ nodeLabel }) => nodeLabel === key))
    .map(({ metadata }) => metadata.name ?? '')
  const [name] = names
  if (name !== undefined && names.length === 1) return name
  const found = names.length === 0 ? 'no Topology of KAI has' : `the Topologies ${names.sort().join(', ')} all have`
  return { problem: `${found} the level "${key}" of its topology constraint; name one with ${KAI_TOPOLOGY}` }
}

export interface Maps {
  readonly labels: StringMap
  readonly annotations: StringMap
}

/** Key by key: what is authoritative wins, and what it does not mention stays the owner's. */
export function metadataOf(base: Base, authority: Authority, record: string): Maps {
  const labels = copied(baseLabels(base), ...authority.labels.toReversed())
  const pool = podLabel(base, KAI_NODE_POOL)
  return {
    labels: { ...(pool !== '' && { [KAI_NODE_POOL]: pool }), ...labels },
    annotations: {
      ...copied(baseAnnotations(base), ...authority.annotations.toReversed()),
      [KAI_TOP_OWNER]: record,
    },
  }
}
