import type { Amounts } from '../../kube/vocabulary/objects.ts'
import { MAX_INT32 } from '../../validation/numbers.ts'
import type { PodSet, QueuedWorkload } from '../../workload/queued-workload.ts'
import { ONE, podRequests } from '../../workload/requests.ts'

/** More than a 64-bit number can count is nothing that any cluster has. */
const MOST = (2n ** 63n - 1n) * ONE

/** How many pods of a podSet are meant. */
export type Counting = (podSet: PodSet) => number

const all: Counting = ({ count }) => count
/** With how few it would be content. */
export const least: Counting = ({ count, minCount }) => minCount ?? count

/** Whether it may be admitted with fewer than it asks for. */
export const isFlexible = ({ spec }: QueuedWorkload): boolean =>
  spec.podSets.some(({ minCount }) => minCount !== undefined)

/** What an admitted Workload holds: as many pods as it was admitted with, less those that have done their work. */
export function held({ status }: QueuedWorkload): Counting {
  return ({ name, count }) => {
    const assigned = status?.admission?.podSetAssignments?.find(assignment => assignment.name === name)?.count ?? count
    const done = status?.reclaimablePods?.find(reclaimable => reclaimable.name === name)?.count ?? 0
    return Math.max(0, assigned - done)
  }
}

/**
 * The largest size that is let in, between all that it asks for and the least; undefined: not even that. One podSet is
 * made smaller, the first that may be.
 */
export function largestFit(workload: QueuedWorkload, fits: (requests: Amounts) => boolean): Counting | undefined {
  const flexible = workload.spec.podSets.find(({ count, minCount }) => minCount !== undefined && minCount < count)
  if (flexible === undefined) return undefined
  const sized =
    (size: number): Counting =>
    podSet =>
      podSet === flexible ? size : podSet.count
  const fitsWith = (size: number): boolean => fits(workloadRequests(workload, sized(size)))
  let low = flexible.minCount ?? flexible.count
  if (!fitsWith(low)) return undefined
  let high = flexible.count
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fitsWith(middle)) low = middle
    else high = middle - 1
  }
  return sized(low)
}

/** What its pods ask for together. `pods` counts pods. Throws where that is no amount that anybody can hold. */
export function workloadRequests(workload: QueuedWorkload, counting: Counting = all): Amounts {
  const total = new Map<string, bigint>()
  let pods = 0
  for (const podSet of workload.spec.podSets) {
    const { name } = podSet
    if (!Number.isSafeInteger(podSet.count) || podSet.count < 1) {
      throw new RangeError(`podSet ${name} has ${podSet.count} pods`)
    }
    const count = counting(podSet)
    pods += count
    if (pods > MAX_INT32) throw new RangeError(`its podSets have more than ${MAX_INT32} pods together`)
    const perPod = new Map(podRequests(podSet.template.spec))
    perPod.set('pods', ONE)
    for (const [resource, amount] of perPod) {
      const sum = (total.get(resource) ?? 0n) + amount * BigInt(count)
      if (sum > MOST) throw new RangeError(`it asks for more ${resource} than can be counted`)
      total.set(resource, sum)
    }
  }
  return total
}

/** What nobody holds any more is not named: a tenant makes up as many names of resources as he likes. */
export function subtract(from: Map<string, bigint>, less: Amounts): void {
  for (const [name, amount] of less) {
    const left = (from.get(name) ?? 0n) - amount
    if (left === 0n) from.delete(name)
    else from.set(name, left)
  }
}
