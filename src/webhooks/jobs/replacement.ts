import { type PatchOperation, pointer } from '../../admission/patch.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { JOBS, type QueueableKind } from './kinds.ts'
import type { QueueableObject } from './shape.ts'

const FIELD = 'podReplacementPolicy'
const LATE = 'Failed'

/**
 * A pod that is deleted runs until its grace period is over. By default the Job controller makes another at once beside
 * it, and who deletes pods, with a grace period as long as he likes, would have as many as he likes on the quota of one.
 * So what is queued gets the other policy: first the one goes, then the other comes. What its author has written cannot
 * be told from the API server's default, and so it is for the administrator to leave it (`guard.podReplacement`).
 */
export const replaceLate = (object: QueueableObject, kind: QueueableKind): readonly PatchOperation[] =>
  isJob(kind) && !isLate(object) ? [TO_LATE] : []

/** Who applies his manifest again, in which it stands otherwise, or not at all, changes nothing. */
export const keepLate = (
  before: QueueableObject,
  after: QueueableObject,
  kind: QueueableKind,
): readonly PatchOperation[] => (isTurnedBack(before, after, kind) ? [TO_LATE] : [])

/** The backstop: a webhook after ours may change what ours has kept. */
export function replacementErrors(
  before: QueueableObject,
  after: QueueableObject,
  kind: QueueableKind,
  only: string,
): readonly FieldError[] {
  if (!isTurnedBack(before, after, kind)) return []
  const detail = `stays ${LATE} in a queue: else another pod is made beside one that still runs; ${only}`
  return [forbidden(`spec.${FIELD}`, detail)]
}

export const isTurnedBack = (before: QueueableObject, after: QueueableObject, kind: QueueableKind): boolean =>
  isJob(kind) && isLate(before) && !isLate(after)

const TO_LATE: PatchOperation = { op: 'add', path: pointer('spec', FIELD), value: LATE }

const isJob = ({ kind }: QueueableKind): boolean => kind === JOBS.kind
const isLate = ({ spec }: QueueableObject): boolean => spec.podReplacementPolicy === LATE
