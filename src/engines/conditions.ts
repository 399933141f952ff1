import type { Resource } from '../kube/vocabulary/api.ts'
import type { AdmissionState, Engine, Vacancy } from '../reconciler/engine.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import { updateOf } from '../workload/pod-set-update.ts'
import {
  ABANDONED,
  type ConditionChange,
  condition,
  isTrue,
  notWaiting,
  type QueuedWorkload,
  type WorkloadStatus,
  wholeAgain,
  withConditions,
} from '../workload/queued-workload.ts'
import { REASONS } from '../workload/reasons.ts'

export interface ConditionsOptions {
  readonly workloads: Resource
  /** Holds a deleted Workload until its pods have stopped, so that its usage is not given away under them. */
  readonly finalizer: string
  /** Whether nothing is given away when it goes at once, and so nothing has to hold it. */
  readonly mayVanish?: (workload: QueuedWorkload) => boolean
  /** The annotation by which the engine orders a queue, if it is ours to write. */
  readonly queueOrder?: string
}

type ByConditions = Pick<
  Engine,
  | 'workloads'
  | 'read'
  | 'holdsQuota'
  | 'placement'
  | 'finish'
  | 'evict'
  | 'requeue'
  | 'awaitReplacements'
  | 'adopt'
  | 'moveTo'
  | 'secure'
  | 'release'
>

/** Engines that write down the state of a Workload as Kueue does: in conditions, and in `status.admission`. */
export function byConditions(options: ConditionsOptions): ByConditions {
  const { workloads: resource, finalizer, queueOrder, mayVanish = () => false } = options
  const missing = ({ metadata: { finalizers } }: QueuedWorkload): { finalizers?: readonly string[] } =>
    finalizers?.includes(finalizer) ? {} : { finalizers: [...(finalizers ?? []), finalizer] }
  const changed = (workload: QueuedWorkload) => ({
    resource,
    workload: targetOf(workload),
    resourceVersion: workload.metadata.resourceVersion ?? '',
  })
  const set = (
    workload: QueuedWorkload,
    changes: readonly ConditionChange[],
    now: string,
    ended: Pick<WorkloadStatus, 'admission' | 'reclaimablePods' | 'waiting' | 'order'> = {},
  ): readonly Action[] => {
    const conditions = withConditions(workload, changes, now)
    if (conditions === undefined) return []
    return [{ kind: 'SetStatus', ...changed(workload), status: { conditions, ...ended } }]
  }
  return {
    workloads: resource,
    read: stateOf,
    holdsQuota: workload => isTrue(workload, 'QuotaReserved'),
    placement: updateOf,
    finish: (workload, end, now) =>
      set(workload, [{ type: 'Finished', status: 'True', ...end }], now, notWaiting(workload)),
    evict: (workload, why, now) => set(workload, deactivated(workload, why), now),
    requeue: (workload, why, now) =>
      set(workload, givenBack(workload, why), now, {
        admission: null,
        ...wholeAgain(workload),
        ...notWaiting(workload),
        ...(queueOrder !== undefined && behindTheOthers(workload)),
      }),
    awaitReplacements: (workload, vacancy, now) => set(workload, replacementChanges(workload, vacancy), now),
    adopt: (workload, ownerReferences) => [{ kind: 'AddOwners', ...changed(workload), ownerReferences }],
    moveTo: (workload, queueName, at) => {
      const annotations = queueOrder === undefined ? undefined : { [queueOrder]: at }
      const also = { ...(annotations && { annotations }), ...missing(workload) }
      return [{ kind: 'SetQueue', ...changed(workload), queueName, ...also }]
    },
    secure: workload => {
      const { finalizers } = missing(workload)
      if (finalizers === undefined || mayVanish(workload)) return []
      return [{ kind: 'HoldWorkload', ...changed(workload), finalizers }]
    },
    release: workload => {
      const finalizerIndex = workload.metadata.finalizers?.indexOf(finalizer) ?? -1
      if (finalizerIndex < 0) return []
      return [{ kind: 'ReleaseWorkload', resource, workload: targetOf(workload), finalizer, finalizerIndex }]
    },
  }
}

