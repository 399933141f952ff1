import { isObject } from '../../kube/vocabulary/fields.ts'
import { isDnsLabel } from '../../kube/vocabulary/formats.ts'
import { amounts } from '../../workload/requests.ts'
import type { Found } from './catalog.ts'
import { shapeFindings } from './shapes.ts'
import { invalid, isPlaceholder, missing, show } from './values.ts'

const POLICIES: readonly string[] = ['Always', 'OnFailure', 'Never']

/** Of the pods themselves. `policies`: those that the owner of a template takes; `emptyIs`: what stands for none. */
export function podSpecValues(
  spec: unknown,
  at: string,
  policies: readonly string[] = POLICIES,
  emptyIs = 'Always',
): readonly Found[] {
  if (!isObject(spec)) return []
  const { containers, initContainers, restartPolicy } = spec
  const names = new Set<unknown>()
  return [
    ...shapeFindings(spec, 'pod', at),
    // An empty one is filled in like one that is left out.
    ...(restartPolicy == null ||
    policies.includes((restartPolicy || emptyIs) as string) ||
    isPlaceholder(show(restartPolicy))
      ? []
      : [invalid(`${at}restartPolicy`, `restartPolicy is ${policies.join(' or ')} here, not ${show(restartPolicy)}`)]),
    ...(containers === undefined || (Array.isArray(containers) && containers.length === 0)
      ? [missing(`${at}containers`, 'a pod needs at least one container')]
      : []),
    ...containerValues(containers, `${at}containers`, names),
    ...containerValues(initContainers, `${at}initContainers`, names),
    ...twiceIn(spec.volumes, `${at}volumes`, 'volumes'),
    ...twiceIn(spec.schedulingGates, `${at}schedulingGates`, 'gates'),
  ]
}

/** Names that are there twice in a list of objects that have one each. */
function twiceIn(list: unknown, at: string, what: string): readonly Found[] {
  if (!Array.isArray(list)) return []
  const names = new Set<unknown>()
  return list.flatMap((each: unknown, index) => {
    const { name } = isObject(each) ? each : {}
    const isTwice = name !== undefined && names.has(name)
    names.add(name)
    return isTwice ? [invalid(`${at}[${index}].name`, `two ${what} have the name ${show(name)}`)] : []
  })
}

/** `names`: those of all containers of the pod, of which each has its own. */
function containerValues(containers: unknown, at: string, names: Set<unknown>): readonly Found[] {
  if (!Array.isArray(containers)) return []
  return containers.flatMap((container: unknown, index) => {
    if (!isObject(container)) return []
    const { name, resources } = container
    const isTwice = name !== undefined && names.has(name)
    names.add(name)
    return [
      ...(isTwice ? [invalid(`${at}[${index}].name`, `two containers have the name ${show(name)}`)] : []),
      ...containerName(name, `${at}[${index}].name`),
      ...resourceValues(resources, `${at}[${index}].resources`),
    ]
  })
}

function containerName(name: unknown, field: string): readonly Found[] {
  if (name === undefined || name === null || name === '') return [missing(field, 'a container needs a name')]
  if (typeof name === 'string' && (isPlaceholder(name) || isDnsLabel(name))) return []
  const message = `no API server takes ${show(name)} as the name of a container: lower-case letters, digits and "-", at most 63 of them`
  return [invalid(field, message)]
}

/** Requests beyond limits, parts of what comes whole, and amounts that are none. */
function resourceValues(resources: unknown, at: string): readonly Found[] {
  if (!isObject(resources)) return []
  const [requests, limits] = [
    amountsIn(resources.requests, `${at}.requests`),
    amountsIn(resources.limits, `${at}.limits`),
  ]
  const found = [...requests.found, ...limits.found]
  for (const [resource, amount] of requests.amounts) {
    const limit = limits.amounts.get(resource)
    const field = `${at}.requests[${resource}]`
    const isWhole = isExtended(resource)
    if (limit === undefined) {
      if (isWhole) found.push(missing(field, `${resource} cannot be requested without a limit of the same amount`))
    } else if (amount > limit) found.push(invalid(field, `more ${resource} is requested than the limit is`))
    else if (isWhole && amount < limit) found.push(invalid(field, `of ${resource}, request and limit must be the same`))
  }
  return found
}

/** Devices and the like: whole numbers, and none of them is shared out twice. */
const isExtended = (resource: string): boolean =>
  resource.includes('/') && !/^(?:.*\.)?kubernetes\.io\/|^requests\./.test(resource)

/** What a container may ask for without a domain. */
const STANDARD = /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/
const WHOLE = 1_000_000_000n

function amountsIn(
  quantities: unknown,
  at: string,
): { readonly amounts: ReadonlyMap<string, bigint>; readonly found: readonly Found[] } {
  const counted = new Map<string, bigint>()
  const found: Found[] = []
  for (const [resource, quantity] of Object.entries(isObject(quantities) ? quantities : {})) {
    if ((typeof quantity !== 'string' && typeof quantity !== 'number') || isPlaceholder(String(quantity))) continue
    if (!STANDARD.test(resource) && !resource.includes('/') && !isPlaceholder(resource)) {
      found.push(
        invalid(
          `${at}[${resource}]`,
          `no API server knows the resource ${show(resource)}: others than its own have a domain, as nvidia.com/gpu`,
        ),
      )
    }
    try {
      const amount = amounts({ [resource]: quantity }).get(resource) ?? 0n
      counted.set(resource, amount)
      if (isExtended(resource) && amount % WHOLE !== 0n) {
        found.push(invalid(`${at}[${resource}]`, `${resource} comes in whole numbers only, not ${show(quantity)}`))
      }
    } catch (error) {
      found.push(invalid(`${at}[${resource}]`, error instanceof Error ? error.message : String(error)))
    }
  }
  return { amounts: counted, found }
}
