import { describe, expect, it } from 'vitest'
import { compositePodGroupFrom, podGroupFrom } from '../../../../src/workload/builder/groups.ts'
import type {
  CompositePodGroupTemplate,
  PodGroupTemplate,
  SchedulingWorkload,
} from '../../../../src/workload/builder/objects.ts'
import { JOB_OWNER, ZONE } from './fixtures.ts'

const workers: PodGroupTemplate = {
  name: 'workers',
  schedulingPolicy: { gang: { minCount: 4 } },
  schedulingConstraints: { topology: [{ key: ZONE }] },
  disruptionMode: { all: {} },
  resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared-gpu' }],
  priorityClassName: 'high',
  priority: 1000,
}
const nested: CompositePodGroupTemplate = { name: 'nested', schedulingPolicy: { basic: {} } }
const top: CompositePodGroupTemplate = {
  name: 'top',
  schedulingPolicy: { gang: { minGroupCount: 2 } },
  priorityClassName: 'high',
  priority: 1000,
  compositePodGroupTemplates: [nested],
}
const workload: SchedulingWorkload = {
  metadata: { name: 'job-abc', namespace: 'training' },
  spec: { podGroupTemplates: [workers], compositePodGroupTemplates: [top] },
}

type Writable<T> = { -readonly [K in keyof T]: Writable<T[K]> }

describe('podGroupFrom', () => {
  it('materializes every field from the template', () => {
    const owners = [
      { ...JOB_OWNER, controller: true },
      { apiVersion: 'scheduling.k8s.io/v1alpha3', kind: 'Workload', name: 'job-abc', uid: 'wl-uid' },
    ]
    expect(podGroupFrom(workload, workers, { name: 'job-abc-workers-xyz', owners })).toEqual({
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: 'job-abc-workers-xyz', namespace: 'training', ownerReferences: owners },
      spec: {
        workloadRef: { workloadName: 'job-abc', templateName: 'workers' },
        schedulingPolicy: { gang: { minCount: 4 } },
        schedulingConstraints: { topology: [{ key: ZONE }] },
        disruptionMode: { all: {} },
        resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared-gpu' }],
        priorityClassName: 'high',
        priority: 1000,
      },
    })
  })

  it('does not alias the workload template', () => {
    const before = structuredClone(workers)
    const group = podGroupFrom(workload, workers, { name: 'pg' }) as Writable<ReturnType<typeof podGroupFrom>>
    Object.assign(group.spec.schedulingPolicy, { gang: { minCount: 99 } })
    Object.assign(group.spec.schedulingConstraints?.topology?.[0] ?? {}, { key: 'changed' })
    Object.assign(group.spec.resourceClaims?.[0] ?? {}, { name: 'changed' })
    Object.assign(group.spec.disruptionMode ?? {}, { single: {} })
    group.spec.priority = 1
    expect(workers).toEqual(before)
  })
})

describe('compositePodGroupFrom', () => {
  it('materializes a top-level composite template', () => {
    expect(compositePodGroupFrom(workload, top, { name: 'job-abc-top-xyz', owners: [JOB_OWNER] })).toEqual({
      apiVersion: 'scheduling.k8s.io/v1alpha3',
      kind: 'CompositePodGroup',
      metadata: { name: 'job-abc-top-xyz', namespace: 'training', ownerReferences: [JOB_OWNER] },
      spec: {
        workloadRef: { workloadName: 'job-abc', templateName: 'top' },
        schedulingPolicy: { gang: { minGroupCount: 2 } },
        priorityClassName: 'high',
        priority: 1000,
      },
    })
  })

  it('materializes a nested composite template', () => {
    const group = compositePodGroupFrom(workload, nested, { name: 'job-abc-nested-xyz', parent: 'job-abc-top-xyz' })
    expect(group.spec).toEqual({
      parentCompositePodGroupName: 'job-abc-top-xyz',
      workloadRef: { workloadName: 'job-abc', templateName: 'nested' },
      schedulingPolicy: { basic: {} },
    })
  })

  it('omits ownerReferences when none are configured', () => {
    expect(compositePodGroupFrom(workload, top, { name: 'cpg' }).metadata).not.toHaveProperty('ownerReferences')
  })

  it('does not alias the workload template', () => {
    const before = structuredClone(top)
    const group = compositePodGroupFrom(workload, top, { name: 'cpg' }) as Writable<
      ReturnType<typeof compositePodGroupFrom>
    >
    Object.assign(group.spec.schedulingPolicy, { gang: { minGroupCount: 99 } })
    group.spec.priority = 1
    expect(top).toEqual(before)
  })
})
