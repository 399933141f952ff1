import { describe, expect, it } from 'vitest'
import type {
  PodGroupTemplate,
  SchedulingObject,
  SchedulingWorkload,
} from '../../../../src/workload/builder/objects.ts'
import { mapJob } from '../../../../src/workload/mappers/job.ts'
import type { MapOptions } from '../../../../src/workload/mappers/source.ts'

const UID = '6f1c2a4e-1111-2222-3333-444455556666'

interface Given {
  readonly metadata?: object
  readonly spec?: object
  readonly podSpec?: object
}

const job = ({ metadata, spec, podSpec }: Given = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'train', namespace: 'ml', uid: UID, ...metadata },
  spec: { parallelism: 4, template: { spec: { containers: [], ...podSpec } }, ...spec },
})

function mapped(given: Given, options: Partial<MapOptions> = {}) {
  const result = mapJob(job(given), { version: '1.37', ...options })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result
}

const errorsOf = (given: Given) => {
  const result = mapJob(job(given), { version: '1.37' })
  return 'errors' in result ? result.errors : []
}

/** What the scheduler reads: the template, and the group without its reference to it. */
function asked(objects: readonly SchedulingObject[]) {
  const [workload, group] = objects
  const { podGroupTemplates = [] } = (workload as SchedulingWorkload).spec
  expect(podGroupTemplates).toHaveLength(1)
  const { name: _name, ...template } = podGroupTemplates[0] as PodGroupTemplate
  const { workloadRef: _ref, ...spec } = (group as { spec: { workloadRef: unknown } }).spec
  expect(spec).toEqual(template)
  return template
}

