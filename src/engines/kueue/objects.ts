import type { KubeObject, PodSpec, StringMap, Toleration } from '../../kube/vocabulary/objects.ts'
import type {
  Admission,
  PodSet,
  PodSetAssignment,
  PodSetUpdate,
  QueuedWorkload,
  WorkloadSpec,
  WorkloadStatus,
} from '../../workload/queued-workload.ts'
import type { TopologyRequest } from '../../workload/topology.ts'

/** The part of Kueue's Workload that Muster writes or reads, in both versions of its API. */
export interface KueueWorkload extends QueuedWorkload {
  readonly spec: KueueSpec
  readonly status?: KueueStatus
}

export interface KueueSpec extends WorkloadSpec {
  readonly podSets: readonly KueuePodSet[]
  readonly maximumExecutionTimeSeconds?: number
  /** Of v1beta2. */
  readonly priorityClassRef?: { readonly group: string; readonly kind: string; readonly name: string }
  /** Of v1beta1. */
  readonly priorityClassName?: string
  readonly priorityClassSource?: string
}

export interface KueuePodSet extends PodSet {
  readonly topologyRequest?: TopologyRequest
}

export interface KueueStatus extends WorkloadStatus {
  readonly admission?: KueueAdmission | null
  readonly admissionChecks?: readonly AdmissionCheckState[] | null
  readonly accumulatedPastExecutionTimeSeconds?: number | null
  /** The same in v1beta1, misspelt as it is there. */
  readonly accumulatedPastExexcutionTimeSeconds?: number | null
}

export interface KueueAdmission extends Admission {
  readonly podSetAssignments: readonly KueueAssignment[]
}

export interface KueueAssignment extends PodSetAssignment {
  /** Resource to ResourceFlavor. */
  readonly flavors?: StringMap | null
  readonly topologyAssignment?: object | null
}

export interface AdmissionCheckState {
  readonly name: string
  readonly state: string
  readonly message?: string
  readonly podSetUpdates?: readonly (PodSetUpdate & { readonly name: string })[] | null
}

export interface ResourceFlavor extends KubeObject {
  readonly spec?: {
    readonly nodeLabels?: StringMap | null
    readonly tolerations?: readonly Toleration[] | null
    readonly topologyName?: string
  } | null
}

/** The value lies at the top, as in a PriorityClass. */
export interface WorkloadPriorityClass extends KubeObject {
  readonly value?: number
}

/** What decides about the flavor of a pod, besides what its cached spec has anyway. */
export interface FlavoredSpec extends PodSpec {
  readonly affinity?: {
    readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: unknown } | null
  } | null
  readonly runtimeClassName?: string | null
  readonly resourceClaims?: readonly unknown[] | null
}
