import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, invalidObject, type Verdict } from '../../admission/verdict.ts'
import type { Configuration } from '../../config/configuration.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { groupReferenceOf } from '../../workload/group-reference.ts'
import { isOurPodGroupName } from '../../workload/placement.ts'
import { awaitsPodGroup, kaiLinkOf, podGroupMarkOf } from '../../workload/pod-facts.ts'
import { breaksGlass, guardVerdict, isExempt, unlessBreakGlass } from '../exemption.ts'
import { namespaceOf } from '../namespace.ts'
import { PODS } from '../pods/pods.ts'
import { shapeErrors } from '../pods/shape.ts'
import { isCalledFor, LARGE_BODY, type Rule, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { changedPodErrors, newPodErrors } from './guard.ts'
import { holdPod, restoreLinks } from './mutation.ts'
import { kaiEnabled } from './scope.ts'

/** `/mutate/pod-groups`: pods of KAI that name a group wait for it, and their link to it stays what it is. */
export function reviewPodGroupMutation(request: AdmissionRequest, world: World): Verdict {
  if (!isCalledFor({ rules: MUTATION_RULES }, request)) return allowed('NotOurs')
  const malformed = [...shapeErrors(request.object), ...oldShapeErrors(request)]
  if (malformed.length > 0) return invalidObject(malformed)
  const pod = request.object as Pod
  if (request.operation === 'CREATE') return holdPod(pod, namespaceOf(request), world)
  const before = request.oldObject as Pod
  const isFree = podGroupMarkOf(before) === undefined || isExempt(request.userInfo, world)
  if (isFree || breaksGlass(request.userInfo)) return allowed('NotOurs')
  return restoreLinks(before, pod)
}

/** `/validate/pod-groups`: the gate, the mark and the link are Muster's, by whatever way somebody writes to the pod. */
export function reviewPodGroupValidation(request: AdmissionRequest, world: World): Verdict {
  if (!isCalledFor({ rules: VALIDATION_RULES }, request)) return allowed('NotOurs')
  const malformed = [...shapeErrors(request.object), ...oldShapeErrors(request)]
  if (malformed.length > 0) return invalidObject(malformed)
  const pod = request.object as Pod
  const errors =
    request.operation === 'CREATE'
      ? newPodErrors(pod, namespaceOf(request), world)
      : changedPodErrors(request.oldObject as Pod, pod, world)
  return guardVerdict(errors, [], request, world)
}

const oldShapeErrors = ({ operation, oldObject }: AdmissionRequest) =>
  operation === 'UPDATE' ? shapeErrors(oldObject) : []

/** What the match conditions of the installed webhooks say: other pods are never sent, and not asked about offline. */
function concerns({ object, oldObject }: AdmissionRequest, { coScheduling }: Configuration): boolean {
  const pods = [object, oldObject].filter(pod => shapeErrors(pod).length === 0) as unknown as readonly Pod[]
  return pods.some(
    pod =>
      podGroupMarkOf(pod) !== undefined ||
      awaitsPodGroup(pod) ||
      isOurPodGroupName(kaiLinkOf(pod) ?? '') ||
      (pod.spec.schedulerName === coScheduling.kai.schedulerName && groupReferenceOf(pod) !== undefined),
  )
}

const MUTATION_RULES: readonly Rule[] = [
  { of: PODS, operations: ['CREATE', 'UPDATE'], unseen: 'KAI places them one by one, whatever group they name' },
]

const VALIDATION_RULES: readonly Rule[] = [
  { of: PODS, operations: ['CREATE', 'UPDATE'], unseen: 'anyone may take their gates away' },
  // Labels and annotations can be changed through the status, too.
  { of: PODS, subresource: 'status', operations: ['UPDATE'], unseen: 'anyone may bend their links with the status' },
]

const COMMON = { isEnabled: kaiEnabled, threadAbove: LARGE_BODY, concerns }

export const POD_GROUP_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'mutate-pod-groups',
    path: '/mutate/pod-groups',
    mutating: true,
    rules: MUTATION_RULES,
    ...COMMON,
    review: reviewPodGroupMutation,
  },
  {
    name: 'validate-pod-groups',
    path: '/validate/pod-groups',
    mutating: false,
    rules: VALIDATION_RULES,
    ...COMMON,
    review: unlessBreakGlass(reviewPodGroupValidation),
  },
]
