import { describe, expect, it } from 'vitest'
import { type Batch, EXAMPLES, objectsFor } from '../../../examples/workloadbuilder.ts'
import { groupsOf, type SchedulingWorkload } from '../../../src/workload/workloadbuilder.ts'

const [batch, pipeline] = EXAMPLES.map(objectsFor)

describe('the example for authors of controllers', () => {
  it('makes a Workload and a group of what has one level', () => {
    expect(batch).toMatchObject([
      {
        kind: 'Workload',
        metadata: { namespace: 'team-a', ownerReferences: [{ kind: 'Batch', name: 'nightly', controller: true }] },
        spec: {
          controllerRef: { apiGroup: 'example.com', kind: 'Batch', name: 'nightly' },
          podGroupTemplates: [{ name: 'pods', schedulingPolicy: { gang: { minCount: 4 } } }],
        },
      },
      { kind: 'PodGroup', spec: { schedulingPolicy: { gang: { minCount: 4 } } } },
    ])
  })

  it('makes a group of groups of what has two, each with its parent', () => {
    expect(pipeline).toMatchObject([
      { kind: 'Workload' },
      { kind: 'CompositePodGroup', spec: { schedulingPolicy: { gang: { minGroupCount: 2 } } } },
      { kind: 'PodGroup', spec: { schedulingPolicy: { basic: {} } } },
      {
        kind: 'PodGroup',
        spec: {
          schedulingPolicy: { gang: { minCount: 8 } },
          schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/rack' }] },
        },
      },
    ])
    const [, parent, ...groups] = pipeline as readonly { metadata: { name: string }; spec: object }[]
    for (const { spec } of groups) expect(spec).toMatchObject({ parentCompositePodGroupName: parent?.metadata.name })
  })

  it('tells users what is wrong, where they wrote it', () => {
    const [first] = EXAMPLES as readonly [Batch]
    const wrong: Batch = { ...first, spec: { pods: 4, scheduling: { policy: { gang: { minCount: 0 } } } } }
    expect(objectsFor(wrong)).toEqual({
      errors: [
        {
          field: 'spec.scheduling.policy.gang.minCount',
          type: 'Invalid',
          detail: 'must be greater than or equal to 1',
          value: 0,
        },
      ],
    })
  })

  it('and what no API server would take', () => {
    const stages = Array.from({ length: 9 }, (_, index) => ({ name: `stage-${index}`, pods: 1 }))
    const [, second] = EXAMPLES
    const wrong = {
      kind: 'Pipeline',
      metadata: second?.metadata ?? { name: '', namespace: '', uid: '' },
      spec: { stages },
    }
    expect(objectsFor(wrong as Parameters<typeof objectsFor>[0])).toMatchObject({
      errors: [{ field: 'spec.compositePodGroupTemplates[0].podGroupTemplates', type: 'TooMany' }],
    })
  })
})

describe('groupsOf', () => {
  it('goes down to the lowest group, parents first', () => {
    const leaf = { name: 'leaf', schedulingPolicy: { basic: {} } }
    const inner = { name: 'inner', schedulingPolicy: { basic: {} }, podGroupTemplates: [leaf] }
    const outer = { name: 'outer', schedulingPolicy: { basic: {} }, compositePodGroupTemplates: [inner] }
    const workload: SchedulingWorkload = { metadata: { name: 'w' }, spec: { compositePodGroupTemplates: [outer] } }
    const groups = groupsOf(workload, [])
    expect(groups.map(({ kind, spec }) => [kind, spec.workloadRef.templateName])).toEqual([
      ['CompositePodGroup', 'outer'],
      ['CompositePodGroup', 'inner'],
      ['PodGroup', 'leaf'],
    ])
    expect(groups.map(({ spec }) => spec.parentCompositePodGroupName)).toEqual([
      undefined,
      groups[0]?.metadata.name,
      groups[1]?.metadata.name,
    ])
  })
})
