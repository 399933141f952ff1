import type { ReadinessCheck } from '../kube/vocabulary/readiness.ts'

/** One cache, as a judge of its health sees it. Times are monotonic milliseconds. */
export interface WatchFacts {
  readonly resource: string
  readonly synced: boolean
  readonly lastProgressAt: number
}

/** What is known about the API server from other sources than watches. */
export interface DirectAnswers {
  /** The last direct request was answered. */
  readonly answered: boolean
  /** Until this moment the silence of the watches had another cause: no answer either, or a process that slept. */
  readonly excusedUntil: number
}

/**
 * Early, so that an outage is noticed while it lasts: what silence there was until its end must not be held against
 * watches that are only about to return.
 */
const SUSPICIOUS_AFTER_MS = 30_000
/** A dead connection is given up after 90 s of silence and the cache read again; after this there is nothing left to try. */
const FAILED_AFTER_MS = 180_000

/** Nothing has been heard for so long that it is worth asking the API server directly. */
export function isSuspicious(watches: readonly WatchFacts[], now: number): boolean {
  const heardAt = lastHeard(watches)
  return heardAt !== undefined && now - heardAt >= SUSPICIOUS_AFTER_MS
}

/**
 * Only a new process helps when every watch is silent and the API server answers all the same. In an outage a restart
 * helps nobody, and with all replicas gone at once there would be nobody left to answer webhooks after it.
 */
export function judgeWatches(watches: readonly WatchFacts[], direct: DirectAnswers, now: number): ReadinessCheck {
  const name = 'watches'
  const heardAt = lastHeard(watches)
  if (heardAt === undefined || now - heardAt < FAILED_AFTER_MS) return { name, ok: true }
  const silence = `nothing was heard for ${Math.floor((now - heardAt) / 1000)} s on any watch`
  if (!direct.answered) return { name, ok: true, reason: `${silence}, and the API server does not answer either` }
  if (now - direct.excusedUntil < FAILED_AFTER_MS) {
    return { name, ok: true, reason: `${silence}, but the API server has only just come back` }
  }
  const resources = new Set(watches.filter(({ synced }) => synced).map(({ resource }) => resource))
  const names = [...resources].sort().join(', ')
  return { name, ok: false, reason: `${silence} (${names}), although the API server answers direct requests` }
}

/** Undefined while no cache has been read: what never began cannot have stopped. */
function lastHeard(watches: readonly WatchFacts[]): number | undefined {
  const times = watches.filter(({ synced }) => synced).map(({ lastProgressAt }) => lastProgressAt)
  return times.length === 0 ? undefined : Math.max(...times)
}
