import { describe, expect, it } from 'vitest'
import type { Replacement } from '../support/planting.ts'
import { partings, tell } from './sentences/tell.ts'

const SEEDS = 15

/** Code that reads what was said, and is right as long as nobody words it differently. */
const READERS: readonly (Replacement & { readonly seed: number })[] = [
  {
    name: 'in which queue a Workload was told',
    file: 'src/engines/builtin/ledger.ts',
    find: 'workload.status?.waiting?.queueName === queue',
    replace: "condition(workload, 'QuotaReserved')?.message.includes('queue '.concat(queue))",
    seed: 5,
  },
  {
    name: 'why a Workload waits',
    file: 'src/engines/conditions.ts',
    find: 'REASONS.find(known => known === reserved.reason)',
    replace: "(reserved.message.startsWith('first in queue') ? 'OverQueueLimits' : undefined)",
    seed: 1,
  },
  {
    name: 'that an object has changed',
    file: 'src/reconciler/perform.ts',
    find: 'status !== 409 && !(',
    replace: "!String(error).includes('the object has been modified') && !(",
    seed: 11,
  },
  {
    name: 'that a namespace goes',
    file: 'src/reconciler/perform.ts',
    find: 'causes.some(({ reason }) => reason === NAMESPACE_TERMINATING)',
    replace: "message.includes('because it is being terminated')",
    seed: 1279,
  },
]

describe('what is said', () => {
  it.each([
    ['builtin', SEEDS],
    ['external', SEEDS / 3],
  ] as const)(
    'changes nothing: the same is written with every sentence replaced (%s engine)',
    async (engine, seeds) => {
      const run = { from: 1, seeds, engine, planted: [] }
      const [plain, reworded] = [await tell({ ...run, reworded: false }), await tell({ ...run, reworded: true })]
      expect(partings(run.from, plain, reworded)).toEqual([])
      expect(plain.replaced).toEqual({})
      expect(Object.keys(reworded.replaced).sort()).toEqual(['causes', 'conditions', 'notes', 'objects', 'refusals'])
    },
  )

  it.each(READERS)('and whoever reads in it is found: $name', async reader => {
    const run = { from: reader.seed, seeds: 5, planted: [reader] }
    const [plain, reworded] = [await tell({ ...run, reworded: false }), await tell({ ...run, reworded: true })]
    expect(partings(run.from, plain, reworded)).not.toEqual([])
  })
})
