import type { AdmissionRequest } from '../../admission/review.ts'
import { NAMESPACE_NAME_LABEL } from '../../kube/vocabulary/names.ts'
import { matchesSelector } from '../../kube/vocabulary/selectors.ts'
import type { Allowance } from '../../validation/jobs/job-allow.ts'
import { namespaceOf } from '../namespace.ts'
import type { World } from '../world.ts'

/** The first entry whose selector matches the namespace replaces the general list; nothing is merged. */
export function allowanceFor(request: AdmissionRequest, world: World): Allowance {
  const namespace = namespaceOf(request)
  const { allow, namespaces } = world.config.jobs.scheduling
  if (namespaces.length > 0) {
    const found = world.namespace(namespace)
    const labels = found === 'absent' ? { [NAMESPACE_NAME_LABEL]: namespace } : found.labels
    const index = namespaces.findIndex(({ selector }) => matchesSelector(selector, labels))
    const entry = namespaces[index]
    if (entry !== undefined) return { allow: entry.allow, from: `jobs.scheduling.namespaces[${index}].allow` }
  }
  return { allow, from: 'jobs.scheduling.allow' }
}
