import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { NOTHING_SERVED, type ServedScheduling } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { backendOf, missingBackend } from '../../../src/workload/backend.ts'

const AUTO = DEFAULT_CONFIGURATION.coScheduling
const only = (backend: typeof AUTO.backend) => ({ ...AUTO, backend })
const kubernetes = { version: 'v1beta1', podGroups: true, composites: false } as const
const BOTH: ServedScheduling = { ...NOTHING_SERVED, kubernetes, kai: true }
const OLD: ServedScheduling = {
  ...NOTHING_SERVED,
  kubernetes: { ...kubernetes, version: 'v1alpha1', podGroups: false },
}

describe('the backend of a pod', () => {
  it.each([
    [undefined, AUTO, BOTH, 'kubernetes'],
    ['', AUTO, BOTH, 'kubernetes'],
    ['default-scheduler', AUTO, BOTH, 'kubernetes'],
    ['kai-scheduler', AUTO, BOTH, 'kai'],
    ['somebody-elses', AUTO, BOTH, 'none'],
    ['default-scheduler', AUTO, NOTHING_SERVED, 'none'],
    ['kai-scheduler', AUTO, NOTHING_SERVED, 'none'],
    ['default-scheduler', AUTO, OLD, 'none'],
    ['default-scheduler', only('none'), BOTH, 'none'],
    ['kai-scheduler', only('none'), BOTH, 'none'],
    ['default-scheduler', only('kubernetes'), BOTH, 'kubernetes'],
    ['kai-scheduler', only('kubernetes'), BOTH, 'none'],
    ['default-scheduler', only('kai'), BOTH, 'none'],
    ['kai-scheduler', only('kai'), BOTH, 'kai'],
    ['batch', { ...AUTO, kubernetes: { schedulerNames: ['batch'] } }, BOTH, 'kubernetes'],
    ['default-scheduler', { ...AUTO, kubernetes: { schedulerNames: ['batch'] } }, BOTH, 'none'],
  ])('of scheduler %j is found by the configuration and what is served', (scheduler, config, served, expected) => {
    expect(backendOf(scheduler, config, served)).toBe(expected)
  })

  it('is missing when it is named and not served, and says what to do', () => {
    expect(missingBackend(only('kubernetes'), OLD)).toContain('GenericWorkload')
    expect(missingBackend(only('kai'), OLD)).toContain('podgroups.scheduling.run.ai')
    expect(missingBackend(only('kubernetes'), BOTH)).toBeUndefined()
    expect(missingBackend(only('kai'), BOTH)).toBeUndefined()
    expect(missingBackend(AUTO, NOTHING_SERVED)).toBeUndefined()
    expect(missingBackend(only('none'), NOTHING_SERVED)).toBeUndefined()
  })
})
