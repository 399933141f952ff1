import type { AdmissionRequest, UserInfo } from '../../admission/review.ts'
import { allowed, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { parseGroup } from '../../workload/group.ts'
import { hasSuspendingParent, isMarkedManaged, queueOf } from '../../workload/pod-facts.ts'
import { guardVerdict, unlessBreakGlass } from '../exemption.ts'
import { queuesJobs } from '../jobs/scope.ts'
import { existingNamespaceSelected, namespaceOf } from '../namespace.ts'
import { hasHoldingController } from '../owners.ts'
import { queueErrors, uncountedWarnings } from '../queues.ts'
import { LARGE_BODY, QUEUEING, type Rule, type ServedKind, type Webhook } from '../webhook.ts'
import type { World } from '../world.ts'
import { claimErrors, forgedMarkErrors, ungatedErrors } from './claims.ts'
import { guardErrors } from './guard.ts'
import { gatePod } from './mutation.ts'
import { strangerErrors } from './placement.ts'
import { resizeErrors } from './resize.ts'
import { podScope, podsEnabled, type Scope } from './scope.ts'
import { shapeErrors } from './shape.ts'
import { updateErrors } from './update.ts'
import { createErrors, managedOwnerWarnings } from './validation.ts'

/** `/mutate/pods`: a new pod that is subject to queueing gets our gate, label, finalizer and its role. */
export function reviewPodMutation(request: AdmissionRequest, world: World): Verdict {
  if (request.operation !== 'CREATE' || request.subResource) return allowed('NotACreation')
  if (!isPodRequest(request)) return allowed('NotAPod')
  const malformed = shapeErrors(request.object)
  if (malformed.length > 0) return invalidObject(malformed)
  const pod = request.object as Pod
  return gatePod(pod, namespaceOf(request), request.userInfo, world)
}

/** `/validate/pods`: what a pod may say, how it may change, and who may change what is ours. */
export function reviewPodValidation(request: AdmissionRequest, world: World): Verdict {
  if (!isPodRequest(request)) return allowed('NotAPod')
  const concerned = podsEnabled(world.config) || (request.subResource === 'resize' && queuesJobs(world.config))
  if (!concerned) return allowed('PodsNotEnabled')
  if (request.subResource) return reviewSubresource(request, world)
  if (request.operation === 'CREATE') return reviewCreation(request, world)
  if (request.operation === 'UPDATE') return reviewUpdate(request, world)
  return allowed('NotOurs')
}

export const PODS: ServedKind = { group: '', version: 'v1', kind: 'Pod', resource: 'pods' }

const MUTATION_RULES: readonly Rule[] = [
  { of: PODS, operations: ['CREATE'], unseen: 'they start without waiting for admission' },
]

const VALIDATION_RULES: readonly Rule[] = [
  { of: PODS, operations: ['CREATE', 'UPDATE'], unseen: 'anyone may take the gates away' },
  // A pod that is resized asks for more than its workload will be, or was, admitted with.
  { of: PODS, subresource: 'resize', operations: ['UPDATE'], unseen: 'pods may grow beyond what is charged' },
  // Labels, annotations and finalizers can be changed through the status, too.
  {
    of: PODS,
    subresource: 'status',
    operations: ['UPDATE'],
    unseen: "anyone may change Muster's marks with the status",
  },
]

const COMMON = { isEnabled: podsEnabled, queueing: QUEUEING, threadAbove: LARGE_BODY }

export const POD_WEBHOOKS: readonly Webhook[] = [
  {
    name: 'mutate-pods',
    path: '/mutate/pods',
    mutating: true,
    rules: MUTATION_RULES,
    ...COMMON,
    review: reviewPodMutation,
  },
  {
    name: 'validate-pods',
    path: '/validate/pods',
    mutating: false,
    rules: VALIDATION_RULES,
    ...COMMON,
    review: unlessBreakGlass(reviewPodValidation),
  },
]

const isPodRequest = (request: AdmissionRequest): boolean => request.kind.kind === PODS.kind && !request.kind.group

function reviewCreation(request: AdmissionRequest, world: World): Verdict {
  const malformed = shapeErrors(request.object)
  if (malformed.length > 0) return invalidObject(malformed)
  const pod = request.object as Pod
  const namespace = namespaceOf(request)
  if (!existingNamespaceSelected(namespace, world)) return allowed('NamespaceNotSelected')

  const scope = scopeOfNewPod(pod, namespace, request.userInfo, world)
  const group = parseGroup(pod)
  const ours = scope.kind === 'ours'
  const errors = [
    ...createErrors(pod, group),
    ...(ours ? claimErrors(pod, namespace, request.userInfo, world) : []),
    ...strangerErrors(pod, namespace, ours),
  ]
  const { resourceClaims } = pod.spec
  const claims = Array.isArray(resourceClaims) && resourceClaims.length > 0
  const warnings = [
    ...managedOwnerWarnings(pod, request.userInfo, world),
    ...group.warnings,
    ...(ours ? uncountedWarnings(pod, [{ path: '', claims }], world) : []),
  ]
  if (errors.length > 0) return invalidObject(errors, warnings)
  if (scope.kind === 'denied') return { ...scope, warnings }
  if (scope.kind === 'ours') return verdictOf([...ungatedErrors(pod), ...queueErrors(pod, namespace, world)], warnings)
  // Kueue writes the label into the templates of what it holds back. Nobody here does, and a pod of a queued Job that
  // has it would pass for one that is queued itself: nothing would keep it with its Job.
  const byKueue = world.config.engine === 'kueue' && hasHoldingController(pod, request.userInfo, world)
  if (byKueue) return allowed('Valid', warnings)
  return guardVerdict(forgedMarkErrors(pod, scope.reason, world), warnings, request, world)
}

/** The same questions as the mutator's, since anybody can write what the mutator writes. */
function scopeOfNewPod(pod: Pod, namespace: string, user: UserInfo | undefined, world: World): Scope {
  const asks = queueOf(pod) !== '' || world.config.manageJobsWithoutQueueName
  return asks ? podScope(pod, namespace, user, world) : { kind: 'ignored', reason: 'NoQueue' }
}

function reviewUpdate(request: AdmissionRequest, world: World): Verdict {
  const malformed = [...shapeErrors(request.oldObject), ...shapeErrors(request.object)]
  if (malformed.length > 0) return invalidObject(malformed)
  const before = request.oldObject as Pod
  const after = request.object as Pod
  const namespace = namespaceOf(request)
  if (!existingNamespaceSelected(namespace, world)) return allowed('NamespaceNotSelected')

  const group = parseGroup(after)
  const errors = updateErrors(before, after, group, namespace, world)
  const warnings = [
    ...(hasSuspendingParent(after) ? [] : managedOwnerWarnings(after, request.userInfo, world)),
    ...group.warnings,
  ]
  if (errors.length > 0) return invalidObject(errors, warnings)
  const moves = isMarkedManaged(before) && queueOf(before) !== queueOf(after)
  const closed = moves ? queueErrors(after, namespace, world) : []
  if (closed.length > 0) return forbiddenRequest(closed, warnings)
  return guardVerdict(guardErrors(before, after, world), warnings, request, world)
}

/**
 * Ephemeral containers and eviction belong to others. So does status, but for one thing: the API server takes changes of
 * labels, annotations and finalizers through `pods/status` too, and there they are what they are. Through `pods/resize`
 * and `pods/ephemeralcontainers` it takes none.
 */
function reviewSubresource(request: AdmissionRequest, world: World): Verdict {
  const { subResource, operation, object, oldObject } = request
  if (operation !== 'UPDATE' || (subResource !== 'resize' && subResource !== 'status')) return allowed('NotOurs')
  if (shapeErrors(oldObject).length > 0 || shapeErrors(object).length > 0) return allowed('NotOurs')
  const [before, after] = [oldObject as Pod, object as Pod]
  if (subResource === 'resize') return guardVerdict(resizeErrors(before, after, world), [], request, world)
  return metadataChanged(before, after) ? reviewUpdate(request, world) : allowed('NotOurs')
}

function metadataChanged({ metadata: before }: Pod, { metadata: after }: Pod): boolean {
  return (
    differ(before.labels, after.labels) ||
    differ(before.annotations, after.annotations) ||
    differ(before.finalizers, after.finalizers)
  )
}

type Flat = Readonly<Record<string, string>> | readonly string[] | null | undefined

function differ(before: Flat, after: Flat): boolean {
  const [was, is] = [Object.entries(before ?? {}), Object.entries(after ?? {})]
  return was.length !== is.length || was.some(([key, value]) => (after as Record<string, unknown>)[key] !== value)
}

function verdictOf(errors: readonly FieldError[], warnings: readonly string[]): Verdict {
  return errors.length > 0 ? forbiddenRequest(errors, warnings) : allowed('Valid', warnings)
}
