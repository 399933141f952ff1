import type { Resource } from '../kube/vocabulary/api.ts'
import type { KubeObject, Pod } from '../kube/vocabulary/objects.ts'
import type { Outline } from '../kube/vocabulary/outline.ts'
import { NOTHING_SERVED, type ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'
import type { Action } from '../workload/actions.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import type { Remark, Standing } from './decision.ts'
import type { Seating } from './lifting.ts'
import type { Unit } from './unit.ts'

/**
 * Who places a unit as a whole. A scheduler has objects of its own for that, and they have to be there before the first
 * gate falls: a pod that could be placed without its group would be. The reconciler asks with every decision on an
 * admitted unit, so what somebody deletes or changes is put right, and what the scheduler says of the unit is told.
 */
export interface CoScheduler {
  /** The kinds of objects that it has to know. They are watched where they are served. */
  readonly kinds: readonly SchedulingKind[]
  /** The objects that a pod is placed by, as `objectKey` writes them: a change of one is a change for the pod's unit. */
  objectsOf(pod: Pod): readonly string[]
  prepare(admission: Admission, known: SchedulingRecords): Preparation
}

export interface SchedulingKind {
  readonly resource: Resource
  /** What is read of an object: a tenant may make large ones. */
  readonly outline: Outline
  readonly forCache: (object: KubeObject) => KubeObject
}

/** A unit whose pods may start. */
export interface Admission {
  readonly unit: Unit
  readonly workload: QueuedWorkload
  /** The kind of the Workload, by which it is named as an owner. */
  readonly workloads: Resource
  readonly seating: Seating
}

/** What is known of a scheduler's objects, from watches and from the answers to our own writes. */
export interface SchedulingRecords {
  readonly served: ServedScheduling
  find(resource: Resource, namespace: string, name: string): KubeObject | undefined
  /** All of a name, in whatever namespace. */
  named(resource: Resource, name: string): readonly KubeObject[]
}

/** What has to happen before gates fall, and who has to wait for it. */
export interface Preparation {
  /** To be written first. Order is made by waiting: what needs another object is asked for when that one is there. */
  readonly actions: readonly Action[]
  /** Pods whose gate stays. They stand somewhere, or wait for the actions. */
  readonly held: ReadonlySet<Pod>
  readonly standings: readonly Standing[]
  readonly remarks: readonly Remark[]
}

export const GO: Preparation = { actions: [], held: new Set(), standings: [], remarks: [] }

/** What the reconciler has to ask: nobody, where nothing places units as a whole. */
export interface Placement {
  readonly schedulers: readonly CoScheduler[]
  readonly known: SchedulingRecords
}

export const NOBODY: Placement = {
  schedulers: [],
  known: { served: NOTHING_SERVED, find: () => undefined, named: () => [] },
}

/** Everybody is asked. Whom one of them holds is held. */
export function prepare({ schedulers, known }: Placement, admission: Admission): Preparation {
  const answers = schedulers.map(scheduler => scheduler.prepare(admission, known))
  if (answers.length <= 1) return answers[0] ?? GO
  return {
    actions: answers.flatMap(({ actions }) => actions),
    held: new Set(answers.flatMap(({ held }) => [...held])),
    standings: answers.flatMap(({ standings }) => standings),
    remarks: answers.flatMap(({ remarks }) => remarks),
  }
}

/** Without the version: an object is the same in each of them. An empty namespace is any. */
export const objectKey = ({ group, plural }: Resource, namespace: string, name: string): string =>
  `${group}/${plural}/${namespace}/${name}`
