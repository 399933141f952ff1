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
    }
  | {
      readonly kind: 'AddOwners'
      readonly resource: Resource
      readonly workload: Target
      readonly resourceVersion: string
      readonly ownerReferences: readonly OwnerReference[]
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
  /** Does the rest if no pod with the label is left that has not ended: what still runs keeps its quota. */
  | {
      readonly kind: 'UnlessPodsLeft'
      readonly namespace: string
      readonly labelSelector: string
      readonly actions: readonly Action[]
    }
  | { readonly kind: 'DeleteWorkload'; readonly resource: Resource; readonly workload: Target }
  | { readonly kind: 'RemoveFinalizer'; readonly pod: Target }
  | { readonly kind: 'DeletePod'; readonly pod: Target }

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
  if (action.kind === 'UnlessPodsLeft') {
    return { resource: PODS, namespace: action.namespace, name: action.labelSelector }
  }
  if ('job' in action) return { resource: action.resource, namespace: action.job.namespace, name: action.job.name }
  if ('pod' in action) return { resource: PODS, namespace: action.pod.namespace, name: action.pod.name }
  return { resource: action.resource, namespace: action.workload.namespace, name: action.workload.name }
}
