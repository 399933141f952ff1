import { parentPort, workerData } from 'node:worker_threads'
import { replacementsOf } from '../../support/planting.ts'
import type { Mutant } from './mutant.ts'
import { plant } from './plant.ts'

/** A mutant and the seeds to try it on. */
export interface Assignment {
  readonly mutant: Mutant
  readonly from: number
  readonly seeds: number
}

const { mutant, from, seeds } = workerData as Assignment

plant(replacementsOf(mutant))

const { runCampaign } = await import('../runs/campaign.ts')
const { failures, seeds: tried } = await runCampaign({
  from,
  seeds,
  subject: {
    jobs: mutant.jobs ?? mutant.sets ?? false,
    sets: mutant.sets ?? false,
    gangs: mutant.gangs ?? false,
    kai: mutant.kai ?? false,
    engine: mutant.kueue ? 'kueue' : 'builtin',
    limits: mutant.limits ?? false,
  },
})
parentPort?.postMessage({ tried, failure: failures[0] })
