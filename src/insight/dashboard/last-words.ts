import { EVENT_SOURCE } from '../../kube/coordination/events.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import { REASONS } from '../../workload/reasons.ts'
import type { Found, Told } from '../explain/facts.ts'
import { spokenOf } from '../explain/gather.ts'

/** An Event of Muster's, as much of it as is kept. */
export interface LastWord extends KubeObject {
  readonly reason?: string
  readonly note?: string
  readonly eventTime?: string | null
  readonly regarding?: { readonly uid?: string }
}

/** Only those of Muster: a cluster has many. */
export const LAST_WORD_FIELDS = `reportingController=${EVENT_SOURCE}`

export const LAST_WORD_OUTLINE: Outline = {
  metadata: fields('name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'),
  ...fields('reason', 'note', 'eventTime'),
  regarding: fields('uid'),
}

/** What it says is kept only where nothing else says it. */
export function wordForCache({ metadata, reason, note, eventTime, regarding }: LastWord): LastWord {
  const { name, namespace, uid, resourceVersion } = metadata
  return {
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    },
    ...(reason !== undefined && { reason }),
    ...(reason === 'LiftBlocked' && note !== undefined && { note }),
    eventTime: eventTime ?? metadata.creationTimestamp ?? '',
    ...(regarding && { regarding }),
  }
}

/** What Muster said last of a unit, as `muster explain` takes it. */
export function lastWordIn(found: Found, about: (uid: string) => readonly LastWord[]): Told | undefined {
  const uid = spokenOf(found)
  if (uid === undefined) return undefined
  const told = about(uid).flatMap(({ reason, note = '', eventTime }) => {
    const known = REASONS.find(each => each === reason)
    return known === undefined
      ? []
      : [{ reason: known, message: note, since: (eventTime ?? '').replace(/\.\d+Z$/, 'Z') }]
  })
  return told.toSorted((a, b) => (a.since < b.since ? 1 : -1))[0]
}
