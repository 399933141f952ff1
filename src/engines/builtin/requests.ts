import type { Amounts } from '../../kube/vocabulary/objects.ts'
import { MAX_INT32 } from '../../validation/numbers.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'
import { ONE, podRequests } from '../../workload/requests.ts'

/** More than a 64-bit number can count is nothing that any cluster has. */
const MOST = (2n ** 63n - 1n) * ONE

/** What a Workload holds while it is admitted. `pods` counts pods. Throws where that is no amount that anybody can hold. */
export function workloadRequests(workload: QueuedWorkload): Amounts {
  const total = new Map<string, bigint>()
  let pods = 0
  for (const podSet of workload.spec.podSets) {
    const { name, count } = podSet
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`podSet ${name} has ${count} pods`)
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

export function subtract(from: Map<string, bigint>, less: Amounts): void {
  for (const [name, amount] of less) from.set(name, (from.get(name) ?? 0n) - amount)
}
