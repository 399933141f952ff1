import { describe, expect, it } from 'vitest'
import { withConditions } from '../../../src/workload/queued-workload.ts'
import { managedPod } from '../../support/pods.ts'
import { workloadOf } from '../../support/workloads.ts'

const NOW = '2026-11-16T10:10:00Z'

describe('what a condition says', () => {
  const workload = workloadOf([managedPod()])
  const change = (message: string) => ({ type: 'Finished', status: 'True', reason: 'Failed', message }) as const

  it('is cut where the API server would refuse it for ever', () => {
    const [condition] = withConditions(workload, [change('ä'.repeat(40_000))], NOW) ?? []
    expect(Buffer.byteLength(condition?.message ?? '')).toBeLessThanOrEqual(32_768)
    expect(condition?.message).toMatch(/^ä+\.\.\.$/)
  })

  it('is no news when it was cut before', () => {
    const conditions = withConditions(workload, [change('x'.repeat(40_000))], NOW) ?? []
    expect(withConditions({ ...workload, status: { conditions } }, [change('x'.repeat(40_000))], NOW)).toBeUndefined()
  })
})
