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

/**
 * It takes away owners that are gone and lets those go that were deleted with `--cascade=orphan`, under its own name
 * or, without `--use-service-account-credentials`, under that of the controller manager.
 */
const GARBAGE_COLLECTORS = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:kube-controller-manager',
]

export function isGarbageCollector(user: UserInfo | undefined): boolean {
  return GARBAGE_COLLECTORS.includes(user?.username ?? '')
}
