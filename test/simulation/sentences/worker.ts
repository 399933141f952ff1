import { parentPort, workerData } from 'node:worker_threads'
import type { Replacement } from '../../support/planting.ts'
import { plant } from '../mutants/plant.ts'
import type { Setting } from '../schedule/schedule.ts'
import { offerRewording, REWORDING } from './rewording.ts'
import { WriteTrace } from './write-trace.ts'

/** Seeds to run, with every sentence replaced or none, on the code that ships or with something else planted in it. */
export interface Telling {
  readonly from: number
  readonly seeds: number
  readonly engine?: Setting['engine']
  readonly reworded: boolean
  readonly planted: readonly Replacement[]
}

const { from, seeds, engine, reworded, planted } = workerData as Telling

plant([...planted, ...(reworded ? REWORDING : [])])
const replaced = offerRewording()

const { generate } = await import('../schedule/generate.ts')
const { simulate } = await import('../runs/simulate.ts')
const traces: string[] = []
for (let seed = from; seed < from + seeds; seed++) {
  traces.push((await simulate(generate(seed, { engine }), { trace: WriteTrace })).timeline)
}
parentPort?.postMessage({ traces, replaced })
