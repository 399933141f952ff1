import { expect } from 'vitest'
import type { Subject } from '../schedule/generate.ts'
import { explain, runCampaign } from './campaign.ts'

/** Fails with the seed, the least schedule that shows it, and its timeline. */
export async function expectEveryPromiseKept(from: number, seeds: number, subject: Subject = {}): Promise<void> {
  const campaign = await runCampaign({ from, seeds, subject })
  const [failure] = campaign.failures
  if (failure !== undefined) expect.fail(await explain(failure, subject))
  expect(campaign.seeds).toBe(seeds)
}
