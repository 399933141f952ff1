import type { Resource } from '../vocabulary/api.ts'

/** What whoever judges the health of a cache looks at. */
export interface ObservedCache {
  readonly resource: Resource
  readonly synced: boolean
  /** Monotonic time of the last word of the API server. */
  readonly lastProgressAt: number
}

/** Told what goes on behind the caches of a process: one for all of them. */
export interface CacheObserver {
  /** It lists and watches from now on, until `stopped`. */
  started(cache: ObservedCache): void
  stopped(cache: ObservedCache): void
  /** The whole state is read, and why. */
  relisted(resource: Resource, reason: string): void
  /** A list or watch has failed and is tried again, and why. */
  restarted(resource: Resource, reason: string): void
  /** Somebody else's code that the cache runs has thrown. */
  failed(resource: Resource): void
}

/** For a command that a person runs: what goes wrong behind a cache it puts right itself. */
export const UNOBSERVED: CacheObserver = {
  started: () => {},
  stopped: () => {},
  relisted: () => {},
  restarted: () => {},
  failed: () => {},
}
