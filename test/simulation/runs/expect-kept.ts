import { expect } from 'vitest'
import type { Setting } from '../schedule/schedule.ts'
import { explain, runCampaign } from './campaign.ts'

/** Fails with the seed, the least schedule that shows it, and its timeline. */
export async function expectEveryPromiseKept(
  from: number,
  seeds: number,
  engine: Setting['engine'] = 'builtin',
): Promise<void> {
  const campaign = await runCampaign({ from, seeds, engine })
  const [failure] = campaign.failures
  if (failure !== undefined) expect.fail(await explain(failure, engine))
  expect(campaign.seeds).toBe(seeds)
}
