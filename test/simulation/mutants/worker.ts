import { registerHooks } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { Mutant } from './mutants.ts'

/** A mutant and the seeds to try it on. */
export interface Assignment {
  readonly mutant: Mutant
  readonly from: number
  readonly seeds: number
}

const { mutant, from, seeds } = workerData as Assignment

// The bug is planted in the source text as it is loaded: the simulator runs the very code that ships, but for it.
registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(`/${mutant.file}`)) return loaded
    return { ...loaded, source: [mutant, ...(mutant.and ? [mutant.and] : [])].reduce(plant, String(loaded.source)) }
  },
})

function plant(text: string, { find, replace }: Pick<Mutant, 'find' | 'replace'>): string {
  if (text.split(find).length === 2) return text.replace(find, () => replace)
  throw new Error(`mutant "${mutant.name}": ${mutant.file} does not have its text exactly once: ${find}`)
}

const { runCampaign } = await import('../runs/campaign.ts')
const { failures, seeds: tried } = await runCampaign({ from, seeds })
parentPort?.postMessage({ tried, failure: failures[0] })
