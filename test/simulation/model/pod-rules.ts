import { equal } from './patches.ts'
import type { Stored } from './server.ts'

type Spec = Readonly<Record<string, unknown>> & {
  readonly schedulingGates?: readonly { readonly name: string }[]
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly tolerations?: readonly unknown[]
}

/** What the API server lets change in the spec of a pod (ValidatePodUpdate), as far as anybody here tries. */
export function podUpdateProblem(before: Stored, after: Stored): string | undefined {
  const [was, is] = [before.spec as Spec, after.spec as Spec]
  if (was === is || equal(was, is)) return undefined
  const gatesWere = (was.schedulingGates ?? []).map(gate => gate.name)
  const added = (is.schedulingGates ?? []).filter(gate => !gatesWere.includes(gate.name))
  if (added.length > 0) return 'spec.schedulingGates: Forbidden: only deletion is allowed'
  if (!keepsEntries(was.nodeSelector, is.nodeSelector, gatesWere.length > 0)) {
    return 'spec.nodeSelector: Invalid value: only additions are allowed, and only while the pod is gated'
  }
  const tolerations = is.tolerations ?? []
  if ((was.tolerations ?? []).some(old => !tolerations.some(kept => equal(old, kept)))) {
    return 'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'
  }
  const rest = ({ schedulingGates: _, nodeSelector: __, tolerations: ___, ...others }: Spec) => others
  return equal(rest(was), rest(is)) ? undefined : 'spec: Forbidden: pod updates may not change fields other than these'
}

function keepsEntries(was: Spec['nodeSelector'] = {}, is: Spec['nodeSelector'] = {}, gated: boolean): boolean {
  if (Object.entries(was).some(([key, value]) => is[key] !== value)) return false
  return gated || Object.keys(is).length === Object.keys(was).length
}
