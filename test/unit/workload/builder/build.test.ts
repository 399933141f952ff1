import { describe, expect, it, vi } from 'vitest'
import { buildWorkload } from '../../../../src/workload/builder/build.ts'
import type { MaybeItem, SchedulingConfig, WorkloadItem } from '../../../../src/workload/builder/item.ts'
import {
  BASIC,
  build,
  errorsOf,
  gang,
  gangSize,
  IDENTITY,
  JOB_OWNER,
  soleComposite,
  soleTemplate,
  ZONE,
} from './fixtures.ts'

const topology = { topology: [{ key: ZONE }] }

describe('buildWorkload of a leaf', () => {
  it('basic policy', () => {
    expect(soleTemplate({ name: 'test-job', defaults: BASIC })).toEqual({
      name: 'test-job',
      schedulingPolicy: { basic: {} },
    })
  })

  it('gang policy from default', () => {
    expect(soleTemplate({ name: 'gang-job', defaults: gang(4) }).schedulingPolicy).toEqual({ gang: { minCount: 4 } })
  })

  it('gang minCount defaulted by callback', () => {
    const template = soleTemplate({
      name: 'gang-job',
      defaults: BASIC,
      input: { policy: { group: { gang: {} } } },
      callbacks: [gangSize(8)],
    })
    expect(template.schedulingPolicy).toEqual({ gang: { minCount: 8 } })
  })

  it('user gang overrides default basic', () => {
    const template = soleTemplate({
      name: 'override-job',
      defaults: BASIC,
      input: { policy: { group: { gang: { minCount: 2 } } } },
    })
    expect(template.schedulingPolicy).toEqual({ gang: { minCount: 2 } })
  })

  it('field-by-field merge of default and user config', () => {
    const template = soleTemplate({
      name: 'merge-job',
      defaults: { ...BASIC, disruptionMode: { single: {} } },
      input: { constraints: { group: topology } },
    })
    expect(template).toEqual({
      name: 'merge-job',
      schedulingPolicy: { basic: {} },
      disruptionMode: { single: {} },
      schedulingConstraints: topology,
    })
  })

  it('topology constraints', () => {
    const template = soleTemplate({ name: 'topo-job', defaults: BASIC, input: { constraints: { group: topology } } })
    expect(template.schedulingConstraints).toEqual({ topology: [{ key: 'topology.kubernetes.io/zone' }] })
  })

  it('disruption mode all, which only validation holds against Basic', () => {
    const template = soleTemplate({
      name: 'disruption-job',
      defaults: BASIC,
      input: { disruptionMode: { group: { all: {} } } },
    })
    expect(template).toEqual({
      name: 'disruption-job',
      schedulingPolicy: { basic: {} },
      disruptionMode: { all: {} },
    })
  })

  it('resource claims', () => {
    const claims = [{ name: 'gpu', resourceClaimName: 'my-claim' }]
    const template = soleTemplate({ name: 'dra-job', defaults: BASIC, input: { resourceClaims: { group: claims } } })
    expect(template.resourceClaims).toEqual(claims)
    expect(template.resourceClaims).not.toBe(claims)
  })

  it('priorityClassName propagates to template', () => {
    const template = soleTemplate({
      name: 'prio-job',
      defaults: { ...BASIC, priorityClassName: 'system-node-critical' },
    })
    expect(template.priorityClassName).toBe('system-node-critical')
  })

  it('nil configs default to basic', () => {
    expect(soleTemplate({ name: 'bare' }).schedulingPolicy).toEqual({ basic: {} })
  })

  it('callback performs arbitrary adjustment', () => {
    const template = soleTemplate({
      name: 'adjusted',
      defaults: gang(4),
      callbacks: [
        undefined,
        config => ({ ...config, policy: { gang: { minCount: (config.policy?.gang?.minCount ?? 0) * 3 } } }),
      ],
    })
    expect(template.schedulingPolicy).toEqual({ gang: { minCount: 12 } })
  })

  it('resolution does not mutate caller inputs', () => {
    const root: WorkloadItem = {
      name: 'gang-job',
      defaults: { ...BASIC, constraints: topology },
      input: { policy: { group: { gang: {} } } },
      callbacks: [
        config => {
          // A callback in plain JavaScript is not kept from writing.
          const written = config as {
            policy: { gang: { minCount?: number } }
            constraints: { topology: { key: string }[] }
          }
          written.policy.gang.minCount = 16
          written.constraints.topology[0] = { key: 'changed' }
          return config
        },
      ],
    }
    const before = structuredClone({ ...root, callbacks: [] })
    expect(soleTemplate(root)).toMatchObject({
      schedulingPolicy: { gang: { minCount: 16 } },
      schedulingConstraints: { topology: [{ key: 'changed' }] },
    })
    expect({ ...root, callbacks: [] }).toEqual(before)
  })

  it('gang wins over basic when a callback sets both, and all over single', () => {
    const both: SchedulingConfig = {
      policy: { basic: {}, gang: { minCount: 2 } },
      disruptionMode: { single: {}, all: {} },
    }
    expect(soleTemplate({ name: 'both', callbacks: [() => both] })).toEqual({
      name: 'both',
      schedulingPolicy: { gang: { minCount: 2 } },
      disruptionMode: { all: {} },
    })
  })
})

