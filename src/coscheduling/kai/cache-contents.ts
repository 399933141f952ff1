import {
  KAI_IGNORE,
  KAI_NODE_POOL,
  KAI_POD_GROUP,
  KAI_PREEMPTIBILITY,
  KAI_PRIORITY,
  KAI_PROJECT,
  KAI_QUEUE,
  KAI_SUBGROUP,
  KAI_TOP_OWNER,
  KAI_TOPOLOGY,
  KAI_TOPOLOGY_PREFERRED,
  KAI_TOPOLOGY_REQUIRED,
  KAI_USER,
  RAY_PRIORITY,
} from '../../kube/vocabulary/kai.ts'
import { POD_GROUP, POD_GROUP_OF } from '../../kube/vocabulary/names.ts'
import type { KubeObject, ObjectMeta, OwnerReference, Pod, StringMap } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import { awaitsPodGroup } from '../../workload/pod-facts.ts'
import type { Owner } from './objects.ts'

/**
 * A tenant may fill labels and annotations to the brim, of as many objects as he likes, and all of them are in memory.
 * So much of each map is kept and copied to a PodGroup, what KAI gives a meaning before the rest.
 */
const MOST_TEXT = 2048
/** A PodGroup of KAI has what was copied there, and what others have written since. */
const MOST_TEXT_OF_PODGROUP = 2 * MOST_TEXT
/** More owners than this has nobody. */
const MOST_OWNERS = 10

/** Those first that say whose it is. */
const MEANT: readonly string[] = [
  POD_GROUP_OF,
  KAI_TOP_OWNER,
  POD_GROUP,
  KAI_QUEUE,
  KAI_NODE_POOL,
  KAI_PREEMPTIBILITY,
  KAI_PRIORITY,
  KAI_PROJECT,
  KAI_USER,
  KAI_SUBGROUP,
  KAI_POD_GROUP,
  KAI_IGNORE,
  KAI_TOPOLOGY,
  KAI_TOPOLOGY_REQUIRED,
  KAI_TOPOLOGY_PREFERRED,
  RAY_PRIORITY,
]
/** Longer than any name that one of these could hold. */
const MOST_VALUE = 1024

export function bounded(map: StringMap | null | undefined, most = MOST_TEXT): StringMap {
  const given = map ?? {}
  const meant = MEANT.filter(key => Object.hasOwn(given, key) && (given[key] ?? '').length <= MOST_VALUE)
  const others = Object.keys(given).filter(key => !MEANT.includes(key))
  let room = most
  const kept = [...meant, ...others].filter(key => {
    const size = key.length + (given[key] ?? '').length
    if (size > room) return false
    room -= size
    return true
  })
  return Object.fromEntries(kept.map(key => [key, given[key] ?? '']))
}

function boundedMetadata({ metadata }: KubeObject, most: number): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata
  return {
    ...{ name, namespace, uid, resourceVersion },
    ...(creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
    labels: bounded(metadata.labels, most),
    annotations: bounded(metadata.annotations, most),
    ownerReferences: (metadata.ownerReferences ?? []).slice(0, MOST_OWNERS).map(slimReference),
  } as ObjectMeta
}

const slimReference = ({ apiVersion, kind, name, uid, controller }: OwnerReference): OwnerReference => ({
  ...{ apiVersion, kind, name, uid },
  ...(controller && { controller }),
})

export const slim = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: boundedMetadata(object, MOST_TEXT),
})

export const slimPodGroup = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: boundedMetadata(object, MOST_TEXT_OF_PODGROUP),
})

/** An owner that was looked up is kept for a while, too. */
export function slimOwner(owner: Owner): Owner {
  return { ...owner, labels: bounded(owner.labels), annotations: bounded(owner.annotations) }
}

const METADATA = fields(
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
  'annotations',
  'ownerReferences',
)

const outlineWith = (parts: Readonly<Record<string, Outline>>): Outline => ({
  ...fields('apiVersion', 'kind'),
  metadata: METADATA,
  ...parts,
})

export const WAITING_POD_OUTLINE: Outline = outlineWith({
  spec: {
    ...fields('schedulerName', 'schedulingGroup', 'workloadRef', 'nodeName', 'priorityClassName'),
    schedulingGates: fields('name'),
  },
  status: fields('phase'),
})

export const WORKLOAD_OUTLINE: Outline = outlineWith({
  spec: {
    podGroups: { name: true, policy: { basic: fields(), gang: fields('minCount') } },
    podGroupTemplates: fields('name', 'priorityClassName'),
  },
})

export const POD_GROUP_OUTLINE: Outline = outlineWith({
  spec: {
    schedulingPolicy: { basic: fields(), gang: fields('minCount') },
    ...fields('priorityClassName', 'disruptionMode', 'parentCompositePodGroupName'),
    schedulingConstraints: { topology: fields('key') },
    resourceClaims: fields('name'),
    workloadRef: fields('workloadName', 'templateName'),
    podGroupTemplateRef: { workload: fields('workloadName', 'podGroupTemplateName') },
  },
})

export const KAI_POD_GROUP_OUTLINE: Outline = outlineWith({
  spec: {
    ...fields('minMember', 'queue', 'priorityClassName', 'preemptibility'),
    topologyConstraint: fields('topology', 'requiredTopologyLevel', 'preferredTopologyLevel'),
    subGroups: fields('name'),
  },
})

export const TOPOLOGY_OUTLINE: Outline = outlineWith({ spec: { levels: fields('nodeLabel') } })

export const PRIORITY_CLASS_OUTLINE: Outline = {
  metadata: fields('name', 'uid', 'resourceVersion'),
  globalDefault: true,
}

/** Of the many gates that a pod can have only ours is asked about. */
export function slimPod(pod: Pod): Pod {
  return { ...slim(pod), spec: { ...pod.spec, schedulingGates: awaitsPodGroup(pod) ? [{ name: POD_GROUP }] : [] } }
}
