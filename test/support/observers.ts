import type { CacheObserver } from '../../src/kube/cache/observer.ts'

/** For caches that nobody looks after. */
export const nobody: CacheObserver = {
  started: () => {},
  stopped: () => {},
  relisted: () => {},
  restarted: () => {},
  failed: () => {},
}
