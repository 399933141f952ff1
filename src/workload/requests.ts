import type { Amounts, Container, Pod, PodSpec, Requests, StringMap } from '../kube/vocabulary/objects.ts'
import { formatQuantity, parseQuantity } from '../kube/vocabulary/quantities.ts'
import { specOf } from './asked.ts'

export const ONE = 1_000_000_000n

/** What the pod asks for. */
export function requestsOf(pod: Pod): Requests {
  if (pod.excess !== undefined) return { problem: pod.excess }
  return pod.requests ?? requestsIn(specOf(pod))
}

/** The API server does not look into the templates of Workloads and annotations: they can hold anything. */
export function requestsIn(spec: PodSpec): Requests {
  try {
    return { amounts: podRequests(spec) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * What one pod asks for, as kube-scheduler counts it: the larger of what its containers need together and what any
 * of its init containers needs, with sidecars (restartable init containers) counted from their turn on, plus
 * overhead. Requests on the pod itself replace the sum of its containers for the resources they name. A limit without
 * a request is one, as the API server makes it when the pod is created.
 */
export function podRequests(spec: PodSpec): Amounts {
  const total = new Map<string, bigint>()
  for (const container of spec.containers ?? []) add(total, askedBy(container))

  const sidecars = new Map<string, bigint>()
  const initPeak = new Map<string, bigint>()
  for (const container of spec.initContainers ?? []) {
    const needs = new Map(askedBy(container))
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
  const { requests, limits } = spec.resources ?? {}
  for (const [name, amount] of amounts(limits)) {
    // Huge pages cannot be overcommitted: there the limit of the pod is its request, whatever its containers say.
    if (!total.has(name) || name.startsWith('hugepages-')) total.set(name, amount)
  }
  for (const [name, amount] of amounts(requests)) total.set(name, amount)
  add(total, amounts(spec.overhead))
  return total
}

/** A negative amount would give quota where it should take some. */
export function amounts(quantities: Readonly<Record<string, string | number>> | StringMap | null | undefined): Amounts {
  const parsed = new Map<string, bigint>()
  for (const [name, quantity] of Object.entries(quantities ?? {})) {
    const { nano } = parseQuantity(String(quantity))
    if (nano < 0n) throw new RangeError(`${name} is ${String(quantity)}, and nobody can ask for less than nothing`)
    parsed.set(name, nano)
  }
  return parsed
}

function askedBy({ resources }: Container): Amounts {
  return amounts({ ...resources?.limits, ...resources?.requests })
}

export function add(into: Map<string, bigint>, more: Amounts): void {
  for (const [name, amount] of more) into.set(name, (into.get(name) ?? 0n) + amount)
}

function raise(into: Map<string, bigint>, floor: Amounts): void {
  for (const [name, amount] of floor) {
    const now = into.get(name)
    if (now === undefined || now < amount) into.set(name, amount)
  }
}

/** A resource of which somebody asks for more than he may have. */
export interface Overdraft {
  readonly resource: string
  readonly asked: string
  readonly charged: string
}

/** Where `asked` goes beyond `charged`, in the first resource in which it does. Undefined: nowhere. */
export function overdraft(asked: Amounts, charged: Amounts): Overdraft | undefined {
  for (const [resource, amount] of asked) {
    const most = charged.get(resource) ?? 0n
    if (amount > most) return { resource, asked: show(amount), charged: show(most) }
  }
  return undefined
}

/** An amount as people write it: memory-sized round numbers with binary suffixes, everything else in decimal. */
export function show(nano: bigint): string {
  const binary = nano !== 0n && nano % (ONE << 20n) === 0n
  return formatQuantity({ nano, format: binary ? 'BinarySI' : 'DecimalSI' })
}
