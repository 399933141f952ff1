import type { UserInfo } from '../admission/review.ts'
import { ANY_USER, type Configuration } from '../config/configuration.ts'
import { controllerKindOf } from '../kube/vocabulary/frameworks.ts'
import type { OwnerReference } from '../kube/vocabulary/objects.ts'

/**
 * Anybody can write an owner reference, and the garbage collector takes it for true. So what an owner excuses is
 * excused only for who creates the children of such owners, and that is the administrator's to say.
 */
export function createsFor(
  owner: Pick<OwnerReference, 'apiVersion' | 'kind'>,
  user: UserInfo | undefined,
  { guard }: Configuration,
): boolean {
  const kind = controllerKindOf(owner)
  const users = Object.hasOwn(guard.controllers, kind) ? guard.controllers[kind] : undefined
  if (users === undefined) return false
  if (users.includes(ANY_USER)) return true
  const name = user?.username
  return name !== undefined && name !== '' && users.includes(name)
}