describe('a Job', () => {
  it('becomes a Workload and a PodGroup with the names and owners that the Job controller gives them', () => {
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'train',
      uid: UID,
      controller: true,
      blockOwnerDeletion: true,
    }
    const scheduling = { schedulingPolicy: { gang: {} } }
    const podSpec = { priorityClassName: 'high' }
    expect(mapped({ spec: { scheduling }, podSpec }, { workloadUid: 'wl-uid' })).toEqual({
      notes: [],
      objects: [
        {
          apiVersion: 'scheduling.k8s.io/v1beta1',
          kind: 'Workload',
          metadata: { name: 'train-745747f885', namespace: 'ml', ownerReferences: [owner] },
          spec: {
            controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'train' },
            podGroupTemplates: [
              { name: 'train-pgt-0', schedulingPolicy: { gang: { minCount: 4 } }, priorityClassName: 'high' },
            ],
          },
        },
        {
          apiVersion: 'scheduling.k8s.io/v1beta1',
          kind: 'PodGroup',
          metadata: {
            name: 'train-745747f885-train-pgt-0-657957bb64',
            namespace: 'ml',
            ownerReferences: [
              owner,
              { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'Workload', name: 'train-745747f885', uid: 'wl-uid' },
            ],
          },
          spec: {
            workloadRef: { workloadName: 'train-745747f885', templateName: 'train-pgt-0' },
            schedulingPolicy: { gang: { minCount: 4 } },
            priorityClassName: 'high',
          },
        },
      ],
    })
  })

  it('is Basic without a block, and with an empty one', () => {
    expect(asked(mapped({}).objects)).toEqual({ schedulingPolicy: { basic: {} } })
    expect(asked(mapped({ spec: { scheduling: {} } }).objects)).toEqual({ schedulingPolicy: { basic: {} } })
  })

  it.each([
    [4, 4],
    [1, 1],
    [0, 1],
    [undefined, 1],
  ])('with a parallelism of %s has a gang of %s when the gang names no size', (parallelism, minCount) => {
    const { objects } = mapped({ spec: { parallelism, scheduling: { schedulingPolicy: { gang: {} } } } })
    expect(asked(objects).schedulingPolicy).toEqual({ gang: { minCount } })
  })

  const block = {
    schedulingPolicy: { gang: { minCount: 2 } },
    schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/zone' }] },
    disruptionMode: { all: {} },
  }
  const kep = {
    policy: { gang: { minCount: 2 } },
    constraints: { topology: [{ level: 'topology.kubernetes.io/zone' }] },
    disruption: { all: {} },
  }
  it.each<readonly [string, Given]>([
    ['the names of 1.37', { spec: { scheduling: block } }],
    ['the names of KEP-6089', { spec: { scheduling: kep } }],
    ['the annotation', { metadata: { annotations: { 'muster.dev/scheduling': JSON.stringify(block) } } }],
    [
      'the annotation with the names of KEP-6089',
      { metadata: { annotations: { 'muster.dev/scheduling': JSON.stringify(kep) } } },
    ],
  ])('says the same in %s', (_spelling, given) => {
    expect(asked(mapped(given).objects)).toEqual(block)
  })

  it('shares its claims with the group', () => {
    const resourceClaims = [
      { name: 'gpu', resourceClaimName: 'shared' },
      { name: 'net', resourceClaimTemplateName: 'net' },
    ]
    expect(asked(mapped({ spec: { scheduling: { resourceClaims } } }).objects)).toMatchObject({ resourceClaims })
  })

  it('without a uid gets names with the one that is given, or a placeholder', () => {
    const metadata = { uid: undefined }
    expect(mapped({ metadata }, { uid: 'uid-123' }).objects[0]?.metadata.name).toBe('train-795ddf89fd')
    expect(mapped({ metadata }).objects[0]?.metadata.name).toBe('train-587798f5c5')
  })

  it('that lets the API server choose its name gets an example', () => {
    const { objects, notes } = mapped({ metadata: { name: undefined, generateName: 'train-' } })
    expect(objects[0]?.metadata.name).toBe('train-xxxxx-745747f885')
    expect(notes).toEqual(['the API server will choose the name; here it is train-xxxxx'])
  })

  it('that no API server would take is refused at the field that is wrong, as it was written', () => {
    expect(errorsOf({ spec: { scheduling: { policy: { gang: { minCount: 5 } } } } })).toEqual([
      {
        field: 'spec.scheduling.policy.gang.minCount',
        type: 'Invalid',
        value: 5,
        detail: 'must not be greater than parallelism (4)',
      },
    ])
    expect(errorsOf({ spec: { scheduling: { disruptionMode: { all: {} } } } })).toMatchObject([
      { field: 'spec.scheduling.disruptionMode', type: 'Invalid' },
    ])
    expect(errorsOf({ spec: { scheduling: { schedulingPolicy: { gang: {}, later: {} } } } })).toMatchObject([
      { field: 'spec.scheduling.schedulingPolicy.later', type: 'Forbidden' },
    ])
    expect(errorsOf({ metadata: { name: undefined } })).toMatchObject([{ field: 'metadata.name', type: 'Required' }])
  })

  it('whose name makes no template is refused, because it would never start', () => {
    expect(errorsOf({ metadata: { name: 'train.v2' } })).toMatchObject([
      { field: 'spec.podGroupTemplates[0].name', type: 'Invalid', detail: expect.stringContaining('never start') },
    ])
  })
})

describe('a Job for which the Job controller makes nothing', () => {
  const controller = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'js', uid: 'u', controller: true }

  it.each<readonly [string, Given, RegExp]>([
    ['brings a group for its pods', { podSpec: { schedulingGroup: { podGroupName: 'mine' } } }, /schedulingGroup/],
    ['has a controller that speaks for it', { metadata: { ownerReferences: [controller] } }, /JobSet "js"/],
    ['is managed by somebody else', { spec: { managedBy: 'kueue.x-k8s.io/multikueue' } }, /spec\.managedBy/],
  ])('%s', (_name, given, note) => {
    expect(mapped(given)).toEqual({ objects: [], notes: [expect.stringMatching(note)] })
  })

  it('but an owner that is no controller does not count, nor does the controller itself in managedBy', () => {
    expect(mapped({ metadata: { ownerReferences: [{ ...controller, controller: false }] } }).objects).toHaveLength(2)
    expect(mapped({ spec: { managedBy: 'kubernetes.io/job-controller' } }).objects).toHaveLength(2)
  })
})

