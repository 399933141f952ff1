import type { OwnerReference } from '../kube/vocabulary/objects.ts'
import type { PodAdditions } from './pod-set-update.ts'
import type { QueuedWorkload, WorkloadStatus } from './queued-workload.ts'

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
  | { readonly kind: 'CreateWorkload'; readonly workload: QueuedWorkload }
  | {
      readonly kind: 'AddOwners'
      readonly workload: Target
      readonly resourceVersion: string
      readonly ownerReferences: readonly OwnerReference[]
    }
  | {
      readonly kind: 'SetStatus'
      readonly workload: Target
      readonly resourceVersion: string
      readonly status: WorkloadStatus
    }
  | {
      readonly kind: 'SetQueue'
      readonly workload: Target
      readonly resourceVersion: string
      readonly queueName: string
    }
  | { readonly kind: 'ReleaseWorkload'; readonly workload: Target; readonly finalizerIndex: number }
  | {
      readonly kind: 'LiftGate'
      readonly pod: Target
      readonly add: PodAdditions
      /** When the workload was admitted, for the metric. */
      readonly admittedAt: string | undefined
    }
  | { readonly kind: 'RemoveFinalizer'; readonly pod: Target }
  | { readonly kind: 'DeletePod'; readonly pod: Target }

export function targetOf(object: { readonly metadata: { namespace?: string; name?: string; uid?: string } }): Target {
  const { namespace = '', name = '', uid = '' } = object.metadata
  return { namespace, name, uid }
}

/** What the action is about, for the log. */
export function subjectOf(action: Action): { namespace?: string; name?: string } {
  if (action.kind === 'CreateWorkload') {
    return { namespace: action.workload.metadata.namespace, name: action.workload.metadata.name }
  }
  const { namespace, name } = 'pod' in action ? action.pod : action.workload
  return { namespace, name }
}
