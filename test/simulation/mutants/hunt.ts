import { Worker } from 'node:worker_threads'
import type { Failure } from '../runs/campaign.ts'
import type { Mutant } from './mutant.ts'

export interface Hunt {
  readonly tried: number
  /** The first seed that shows the bug, and the promise it breaks. */
  readonly failure: Failure | undefined
}

/** Runs the simulator on code with one planted bug, in a thread of its own. */
export function hunt(mutant: Mutant, seeds: number): Promise<Hunt> {
  const workerData = { mutant, from: mutant.seed ?? 1, seeds }
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, execArgv: [] })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', code => reject(new Error(`mutant "${mutant.name}": its thread ended with ${code}`)))
  })
}
