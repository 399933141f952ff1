import type { AdmissionRequest } from '../../admission/review.ts'
import { allowed, forbiddenRequest, invalidObject, type Verdict } from '../../admission/verdict.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { childOf } from '../../workload/job-facts.ts'
import { queueOf } from '../../workload/pod-facts.ts'
import { guardVerdict } from '../exemption.ts'
import { existingNamespaceSelected, namespaceOf } from '../namespace.ts'
import { queueErrors, uncountedWarnings } from '../queues.ts'
import type { World } from '../world.ts'
import { childErrors } from './children.ts'
import { type QueueableKind, queueableKindOf } from './kinds.ts'
import {
  claimErrors,
  guardErrors,
  newTemplateErrors,
  statusErrors,
  templateErrors,
  unqueuedErrors,
  unstampedErrors,
} from './queue-guard.ts'
import { createErrors, updateErrors } from './queue-rules.ts'
import { existingJobScope, newJobScope, queuesKind } from './scope.ts'
import { type QueueableObject, requestErrors } from './shape.ts'
import { podTemplatesOf } from './size.ts'

/** What a Job or JobSet may say of its queue, how that may change, and who may start it. */
export function reviewQueueing(request: AdmissionRequest, world: World): Verdict {
  const kind = queueableKindOf(request)
  if (kind === undefined || !queuesKind(kind, world)) return allowed('KindNotQueued')
  const { operation, subResource } = request
  const malformed = requestErrors(request, kind)
  if (malformed.length > 0) return invalidObject(malformed)
  if (!existingNamespaceSelected(namespaceOf(request), world)) return allowed('NamespaceNotSelected')
  if (operation === 'CREATE') return subResource ? allowed('NotOurs') : reviewCreation(request, kind, world)
  return reviewUpdate(request, kind, world)
}

function reviewCreation(request: AdmissionRequest, kind: QueueableKind, world: World): Verdict {
  const object = request.object as QueueableObject
  const namespace = namespaceOf(request)
  const errors = createErrors(object, kind, world)
  if (errors.length > 0) return verdictOf(errors)
  // A default queue is given by the mutation: where that has not been asked there is none, but for who has its stamp.
  const asks = queueOf(object) !== '' || childOf(object) !== undefined || world.config.manageJobsWithoutQueueName
  const scope = asks
    ? newJobScope(object, kind, namespace, request.userInfo, world)
    : ({ kind: 'ignored', reason: 'NoQueue' } as const)
  if (scope.kind === 'denied') return scope
  const claimed = claimErrors(object, scope)
  if (scope.kind === 'ours') {
    const templates = templateErrors(object, kind)
    const wrong = [...unqueuedErrors(object, kind), ...templates, ...claimed, ...queueErrors(object, namespace, world)]
    return verdictOf(wrong, uncountedWarnings(object, podTemplatesOf(object, kind), world))
  }
  const missing = scope.kind === 'child' ? unstampedErrors(object, scope.root) : []
  return guardVerdict([...missing, ...claimed], [], request, world)
}

function reviewUpdate(request: AdmissionRequest, kind: QueueableKind, world: World): Verdict {
  const [before, after] = [request.oldObject as QueueableObject, request.object as QueueableObject]
  const namespace = namespaceOf(request)
  const errors = updateErrors(before, after, kind, namespace, world)
  if (errors.length > 0) return verdictOf(errors)
  const moves = queueOf(before) !== queueOf(after) && existingJobScope(after, kind, namespace, world).kind === 'ours'
  const closed = moves ? queueErrors(after, namespace, world) : []
  if (closed.length > 0) return forbiddenRequest(closed)
  const change = { before, after, kind, namespace, user: request.userInfo }
  const isOwn = existingJobScope(before, kind, namespace, world).kind === 'ours'
  const guarded = [
    ...guardErrors(change, world),
    ...newTemplateErrors(change),
    ...(isOwn ? [] : childErrors(change, world)),
    ...(request.subResource === 'status' ? statusErrors(change, world) : []),
  ]
  return guardVerdict(guarded, [], request, world)
}

/** 422 for an object that is wrong, 403 for one that is not allowed here. */
function verdictOf(errors: readonly FieldError[], warnings: readonly string[] = []): Verdict {
  if (errors.length === 0) return allowed('Valid', warnings)
  return errors.some(({ type }) => type === 'Invalid' || type === 'TooLong')
    ? invalidObject(errors)
    : forbiddenRequest(errors)
}
