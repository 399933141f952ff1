import type { KubeObject, ObjectMeta, OwnerReference } from '../../kube/vocabulary/objects.ts'
import type {
  DisruptionMode,
  GroupResourceClaim,
  SchedulingConstraints,
} from '../../validation/jobs/scheduling-model.ts'

/**
 * The scheduler's objects as Kubernetes 1.37 serves them; `versions.ts` turns them into those of 1.36. Workload and
 * PodGroup are beta, groups of groups are alpha.
 */
export const SCHEDULING_BETA = 'scheduling.k8s.io/v1beta1'
export const SCHEDULING_ALPHA = 'scheduling.k8s.io/v1alpha3'

export interface NamedMeta extends ObjectMeta {
  readonly name: string
}

export type GroupPolicy = { readonly basic: object } | { readonly gang: { readonly minCount: number } }
export type CompositeGroupPolicy = { readonly basic: object } | { readonly gang: { readonly minGroupCount: number } }

interface Template {
  readonly name: string
  readonly schedulingConstraints?: SchedulingConstraints
  readonly disruptionMode?: DisruptionMode
  readonly priorityClassName?: string
  readonly priority?: number
}

export interface PodGroupTemplate extends Template {
  readonly schedulingPolicy: GroupPolicy
  readonly resourceClaims?: readonly GroupResourceClaim[]
}

export interface CompositePodGroupTemplate extends Template {
  readonly schedulingPolicy: CompositeGroupPolicy
  readonly podGroupTemplates?: readonly PodGroupTemplate[]
  readonly compositePodGroupTemplates?: readonly CompositePodGroupTemplate[]
}

export interface WorkloadSpec {
  readonly controllerRef?: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
  readonly podGroupTemplates?: readonly PodGroupTemplate[]
  readonly compositePodGroupTemplates?: readonly CompositePodGroupTemplate[]
}

export interface SchedulingWorkload extends KubeObject {
  readonly metadata: NamedMeta
  readonly spec: WorkloadSpec
}

interface GroupSpec {
  readonly workloadRef: { readonly workloadName: string; readonly templateName: string }
  readonly parentCompositePodGroupName?: string
}

export interface PodGroup extends KubeObject {
  readonly metadata: NamedMeta
  readonly spec: GroupSpec & Omit<PodGroupTemplate, 'name'>
}

export interface CompositePodGroup extends KubeObject {
  readonly metadata: NamedMeta
  readonly spec: GroupSpec &
    Omit<CompositePodGroupTemplate, 'name' | 'podGroupTemplates' | 'compositePodGroupTemplates'>
}

export type SchedulingObject = SchedulingWorkload | PodGroup | CompositePodGroup

/** The owner that a controller puts on what it creates, so that garbage collection waits for it. */
export function controllerReference(apiVersion: string, kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** Beside the controller a PodGroup names its Workload, without keeping that from being deleted. */
export function workloadReference(workload: SchedulingWorkload, uid: string): OwnerReference {
  return { apiVersion: SCHEDULING_BETA, kind: 'Workload', name: workload.metadata.name, uid }
}
