import type { Action } from '../workload/actions.ts'

/** Lower goes first. People wait for a lift or a deletion; nobody waits for the books to be closed, or for an Event. */
export type Lane = 0 | 1 | 2 | 3

const LANES = 4
/** As many as the client has connections. */
const WRITES = 16

/**
 * So many writes at a time, the urgent ones first. Without lanes a group's lifts queue behind the cleanup of hundreds
 * of pods that finished before it: the more a cluster has done, the slower it would start new work.
 */
export class Lanes {
  readonly #limit: number
  readonly #waiting: (() => void)[][] = Array.from({ length: LANES }, () => [])
  #running = 0

  constructor(limit = WRITES) {
    this.#limit = limit
  }

  async run<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>(resolve => this.#waiting[lane]?.push(resolve))
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** The place is handed over, never freed and fought for, so the order is the order of asking. */
  #leave(): void {
    const next = this.#waiting.find(lane => lane.length > 0)?.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

/** Also when one of them fails: who decided anew before the others have ended would meet their writes. */
export async function allToTheirEnd<T>(writes: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(writes)
  return results.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

export function laneOf({ kind }: Action): Lane {
  if (kind === 'LiftGate' || kind === 'RemoveFinalizer' || kind === 'PatchJob') return 0
  return kind === 'ReleaseWorkload' || kind === 'DeleteWorkload' || kind === 'UnlessPodsLeft' || kind === 'AddOwners'
    ? 2
    : 1
}
