import { describe, expect, it, vi } from 'vitest'
import { createBuilder, createBuilderFromWorkload } from '../../../../src/workload/builder/builder.ts'
import type { SchedulingConfig } from '../../../../src/workload/builder/item.ts'
import type { SchedulingWorkload, WorkloadSpec } from '../../../../src/workload/builder/objects.ts'
import { compositeItem, errorsOf, gangItem, IDENTITY, JOB_OWNER, ok } from './fixtures.ts'

const existing: SchedulingWorkload = {
  metadata: { name: 'parent-wl', namespace: 'ns', uid: 'wl-uid' },
  spec: {
    podGroupTemplates: [
      {
        name: 'pgt-0',
        schedulingPolicy: { gang: { minCount: 4 } },
        priorityClassName: 'high-priority',
        priority: 1000,
      },
    ],
  },
}

/** A Workload that tells how often its templates were asked for. */
function counted(spec: WorkloadSpec): { workload: SchedulingWorkload; reads: () => number } {
  let reads = 0
  const watched = new Proxy(spec, {
    get(target, key, receiver) {
      if (key === 'podGroupTemplates' || key === 'compositePodGroupTemplates') reads++
      return Reflect.get(target, key, receiver)
    },
  })
  return { workload: { ...existing, spec: watched }, reads: () => reads }
}

describe('createBuilder', () => {
  it('compiles identity and controllerRef', () => {
    const workload = ok(createBuilder(gangItem, IDENTITY).buildWorkload())
    expect(workload).toMatchObject({
      metadata: { name: 'wl', namespace: 'ns', ownerReferences: [JOB_OWNER] },
      spec: { controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'job' }, podGroupTemplates: [{ name: 'pgt-0' }] },
    })
    expect(workload.spec.podGroupTemplates).toHaveLength(1)
  })

  it('caches the compiled workload', () => {
    const callback = vi.fn((config: SchedulingConfig) => config)
    const builder = createBuilder({ ...gangItem, callbacks: [callback] }, IDENTITY)
    const first = ok(builder.buildWorkload())
    expect(ok(builder.buildWorkload())).toBe(first)
    expect(callback).toHaveBeenCalledTimes(1)
    expect(() => Object.assign(first.metadata, { name: 'changed' })).toThrow(TypeError)
  })

  it.each([
    ['nil root', createBuilder(undefined, IDENTITY)],
    ['missing owner', createBuilder(gangItem, { name: 'wl' })],
  ])('errors are returned and nothing is cached: %s', (_name, builder) => {
    expect(errorsOf(builder.buildWorkload())).toHaveLength(1)
    expect(errorsOf(builder.newPodGroup('pg', 'pgt-0'))[0]?.detail).toMatch(/^no Workload available/)
  })

  it('allows nothing unless it is told what', () => {
    expect(createBuilder(gangItem, IDENTITY).validate()).toMatchObject([{ type: 'Forbidden' }])
  })
})

describe('newPodGroup', () => {
  const built = () => {
    const builder = createBuilder(gangItem, IDENTITY)
    ok(builder.buildWorkload())
    return builder
  }

  it('requires a workload first', () => {
    const [error] = errorsOf(createBuilder(gangItem, IDENTITY).newPodGroup('pg', 'pgt-0'))
    expect(error?.detail).toBe('no Workload available: call BuildWorkload or use NewBuilderFromExistingWorkload first')
  })

  it('materializes from the compiled template owned by the configured owner', () => {
    expect(ok(built().newPodGroup('pg', 'pgt-0'))).toEqual({
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: 'pg', namespace: 'ns', ownerReferences: [JOB_OWNER] },
      spec: {
        workloadRef: { workloadName: 'wl', templateName: 'pgt-0' },
        schedulingPolicy: { gang: { minCount: 3 } },
      },
    })
  })

  it('omits ownerReferences when no owner is configured', () => {
    const workload = ok(built().buildWorkload())
    const group = ok(createBuilderFromWorkload(workload).newPodGroup('pg', 'pgt-0'))
    expect(group.metadata).toEqual({ name: 'pg', namespace: 'ns' })
  })

  it('errors on unknown template', () => {
    const [error] = errorsOf(built().newPodGroup('pg', 'missing'))
    expect(error?.detail).toBe('podGroupTemplate "missing" not found in workload "wl" (have [pgt-0])')
  })

  it('does not find the leaves of a group of groups', () => {
    const builder = createBuilder(compositeItem, IDENTITY)
    ok(builder.buildWorkload())
    const [error] = errorsOf(builder.newPodGroup('pg', 'pgt-0'))
    expect(error?.detail).toBe('podGroupTemplate "pgt-0" not found in workload "wl" (have [])')
  })

  it('builds the template index once and reuses it across calls', () => {
    const { workload, reads } = counted(existing.spec)
    const builder = createBuilderFromWorkload(workload)
    expect(reads()).toBe(0)
    ok(builder.newPodGroup('pg-1', 'pgt-0'))
    const after = reads()
    ok(builder.newPodGroup('pg-2', 'pgt-0'))
    expect(reads()).toBe(after)
  })
})

