import { type Clock, systemClock } from '../../src/kube/vocabulary/clock.ts'

/**
 * Real time with short waits: for code that backs off for long beside sockets that answer at their own pace. What is
 * measured stays real, so that a slow machine changes nothing.
 */
export function impatientClock(factor: number): Clock {
  return { ...systemClock, after: (ms, callback) => systemClock.after(ms / factor, callback) }
}
