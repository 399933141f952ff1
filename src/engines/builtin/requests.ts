import type { Container, PodSpec, StringMap } from '../../kube/vocabulary/objects.ts'
import { formatQuantity, parseQuantity } from '../../kube/vocabulary/quantities.ts'
import type { QueuedWorkload } from '../../workload/queued-workload.ts'

/** Resource name to exact amount, in billionths. `pods` counts pods. */
export type Amounts = ReadonlyMap<string, bigint>

const ONE = 1_000_000_000n

/**
 * What one pod asks for, as kube-scheduler counts it: the larger of what its containers need together and what any
 * of its init containers needs, with sidecars (restartable init containers) counted from their turn on, plus
 * overhead. Requests on the pod itself replace the sum of its containers for the resources they name.
 */
export function podRequests(spec: PodSpec): Amounts {
  const total = new Map<string, bigint>()
  for (const container of spec.containers ?? []) add(total, requestsOf(container))

  const sidecars = new Map<string, bigint>()
  const initPeak = new Map<string, bigint>()
  for (const container of spec.initContainers ?? []) {
    const needs = new Map(requestsOf(container))
    if (container.restartPolicy === 'Always') {
      add(sidecars, needs)
      raise(initPeak, sidecars)
    } else {
      add(needs, sidecars)
      raise(initPeak, needs)
    }
  }
  add(total, sidecars)
  raise(total, initPeak)
  for (const [name, amount] of amounts(spec.resources?.requests)) total.set(name, amount)
  add(total, amounts(spec.overhead))
  return total
}

/** What a Workload holds while it is admitted. */
export function workloadRequests(workload: QueuedWorkload): Amounts {
  const total = new Map<string, bigint>()
  for (const podSet of workload.spec.podSets) {
    const count = BigInt(podSet.count)
    const perPod = new Map(podRequests(podSet.template.spec))
    perPod.set('pods', ONE)
    for (const [name, amount] of perPod) total.set(name, (total.get(name) ?? 0n) + amount * count)
  }
  return total
}

export function amounts(quantities: Readonly<Record<string, string | number>> | StringMap | null | undefined): Amounts {
  const parsed = new Map<string, bigint>()
  for (const [name, quantity] of Object.entries(quantities ?? {}))
    parsed.set(name, parseQuantity(String(quantity)).nano)
  return parsed
}

const requestsOf = (container: Container): Amounts => amounts(container.resources?.requests)

export function add(into: Map<string, bigint>, more: Amounts): void {
  for (const [name, amount] of more) into.set(name, (into.get(name) ?? 0n) + amount)
}

export function subtract(from: Map<string, bigint>, less: Amounts): void {
  for (const [name, amount] of less) from.set(name, (from.get(name) ?? 0n) - amount)
}

function raise(into: Map<string, bigint>, floor: Amounts): void {
  for (const [name, amount] of floor) {
    const now = into.get(name)
    if (now === undefined || now < amount) into.set(name, amount)
  }
}

/** An amount as people write it: memory-sized round numbers with binary suffixes, everything else in decimal. */
export function show(nano: bigint): string {
  const binary = nano !== 0n && nano % (ONE << 20n) === 0n
  return formatQuantity({ nano, format: binary ? 'BinarySI' : 'DecimalSI' })
}
