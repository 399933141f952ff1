import type { Configuration } from '../../config/configuration.ts'
import type { Pod, StringMap } from '../../kube/vocabulary/objects.ts'
import type { Placement } from '../../reconciler/co-scheduler.ts'
import type { Engine } from '../../reconciler/engine.ts'
import type { JobUnit } from '../../reconciler/jobs/job-unit.ts'
import type { Unit } from '../../reconciler/unit.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import type { Reason } from '../../workload/reasons.ts'
import type { Subject } from './explanation.ts'

/** Everything that an explanation is made of, read once. */
export interface Facts {
  readonly subject: Subject
  readonly through?: Subject
  readonly engine: Engine
  readonly config: Configuration | undefined
  readonly found: Found
  readonly placement: Placement
  /** What Muster said last of it, where an Event of it is still there. */
  readonly told?: Told
  /** Every Workload of the cluster, where its queue matters and may be seen. */
  readonly workloads?: readonly QueuedWorkload[]
  readonly namespaceLabels?: StringMap
  readonly unseen: readonly string[]
}

export type Found =
  /** Nothing of it is Muster's, and why. */
  | {
      readonly kind: 'none'
      /** A gate of ours holds it all the same. */
      readonly reason?: Reason
      readonly message: string
      readonly next: string
      readonly who: string
    }
  | { readonly kind: 'pods'; readonly unit: Unit; readonly pod?: WholePod }
  | { readonly kind: 'job'; readonly unit: JobUnit }
  /** A Workload whose pods or Job are not there, or may not be read. */
  | { readonly kind: 'workload'; readonly workload: QueuedWorkload }

/** The pod as the cache would have it, and what its scheduler says of it. */
export interface WholePod {
  readonly pod: Pod
  readonly scheduler?: string
}

export interface Told {
  readonly reason: Reason
  readonly message: string
  readonly since: string
}

export function workloadIn(found: Found): QueuedWorkload | undefined {
  if (found.kind === 'workload') return found.workload
  return found.kind === 'none' ? undefined : found.unit.workload
}