/**
 * For engines whose Workloads nobody but us creates. First it is finished, which gives back what it holds; then nothing
 * is lost if it goes.
 */
export function abandonBy({ finish, release, workloads }: ByConditions): NonNullable<Engine['abandon']> {
  const noPods = { reason: ABANDONED, message: 'it has no pods: they are gone, or belong to others by now' }
  return (workload, now, end = noPods) =>
    isTrue(workload, 'Finished')
      ? [...release(workload), { kind: 'DeleteWorkload', resource: workloads, workload: targetOf(workload) }]
      : finish(workload, end, now)
}

function stateOf(workload: QueuedWorkload): AdmissionState {
  const { status, spec } = workload
  const end = condition(workload, 'Finished')
  if (end?.status === 'True') return { kind: 'finished', reason: end.reason, message: end.message }
  const inactive = spec.active === false
  if (inactive) return { kind: 'evicted', why: `Workload ${workload.metadata.name} was deactivated`, inactive }
  const evicted = condition(workload, 'Evicted')
  if (evicted?.status === 'True') return { kind: 'evicted', why: evicted.message, inactive }
  const admitted = condition(workload, 'Admitted')
  if (admitted?.status === 'True') {
    return {
      kind: 'admitted',
      queue: status?.admission?.clusterQueue ?? spec.queueName,
      since: admitted.lastTransitionTime,
    }
  }
  const reserved = condition(workload, 'QuotaReserved')
  if (reserved === undefined) return { kind: 'waiting' }
  const { message, lastTransitionTime } = reserved
  const reason = REASONS.find(known => known === reserved.reason)
  // Said in other words than ours, by another clock than ours: nobody can tell whether the pods were told.
  if (reason === undefined) return { kind: 'waiting', told: { reason: 'WaitingForAdmission', message } }
  return { kind: 'waiting', told: { reason, message, since: lastTransitionTime } }
}

/** Else whoever switches his Workload off keeps its place for when he needs it, and overtakes all who came meanwhile. */
function behindTheOthers(workload: QueuedWorkload): Pick<WorkloadStatus, 'order'> {
  const { spec, metadata } = workload
  const off = condition(workload, 'Evicted')
  const isBack = spec.active !== false && off?.status === 'True' && off.reason === DEACTIVATED
  return isBack && metadata.resourceVersion !== undefined ? { order: metadata.resourceVersion } : {}
}

const DEACTIVATED = 'Deactivated'

/** Whoever evicts says so in the condition; only that a Workload was switched off is for us to say. */
function deactivated(workload: QueuedWorkload, why: string): readonly ConditionChange[] {
  if (workload.spec.active !== false) return []
  return [{ type: 'Evicted', status: 'True', reason: DEACTIVATED, message: why }]
}

function givenBack(workload: QueuedWorkload, why: string): readonly ConditionChange[] {
  const off = deactivated(workload, why)
  return [
    ...off,
    ...withdrawn(workload, 'QuotaReserved', why),
    ...withdrawn(workload, 'Admitted', why),
    // Who is not admitted waits for his turn, and for nobody's replacement.
    ...withdrawn(workload, 'WaitingForReplacementPods', why),
    ...(off.length > 0
      ? []
      : [{ type: 'Evicted', status: 'False', reason: 'Requeued', message: `waits again; ${why}` } as const]),
  ]
}

function withdrawn(
  workload: QueuedWorkload,
  type: 'QuotaReserved' | 'Admitted' | 'WaitingForReplacementPods',
  message: string,
): readonly ConditionChange[] {
  return isTrue(workload, type) ? [{ type, status: 'False', reason: 'Evicted', message }] : []
}

/** Pods of a group that fail are not restarted by us: the condition tells whoever can that a place is vacant. */
export function replacementChanges(workload: QueuedWorkload, { places, note }: Vacancy): readonly ConditionChange[] {
  const type = 'WaitingForReplacementPods'
  if (places > 0) return [{ type, status: 'True', reason: 'WaitingForReplacement', message: note }]
  if (condition(workload, type) === undefined) return []
  return [{ type, status: 'False', reason: 'WaitingForReplacement', message: 'no pod needs a replacement' }]
}
