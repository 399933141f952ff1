import type { Patch, Resource } from '../kube/vocabulary/api.ts'
import type { KubeObject, OwnerReference, StringMap } from '../kube/vocabulary/objects.ts'
import { PODS } from '../kube/vocabulary/resources.ts'
import type { PodAdditions } from './pod-set-update.ts'
import type { WorkloadStatus } from './queued-workload.ts'

/** One object, in one life: the uid keeps a write from reaching a successor of the same name. */
export interface Target {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** An object, and where it is found. */
export interface Owner {
  readonly resource: Resource
  readonly object: Target
}

/** The pod whose shape stands for a podSet. */
export interface Model {
  readonly podSet: string
  readonly pod: Target
}

/**
 * What the reconciler wants done, as data: it can be logged, compared in a test and replayed.
 * Each one is safe to do twice, safe under two leaders, and safe to lose: the next pass decides it again.
 */
export type Action =
  /** Creates it, or patches the fields that `wanted` names in what is `known`. What belongs to somebody else stays his. */
  | {
      readonly kind: 'EnsureObject'
      readonly resource: Resource
      readonly wanted: KubeObject
      readonly known?: KubeObject
      /** For a Workload: the pods to be taken as its templates as they are, and not as they are known. */
      readonly models?: readonly Model[]
      /**
       * Created only while this is there. What a watch shows of it may be old, and the garbage collector would take what
       * is made for it, again and again.
       */
      readonly madeFor?: Owner
    }
  | {
      readonly kind: 'AddOwners'
      readonly resource: Resource
      readonly workload: Target
      readonly resourceVersion: string
      readonly ownerReferences: readonly OwnerReference[]
    }
  /** From now on it goes only when it is let go. */
  | {
      readonly kind: 'HoldWorkload'
      readonly resource: Resource
      readonly workload: Target
      readonly resourceVersion: string
      readonly finalizers: readonly string[]
    }
  | {
      readonly kind: 'SetStatus'
      readonly resource: Resource
      readonly workload: Target
      readonly resourceVersion: string
      readonly status: WorkloadStatus
    }
  | {
      readonly kind: 'SetQueue'
      readonly resource: Resource
      readonly workload: Target
      readonly resourceVersion: string
      readonly queueName: string
      readonly annotations?: StringMap
      readonly finalizers?: readonly string[]
      /** What else of its spec decides about its turn. */
      readonly terms?: object
    }
  | {
      readonly kind: 'ReleaseWorkload'
      readonly resource: Resource
      readonly workload: Target
      readonly finalizer: string
      readonly finalizerIndex: number
    }
  | {
      readonly kind: 'LiftGate'
      readonly pod: Target
      readonly add: PodAdditions
      /** When the workload was admitted, for the metric. */
      readonly admittedAt: string | undefined
    }
  /** A write on what waits suspended: started, stopped, restored or marked, each as a whole. */
  | {
      readonly kind: 'PatchJob'
      readonly resource: Resource
      readonly job: Target
      /** As it was looked at, where a change of something newer would be another one than was decided. */
      readonly resourceVersion?: string
      readonly subresource?: string
      readonly patch: Pick<Patch, 'type' | 'body'>
      /** Its controller has not looked at it yet: some API servers refuse until then what they take afterwards. */
      readonly early?: boolean
      /** For a start: when the workload was admitted, for the metric. */
      readonly admittedAt?: string
    }
  /**
   * Does the rest if for a while no pod with the label has been there that has not ended: what still runs, or is about
   * to, keeps its quota.
   */
  | {
      readonly kind: 'UnlessPodsLeft'
      readonly namespace: string
      readonly labelSelector: string
      /** The versions that were looked at: when they change, the while begins anew. */
      readonly asOf: string
      readonly actions: readonly Action[]
    }
  /**
   * Does the rest if each of these pods still has its place: a watch that lags shows places as taken that are free, and
   * who is deleted for it does not come back by himself.
   */
  | {
      readonly kind: 'WhileSeated'
      readonly namespace: string
      /** Selects most of them at once; the others are asked for one by one. */
      readonly labelSelector?: string
      readonly seated: readonly Target[]
      readonly actions: readonly Action[]
    }
  | { readonly kind: 'DeleteWorkload'; readonly resource: Resource; readonly workload: Target }
  | { readonly kind: 'RemoveFinalizer'; readonly pod: Target }
  /** With `because`, the pod says first why it is stopped, in its condition `TerminationTarget`. */
  | {
      readonly kind: 'DeletePod'
      readonly pod: Target
      readonly because?: { readonly reason: string; readonly message: string; readonly at: string }
    }

export function targetOf(object: { readonly metadata: { namespace?: string; name?: string; uid?: string } }): Target {
  const { namespace = '', name = '', uid = '' } = object.metadata
  return { namespace, name, uid }
}

/** What the action is about. */
export function subjectOf(action: Action): {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
} {
  if (action.kind === 'EnsureObject') {
    const { namespace = '', name = '' } = action.wanted.metadata
    return { resource: action.resource, namespace, name }
  }
  if (action.kind === 'UnlessPodsLeft' || action.kind === 'WhileSeated') {
    return { resource: PODS, namespace: action.namespace, name: action.labelSelector ?? '' }
  }
  if ('job' in action) return { resource: action.resource, namespace: action.job.namespace, name: action.job.name }
  if ('pod' in action) return { resource: PODS, namespace: action.pod.namespace, name: action.pod.name }
  return { resource: action.resource, namespace: action.workload.namespace, name: action.workload.name }
}