describe('buildWorkload of a group of groups', () => {
  const workers: WorkloadItem = { name: 'workers', defaults: BASIC }

  it('composite root compiles into a composite template with leaf children', () => {
    const composite = soleComposite({
      name: 'cpg-root',
      defaults: gang(2),
      children: [
        { name: 'workers', defaults: gang(4) },
        { name: 'ps', defaults: BASIC },
      ],
    })
    expect(composite).toEqual({
      name: 'cpg-root',
      schedulingPolicy: { gang: { minGroupCount: 2 } },
      podGroupTemplates: [
        { name: 'workers', schedulingPolicy: { gang: { minCount: 4 } } },
        { name: 'ps', schedulingPolicy: { basic: {} } },
      ],
    })
  })

  it('composite gang minGroupCount from user input', () => {
    const composite = soleComposite({
      name: 'cpg-root',
      input: { policy: { composite: { gang: { minGroupCount: 3 } } } },
      children: [workers],
    })
    expect(composite.schedulingPolicy).toEqual({ gang: { minGroupCount: 3 } })
  })

  it('composite constraints and disruption mode compile onto the composite template', () => {
    const composite = soleComposite({
      name: 'cpg-root',
      defaults: BASIC,
      input: { constraints: { composite: topology }, disruptionMode: { composite: { all: {} } } },
      children: [workers],
    })
    expect(composite).toMatchObject({ schedulingConstraints: topology, disruptionMode: { all: {} } })
    expect(composite.podGroupTemplates).toEqual([{ name: 'workers', schedulingPolicy: { basic: {} } }])
  })

  it('composite defaults to basic policy', () => {
    expect(soleComposite({ name: 'cpg-root', children: [workers] }).schedulingPolicy).toEqual({ basic: {} })
  })

  it('nested composite compiles recursively', () => {
    const composite = soleComposite({
      name: 'cpg-root',
      defaults: BASIC,
      children: [{ name: 'inner', defaults: gang(2), children: [workers] }],
    })
    expect(composite.podGroupTemplates).toBeUndefined()
    expect(composite.compositePodGroupTemplates).toEqual([
      {
        name: 'inner',
        schedulingPolicy: { gang: { minGroupCount: 2 } },
        podGroupTemplates: [{ name: 'workers', schedulingPolicy: { basic: {} } }],
      },
    ])
  })
})

describe('buildWorkload gives the Workload its identity', () => {
  it('owner reference and controllerRef parse APIGroup', () => {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'my-job', uid: 'abc-123' }
    const built = buildWorkload({ name: 'owned-job', defaults: BASIC }, { ...IDENTITY, owner })
    expect(built).toEqual({
      ok: {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'Workload',
        metadata: { name: 'wl', namespace: 'ns', ownerReferences: [owner] },
        spec: {
          controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'my-job' },
          podGroupTemplates: [{ name: 'owned-job', schedulingPolicy: { basic: {} } }],
        },
      },
    })
  })

  it('leaves out the API group of an owner from the core group', () => {
    const owner = { ...JOB_OWNER, apiVersion: 'v1', kind: 'Pod' }
    expect(buildWorkload({ name: 'a' }, { name: 'wl', owner })).toMatchObject({
      ok: { spec: { controllerRef: { kind: 'Pod', name: 'job' } } },
    })
  })

  it('does not share the owner with the caller', () => {
    const owner = { ...JOB_OWNER }
    const built = buildWorkload({ name: 'a' }, { name: 'wl', owner })
    owner.name = 'changed'
    expect(built).toMatchObject({ ok: { metadata: { ownerReferences: [{ name: 'job' }] } } })
  })
})

