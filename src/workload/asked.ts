import type { Container, Pod, PodSpec } from '../kube/vocabulary/objects.ts'

/** What admission reads of a spec, and no more. Names, so that a person finds the container that asks for so much. */
export function askedOf({ containers, initContainers, overhead, resources }: PodSpec): PodSpec {
  return {
    ...(containers && { containers: askedByEach(containers) }),
    ...(initContainers && { initContainers: askedByEach(initContainers) }),
    ...(overhead && { overhead }),
    ...(resources && { resources: amountsOf(resources) }),
  }
}

/** Both: on the pod itself a limit is a request only where its containers ask for nothing. */
function amountsOf({ requests, limits }: NonNullable<PodSpec['resources']>): PodSpec['resources'] {
  return { ...(requests && { requests }), ...(limits && { limits }) }
}

/** What the cache keeps of a spec: what admission reads, and what a lift must not contradict. */
export function keptOf(spec: PodSpec): PodSpec {
  const { nodeSelector, tolerations } = spec
  return { ...askedOf(spec), ...(says(nodeSelector) && { nodeSelector }), ...(says(tolerations) && { tolerations }) }
}

/** An empty list or map is what a stopped JobSet is left with, and the same as none. */
const says = <T extends object>(value: T | null | undefined): value is T =>
  value !== null && value !== undefined && Object.keys(value).length > 0

/** The spec of a pod, as far as it is kept. */
export function specOf(pod: Pod): PodSpec {
  return pod.asks === undefined ? pod.spec : (JSON.parse(pod.asks) as PodSpec)
}

/** What a pod asks for: the template of its Workload, and what a place must hold before it is let in. */
export function askedBy(pod: Pod): PodSpec {
  return askedOf(specOf(pod))
}

/** An announced template may hold anything in the place of a list; it stays, and whoever counts it says what it is. */
function askedByEach(containers: readonly Container[]): readonly Container[] {
  return Array.isArray(containers) ? containers.map(askedByContainer) : containers
}

function askedByContainer(container: Container): Container {
  const { name, resources, restartPolicy } = container ?? {}
  return { name, ...requested(resources), ...(restartPolicy !== undefined && { restartPolicy }) }
}

/** Where nothing is requested the limit is: so the API server writes it into a pod, and so it counts in a template. */
function requested(resources: Container['resources']): Pick<Container, 'resources'> {
  const { requests, limits } = resources ?? {}
  return requests || limits ? { resources: { requests: { ...limits, ...requests } } } : {}
}
