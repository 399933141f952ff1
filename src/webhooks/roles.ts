import type { PatchOperation } from '../admission/patch.ts'
import { PreparedPatch } from '../admission/prepared-patch.ts'
import type { PodSpec } from '../kube/vocabulary/objects.ts'
import { creatorStamp, type Stamp } from '../workload/creator.ts'
import { roleHash } from '../workload/role-hash.ts'

/**
 * What pods of one role have in common. Pods of a group come in numbers, so a server may remember it from one review to
 * the next; the answers are the same with a memory and without.
 */
export interface Roles {
  hashOf(spec: PodSpec): string
  /** Of who created them. */
  readonly stampOf: Stamp
  /** The patch that all pods of one role and creator get that come without any mark of ours. */
  marksOf(kin: string, make: () => readonly PatchOperation[]): PreparedPatch
}

/** Remembers nothing. */
export const PLAIN_ROLES: Roles = {
  hashOf: roleHash,
  stampOf: creatorStamp,
  marksOf: (_kin, make) => new PreparedPatch(make()),
}
