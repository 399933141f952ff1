import type { KubeObject } from '../kube/vocabulary/objects.ts'
import { compareVersions } from '../kube/vocabulary/versions.ts'
import type { Action } from '../workload/actions.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import type { Reason } from '../workload/reasons.ts'

interface Decided {
  readonly actions: readonly Pick<Action, 'kind'>[]
  readonly standings: readonly { readonly reason: Reason }[]
}

/**
 * Units that were there and could not be queued as they were: a pod contradicted the others, or nobody could count them.
 * Their turn begins when that has been put right. By the versions of their own objects, which may be weeks old, they
 * would stand before all who have come since: a pod too many, deleted at the right time, would be a place kept for later.
 *
 * This is not in any object, so it ends with the leadership; whoever leads next finds out again who is wrong, and who
 * was put right in between stands where its objects say.
 */
export class Latecomers {
  readonly #keys = new Set<string>()
  #newest = ''

  saw({ metadata: { resourceVersion } }: KubeObject): void {
    if (compareVersions(resourceVersion, this.#newest) > 0) this.#newest = resourceVersion ?? ''
  }

  /** Undefined: as its objects say. */
  turnOf(key: string): string | undefined {
    return this.#keys.has(key) ? this.#newest : undefined
  }

  looked(
    key: string,
    { workload }: { readonly workload: QueuedWorkload | undefined },
    isEmpty: boolean,
    { actions, standings }: Decided,
  ): void {
    if (isEmpty || workload !== undefined) this.#keys.delete(key)
    else if (actions.some(({ kind }) => kind === 'EnsureObject')) return
    else if (standings.some(({ reason }) => reason === 'InvalidGroup')) this.#keys.add(key)
  }

  forget(): void {
    this.#keys.clear()
  }
}

/** Where a unit stands that was complete `at`, and whose turn does not begin before. */
export const turnAt = (at: string, turn: string | undefined): string =>
  turn !== undefined && compareVersions(turn, at) > 0 ? turn : at
