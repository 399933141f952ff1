import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const EVERY_MS = 500
/** Longer than any request, and than a failover takes. */
const KEPT_MS = 600_000

interface Sample {
  readonly at: number
  /** Of the time since the last sample, how long the worst off of those that are watched was ready to run and did not. */
  readonly withheldMs: number
}

/**
 * How long the machine kept the CPU from replicas and balancer, as the kernel counts it: who is ready to
 * run and waits in line is late by no fault of its own. Only Linux tells; elsewhere it is 0, and everything counts.
 */
export class Starvation {
  readonly #now: () => number
  #samples: readonly Sample[] = []
  readonly #waited = new Map<number, number>()
  totalMs = 0

  constructor(now: () => number) {
    this.#now = now
  }

  async watch(pids: () => readonly number[], isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#sample(pids())
      await sleep(EVERY_MS)
    }
  }

  since(from: number): number {
    return this.#samples.filter(({ at }) => at > from).reduce((sum, { withheldMs }) => sum + withheldMs, 0)
  }

  #sample(pids: readonly number[]): void {
    const at = this.#now()
    const elapsed = at - (this.#samples.at(-1)?.at ?? at)
    const delays = pids.map(pid => {
      const waited = waitedMs(pid)
      const before = this.#waited.get(pid) ?? waited
      this.#waited.set(pid, waited)
      return Math.max(0, waited - before)
    })
    const withheldMs = Math.min(elapsed, Math.max(0, ...delays))
    this.totalMs += withheldMs
    this.#samples = [...this.#samples.filter(sample => sample.at > at - KEPT_MS), { at, withheldMs }]
  }
}

/** Of the first thread, on which Node runs everything that answers somebody. */
function waitedMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
