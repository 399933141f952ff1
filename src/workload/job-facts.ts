import { CHILD_OF, COMPLETIONS_FOLLOW, HELD, MIN_PARALLELISM, QUEUED, STOPPING } from '../kube/vocabulary/names.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { isGoTrue } from '../validation/numbers.ts'
import { annotationMark, type Mark, type Marked, queueLabelOf } from './pod-facts.ts'

/** A Job or a JobSet: what waits in a queue by being suspended. */
export interface Suspendable extends KubeObject {
  readonly spec: { readonly suspend?: boolean | null }
}

export const isSuspended = ({ spec }: Suspendable): boolean => spec.suspend === true

/** Muster has taken it into its queue, and alone starts it. */
export const isQueued = ({ metadata }: Marked): boolean => metadata.annotations?.[QUEUED] === 'true'
/** Its user suspended it himself: it keeps no place and starts for nobody but him. */
export const isHeld = ({ metadata }: Marked): boolean => metadata.annotations?.[HELD] === 'true'
/** Muster stopped it, and its template still has what the admission had added. */
export const isStopping = ({ metadata }: Marked): boolean => metadata.annotations?.[STOPPING] === 'true'
/** What waits in its stead, as `framework:name`. */
export const childOf = ({ metadata }: Marked): string | undefined => metadata.annotations?.[CHILD_OF]

/**
 * Whether it is to wait, as far as it says: one without the label has not been seen by any webhook of ours, and an
 * empty one is a queue only where Muster has written it.
 */
export function asksForQueue(object: Marked): boolean {
  const queue = queueLabelOf(object)
  return queue !== undefined && (queue !== '' || isQueued(object))
}

export const minParallelismOf = ({ metadata }: Marked): string | undefined => metadata.annotations?.[MIN_PARALLELISM]
export const completionsFollowOf = ({ metadata }: Marked): string | undefined =>
  metadata.annotations?.[COMPLETIONS_FOLLOW]

/** By which Muster knows later what it decided before: nobody else writes them. */
export const QUEUED_MARKS: readonly Mark[] = [QUEUED, HELD, STOPPING, CHILD_OF].map(annotationMark)

/** With how many pods it may run. */
export const SIZE_MARKS: readonly Mark[] = [MIN_PARALLELISM, COMPLETIONS_FOLLOW].map(annotationMark)

export const doCompletionsFollow = (job: Marked): boolean => isGoTrue(completionsFollowOf(job) ?? '')