describe('a Job whose parent has delegated its group', () => {
  const parent: SchedulingWorkload = {
    metadata: { name: 'js-wl', namespace: 'ml' },
    spec: {
      controllerRef: { apiGroup: 'jobset.x-k8s.io', kind: 'JobSet', name: 'js' },
      podGroupTemplates: [
        { name: 'driver', schedulingPolicy: { basic: {} } },
        { name: 'workers', schedulingPolicy: { gang: { minCount: 7 } }, priority: 5 },
      ],
    },
  }
  const given = (template: string): Given => ({
    metadata: {
      annotations: { 'scheduling.k8s.io/group-template-name': template },
      ownerReferences: [
        { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'js', uid: 'u', controller: true },
      ],
    },
    spec: { scheduling: { schedulingPolicy: { gang: { minCount: 1 } } } },
  })

  it('gets a PodGroup from the template of the parent, owned by the Job alone', () => {
    expect(mapped(given('workers'), { workloads: [parent] }).objects).toMatchObject([
      {
        kind: 'PodGroup',
        metadata: { namespace: 'ml', ownerReferences: [{ kind: 'Job', name: 'train', controller: true }] },
        spec: {
          workloadRef: { workloadName: 'js-wl', templateName: 'workers' },
          schedulingPolicy: { gang: { minCount: 7 } },
          priority: 5,
        },
      },
    ])
  })

  it('takes the first template when it names none', () => {
    expect(mapped(given(''), { workloads: [parent] }).objects).toMatchObject([
      { spec: { workloadRef: { templateName: 'driver' } } },
    ])
  })

  it.each<readonly [string, string, readonly SchedulingWorkload[], RegExp]>([
    ['template', 'nobody', [parent], /no top-level template "nobody"/],
    ['Workload', 'workers', [], /no Workload of JobSet "js"/],
    ['Workload in its namespace', 'workers', [{ ...parent, metadata: { name: 'w', namespace: 'b' } }], /no Workload/],
  ])('starts without a group when there is no such %s, and that is said', (_what, template, workloads, note) => {
    expect(mapped(given(template), { workloads })).toEqual({ objects: [], notes: [expect.stringMatching(note)] })
  })
})

describe('a Job on Kubernetes 1.36', () => {
  const version = '1.36' as const

  it('is a gang when it is Indexed and runs all its pods at once', () => {
    const { objects } = mapped({ spec: { completionMode: 'Indexed', completions: 4 } }, { version })
    expect(asked(objects)).toEqual({ schedulingPolicy: { gang: { minCount: 4 } } })
  })

  it.each<readonly [string, object]>([
    ['not Indexed', { completions: 4 }],
    ['more completions than pods at a time', { completionMode: 'Indexed', completions: 8 }],
    ['one pod', { completionMode: 'Indexed', completions: 1, parallelism: 1 }],
  ])('gets nothing otherwise: %s', (_name, spec) => {
    expect(mapped({ spec }, { version })).toEqual({
      objects: [],
      notes: [expect.stringMatching(/^Kubernetes 1\.36 makes a group only of/)],
    })
  })

  it('with a block gets what the block means, with a word about who reads it', () => {
    const { objects, notes } = mapped({ spec: { scheduling: { schedulingPolicy: { basic: {} } } } }, { version })
    expect(asked(objects)).toEqual({ schedulingPolicy: { basic: {} } })
    expect(notes).toEqual([expect.stringMatching(/^the Job controller of Kubernetes 1\.36 does not read the block/)])
  })
})
