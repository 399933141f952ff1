import type { UserInfo } from '../../admission/review.ts'
import { CHILD_OF, HELD, QUEUE_NAME, QUEUED, STOPPING } from '../../kube/vocabulary/names.ts'
import {
  annotationPath,
  type FieldError,
  forbidden,
  labelPath,
  MAX_ERRORS,
  required,
} from '../../validation/field-error.ts'
import { childOf, isHeld, isQueued, isStopping, isSuspended, QUEUED_MARKS } from '../../workload/job-facts.ts'
import { queueLabelOf, queueOf } from '../../workload/pod-facts.ts'
import { createsFor } from '../creators.ts'
import { whoMay } from '../exemption.ts'
import type { World } from '../world.ts'
import type { QueueableKind } from './kinds.ts'
import { replacementErrors } from './replacement.ts'
import { existingJobScope, type JobScope } from './scope.ts'
import type { QueueableObject } from './shape.ts'
import { podTemplatesOf } from './size.ts'

/**
 * The backstop. A webhook after ours can take away what ours has written, or set the queue when ours has been asked
 * already: what is to wait is not stored unless it waits.
 */
export function unqueuedErrors(object: QueueableObject, { kind }: QueueableKind): readonly FieldError[] {
  const queue = queueOf(object)
  const asked = queue === '' ? `each ${kind} here waits for admission` : `this ${kind} asks for queue "${queue}"`
  const detail =
    `${asked} but does not wait: another admission webhook changed it, or set the queue after Muster's webhook had ` +
    `run. Set the label on the ${kind} itself, or let that webhook run first`
  const errors: FieldError[] = []
  if (queueLabelOf(object) === undefined) errors.push(required(labelPath(QUEUE_NAME), detail))
  if (!isSuspended(object)) errors.push(required('spec.suspend', detail))
  if (!isQueued(object)) errors.push(required(annotationPath(QUEUED), detail))
  return errors
}

/**
 * Its pods are held to their Job by the label of its uid, and so is its quota to its pods. Those that call themselves
 * queued would be taken for pods that wait for places of their own.
 */
export function templateErrors(object: QueueableObject, kind: QueueableKind): readonly FieldError[] {
  const selects =
    `the pods of a queued ${kind.kind} are counted by the label that the API server gives them, and who selects them by ` +
    'labels of his own has them counted by nobody: remove manualSelector and selector'
  const marked = `the pods of a queued ${kind.kind} wait with it, and not by themselves: remove it from the template`
  return podTemplatesOf(object, kind)
    .flatMap(({ ownSelector, podMarks }) => [
      ...(ownSelector === undefined ? [] : [forbidden(ownSelector, selects)]),
      ...podMarks.map(path => forbidden(path, marked)),
    ])
    .slice(0, MAX_ERRORS)
}

/** What was there before it came into a queue of ours, or before there was the rule, keeps nobody from his work. */
export function newTemplateErrors({ before, after, kind }: Change): readonly FieldError[] {
  const errors = isQueued(after) ? templateErrors(after, kind) : []
  if (errors.length === 0 || !isQueued(before)) return errors
  const known = new Set(templateErrors(before, kind).map(({ field }) => field))
  return errors.filter(({ field }) => !known.has(field))
}

/** Marks that a new object may not come with: with them, one that runs would be taken for one that waits. */
export function claimErrors(object: QueueableObject, scope: JobScope): readonly FieldError[] {
  const own: Readonly<Record<string, string>> =
    scope.kind === 'ours' ? { [QUEUED]: 'true' } : scope.kind === 'child' ? { [CHILD_OF]: scope.root } : {}
  return QUEUED_MARKS.filter(({ key, of }) => of(object) !== undefined && of(object) !== own[key]).map(({ path }) =>
    forbidden(path, 'is written by Muster: remove it from the manifest'),
  )
}

/** A child that its root's controller makes has to be told from one that only says so, for ever. */
export function unstampedErrors(object: QueueableObject, root: string): readonly FieldError[] {
  if (childOf(object) !== undefined) return []
  return [required(annotationPath(CHILD_OF), `${root} waits in its stead: another admission webhook removed the mark`)]
}

/** What the guard asks about: the object before the change and after it. */
export interface Change {
  readonly before: QueueableObject
  readonly after: QueueableObject
  readonly kind: QueueableKind
  readonly namespace: string
  readonly user: UserInfo | undefined
}

/**
 * Whoever may update Jobs can resume them, and in Kueue that is enough to pass the queue. Here only Muster starts what
 * waits; and what runs keeps to the size that it was admitted with.
 */
export function guardErrors(change: Change, world: World): readonly FieldError[] {
  const { before, after, kind, namespace } = change
  const was = existingJobScope(before, kind, namespace, world)
  const is = existingJobScope(after, kind, namespace, world)
  const only = whoMay(world)
  const errors = [...markErrors(change, is, only), ...unseenErrors(change, was, is)]
  if (was.kind !== 'ours') return errors
  const replaced = world.config.guard.podReplacement === 'Failed' ? replacementErrors(before, after, kind, only) : []
  return [
    ...labelErrors(change, only),
    ...resumeErrors(change, only),
    ...growthErrors(change, only),
    ...replaced,
    ...errors,
  ]
}

