import { type Condition, controllerOf, type KubeObject } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import { COMPOSITE_POD_GROUPS, POD_GROUPS, SCHEDULING_WORKLOADS } from '../../kube/vocabulary/resources.ts'
import type { SchedulingKind } from '../../reconciler/co-scheduler.ts'
import { inFewWords } from '../waiting.ts'

/** What is read of a PodGroup, in either version. */
export interface KnownPodGroup extends KubeObject {
  readonly spec?: {
    readonly schedulingPolicy?: { readonly gang?: { readonly minCount?: number } | null } | null
    readonly schedulingConstraints?: object | null
    readonly parentCompositePodGroupName?: string
  }
  readonly status?: { readonly conditions?: readonly Condition[] | null }
}

/** Whether the scheduler has placed the group, as 1.37 and 1.36 call it. */
const PLACED: readonly string[] = ['PodGroupInitiallyScheduled', 'PodGroupScheduled']

/** What is read of every object that a group is placed by, whoever's it is. */
export const METADATA = {
  ...fields('name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'ownerReferences'),
  ...fields('deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers'),
}

const POD_GROUP_OUTLINE: Outline = {
  metadata: METADATA,
  spec: fields('schedulingPolicy', 'schedulingConstraints', 'resourceClaims', 'parentCompositePodGroupName'),
  status: { conditions: fields('type', 'status', 'reason', 'message', 'lastTransitionTime') },
}

/** The API server bounds a Workload's spec: eight templates of names. */
const WORKLOAD_OUTLINE: Outline = {
  metadata: METADATA,
  spec: fields('controllerRef', 'podGroupTemplates', 'compositePodGroupTemplates'),
}

export const KINDS: readonly SchedulingKind[] = [
  ...Object.values(SCHEDULING_WORKLOADS).map(resource => ({
    resource,
    outline: WORKLOAD_OUTLINE,
    forCache: withController,
  })),
  ...Object.values(POD_GROUPS).map(resource => ({ resource, outline: POD_GROUP_OUTLINE, forCache: podGroupForCache })),
  { resource: COMPOSITE_POD_GROUPS, outline: { metadata: METADATA }, forCache: withController },
]

function podGroupForCache(podGroup: KnownPodGroup): KnownPodGroup {
  const placed = podGroup.status?.conditions?.find(({ type }) => PLACED.includes(type))
  return {
    ...withController(podGroup),
    status: placed ? { conditions: [{ ...placed, message: inFewWords(placed.message) }] } : {},
  }
}

/**
 * Of the owners only the one counts whose object it is, and of the finalizers that there is one: it keeps an object that
 * is deleted. Others may be many.
 */
export function withController<T extends KubeObject>(object: T): T {
  const { ownerReferences, finalizers, ...metadata } = object.metadata
  const controller = controllerOf(ownerReferences)
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(controller && { ownerReferences: [controller] }),
      ...(finalizers?.length && { finalizers: finalizers.slice(0, 1) }),
    },
  }
}

export const minCountOf = ({ spec }: KnownPodGroup): number | undefined => spec?.schedulingPolicy?.gang?.minCount

/** What the scheduler says of a group that it does not place. */
export function heldBecause({ status }: KnownPodGroup): string | undefined {
  const placed = status?.conditions?.find(({ type }) => PLACED.includes(type))
  return placed?.status === 'False' ? placed.message : undefined
}
