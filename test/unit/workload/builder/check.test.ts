import { describe, expect, it } from 'vitest'
import { workloadErrors } from '../../../../src/workload/builder/check.ts'
import type { WorkloadItem } from '../../../../src/workload/builder/item.ts'
import { build, compositeItem, gangItem } from './fixtures.ts'

const leaves = (count: number): readonly WorkloadItem[] =>
  Array.from({ length: count }, (_, index) => ({ name: `leaf-${index}` }))

describe('workloadErrors', () => {
  it('finds nothing wrong with a Workload that the API server takes', () => {
    expect(workloadErrors(build(gangItem))).toEqual([])
    expect(workloadErrors(build(compositeItem))).toEqual([])
  })

  it('names a template that is no DNS label, which is why a Job with a dot in its name never starts', () => {
    expect(workloadErrors(build({ name: 'my.job-pgt-0' }))).toEqual([
      {
        field: 'spec.podGroupTemplates[0].name',
        type: 'Invalid',
        detail: 'must not contain dots',
        value: 'my.job-pgt-0',
      },
    ])
    expect(workloadErrors(build({ name: `${'j'.repeat(57)}-pgt-0` }))).toEqual([])
    expect(workloadErrors(build({ name: `${'j'.repeat(58)}-pgt-0` }))).toMatchObject([{ type: 'Invalid' }])
  })

  it('counts templates', () => {
    expect(workloadErrors(build({ name: 'root', children: leaves(8) }))).toEqual([])
    expect(workloadErrors(build({ name: 'root', children: leaves(9) }))).toEqual([
      {
        field: 'spec.compositePodGroupTemplates[0].podGroupTemplates',
        type: 'TooMany',
        detail: 'must have at most 8 items',
        value: 9,
      },
    ])
  })

  it('wants sizes that the API can hold', () => {
    const sized = (minCount: number) =>
      workloadErrors(build({ name: 'a', defaults: { policy: { gang: { minCount } } } }))
    const field = 'spec.podGroupTemplates[0].schedulingPolicy.gang.minCount'
    expect(sized(0)).toEqual([{ field, type: 'Invalid', value: 0, detail: 'must be greater than or equal to 1' }])
    expect(sized(2 ** 31 - 1)).toEqual([])
    expect(sized(2 ** 31)).toMatchObject([{ field, type: 'Invalid', value: 2 ** 31 }])
  })

  it('counts levels', () => {
    const nested = (levels: number): WorkloadItem =>
      levels === 0 ? { name: 'leaf' } : { name: `level-${levels}`, children: [nested(levels - 1)] }
    expect(workloadErrors(build(nested(3)))).toEqual([])
    expect(workloadErrors(build(nested(4)))).toMatchObject([
      { type: 'Invalid', detail: 'maximum template hierarchy depth is 4' },
    ])
  })

  it('wants one priority for the whole Workload', () => {
    const children: readonly WorkloadItem[] = [{ name: 'a', defaults: { priorityClassName: 'high' } }, { name: 'b' }]
    expect(workloadErrors(build({ name: 'root', children }))).toEqual([
      {
        field: 'spec',
        type: 'Invalid',
        value: null,
        detail: 'all priority and priorityClassName values must be identical, detected multiple values',
      },
    ])
  })
})
