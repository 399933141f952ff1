import type { Pod, Requests } from '../kube/vocabulary/objects.ts'
import type { PodSet } from './queued-workload.ts'
import { overdraft, requestsIn, requestsOf } from './requests.ts'

/** What a podSet is charged with for each of its pods. */
export const chargeOf = (podSet: PodSet): Requests => requestsIn(podSet.template?.spec)

/**
 * Why the pod is not covered by what its podSet is charged with; undefined if it is. One pod's shape, or an announced
 * one, stands for all of a podSet, and nothing but this holds the others to it: a role is a name, and the hash of a
 * shape is 32 bits of it, in which a sidecar looks like an init container.
 */
export function uncovered(pod: Pod, podSet: PodSet, charge: Requests = chargeOf(podSet)): string | undefined {
  const asked = requestsOf(pod)
  if ('problem' in asked) return `asks for what cannot be read: ${asked.problem}`
  if ('problem' in charge) return `belongs to podSet ${podSet.name}, whose requests cannot be read: ${charge.problem}`
  const beyond = overdraft(asked.amounts, charge.amounts)
  if (beyond === undefined) return undefined
  const { resource, asked: own, charged } = beyond
  return `asks for ${own} ${resource}, and podSet ${podSet.name} is charged with ${charged} for each of its pods`
}
