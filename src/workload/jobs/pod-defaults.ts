import type { Amounts, Container, KubeObject, PodSpec, StringMap } from '../../kube/vocabulary/objects.ts'
import { amounts } from '../requests.ts'

/** What the API server adds to the pods of a namespace: a template has not passed it yet, and its pods will. */
export interface PodDefaults {
  /** What a container asks for that does not say, by the LimitRanges of the namespace. */
  readonly requests: StringMap
  /** Why nobody can count what they ask for. */
  readonly problem?: string
  /** What the pods of a RuntimeClass take besides their containers. */
  overheadOf(runtimeClass: string): StringMap | undefined
}

export const NO_DEFAULTS: PodDefaults = { requests: {}, overheadOf: () => undefined }

export interface LimitRange extends KubeObject {
  readonly spec?: {
    readonly limits?: readonly { readonly type?: string; readonly defaultRequest?: StringMap | null }[] | null
  }
  /** It has more than is kept of it. */
  readonly excess?: boolean
}

/** Of each container, and of all LimitRanges of a namespace together. */
export const MAX_DEFAULTS = 32
const MAX_RANGES = 64

export interface RuntimeClass extends KubeObject {
  readonly overhead?: { readonly podFixed?: StringMap | null } | null
}

/**
 * The API server fills in `defaultRequest` from `default` and `max` when a LimitRange is made, and applies several of
 * them in no order that anybody knows: of each resource the largest counts, so that no pod asks for more than was charged.
 */
export function defaultRequests(ranges: readonly LimitRange[]): Pick<PodDefaults, 'requests' | 'problem'> {
  if (ranges.length > MAX_RANGES) {
    return tooMany(`its namespace has ${ranges.length} LimitRanges, and at most ${MAX_RANGES} are counted`)
  }
  const largest = new Map<string, { readonly text: string; readonly amount: bigint }>()
  for (const { spec } of ranges) {
    for (const { type, defaultRequest } of spec?.limits ?? []) {
      if (type !== 'Container') continue
      const asked = amountsIn(defaultRequest)
      if (asked === undefined) return tooMany('a LimitRange of its namespace sets requests that are none')
      for (const [resource, amount] of asked) {
        const known = largest.get(resource)
        if (known !== undefined && known.amount >= amount) continue
        largest.set(resource, { text: String(defaultRequest?.[resource]), amount })
      }
    }
  }
  if (largest.size > MAX_DEFAULTS || ranges.some(({ excess }) => excess)) {
    return tooMany(`the LimitRanges of its namespace set more than ${MAX_DEFAULTS} requests, and no more are counted`)
  }
  return { requests: Object.fromEntries([...largest].map(([resource, { text }]) => [resource, text])) }
}

function amountsIn(quantities: StringMap | null | undefined): Amounts | undefined {
  try {
    return amounts(quantities)
  } catch {
    return undefined
  }
}

const tooMany = (problem: string) => ({ requests: {}, problem: `${problem}: correct them` })

export function withDefaults(spec: PodSpec, runtimeClass: string | undefined, defaults: PodDefaults): PodSpec {
  const { requests } = defaults
  const overhead = spec.overhead ?? (runtimeClass === undefined ? undefined : defaults.overheadOf(runtimeClass))
  const filled = Object.keys(requests).length > 0
  const each = (containers: readonly Container[]): readonly Container[] =>
    containers.map(container => ({
      ...container,
      resources: { requests: { ...requests, ...container.resources?.requests } },
    }))
  return {
    ...spec,
    ...(filled && spec.containers && { containers: each(spec.containers) }),
    ...(filled && spec.initContainers && { initContainers: each(spec.initContainers) }),
    ...(overhead && { overhead }),
  }
}
