import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { graceOf } from './pod-rules.ts'
import type { Stored } from './server.ts'

export interface DeletionMarks {
  readonly deletionTimestamp: string
  readonly deletionGracePeriodSeconds: number
}

/** Kubernetes writes times without fractions of a second. */
export function wallClock(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** What a request to delete leaves on the object; undefined if it goes unmarked. The same marks mean no change. */
export function deletionMarks(
  resource: Resource,
  { metadata, ...object }: Stored,
  asked: number | undefined,
  now: number,
): DeletionMarks | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata
  if (deletionTimestamp != null) return shortened(deletionTimestamp, deletionGracePeriodSeconds ?? 0, asked)
  // A pod is always marked first, even if it goes in the same breath: watchers see both.
  if (resource !== PODS && !finalizers?.length) return undefined
  const grace = resource === PODS ? graceOf({ metadata, ...object }, asked) : 0
  return { deletionTimestamp: wallClock(now + grace * 1000), deletionGracePeriodSeconds: grace }
}

/** Of a deletion that is under way only the grace period can change, and only become shorter. */
function shortened(deletionTimestamp: string, left: number, asked = left): DeletionMarks {
  const deletionGracePeriodSeconds = Math.min(asked, left)
  const sooner = (left - deletionGracePeriodSeconds) * 1000
  return { deletionTimestamp: wallClock(Date.parse(deletionTimestamp) - sooner), deletionGracePeriodSeconds }
}

/** Neither a finalizer nor a kubelet holds it any longer. */
export function isLetGo({ metadata }: Stored): boolean {
  return metadata.deletionTimestamp != null && !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds
}
