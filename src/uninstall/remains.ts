import type { Resource } from '../kube/vocabulary/api.ts'
import type { KubeObject, Pod } from '../kube/vocabulary/objects.ts'
import type { PodGroupVersion } from '../kube/vocabulary/resources.ts'
import type { JobKind } from '../workload/jobs/job-kind.ts'
import type { OwnKind } from './kinds.ts'

/** What becomes of those who wait when nobody is left to start them. */
export const CHOICES = ['keep', 'start', 'delete'] as const
export type Choice = (typeof CHOICES)[number]

/** An object of scheduling.k8s.io or of KAI. */
export interface SchedulingObject extends KubeObject {
  readonly spec?: {
    readonly schedulingPolicy?: { readonly gang?: { readonly minCount?: number } | null } | null
    readonly minMember?: number
  }
}

/** A Job or JobSet, with the PodGroup that its pods name. */
export interface Job extends KubeObject {
  readonly spec: {
    readonly suspend?: boolean | null
    readonly template?: { readonly spec?: Pod['spec'] }
  }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null }
}

export interface Of<T> {
  readonly resource: Resource
  readonly objects: readonly T[]
}

/** Everything in a cluster that may be Muster's, or carry marks of it. */
export interface Remains {
  /** Kinds of the installation for the whole cluster, and those in Muster's namespace: all objects of them. */
  readonly wide: readonly (OwnKind & Of<KubeObject>)[]
  readonly narrow: readonly (OwnKind & Of<KubeObject>)[]
  readonly namespace: KubeObject | undefined
  readonly pods: readonly Pod[]
  readonly jobs: readonly { readonly kind: JobKind; readonly objects: readonly Job[] }[]
  /** Workloads of the built-in engine, and Kueue's. */
  readonly workloads: Of<KubeObject>
  readonly kueueWorkloads: Of<KubeObject> | undefined
  /** Whether Kueue looks after pods itself: then pods without a stamp of Muster's are its. */
  readonly kueueQueuesPods: boolean
  /** The version of the PodGroups of Kubernetes; undefined where none are served. */
  readonly podGroupVersion: PodGroupVersion | undefined
  readonly podGroups: readonly SchedulingObject[]
  /** The other objects that groups are placed by: Workloads and CompositePodGroups of scheduling.k8s.io. */
  readonly around: readonly Of<SchedulingObject>[]
  readonly kaiPodGroups: readonly SchedulingObject[]
}
