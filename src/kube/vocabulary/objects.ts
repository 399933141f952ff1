/**
 * The parts of Kubernetes objects that Muster reads. Everything else passes through untouched,
 * because Muster never sends an object back: it sends patches.
 */
export type StringMap = Readonly<Record<string, string>>

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export function controllerOf(references: readonly OwnerReference[] | null | undefined): OwnerReference | undefined {
  return references?.find(reference => reference.controller === true)
}

export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string | null
  readonly deletionGracePeriodSeconds?: number | null
  readonly labels?: StringMap | null
  readonly annotations?: StringMap | null
  readonly finalizers?: readonly string[] | null
  readonly ownerReferences?: readonly OwnerReference[] | null
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
  /** Fields that were too large to be read, where only an outline of the object is. Kubernetes has no such field. */
  readonly omitted?: readonly string[]
}

export interface Container {
  readonly name: string
  readonly ports?: readonly unknown[] | null
  readonly resources?: { readonly requests?: StringMap | null; readonly limits?: StringMap | null } | null
  readonly restartPolicy?: string
}

export interface PodSpec {
  readonly containers?: readonly Container[] | null
  readonly initContainers?: readonly Container[] | null
  readonly schedulingGates?: readonly { readonly name: string }[] | null
  readonly schedulerName?: string
  /** The group that it is scheduled with, from Kubernetes 1.36 on. It can be set at creation only. */
  readonly schedulingGroup?: { readonly podGroupName?: string } | null
  /** The same in 1.35. */
  readonly workloadRef?: {
    readonly name?: string
    readonly podGroup?: string
    readonly podGroupReplicaKey?: string
  } | null
  readonly nodeName?: string
  readonly nodeSelector?: StringMap | null
  readonly tolerations?: readonly Toleration[] | null
  readonly priority?: number | null
  readonly priorityClassName?: string
  readonly overhead?: StringMap | null
  /** Which, is nobody's question here. */
  readonly resourceClaims?: readonly unknown[] | null
  readonly resources?: { readonly requests?: StringMap | null; readonly limits?: StringMap | null } | null
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number | null
}

export interface PodStatus {
  readonly phase?: string
  readonly reason?: string
  readonly message?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[] | null
  readonly containerStatuses?: readonly ContainerStatus[] | null
  readonly initContainerStatuses?: readonly ContainerStatus[] | null
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[] | null
  /** In the cache, where the rest of the status is not: whether a pod that says that it is over has stopped. */
  readonly stopped?: boolean
  /** In the cache: that it is ready. */
  readonly ready?: boolean
}

export interface ContainerStatus {
  readonly name: string
  readonly state?: { readonly running?: object | null; readonly terminated?: object | null } | null
}

/** Resource name to exact amount, in billionths. */
export type Amounts = ReadonlyMap<string, bigint>

/** What somebody asks for, or why nobody can say. */
export type Requests = { readonly amounts: Amounts } | { readonly problem: string }

export interface Pod extends KubeObject {
  readonly spec: PodSpec
  /** In the cache: what it asks for, as JSON, which takes a fifth of the memory of objects. See `specOf`. */
  readonly asks?: string
  /** In the cache: what that amounts to, read once. */
  readonly requests?: Requests
  /** In the cache: why what it asks for was too much to be kept. Nobody can count it, so it is never lifted. */
  readonly excess?: string
  readonly status?: PodStatus
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
}

export interface LabelSelector {
  readonly matchLabels?: StringMap | null
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }[]
    | null
}
