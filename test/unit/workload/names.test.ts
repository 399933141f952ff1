import { describe, expect, it } from 'vitest'
import { JOB_SETS, JOBS, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { workloadName } from '../../../src/workload/names.ts'

describe('the Workload of a Job', () => {
  it.each([
    [JOBS, 'job-name-ef3a1'],
    [JOB_SETS, 'jobset-name-c91ae'],
  ])('has the name that Kueue gives it', (resource, name) => {
    expect(workloadName(resource, 'name', 'uid')).toBe(name)
  })

  it('has a name of its own in every life, and one that fits', () => {
    expect(workloadName(JOBS, 'name', 'other')).not.toBe('job-name-ef3a1')
    expect(workloadName(JOBS, 'n'.repeat(253), 'uid')).toHaveLength(253)
  })

  it('has no dot at the cut: a dash behind it would be no name', () => {
    const name = workloadName(PODS, `${'a'.repeat(242)}.${'b'.repeat(8)}`, 'uid')
    expect(name).toMatch(/^pod-a+-[0-9a-f]{5}$/)
  })
})
