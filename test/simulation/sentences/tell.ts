import { Worker } from 'node:worker_threads'
import type { Replaced } from './rewording.ts'
import type { Telling } from './worker.ts'

export interface Told {
  /** What was written in each run, one line per write. */
  readonly traces: readonly string[]
  readonly replaced: Replaced
}

/** Runs the simulator in a thread of its own, since what is planted in the code stays there. */
export function tell(telling: Telling): Promise<Told> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: telling, execArgv: [] })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', code => reject(new Error(`the thread ended with ${code} and told nothing`)))
  })
}

/** Where two tellings part: the seed and the first write that is not the same. */
export function partings(from: number, one: Told, other: Told): readonly string[] {
  return one.traces.flatMap((trace, index) => {
    const [lines, others] = [trace.split('\n'), (other.traces[index] ?? '').split('\n')]
    const at = lines.findIndex((line, position) => line !== others[position])
    if (at < 0 && lines.length === others.length) return []
    const position = at < 0 ? lines.length : at
    return [`seed ${from + index}, write ${position + 1}:\n  ${lines[position]}\n  ${others[position]}`]
  })
}
