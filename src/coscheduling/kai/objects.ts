import type { KubeObject, OwnerReference, StringMap } from '../../kube/vocabulary/objects.ts'

/** The parts of objects that the translation reads. All of it was written by somebody else. */
export interface Policy {
  readonly basic?: object | null
  readonly gang?: { readonly minCount?: number } | null
}

/** Of scheduling.k8s.io: in 1.35 with the groups themselves, from 1.36 on with templates of them. */
export interface SchedulingWorkload extends KubeObject {
  readonly spec?: {
    readonly podGroups?: readonly { readonly name?: string; readonly policy?: Policy | null }[] | null
    readonly podGroupTemplates?: readonly { readonly name?: string; readonly priorityClassName?: string }[] | null
  }
}

/** Of scheduling.k8s.io, 1.36 and later. */
export interface SchedulingPodGroup extends KubeObject {
  readonly spec?: {
    readonly schedulingPolicy?: Policy | null
    readonly priorityClassName?: string
    readonly schedulingConstraints?: { readonly topology?: readonly { readonly key?: string }[] | null } | null
    readonly resourceClaims?: readonly unknown[] | null
    readonly disruptionMode?: unknown
    readonly parentCompositePodGroupName?: string
    /** 1.37. */
    readonly workloadRef?: { readonly workloadName?: string; readonly templateName?: string } | null
    /** 1.36. */
    readonly podGroupTemplateRef?: {
      readonly workload?: { readonly workloadName?: string; readonly podGroupTemplateName?: string } | null
    } | null
  }
}

export interface TopologyConstraint {
  readonly topology?: string
  readonly requiredTopologyLevel?: string
  readonly preferredTopologyLevel?: string
}

export interface KaiPodGroupSpec {
  readonly minMember?: number
  readonly queue?: string
  readonly priorityClassName?: string
  readonly preemptibility?: string
  readonly markUnschedulable?: boolean
  readonly schedulingBackoff?: number
  readonly topologyConstraint?: TopologyConstraint | null
  readonly subGroups?: readonly unknown[] | null
}

/** Why the scheduler of a node pool does not place a group; what it says last comes last. */
export interface KaiSchedulingCondition {
  readonly type?: string
  readonly status?: string
  readonly message?: string
}

export interface KaiPodGroup extends KubeObject {
  readonly spec?: KaiPodGroupSpec
  readonly status?: { readonly schedulingConditions?: readonly KaiSchedulingCondition[] | null }
}

export interface KaiTopology extends KubeObject {
  readonly spec?: { readonly levels?: readonly { readonly nodeLabel?: string }[] | null }
}

/** An object above a pod, as far as its PodGroup takes after it. */
export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly labels: StringMap
  readonly annotations: StringMap
  readonly ownerReferences: readonly OwnerReference[]
}

export function ownerOf(object: KubeObject, apiVersion: string, kind: string): Owner {
  const { name = '', uid = '', labels, annotations, ownerReferences } = object.metadata
  const maps = { labels: labels ?? {}, annotations: annotations ?? {} }
  return { apiVersion, kind, name, uid, ...maps, ownerReferences: ownerReferences ?? [] }
}
