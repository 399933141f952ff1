/** Time and chance as ports, so that the simulator can own both. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. For timestamps that others read. */
  now(): number
  /** Milliseconds that never jump. For deadlines and durations. */
  monotonic(): number
  /** Calls back once; the returned function cancels. */
  after(ms: number, callback: () => void): () => void
}

export type Random = () => number

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