describe('buildWorkload refuses', () => {
  const composite = (child: MaybeItem): WorkloadItem => ({
    name: 'cpg-root',
    defaults: BASIC,
    children: [child as WorkloadItem],
  })
  const gangWithoutSize = { policy: { group: { gang: {} } } }
  const cases: readonly (readonly [name: string, root: MaybeItem, detail: string])[] = [
    [
      'gang missing minCount',
      { name: 'gang-job', input: gangWithoutSize },
      'gang scheduling requires minCount to be set after resolution',
    ],
    [
      'composite gang missing minGroupCount',
      { name: 'cpg-root', input: { policy: { composite: { gang: {} } } }, children: [{ name: 'workers' }] },
      'composite gang scheduling requires minGroupCount to be set after resolution',
    ],
    [
      'composite policy set together with a leaf building block',
      {
        name: 'cpg-root',
        input: {
          policy: { composite: { gang: { minGroupCount: 2 } } },
          disruptionMode: { group: { single: {} } },
        },
        children: [{ name: 'workers' }],
      },
      'composite workload item "cpg-root" sets leaf building block: disruptionMode',
    ],
    [
      'composite with claims',
      {
        name: 'cpg-root',
        input: { resourceClaims: { group: [{ name: 'gpu', resourceClaimName: 'c' }] } },
        children: [{ name: 'workers' }],
      },
      'composite workload item "cpg-root" sets leaf building block: resourceClaims',
    ],
    [
      'leaf with a composite building block',
      { name: 'leaf', input: { constraints: { composite: topology } } },
      'leaf workload item "leaf" sets composite building block: constraints',
    ],
    ['composite with a nil child', composite(undefined), 'workload item cannot be nil'],
    ['composite child with empty name', composite({ name: '' }), 'workload item name cannot be empty'],
    [
      'duplicate template names across the tree',
      { name: 'cpg-root', children: [{ name: 'workers' }, { name: 'workers' }] },
      'duplicate workload item name "workers": template names must be unique across the Workload',
    ],
    ['nil root', undefined, 'workload item cannot be nil'],
  ]

  it.each(cases)('%s', (_name, root, detail) => {
    expect(errorsOf(buildWorkload(root, IDENTITY))).toEqual([{ field: '<nil>', type: 'InternalError', detail }])
  })

  it('empty leaf name before resolution and callbacks', () => {
    const callback = vi.fn((config: SchedulingConfig) => config)
    const built = buildWorkload({ name: '', path: 'spec.scheduling', callbacks: [callback] }, IDENTITY)
    expect(errorsOf(built)).toEqual([
      { field: 'spec.scheduling', type: 'InternalError', detail: 'workload item name cannot be empty' },
    ])
    expect(callback).not.toHaveBeenCalled()
  })

  it('missing owner', () => {
    const [error] = errorsOf(buildWorkload({ name: 'job', defaults: BASIC }, { name: 'wl' }))
    expect(error?.detail).toBe('a Workload must be owned by its controller for garbage collection')
  })

  it('owner apiVersion that fails to parse', () => {
    const owner = { ...JOB_OWNER, apiVersion: 'batch/v1/extra' }
    const [error] = errorsOf(buildWorkload({ name: 'job', defaults: BASIC }, { ...IDENTITY, owner }))
    expect(error?.detail).toBe(
      'invalid owner apiVersion "batch/v1/extra": unexpected GroupVersion string: batch/v1/extra',
    )
  })
})

describe('mapping and building end to end', () => {
  it('leaf group maps and compiles every building block', () => {
    const template = soleTemplate({
      name: 'job-root',
      defaults: BASIC,
      input: {
        policy: { group: { gang: {} } },
        constraints: { group: topology },
        disruptionMode: { group: { all: {} } },
      },
      callbacks: [gangSize(4)],
    })
    expect(template).toEqual({
      name: 'job-root',
      schedulingPolicy: { gang: { minCount: 4 } },
      schedulingConstraints: topology,
      disruptionMode: { all: {} },
    })
  })

  it('composite group maps and compiles the group-of-groups policy', () => {
    const root: WorkloadItem = {
      name: 'cpg-root',
      defaults: BASIC,
      input: { policy: { composite: { gang: {} } } },
      callbacks: [gangSize(4)],
      children: [{ name: 'workers', defaults: BASIC }],
    }
    expect(build(root).spec.compositePodGroupTemplates).toEqual([
      {
        name: 'cpg-root',
        schedulingPolicy: { gang: { minGroupCount: 4 } },
        podGroupTemplates: [{ name: 'workers', schedulingPolicy: { basic: {} } }],
      },
    ])
  })
})
