import type { Configuration } from '../../config/configuration.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { GROUP_SWITCHES, groupNameOf, groupNamePath } from '../../workload/group.ts'
import { isAdmissionGate, isPodGroupGate, QUEUE_MARK } from '../../workload/pod-facts.ts'
import type { Found } from './catalog.ts'
import { PREFIXES } from './known-keys.ts'

/** Why the queue label of an object that Muster could queue holds nothing back, by the word of its review. */
const HOLDS_NOTHING: Readonly<Record<string, string | undefined>> = {
  NamespaceNotSelected: 'its namespace is not among those that are queued',
  PodNotSelected: 'its labels are not among those of the pods that are queued',
  PodsNotEnabled: 'the configuration does not queue pods',
  ForeignController: 'another controller runs it (spec.managedBy)',
}

/** What its review makes pointless in an object. `reason` is the word of that review. */
export function effectFindings(object: KubeObject, reason: string): readonly Found[] {
  const why = Object.hasOwn(HOLDS_NOTHING, reason) ? HOLDS_NOTHING[reason] : undefined
  if (why === undefined || !QUEUE_MARK.of(object)) return []
  return [{ code: 'LabelWithoutEffect', message: `its queue label holds nothing back: ${why}`, field: QUEUE_MARK.path }]
}

export function podEffectFindings(pod: Pod, reason: string, config: Configuration): readonly Found[] {
  return [...groupFindings(pod, reason), ...gateFindings(pod, reason, config)]
}

function groupFindings(pod: Pod, reason: string): readonly Found[] {
  const isGrouped = groupNameOf(pod) !== undefined
  const without = (message: string, field: string): Found => ({ code: 'KeyWithoutEffect', message, field })
  const switches = GROUP_SWITCHES.flatMap(({ key, path, of }): readonly Found[] => {
    const value = of(pod)
    if (value === undefined) return []
    if (!isGrouped) return [without(`${key} counts for the pods of a group, and this pod is of none`, path)]
    if (value === 'true' || value === 'false') return []
    return [without(`${key} is either "true" or "false": anything else has no effect`, path)]
  })
  const why = Object.hasOwn(FORMS_NO_GROUP, reason) ? FORMS_NO_GROUP[reason] : undefined
  if (!isGrouped || why === undefined) return switches
  const remedy = reason === 'NoQueue' ? ': add the queue label' : ''
  return [without(`${why}, so nothing waits for its group${remedy}`, groupNamePath(pod)), ...switches]
}

/** Why pods that do not wait for themselves form no group, by the word of their review. */
const FORMS_NO_GROUP: Readonly<Record<string, string | undefined>> = {
  NoQueue: 'the pod asks for no queue',
  OwnerQueued: 'the pod waits with the object that makes it, and not by itself',
}

/** Whether what is said of a group counts: its pods wait for each other only where they wait for themselves. */
export const isAboutNobody = ({ code }: Found, reason: string): boolean =>
  code === 'GroupInvalid'
    ? reason === 'OwnerQueued'
    : code.startsWith('Group') && [...Object.keys(FORMS_NO_GROUP), ...Object.keys(HOLDS_NOTHING)].includes(reason)

/** Gates of Kueue's or Muster's name that nobody will lift: such a pod never starts. */
function gateFindings({ spec }: Pod, reason: string, { engine }: Configuration): readonly Found[] {
  const gates: unknown = spec.schedulingGates
  if (!Array.isArray(gates)) return []
  return gates.flatMap((gate: { readonly name?: unknown } | null, index): readonly Found[] => {
    const name = String(gate?.name)
    if (!PREFIXES.some(prefix => name.startsWith(prefix)) || isPodGroupGate(name)) return []
    const message = neverLifted(name, reason, engine)
    if (message === undefined) return []
    return [{ code: 'GateNeverLifted', message, field: `spec.schedulingGates[${index}].name` }]
  })
}

const TOPOLOGY_GATE = 'kueue.x-k8s.io/topology'

function neverLifted(gate: string, reason: string, engine: Configuration['engine']): string | undefined {
  if (isAdmissionGate(gate)) {
    if (reason !== 'NoQueue') return undefined
    return `nobody lifts the gate ${gate} of a pod that asks for no queue: add the queue label, or remove the gate`
  }
  return engine === 'kueue' && gate === TOPOLOGY_GATE ? undefined : `nobody lifts the gate ${gate}: remove it`
}
