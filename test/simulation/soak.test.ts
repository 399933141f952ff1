import { describe, expect, it } from 'vitest'
import { LEASES } from '../../src/kube/vocabulary/resources.ts'
import { KINDS, planSoak } from '../soak/plan.ts'
import { FAILOVER_MS } from '../soak/report.ts'
import { simulatedRotations, simulatedSoak } from '../soak/simulated.ts'
import type { Cluster } from './cluster/cluster.ts'
import { simulate } from './runs/simulate.ts'
import { Timeline } from './runs/timeline.ts'
import { LEADER } from './schedule/schedule.ts'

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1)
const MINUTES = 1

/** When somebody began to lead who had not led before. */
function watchLeaders(cluster: Cluster, begun: number[]): void {
  let holder = ''
  cluster.server.subscribe(({ resource, after }) => {
    const { holderIdentity = '' } = (after?.spec ?? {}) as { readonly holderIdentity?: string }
    if (resource !== LEASES || holderIdentity === '' || holderIdentity === holder) return
    holder = holderIdentity
    begun.push(cluster.agenda.now)
  })
}

describe('a minute of the soak, simulated', () => {
  it.each(SEEDS)(
    'lifts nothing wrongly, leaves nothing behind and fails over within 20 s, with seed %i',
    async seed => {
      const schedule = simulatedSoak(seed, MINUTES)
      const begun: number[] = []
      const result = await simulate(schedule, { trace: Timeline, onCluster: cluster => watchLeaders(cluster, begun) })
      expect(result.violation, result.timeline.split('\n').slice(-60).join('\n')).toBeUndefined()
      for (const item of schedule.items) {
        const fallsFor = item.kind === 'crash' ? item.downMs : item.kind === 'partition' ? item.ms : 0
        // Who is back before his lease is over may go on with it, and then nobody has to follow him.
        if (!('replica' in item) || item.replica !== LEADER || fallsFor < FAILOVER_MS) continue
        expect(begun.find(at => at > item.at)).toBeLessThanOrEqual(item.at + FAILOVER_MS)
      }
    },
  )

  it.each(SEEDS)('serves no certificate before it is trusted, with seed %i', seed => {
    expect(simulatedRotations(seed, MINUTES)).toEqual([])
  })

  it('tries every kind of disturbance', () => {
    const tried = SEEDS.flatMap(seed => planSoak(seed, MINUTES).map(({ kind }) => kind))
    expect(new Set(tried)).toEqual(new Set(KINDS))
  })

  it('has the same plan for the same seed, and begins a longer one like a shorter', () => {
    const short = planSoak(7, 3)
    expect(planSoak(7, 3)).toEqual(short)
    expect(planSoak(7, 60).slice(0, short.length)).toEqual(short)
    expect(planSoak(8, 3)).not.toEqual(short)
    expect(new Set(planSoak(7, 5).map(({ kind }) => kind))).toEqual(new Set(KINDS))
  })
})
