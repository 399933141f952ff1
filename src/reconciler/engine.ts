import type { Resource } from '../kube/vocabulary/api.ts'
import type { KubeObject, OwnerReference, Pod, PodSpec } from '../kube/vocabulary/objects.ts'
import type { Outline } from '../kube/vocabulary/outline.ts'
import type { Action } from '../workload/actions.ts'
import type { WorkloadPlan } from '../workload/compose.ts'
import type { Ending, PodSet, PodSetUpdate, QueuedWorkload } from '../workload/queued-workload.ts'
import type { Reason } from '../workload/reasons.ts'

/**
 * Who admits. The reconciler knows pods and units; what a Workload is called, where it is kept, how its state is
 * written down and who changes it is the engine's. An engine may decide in this process (`decider`) or be another
 * program that writes the same objects in its own time: the reconciler cannot tell the difference.
 */
export interface Engine {
  /** As the configuration calls it. */
  readonly name: string
  /** The objects in which units wait. The reconciler watches them, all of them, and hands every change to `decider`. */
  readonly workloads: Resource
  /** The frameworks whose objects it queues. Nothing else is held back by it, whatever it is labelled with. */
  readonly holds: readonly string[]
  readonly decider?: Decider
  /** Calls when it may answer anything differently from now on: its configuration has changed. */
  onChange?(changed: () => void): void
  /** What its answers depend on besides Workloads. The reconciler watches it and shows it every change. */
  readonly background?: readonly Background[]
  /** It admits no Workload that waits for replacements, so it is told of vacant places before it decides, too. */
  readonly admitsWhole?: boolean
  /** What has to be kept of a pod's spec for its Workload, where that is more than what the pod asks for. */
  readonly shapeOf?: (spec: PodSpec) => PodSpec

  /** Others go by the templates of its Workloads, too: they are the pods as they are. */
  readonly wholeTemplates?: boolean
  /** Whether a pod with our marks is ours to lift: not if another program gates pods, too, and this one is its own. */
  owns?(pod: Pod): boolean
  /** Workloads of an engine that was in use before, by which nobody goes any more: they are let go. */
  readonly superseded?: Superseded
  /** The Workload that somebody made ahead for a single pod, where pods may name one. */
  prebuiltOf?(pod: Pod): string | undefined
  /** Why there can be no Workload for a unit that is complete, as far as that is the engine's to say. */
  obstacle?(plan: WorkloadPlan): string | undefined
  /** The object for a unit that is complete. */
  compose(plan: WorkloadPlan): QueuedWorkload
  /** What the cache keeps of a Workload: whatever the methods below read, and no more. */
  forCache(workload: QueuedWorkload): QueuedWorkload
  /** A group's Workload has the name that its author chose: the mark keeps it from taking a single pod's for its own. */
  isForGroup(workload: QueuedWorkload): boolean

  read(workload: QueuedWorkload): AdmissionState
  /** Quota is reserved, be it that the pods may not start yet, or may not go on. */
  holdsQuota(workload: QueuedWorkload): boolean
  /** What an admitted Workload gives the pods of one of its podSets. */
  placement(workload: QueuedWorkload, podSet: PodSet): PodSetUpdate | Misplaced

  /** The unit has come to its end. */
  finish(workload: QueuedWorkload, end: Ending, now: string): readonly Action[]
  /** The admission is taken back, and the pods are being stopped. */
  evict(workload: QueuedWorkload, why: string, now: string): readonly Action[]
  /** No pods are left: it comes to its end, and goes. Not every engine lets us decide that. */
  abandon?(workload: QueuedWorkload, now: string, end?: Ending): readonly Action[]
  /** It runs already, without having been asked: it counts from now on, be it beyond the limits, and nothing is stopped. */
  takeOver?(workload: QueuedWorkload, now: string): readonly Action[]
  /**
   * The pods have stopped: the quota is given back, and a Workload that is still wanted waits again, for as many pods as
   * have not succeeded.
   */
  requeue(
    workload: QueuedWorkload,
    why: string,
    now: string,
    missing?: Vacancy,
    succeeded?: ReadonlyMap<string, number>,
  ): readonly Action[]
  /** The pods of an admitted Workload are all ready, or not any more. Not every engine wants to know. */
  reportReady?(workload: QueuedWorkload, ready: boolean, now: string): readonly Action[]
  /** The word for why the pods of a Workload are stopped, where they carry that in their status. */
  stopReason?(workload: QueuedWorkload): string
  /** Members that have succeeded need their share no more. Not every engine can give back a part. */
  reclaim?(workload: QueuedWorkload, succeeded: ReadonlyMap<string, number>): readonly Action[]
  /** By podSet, how many places it has given back for members that had succeeded and are not there any more. */
  lent?(workload: QueuedWorkload, succeeded: ReadonlyMap<string, number>): ReadonlyMap<string, number>
  awaitReplacements(workload: QueuedWorkload, vacancy: Vacancy, now: string): readonly Action[]
  /** Pods that came later own the Workload, too. */
  adopt(workload: QueuedWorkload, ownerReferences: readonly OwnerReference[]): readonly Action[]
  /** To the end of another queue: `at` is the resource version with which its pods asked for it. */
  moveTo(workload: QueuedWorkload, queueName: string, at: string): readonly Action[]
  /** What the pods of a Workload that waits say of its turn may change: so does the Workload. */
  follow?(workload: QueuedWorkload, first: Pod): readonly Action[]
  /** What it would give away if it went at once is held from now on. */
  secure(workload: QueuedWorkload): readonly Action[]
  /** Nothing holds on to the Workload any more: whoever wants to delete it can. */
  release(workload: QueuedWorkload): readonly Action[]
}

/** So many places wait for replacements; `note` says it in words. */
export interface Vacancy {
  readonly places: number
  readonly note: string
}

/** Why the pods of a podSet cannot be given what they were admitted with. `passing`: it may be put right. */
export interface Misplaced {
  readonly problem: string
  readonly passing?: boolean
}

export interface Superseded {
  readonly workloads: Resource
  readonly finalizer: string
}

/** A kind of object that an engine has to know: of each, what the outline has. */
export interface Background {
  readonly resource: Resource
  readonly outline: Outline
  see(object: KubeObject, gone: boolean): void
}

/** An engine's own mind. It sees every Workload before it is asked to decide about a queue. */
export interface Decider {
  /** Takes note of a Workload; returns the queues to decide again. */
  observe(workload: QueuedWorkload, gone: boolean): readonly string[]
  decide(queue: string, now: string): readonly Action[]
}

export type AdmissionState =
  | { readonly kind: 'waiting'; readonly told?: Told }
  | { readonly kind: 'admitted'; readonly queue: string; readonly since: string | undefined }
  /** `inactive`: it does not come back by itself; somebody has to switch it on again. */
  | { readonly kind: 'evicted'; readonly why: string; readonly inactive: boolean }
  | { readonly kind: 'finished'; readonly reason: string; readonly message: string }

/** Why a Workload waits, as its engine has put it. */
export interface Told {
  readonly reason: Reason
  readonly message: string
  /** When a leader of ours wrote it down, if one did: whoever wrote it has told the pods, too. */
  readonly since?: string
  /** What the message is about, where it is put anew all the time. */
  readonly steady?: string
}
