import type { Patch, Resource } from '../../kube/vocabulary/api.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import type { Outline } from '../../kube/vocabulary/outline.ts'
import type { JobChange, QueuedJob } from './queued-job.ts'

/** A kind of which objects wait in queues by being suspended: how it is read, and how it is written. */
export interface JobKind {
  /** As configurations call it. */
  readonly framework: string
  /** Before the name of its objects in the keys of units, and in the names of Workloads. */
  readonly word: string
  readonly resource: Resource
  /** Who looks after an object that names no other in `spec.managedBy`. */
  readonly controller: string
  /** The label by which all pods of an object name its uid. */
  readonly podLabel: string
  /** It says that it has ended while pods of it may still run. */
  readonly endsEarly: boolean
  /** What is read of an object. What is not here comes from no server. */
  readonly outline: Outline
  forCache(object: KubeObject): QueuedJob
  patch(job: QueuedJob, change: JobChange): Patch
}

/** Another controller than the usual one runs it, perhaps in another cluster: to suspend it means nothing here. */
export const isForeign = ({ controller }: Pick<JobKind, 'controller'>, managedBy: unknown): boolean =>
  typeof managedBy === 'string' && managedBy !== controller
