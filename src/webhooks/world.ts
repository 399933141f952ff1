import type { Configuration } from '../config/configuration.ts'
import type { ObjectMeta, OwnerReference, StringMap } from '../kube/vocabulary/objects.ts'
import type { ServedScheduling } from '../kube/vocabulary/served-scheduling.ts'
import type { Roles } from './roles.ts'

export type Found<T> = T | 'absent'

/** What rules read of a namespace. */
export type NamespaceFacts = Pick<ObjectMeta, 'uid' | 'labels'>

/** What the owner walk reads of an object: PartialObjectMetadata has all of it. */
export interface OwnerFacts {
  readonly uid: string
  readonly labels: StringMap
  readonly ownerReferences: readonly OwnerReference[]
}

/**
 * Everything a review may know besides the request. The server answers from watch caches,
 * `muster review` from files, tests from literals; a review function cannot tell the difference. It asks and gets an
 * answer: what a cache has not seen yet is somebody else's business (`server/asking-world.ts`).
 */
export interface World {
  readonly config: Configuration
  /** Muster's own user name, as the API server sees it. */
  readonly self: string
  /** The frameworks whose objects something really queues, as the engine in use says. */
  readonly holds: readonly string[]
  namespace(name: string): Found<NamespaceFacts>
  owner(namespace: string, reference: OwnerReference): Found<OwnerFacts>
  /** A LocalQueue named `default` exists in the namespace. */
  hasDefaultQueue(namespace: string): boolean
  /** What the API server serves for placing pods together. */
  scheduling(): ServedScheduling
  readonly roles: Roles
}
