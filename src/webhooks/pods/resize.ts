import type { Pod } from '../../kube/vocabulary/objects.ts'
import { type FieldError, forbidden, invalid } from '../../validation/field-error.ts'
import { isGated, podSetOf } from '../../workload/pod-facts.ts'
import { overdraft, requestsIn } from '../../workload/requests.ts'
import { whoMay } from '../exemption.ts'
import { queuesJobs } from '../jobs/scope.ts'
import type { World } from '../world.ts'
import { isGuarded } from './guard.ts'

const PATH = 'spec.containers'

/**
 * `pods/resize`: a pod that grows behind its gate is admitted with less than it will use, and one that grows after its
 * admission uses what nobody has charged. What a pod gives back stays charged to its Workload, and the request says
 * nothing of that: so what has been given up by a resize does not come back by another.
 */
export function resizeErrors(before: Pod, after: Pod, world: World): readonly FieldError[] {
  if (!isGuarded(before) && !isOfStartedJob(before, world)) return []
  if (isGated(before)) {
    const detail = 'a pod that waits for admission keeps the size it asked for: delete it and create it anew'
    return [forbidden(PATH, `${detail}; ${whoMay(world)}`)]
  }
  const [was, is] = [requestsIn(before.spec), requestsIn(after.spec)]
  if ('problem' in is) return [invalid(PATH, '', is.problem)]
  const grown = overdraft(is.amounts, 'problem' in was ? new Map() : was.amounts)
  if (grown === undefined) return []
  const detail =
    `the pod has ${grown.charged} ${grown.resource} of its queue and would use ${grown.asked}: ` +
    'an admitted pod may shrink and not grow; create a larger one'
  return [forbidden(PATH, `${detail}; ${whoMay(world)}`)]
}

/** The Job was charged with what its template asks for, and its pods carry the mark of that and no other of ours. */
const isOfStartedJob = (pod: Pod, { config }: World): boolean => podSetOf(pod) !== undefined && queuesJobs(config)
