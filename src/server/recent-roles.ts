import type { PatchOperation } from '../admission/patch.ts'
import { PreparedPatch } from '../admission/prepared-patch.ts'
import type { PodSpec } from '../kube/vocabulary/objects.ts'
import type { Roles } from '../webhooks/roles.ts'
import { creatorStamp, type Stamp } from '../workload/creator.ts'
import { roleShape, shapeHash } from '../workload/role-hash.ts'
import { type RoleParts, rolePartsOf, sameParts } from '../workload/role-parts.ts'

/** A spec is held against each of them in turn, so they are few. */
const MOST_SPECS = 8
/** What a shape may weigh to be remembered: hostile pods must not fill the memory. */
const LONGEST_SHAPE = 4096
const MOST_PATCHES = 256
const MOST_CREATORS = 256
/** Of a user's name, and of the controller and namespace with it. */
const LONGEST_NAME = 512

/**
 * The one memory of the webhooks, and the server owns it: docs/decisions/0005-one-memory.md says what it is worth.
 * Pods of a group differ in nothing that their role is about. So a spec is first held against the last ones, which
 * costs a fraction of writing its shape and hashing it, and the patch that it gets has been written already.
 */
export class RecentRoles implements Roles {
  readonly #specs: { readonly parts: RoleParts; readonly hash: string }[] = []
  #oldest = 0
  readonly #marks = new Map<string, PreparedPatch>()
  readonly #stamps = new Map<string, string>()

  hashOf(spec: PodSpec): string {
    const parts = rolePartsOf(spec as Readonly<Record<string, unknown>>)
    for (const known of this.#specs) {
      if (sameParts(parts, known.parts)) return known.hash
    }
    const shape = roleShape(spec)
    const hash = shapeHash(shape)
    if (shape.length <= LONGEST_SHAPE) {
      this.#specs[this.#oldest] = { parts, hash }
      this.#oldest = (this.#oldest + 1) % MOST_SPECS
    }
    return hash
  }

  readonly stampOf: Stamp = (username, namespaceUid) => {
    const creator = `${namespaceUid}/${username}`
    const known = this.#stamps.get(creator)
    if (known !== undefined) return known
    const stamp = creatorStamp(username, namespaceUid)
    if (creator.length <= LONGEST_NAME) keep(this.#stamps, creator, stamp, MOST_CREATORS)
    return stamp
  }

  marksOf(kin: string, make: () => readonly PatchOperation[]): PreparedPatch {
    const known = this.#marks.get(kin)
    if (known !== undefined) return known
    const marks = new PreparedPatch(make())
    keep(this.#marks, kin, marks, MOST_PATCHES)
    return marks
  }
}

/** What is in use comes back soon enough. */
function keep<T>(memory: Map<string, T>, key: string, value: T, most: number): void {
  if (memory.size >= most) memory.clear()
  memory.set(key, value)
}
