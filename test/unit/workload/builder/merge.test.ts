import { describe, expect, it } from 'vitest'
import type { SchedulingConfig, WorkloadInput } from '../../../../src/workload/builder/item.ts'
import { compositeConfig, groupConfig, resolveConfig } from '../../../../src/workload/builder/merge.ts'
import { ZONE } from './fixtures.ts'

type Case = readonly [name: string, input: WorkloadInput, config: SchedulingConfig]

describe('what a user asks of a group of pods', () => {
  const cases: readonly Case[] = [
    ['all nil leaves fields unset', {}, {}],
    ['empty policy maps to nil so the default survives', { policy: { group: {} } }, {}],
    ['empty constraints maps to nil so the default survives', { constraints: { group: {} } }, {}],
    ['empty topology maps to nil so the default survives', { constraints: { group: { topology: [] } } }, {}],
    ['empty disruption maps to nil so the default survives', { disruptionMode: { group: {} } }, {}],
    ['no claims map to nil so the default survives', { resourceClaims: { group: [] } }, {}],
    ['basic policy', { policy: { group: { basic: {} } } }, { policy: { basic: {} } }],
    [
      'gang policy with minCount',
      { policy: { group: { gang: { minCount: 4 } } } },
      { policy: { gang: { minCount: 4 } } },
    ],
    ['gang policy preserves nil minCount', { policy: { group: { gang: {} } } }, { policy: { gang: {} } }],
    ['basic wins over gang', { policy: { group: { basic: {}, gang: {} } } }, { policy: { basic: {} } }],
    [
      'topology constraints',
      { constraints: { group: { topology: [{ key: 'topology.kubernetes.io/rack' }] } } },
      { constraints: { topology: [{ key: 'topology.kubernetes.io/rack' }] } },
    ],
    ['disruption mode all', { disruptionMode: { group: { all: {} } } }, { disruptionMode: { all: {} } }],
    [
      'single wins over all',
      { disruptionMode: { group: { single: {}, all: {} } } },
      { disruptionMode: { single: {} } },
    ],
    [
      'resource claims',
      { resourceClaims: { group: [{ name: 'gpu', resourceClaimName: 'shared-gpu' }] } },
      { resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared-gpu' }] },
    ],
    [
      'all fields populated',
      {
        policy: { group: { gang: { minCount: 2 } } },
        constraints: { group: { topology: [{ key: 'zone' }] } },
        disruptionMode: { group: { single: {} } },
        resourceClaims: { group: [{ name: 'net', resourceClaimTemplateName: 'tpl' }] },
      },
      {
        policy: { gang: { minCount: 2 } },
        constraints: { topology: [{ key: 'zone' }] },
        disruptionMode: { single: {} },
        resourceClaims: [{ name: 'net', resourceClaimTemplateName: 'tpl' }],
      },
    ],
  ]

  it.each(cases)('%s', (_name, input, config) => {
    expect(groupConfig(input)).toEqual(config)
    expect(Object.keys(groupConfig(input))).toEqual(Object.keys(config))
  })
})

describe('what a user asks of a group of groups', () => {
  const cases: readonly Case[] = [
    ['nil policy leaves Policy unset', {}, {}],
    [
      'composite topology constraints',
      { constraints: { composite: { topology: [{ key: 'zone' }] } } },
      { constraints: { topology: [{ key: 'zone' }] } },
    ],
    ['composite disruption mode all', { disruptionMode: { composite: { all: {} } } }, { disruptionMode: { all: {} } }],
    ['empty policy maps to nil so the default survives', { policy: { composite: {} } }, {}],
    ['basic policy', { policy: { composite: { basic: {} } } }, { policy: { basic: {} } }],
    [
      'gang policy carries minGroupCount in the IR MinCount',
      { policy: { composite: { gang: { minGroupCount: 3 } } } },
      { policy: { gang: { minCount: 3 } } },
    ],
    ['gang policy preserves nil minGroupCount', { policy: { composite: { gang: {} } } }, { policy: { gang: {} } }],
    ['claims are never mapped', { resourceClaims: { group: [{ name: 'gpu', resourceClaimName: 'c' }] } }, {}],
  ]

  it.each(cases)('%s', (_name, input, config) => {
    expect(compositeConfig(input)).toEqual(config)
  })

  it('gang policy copies minGroupCount instead of aliasing the input', () => {
    const input = { policy: { composite: { gang: { minGroupCount: 2 } } } }
    const config = compositeConfig(input) as { policy: { gang: { minCount: number } } }
    config.policy.gang.minCount = 99
    expect(input.policy.composite.gang.minGroupCount).toBe(2)
  })
})

describe('resolveConfig', () => {
  it('merges every field, and the priority class comes from the default alone', () => {
    const defaults: Required<SchedulingConfig> = {
      policy: { basic: {} },
      constraints: { topology: [{ key: ZONE }] },
      disruptionMode: { single: {} },
      resourceClaims: [{ name: 'default-claim', resourceClaimName: 'default' }],
      priorityClassName: 'default-priority',
    }
    const input: Required<WorkloadInput> = {
      policy: { group: { gang: { minCount: 4 } } },
      constraints: { group: { topology: [{ key: 'topology.kubernetes.io/region' }] } },
      disruptionMode: { group: { all: {} } },
      resourceClaims: { group: [{ name: 'user-claim', resourceClaimName: 'user' }] },
    }
    expect(resolveConfig({ name: 'job', defaults, input })).toEqual({
      policy: { gang: { minCount: 4 } },
      constraints: { topology: [{ key: 'topology.kubernetes.io/region' }] },
      disruptionMode: { all: {} },
      resourceClaims: [{ name: 'user-claim', resourceClaimName: 'user' }],
      priorityClassName: 'default-priority',
    })
    expect(resolveConfig({ name: 'job', defaults })).toEqual(defaults)
    expect(resolveConfig({ name: 'job', defaults }).constraints).not.toBe(defaults.constraints)
  })
})