describe('newCompositePodGroup', () => {
  const built = () => {
    const builder = createBuilder(compositeItem, IDENTITY)
    ok(builder.buildWorkload())
    return builder
  }

  it('requires a workload first', () => {
    const [error] = errorsOf(createBuilder(compositeItem, IDENTITY).newCompositePodGroup('cpg', 'cpgt-0'))
    expect(error?.detail).toMatch(/call BuildWorkload or use NewBuilderFromExistingWorkload/)
  })

  it('materializes from the compiled composite template owned by the configured owner', () => {
    expect(ok(built().newCompositePodGroup('cpg', 'cpgt-0'))).toEqual({
      apiVersion: 'scheduling.k8s.io/v1alpha3',
      kind: 'CompositePodGroup',
      metadata: { name: 'cpg', namespace: 'ns', ownerReferences: [JOB_OWNER] },
      spec: {
        workloadRef: { workloadName: 'wl', templateName: 'cpgt-0' },
        schedulingPolicy: { gang: { minGroupCount: 2 } },
      },
    })
  })

  it('omits ownerReferences when no owner is configured', () => {
    const workload = ok(built().buildWorkload())
    const group = ok(createBuilderFromWorkload(workload).newCompositePodGroup('cpg', 'cpgt-0'))
    expect(group.metadata).toEqual({ name: 'cpg', namespace: 'ns' })
  })

  it('resolves a nested composite template through the recursive index', () => {
    const group = ok(built().newCompositePodGroup('cpg', 'cpgt-1'))
    expect(group.spec.workloadRef).toEqual({ workloadName: 'wl', templateName: 'cpgt-1' })
  })

  it('errors on unknown template', () => {
    const [error] = errorsOf(built().newCompositePodGroup('cpg', 'missing'))
    expect(error?.detail).toBe('compositePodGroupTemplate "missing" not found in workload "wl" (have [cpgt-0 cpgt-1])')
  })

  it('builds the composite template index once and reuses it across calls', () => {
    const { workload, reads } = counted(ok(built().buildWorkload()).spec)
    const builder = createBuilderFromWorkload(workload)
    ok(builder.newCompositePodGroup('cpg-1', 'cpgt-0'))
    const after = reads()
    ok(builder.newCompositePodGroup('cpg-2', 'cpgt-1'))
    expect(reads()).toBe(after)
  })
})

describe('createBuilderFromWorkload', () => {
  const builder = createBuilderFromWorkload(existing, { owner: JOB_OWNER })

  it('materializes from the supplied workload without BuildWorkload', () => {
    expect(ok(builder.newPodGroup('pg', 'pgt-0'))).toMatchObject({
      metadata: { name: 'pg', namespace: 'ns', ownerReferences: [JOB_OWNER] },
      spec: { workloadRef: { workloadName: 'parent-wl' }, priorityClassName: 'high-priority', priority: 1000 },
    })
  })

  it('BuildWorkload is refused in existing mode', () => {
    const [error] = errorsOf(builder.buildWorkload())
    expect(error?.detail).toMatch(/not available on a Builder created from an existing Workload/)
  })

  it('Validate is refused in existing mode', () => {
    expect(builder.validate()).toEqual([
      {
        field: '<nil>',
        type: 'InternalError',
        detail: 'cannot validate a builder constructed from an existing workload',
      },
    ])
  })

  it('errors on unknown template', () => {
    const [error] = errorsOf(builder.newPodGroup('pg', 'missing'))
    expect(error?.detail).toBe('podGroupTemplate "missing" not found in workload "parent-wl" (have [pgt-0])')
  })
})
