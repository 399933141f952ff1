import { TOPOLOGY_GATE } from '../../kube/vocabulary/kueue.ts'
import { UNCONSTRAINED_TOPOLOGY } from '../../kube/vocabulary/names.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import type { Misplaced } from '../../reconciler/engine.ts'
import { updateOf } from '../../workload/pod-set-update.ts'
import type { PodSetUpdate } from '../../workload/queued-workload.ts'
import type { KueueSettings } from './background.ts'
import type { AdmissionCheckState, KueueAssignment, KueuePodSet, KueueWorkload } from './objects.ts'

const MAPS = ['labels', 'annotations', 'nodeSelector'] as const
type Part = Pick<PodSetUpdate, (typeof MAPS)[number] | 'tolerations'>

/**
 * What an admission by Kueue gives the pods of a podSet: the marks by which others account for them, the node labels and
 * tolerations of its flavors, and what the admission checks add. Kueue lets the last flavor win where two contradict
 * each other, in random order; here nobody does, and it is said. What Kueue places by topology it places pod by pod behind
 * a second gate, which is left to it; else that gate, where there is one, has no meaning.
 */
export function placementBy(
  settings: Pick<KueueSettings, 'flavor'>,
): (workload: KueueWorkload, podSet: KueuePodSet) => PodSetUpdate | Misplaced {
  return (workload, podSet) => {
    const assigned = workload.status?.admission?.podSetAssignments.find(({ name }) => name === podSet.name)
    const parts: Part[] = [updateOf(workload, podSet), ...(assigned?.topologyAssignment ? unasked(podSet) : [])]
    for (const flavor of flavorsOf(assigned)) {
      const known = settings.flavor(flavor)
      // A deleted flavor stays until nobody uses it, so this one is new, or its watch is late.
      if (known === undefined)
        return { problem: `ResourceFlavor ${flavor} of its admission is not there`, passing: true }
      const { nodeLabels, tolerations } = known.spec ?? {}
      parts.push({ ...(nodeLabels && { nodeSelector: nodeLabels }), ...(tolerations && { tolerations }) })
    }
    for (const check of workload.status?.admissionChecks ?? []) parts.push(...updatesFor(check, podSet.name))
    const update = merged(parts)
    if ('problem' in update) return update
    return {
      ...update,
      ...(assigned?.topologyAssignment ? { placedBehind: TOPOLOGY_GATE } : { gates: [TOPOLOGY_GATE] }),
    }
  }
}

/** Who did not ask for a topology is placed by one where his flavor has one: Kueue knows such pods by this alone. */
function unasked({ topologyRequest }: KueuePodSet): readonly Part[] {
  const { required, preferred, unconstrained } = topologyRequest ?? {}
  const asked = required !== undefined || preferred !== undefined || unconstrained !== undefined
  return asked ? [] : [{ annotations: { [UNCONSTRAINED_TOPOLOGY]: 'true' } }]
}

const flavorsOf = (assigned: KueueAssignment | undefined): readonly string[] =>
  [...new Set(Object.values(assigned?.flavors ?? {}))].sort()

const updatesFor = ({ podSetUpdates }: AdmissionCheckState, podSet: string): readonly Part[] =>
  (podSetUpdates ?? []).filter(({ name }) => name === podSet)

function merged(parts: readonly Part[]): PodSetUpdate | Misplaced {
  const update: { -readonly [key in keyof Part]: Part[key] } = {}
  for (const part of parts) {
    for (const map of MAPS) {
      const [known, more] = [update[map] ?? {}, part[map] ?? {}]
      const problem = contradiction(map, known, more)
      if (problem !== undefined) return { problem }
      if (Object.keys(more).length > 0) update[map] = { ...known, ...more }
    }
    if (part.tolerations) update.tolerations = [...(update.tolerations ?? []), ...part.tolerations]
  }
  return update
}

function contradiction(map: string, known: StringMap, more: StringMap): string | undefined {
  const key = Object.keys(more).find(key => Object.hasOwn(known, key) && known[key] !== more[key])
  if (key === undefined) return undefined
  return `conflict for ${map}: its flavors and admission checks want both ${key}=${known[key]} and ${key}=${more[key]}`
}
