import { hash } from 'node:crypto'
import type { Fields } from '../kube/vocabulary/fields.ts'
import type { PodSpec } from '../kube/vocabulary/objects.ts'
import { canonicalQuantity } from '../kube/vocabulary/quantities.ts'
import { type Encode, integer, list, map, pointer, struct, text } from './canonical-json.ts'
import { requestsUnder } from './role-parts.ts'

/**
 * The role of a pod in its group: the first eight hex digits of the SHA-256 of what matters for admission in its
 * spec. Pods with equal hashes are interchangeable, so they share a podSet. Bit for bit Kueue's hash
 * (pkg/util/pod GenerateRoleHash), because groups may have members that Kueue stamped.
 *
 * Field lists below are in the order of the Go declarations in k8s.io/api/core/v1.
 */
const quantity: Encode = value => {
  const written = typeof value === 'number' ? String(value) : value
  if (typeof written !== 'string') return '"0"'
  return text(ALREADY_CANONICAL.test(written) ? written : canonical(written))
}

/** What nearly every request looks like, `2`, `500m` or `8Gi`, is its own canonical form. */
const ALREADY_CANONICAL = /^[1-9][0-9]{0,2}([mkMGT]|[KMGT]i)?$/

/** The API server refuses a pod with a quantity it can't read, so such a pod's hash is never used. */
function canonical(value: string): string {
  try {
    return canonicalQuantity(value)
  } catch {
    return value
  }
}

const strings = list(text)
const stringMap = map(text)
const quantities = map(quantity)

const ports = list(
  struct(
    ['name', text, 'zero'],
    ['hostPort', integer, 'zero'],
    ['containerPort', integer, 'never'],
    ['protocol', text, 'zero'],
    ['hostIP', text, 'zero'],
  ),
)

const tolerations = list(
  struct(
    ['key', text, 'zero'],
    ['operator', text, 'zero'],
    ['value', text, 'zero'],
    ['effect', text, 'zero'],
    ['tolerationSeconds', integer, 'nil'],
  ),
)

const requirements = list(struct(['key', text, 'never'], ['operator', text, 'never'], ['values', strings, 'zero']))

const labelSelector = struct(['matchLabels', stringMap, 'zero'], ['matchExpressions', requirements, 'zero'])

const nodeSelectorTerm = struct(['matchExpressions', requirements, 'zero'], ['matchFields', requirements, 'zero'])

const nodeAffinity = struct(
  [
    'requiredDuringSchedulingIgnoredDuringExecution',
    struct(['nodeSelectorTerms', list(nodeSelectorTerm), 'never']),
    'nil',
  ],
  [
    'preferredDuringSchedulingIgnoredDuringExecution',
    list(struct(['weight', integer, 'never'], ['preference', nodeSelectorTerm, 'never'])),
    'zero',
  ],
)

const podAffinityTerm = struct(
  ['labelSelector', labelSelector, 'nil'],
  ['namespaces', strings, 'zero'],
  ['topologyKey', text, 'never'],
  ['namespaceSelector', labelSelector, 'nil'],
  ['matchLabelKeys', strings, 'zero'],
  ['mismatchLabelKeys', strings, 'zero'],
)

const podAffinity = struct(
  ['requiredDuringSchedulingIgnoredDuringExecution', list(podAffinityTerm), 'zero'],
  [
    'preferredDuringSchedulingIgnoredDuringExecution',
    list(struct(['weight', integer, 'never'], ['podAffinityTerm', podAffinityTerm, 'never'])),
    'zero',
  ],
)

const affinity = pointer(
  struct(
    ['nodeAffinity', nodeAffinity, 'nil'],
    ['podAffinity', podAffinity, 'nil'],
    ['podAntiAffinity', podAffinity, 'nil'],
  ),
)

const spreadConstraints = list(
  struct(
    ['maxSkew', integer, 'never'],
    ['topologyKey', text, 'never'],
    ['whenUnsatisfiable', text, 'never'],
    ['labelSelector', labelSelector, 'nil'],
    ['minDomains', integer, 'nil'],
    ['nodeAffinityPolicy', text, 'nil'],
    ['nodeTaintsPolicy', text, 'nil'],
    ['matchLabelKeys', strings, 'zero'],
  ),
)

const resourceClaims = list(
  struct(['name', text, 'never'], ['resourceClaimName', text, 'nil'], ['resourceClaimTemplateName', text, 'nil']),
)

/** Kueue builds this list by appending, so even a present but empty list of containers is `null`. */
function containers(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return 'null'
  let out = ''
  for (const container of value) {
    const { ports: open, resources } = (container ?? {}) as Record<string, unknown>
    if (out !== '') out += ','
    out += `{"ports":${ports(open)},"resources":{"requests":${quantities(requestsUnder(resources))}}}`
  }
  return `[${out}]`
}

/** The text under the hash: the keys are sorted, as Go sorts the keys of a map. */
export function roleShape(podSpec: PodSpec): string {
  const spec = podSpec as Fields
  const podLevel = spec.resources
  // Only there when set, so that hashes of pods without pod-level resources stayed what they were before KEP-2837.
  const resources =
    podLevel === undefined || podLevel === null ? '' : `"resources":${quantities(requestsUnder(podLevel))},`
  return (
    `{"spec":{"affinity":${affinity(spec.affinity)},"containers":${containers(spec.containers)},` +
    `"initContainers":${containers(spec.initContainers)},"nodeSelector":${stringMap(spec.nodeSelector)},` +
    `"overhead":${quantities(spec.overhead)},"priority":${pointer(integer)(spec.priority)},` +
    `"resourceClaims":${resourceClaims(spec.resourceClaims)},${resources}` +
    `"runtimeClassName":${pointer(text)(spec.runtimeClassName)},"tolerations":${tolerations(spec.tolerations)},` +
    `"topologySpreadConstraints":${spreadConstraints(spec.topologySpreadConstraints)}}}`
  )
}

export const shapeHash = (shape: string): string => hash('sha256', shape).slice(0, 8)

export const roleHash = (spec: PodSpec): string => shapeHash(roleShape(spec))