/**
 * The backstop, once more. The API server takes labels through the status, too, and asks no mutating webhook then: what
 * comes into a queue that way would be started as its author wrote it, in a queue that nobody has judged. And where
 * everything waits, an empty label says that Muster has taken it in, and excuses its pods.
 */
function unseenErrors({ before, after, kind }: Change, was: JobScope, is: JobScope): readonly FieldError[] {
  if (was.kind !== 'ignored' || isQueued(after)) return []
  const [old, queue] = [before, after].map(queueLabelOf)
  if (is.kind === 'ours') {
    const detail =
      `this ${kind.kind} comes into queue "${queue}" past Muster's webhook: set the label on the ${kind.kind} itself, ` +
      'not through its status, nor by a webhook that runs after it'
    return [required(annotationPath(QUEUED), detail)]
  }
  if (queue !== '' || old === '') return []
  return [
    forbidden(labelPath(QUEUE_NAME), `an empty name is what Muster writes on a ${kind.kind} that waits: name a queue`),
  ]
}

/** Nobody here watches what has no label: it would wait for ever, or run without being counted. */
function labelErrors({ before, after, kind }: Change, only: string): readonly FieldError[] {
  if (!isQueued(before) || queueLabelOf(after) !== undefined) return []
  const detail = `a queued ${kind.kind} stays queued until it is deleted: name another queue; ${only}`
  return [forbidden(labelPath(QUEUE_NAME), detail)]
}

function resumeErrors({ before, after, kind }: Change, only: string): readonly FieldError[] {
  if (!isSuspended(before) || isSuspended(after)) return []
  return [forbidden('spec.suspend', `this ${kind.kind} is resumed when it is admitted; ${only}`)]
}

/** To shrink gives back. To grow would take what nobody has admitted. */
function growthErrors({ before, after, kind }: Change, only: string): readonly FieldError[] {
  if (isSuspended(before) || isSuspended(after)) return []
  const [templates, known] = [podTemplatesOf(after, kind), podTemplatesOf(before, kind)]
  // Each for itself: fewer of the small ones are no room for more of the large ones.
  const grown = templates.findIndex(({ pods }, index) => pods > (known[index]?.pods ?? 0))
  if (grown === -1) return []
  const [was, is] = [known[grown]?.pods ?? 0, templates[grown]?.pods ?? 0]
  const field = kind.kind === 'Job' ? 'spec.parallelism' : 'spec.replicatedJobs'
  const detail =
    `cannot grow from ${was} to ${is} pods while it runs: it was admitted with ${was}. Suspend it, change it, and ` +
    `set spec.suspend to false again: it then waits for a place of that size; ${only}`
  return [forbidden(field, detail)]
}

/**
 * What Muster writes is Muster's. But for what its own webhook writes for others: the mark of what is taken in, and of
 * what its user holds, or wants back in the queue.
 */
function markErrors({ before, after }: Change, is: JobScope, only: string): readonly FieldError[] {
  const stops = !isSuspended(before) && isSuspended(after)
  const takenIn = is.kind === 'ours' && isSuspended(after) && isQueued(after) && !isQueued(before)
  const wanted = isSuspended(before) && isHeld(before) && !isHeld(after)
  const holds = stops && isHeld(after)
  const isStopped = holds && isStopping(after)
  const free = new Set([
    ...(takenIn ? [QUEUED] : []),
    ...(wanted || holds ? [HELD] : []),
    ...(isStopped ? [STOPPING] : []),
  ])
  const errors = QUEUED_MARKS.filter(({ key, of }) => of(before) !== of(after) && !free.has(key)).map(({ path }) =>
    forbidden(path, `is written by Muster; ${only}`),
  )
  if (isQueued(before) && stops && !isHeld(after)) {
    const detail = `who suspends what is queued holds it: another admission webhook removed the mark; ${only}`
    errors.push(required(annotationPath(HELD), detail))
  }
  return errors
}

/**
 * Its status says when it has ended, and that nothing of it runs any more, and then its quota is free. So it has to
 * come from who runs it.
 */
export function statusErrors({ before, after, kind, user }: Change, world: World): readonly FieldError[] {
  if (!isQueued(before) || createsFor(ownerOf(kind), user, world.config)) return []
  if (JSON.stringify(before.status) === JSON.stringify(after.status)) return []
  const detail =
    `how far a queued ${kind.kind} is, its controller says, and guard.controllers names that (${kind.framework}); ` +
    whoMay(world)
  return [forbidden('status', detail)]
}

const ownerOf = ({ group, version, kind }: QueueableKind) => ({ apiVersion: `${group}/${version}`, kind })
