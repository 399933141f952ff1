import type { Fields } from '../kube/vocabulary/fields.ts'

/** The parts of a pod spec that its role depends on: all that `roleShape` reads, and nothing else. */
export type RoleParts = readonly unknown[]

export function rolePartsOf(spec: Fields): RoleParts {
  return [
    containerParts(spec.containers),
    containerParts(spec.initContainers),
    spec.nodeSelector,
    spec.tolerations,
    spec.priority,
    spec.affinity,
    spec.overhead,
    spec.resourceClaims,
    spec.resources === undefined || spec.resources === null ? undefined : { requests: requestsUnder(spec.resources) },
    spec.runtimeClassName,
    spec.topologySpreadConstraints,
  ]
}

/** Ports and requests of each container in turn. */
function containerParts(containers: unknown): unknown {
  if (!Array.isArray(containers)) return undefined
  const parts: unknown[] = []
  for (const container of containers) {
    const { ports, resources } = (container ?? {}) as Record<string, unknown>
    parts.push(ports, requestsUnder(resources))
  }
  return parts
}

export const requestsUnder = (resources: unknown): unknown =>
  (resources as { requests?: unknown } | null | undefined)?.requests

export function sameParts(a: RoleParts, b: RoleParts): boolean {
  for (let index = 0; index < a.length; index++) {
    if (!sameData(a[index], b[index])) return false
  }
  return true
}

/** Equal as JSON: the order of keys does not matter, since a shape is written in an order of its own. */
function sameData(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && sameParts(a, b)
  if (Array.isArray(b)) return false
  let keys = 0
  for (const key in a) {
    if (!Object.hasOwn(b, key)) return false
    if (!sameData((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) return false
    keys++
  }
  for (const _key in b) keys--
  return keys === 0
}
