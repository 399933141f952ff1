import { expect } from 'vitest'
import { explain, runCampaign } from './campaign.ts'

/** Fails with the seed, the least schedule that shows it, and its timeline. */
export async function expectEveryPromiseKept(from: number, seeds: number): Promise<void> {
  const campaign = await runCampaign({ from, seeds })
  const [failure] = campaign.failures
  if (failure !== undefined) expect.fail(await explain(failure))
  expect(campaign.seeds).toBe(seeds)
}
