import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { isLabelKey, isLabelValue, isSubdomain } from '../../kube/vocabulary/formats.ts'
import { amounts } from '../../workload/requests.ts'
import type { Found } from './catalog.ts'
import { PREFIXES } from './known-keys.ts'

/** What is to be filled in before it is applied, as by envsubst, is judged when it is. */
const isPlaceholder = (text: string): boolean => /[${}]|<[^>]*>/.test(text)

export const invalid = (field: string, message: string): Found => ({ code: 'FieldInvalid', message, field })
export const missing = (field: string, message: string): Found => ({ code: 'FieldMissing', message, field })

/** Names and labels, of an object or of a template (`at` leads to it). */
export function metadataValues(metadata: unknown, at: string): readonly Found[] {
  if (!isObject(metadata)) return []
  const { name, namespace, labels } = metadata
  const named = [
    ['name', name],
    ['namespace', namespace],
  ].flatMap(([key, text]) => {
    if (typeof text !== 'string' || text === '' || isPlaceholder(text) || isSubdomain(text)) return []
    const message = `no API server takes the ${key} ${JSON.stringify(text.slice(0, 80))}: lower-case letters, digits, "-" and ".", at most 253 of them`
    return [invalid(`${at}metadata.${key}`, message)]
  })
  return [...named, ...(isObject(labels) ? labelValues(labels, `${at}metadata.labels`) : [])]
}

function labelValues(labels: Fields, at: string): readonly Found[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    // Those of queues and groups are judged by the webhooks.
    if (PREFIXES.some(prefix => key.startsWith(prefix))) return []
    if (typeof value !== 'string' || isPlaceholder(key) || isPlaceholder(value)) return []
    const field = `${at}[${key}]`
    if (!isLabelKey(key)) return [invalid(field, `no API server takes the label ${JSON.stringify(key.slice(0, 80))}`)]
    if (isLabelValue(value)) return []
    const message = `no API server takes ${JSON.stringify(value.slice(0, 80))} as a label: letters, digits, "-", "_" and ".", at most 63 of them`
    return [invalid(field, message)]
  })
}

const POLICIES: readonly string[] = ['Always', 'OnFailure', 'Never']

/** Of the pods themselves. `policies`: those that the owner of a template takes. */
export function podSpecValues(spec: unknown, at: string, policies: readonly string[] = POLICIES): readonly Found[] {
  if (!isObject(spec)) return []
  const { containers, restartPolicy } = spec
  return [
    ...(restartPolicy === undefined || policies.includes(String(restartPolicy))
      ? []
      : [invalid(`${at}restartPolicy`, `restartPolicy is ${policies.join(' or ')} here, not ${show(restartPolicy)}`)]),
    ...(containers === undefined || (Array.isArray(containers) && containers.length === 0)
      ? [missing(`${at}containers`, 'a pod needs at least one container')]
      : []),
    ...containerValues(containers, `${at}containers`),
    ...containerValues(spec.initContainers, `${at}initContainers`),
  ]
}

export const show = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 80)

function containerValues(containers: unknown, at: string): readonly Found[] {
  if (!Array.isArray(containers)) return []
  const names = new Set<unknown>()
  return containers.flatMap((container: unknown, index) => {
    if (!isObject(container)) return []
    const { name, resources } = container
    const isTwice = name !== undefined && names.has(name)
    names.add(name)
    return [
      ...(isTwice ? [invalid(`${at}[${index}].name`, `two containers have the name ${show(name)}`)] : []),
      ...resourceValues(resources, `${at}[${index}].resources`),
    ]
  })
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

const WHOLE = 1_000_000_000n

function amountsIn(
  quantities: unknown,
  at: string,
): { readonly amounts: ReadonlyMap<string, bigint>; readonly found: readonly Found[] } {
  const counted = new Map<string, bigint>()
  const found: Found[] = []
  for (const [resource, quantity] of Object.entries(isObject(quantities) ? quantities : {})) {
    if ((typeof quantity !== 'string' && typeof quantity !== 'number') || isPlaceholder(String(quantity))) continue
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
