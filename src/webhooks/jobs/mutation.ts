import { applyPatch, type PatchOperation, pointer } from '../../admission/patch.ts'
import type { AdmissionRequest, UserInfo } from '../../admission/review.ts'
import { type Allowed, allowed, both, invalidObject, patched, type Verdict } from '../../admission/verdict.ts'
import { CHILD_OF, HELD, QUEUE_NAME, QUEUED, STOPPING } from '../../kube/vocabulary/names.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import { childOf, isHeld, isQueued, isStopping, isSuspended } from '../../workload/job-facts.ts'
import { isDeleting, queueLabelOf } from '../../workload/pod-facts.ts'
import { breaksGlass, isExempt } from '../exemption.ts'
import { namespaceOf } from '../namespace.ts'
import type { World } from '../world.ts'
import { reviewGrouping } from './grouping.ts'
import { type QueueableKind, queueableKindOf } from './kinds.ts'
import { put } from './put.ts'
import { keepLate, replaceLate } from './replacement.ts'
import { existingJobScope, newJobScope } from './scope.ts'
import { type QueueableObject, requestErrors } from './shape.ts'

/** `/mutate/jobs`: what is subject to queueing is suspended, and the pods of what is grouped get the name of their group. */
export function reviewJobMutation(request: AdmissionRequest, world: World): Verdict {
  const queueing = reviewQueueing(request, world)
  if (queueing.kind === 'denied') return queueing
  const object = queueing.patch.length === 0 ? request.object : applyPatch(request.object, queueing.patch)
  const grouping = reviewGrouping({ ...request, object }, world)
  const isGrouped = grouping.kind === 'allowed' && grouping.patch.length > 0
  return both(isGrouped && queueing.patch.length === 0 ? { ...queueing, reason: grouping.reason } : queueing, grouping)
}

/** A Job or JobSet that is subject to queueing is suspended, and its user's wishes are put in order. */
function reviewQueueing(request: AdmissionRequest, world: World): Verdict {
  const { operation, subResource, object, oldObject, userInfo } = request
  const kind = queueableKindOf(request)
  if (kind === undefined) return allowed('NotAJob')
  if (subResource || (operation !== 'CREATE' && operation !== 'UPDATE')) return allowed('NotOurs')
  const malformed = requestErrors(request, kind)
  if (malformed.length > 0) return invalidObject(malformed)
  const [before, after] = [oldObject as QueueableObject, object as QueueableObject]
  const namespace = namespaceOf(request)
  if (operation === 'CREATE') return queueNew(after, kind, namespace, userInfo, world)
  return queueAgain(before, after, kind, namespace, userInfo, world)
}

/** Suspended at creation means queued, whoever suspended it: to wait is what both ask for. */
function queueNew(
  object: QueueableObject,
  kind: QueueableKind,
  namespace: string,
  user: UserInfo | undefined,
  world: World,
): Verdict {
  const scope = newJobScope(object, kind, namespace, user, world)
  if (scope.kind === 'denied') return scope
  if (scope.kind === 'ignored') return allowed(scope.reason)
  if (scope.kind === 'child') {
    // Another's stamp stays where it is, and the validator refuses it.
    const stamp = childOf(object) === undefined ? annotate(object, { [CHILD_OF]: scope.root }) : []
    return stamp.length === 0 ? allowed('OwnerQueued') : patched('OwnerQueued', stamp)
  }
  const patch = [
    ...(queueLabelOf(object) === scope.queue ? [] : label(object, { [QUEUE_NAME]: scope.queue })),
    ...takeIn(object),
    ...suspend(object),
    ...(replacesLate(world) ? replaceLate(object, kind) : []),
  ]
  return patch.length === 0 ? allowed('AlreadyQueued') : patched('Queued', patch)
}

/**
 * Only Muster starts what waits. A user who writes `suspend: false` says that he wants it to run, and it waits for that
 * already: manifests that say so can be applied again. One who suspends what runs wants it to stop, and no queue starts
 * it against his will.
 */
function queueAgain(
  before: QueueableObject,
  after: QueueableObject,
  kind: QueueableKind,
  namespace: string,
  user: UserInfo | undefined,
  world: World,
): Verdict {
  if (childOf(before) !== undefined) return allowed('OwnerQueued')
  const scope = existingJobScope(after, kind, namespace, world)
  if (scope.kind !== 'ours') return allowed(scope.kind === 'child' ? 'OwnerQueued' : scope.reason)
  if (isDeleting(before)) return allowed('Deleting')
  if (isExempt(user, world) || breaksGlass(user)) return allowed('Exempt')
  const kept = replacesLate(world) ? keepLate(before, after, kind) : []
  // What comes into its queue now, and not when it was created, has not got it yet.
  const late = replacesLate(world) && !isQueued(before) ? replaceLate(after, kind) : kept
  if (!isSuspended(before)) {
    if (!isSuspended(after)) return kept.length === 0 ? allowed('Running') : patched('Running', kept)
    const wasOurs = existingJobScope(before, kind, namespace, world).kind === 'ours'
    // Who writes the label and suspends it at once wants it to wait, and it did not wait before.
    return wasOurs ? held(after, kind, kept) : queued(after, [], late)
  }
  if (isSuspended(after)) return queued(after, [], late)
  const wait = scope.queue === '' ? 'for somebody to name its queue' : `in queue "${scope.queue}"`
  const back = isHeld(before) ? 'is no longer held and ' : ''
  const told = `spec.suspend: this ${kind.kind} ${back}waits ${wait}; it stays suspended until Muster admits it`
  return queued(
    after,
    [told],
    [...late, ...(isHeld(after) ? [{ op: 'remove' as const, path: annotationAt(HELD) }] : [])],
  )
}

function queued(object: QueueableObject, warnings: readonly string[], also: readonly PatchOperation[] = []): Allowed {
  const patch = [...also, ...takeIn(object), ...suspend(object)]
  return patch.length === 0 ? allowed('AlreadyQueued', warnings) : patched('Queued', patch, warnings)
}

function held(object: QueueableObject, { kind }: QueueableKind, also: readonly PatchOperation[]): Allowed {
  const told =
    `spec.suspend: this ${kind} is held: it gives its place back, and waits in its queue again when you set ` +
    'spec.suspend to false'
  // If he changes his mind before the reconciler has looked, it still knows that the Job was stopped.
  const marks = {
    ...(!isQueued(object) && { [QUEUED]: 'true' }),
    ...(!isHeld(object) && { [HELD]: 'true' }),
    ...(!isStopping(object) && { [STOPPING]: 'true' }),
  }
  const patch = [...also, ...annotate(object, marks)]
  return patch.length === 0 ? allowed('Held', [told]) : patched('Held', patch, [told])
}

const replacesLate = ({ config }: World): boolean => config.guard.podReplacement === 'Failed'

const takeIn = (object: QueueableObject): readonly PatchOperation[] =>
  isQueued(object) ? [] : annotate(object, { [QUEUED]: 'true' })

function suspend({ spec }: QueueableObject): readonly PatchOperation[] {
  return spec.suspend === true ? [] : [{ op: 'add', path: pointer('spec', 'suspend'), value: true }]
}

const annotationAt = (key: string): string => pointer('metadata', 'annotations', key)

const annotate = ({ metadata }: QueueableObject, wanted: StringMap): readonly PatchOperation[] =>
  put(metadata.annotations, ['metadata', 'annotations'], wanted)

const label = ({ metadata }: QueueableObject, wanted: StringMap): readonly PatchOperation[] =>
  put(metadata.labels, ['metadata', 'labels'], wanted)
