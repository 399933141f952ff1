import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, type Verdict } from '../../admission/verdict.ts'
import { isGarbageCollector } from '../creators.ts'
import { guardVerdict, unlessBreakGlass, whoMay } from '../exemption.ts'
import { LARGE_BODY, type Rule, type ServedKind, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { changeErrors, creationErrors, ownerErrors } from './guard.ts'

/**
 * `/validate/workloads`: who holds quota, and how much of it, stands in the Workloads of the built-in engine, so nobody
 * else writes it, whatever RBAC says. Deletion is whom RBAC lets delete: what runs on it is stopped, and what waits gets another one.
 */
export function reviewWorkloadValidation(request: AdmissionRequest, world: World): Verdict {
  const { kind, operation, subResource, oldObject, object, userInfo } = request
  if (kind.kind !== WORKLOADS.kind || kind.group !== WORKLOADS.group) return allowed('NotAWorkload')
  const only = whoMay(world)
  if (operation === 'CREATE' && !subResource) return guardVerdict(creationErrors(only), [], request, world)
  if (operation !== 'UPDATE' || (subResource && subResource !== 'status')) return allowed('NotOurs')
  const errors = [
    ...changeErrors(oldObject, object, only),
    ...(isGarbageCollector(userInfo) ? [] : ownerErrors(oldObject, object, only)),
  ]
  return guardVerdict(errors, [], request, world)
}

const WORKLOADS: ServedKind = { group: 'muster.dev', version: 'v1alpha1', kind: 'Workload', resource: 'workloads' }

const RULES: readonly Rule[] = [
  { of: WORKLOADS, operations: ['CREATE', 'UPDATE'], unseen: 'anyone may change what they hold' },
  { of: WORKLOADS, subresource: 'status', operations: ['UPDATE'], unseen: 'anyone may admit and finish them' },
]

export const WORKLOAD_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'validate-workloads',
    path: '/validate/workloads',
    mutating: false,
    rules: RULES,
    threadAbove: LARGE_BODY,
    review: unlessBreakGlass(reviewWorkloadValidation),
  },
]
