import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'

/** What an API server stores a PodGroup without, and without a word, where the feature gate for it is off. */
const GATED = [
  { field: 'schedulingConstraints', list: 'topology', what: 'topology', gate: 'TopologyAwareWorkloadScheduling' },
  { field: 'resourceClaims', list: undefined, what: 'resource claims', gate: 'DRAWorkloadResourceClaims' },
] as const

/** What was asked for in a PodGroup and is not in the one that is stored, in a sentence for a person each. */
export function droppedFrom(name: string, wanted: object | undefined, stored: object | undefined): readonly string[] {
  return GATED.filter(({ field, list }) => asksFor(wanted, field, list) && !asksFor(stored, field, list)).map(
    ({ what, gate }) =>
      `PodGroup ${name} is stored without the ${what} that it was to ask for, and its pods are placed without: switch ` +
      `on the feature gate ${gate} of the API server and of the scheduler`,
  )
}

function asksFor(spec: object | undefined, field: string, list: string | undefined): boolean {
  const { [field]: value } = (spec ?? {}) as Fields
  const found = list !== undefined && isObject(value) ? value[list] : value
  return Array.isArray(found) && found.length > 0
}
