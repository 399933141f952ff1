import { describe, expect, it } from 'vitest'
import type { Workload } from '../../../../src/workload/builder/objects.ts'
import { mapJobSet } from '../../../../src/workload/mappers/jobset.ts'

const RACK = 'topology.kubernetes.io/rack'

interface Replicated {
  readonly name?: unknown
  readonly replicas?: unknown
  readonly dependsOn?: unknown
  readonly scheduling?: object
  readonly parallelism?: number
  readonly podSpec?: object
}

const replicated = ({ scheduling, parallelism, podSpec, ...rest }: Replicated) => ({
  ...rest,
  template: { spec: { parallelism, scheduling, template: { spec: { containers: [], ...podSpec } } } },
})

const jobSet = (jobs: readonly Replicated[], spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'js', namespace: 'ml', uid: 'js-uid', ...metadata },
  spec: { replicatedJobs: jobs.map(replicated), ...spec },
})

function mapped(object: ReturnType<typeof jobSet>) {
  const result = mapJobSet(object, { version: '1.37', workloadUid: 'wl-uid' })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result
}

function errorsOf(object: ReturnType<typeof jobSet>) {
  const result = mapJobSet(object, { version: '1.37' })
  return 'errors' in result ? result.errors : []
}

function composite(object: ReturnType<typeof jobSet>) {
  const [workload] = mapped(object).objects as readonly Workload[]
  const templates = workload?.spec.compositePodGroupTemplates ?? []
  expect(templates).toHaveLength(1)
  return templates[0]
}

const driver: Replicated = { name: 'driver', replicas: 1 }
const workers: Replicated = { name: 'workers', replicas: 16 }
const byRack = { constraints: { topology: [{ level: RACK }] } }

describe('both options of KEP-6089', () => {
  const nested = jobSet([driver, { ...workers, scheduling: byRack }], { scheduling: { policy: { basic: {} } } })
  const targeted = jobSet([driver, workers], {
    scheduling: {
      policy: { basic: {} },
      replicatedJobPolicies: [{ targetReplicatedJob: 'workers', ...byRack }],
    },
  })
  const beside = jobSet([driver, workers], {
    scheduling: { policy: { basic: {} } },
    replicatedJobPolicies: [{ targetReplicatedJob: 'workers', ...byRack }],
  })

  it.each([
    ['nested in the templates', nested],
    ['targeted', targeted],
    ['targeted beside the block', beside],
  ])('give a group of groups: policies %s', (_option, object) => {
    expect(composite(object)).toEqual({
      name: 'js-cpgt-0',
      schedulingPolicy: { basic: {} },
      podGroupTemplates: [
        { name: 'driver', schedulingPolicy: { basic: {} } },
        {
          name: 'workers',
          schedulingPolicy: { basic: {} },
          schedulingConstraints: { topology: [{ key: RACK }] },
        },
      ],
    })
  })

  it('create the Workload, the group of groups and a group for each replicated job, owned by the JobSet', () => {
    const { objects } = mapped(nested)
    expect(objects.map(({ apiVersion, kind }) => [apiVersion, kind])).toEqual([
      ['scheduling.k8s.io/v1beta1', 'Workload'],
      ['scheduling.k8s.io/v1alpha3', 'CompositePodGroup'],
      ['scheduling.k8s.io/v1beta1', 'PodGroup'],
      ['scheduling.k8s.io/v1beta1', 'PodGroup'],
    ])
    const [workload, parent, ...groups] = objects
    const owner = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      name: 'js',
      uid: 'js-uid',
      controller: true,
      blockOwnerDeletion: true,
    }
    expect(workload).toMatchObject({
      metadata: { namespace: 'ml', ownerReferences: [owner] },
      spec: { controllerRef: { apiGroup: 'jobset.x-k8s.io', kind: 'JobSet', name: 'js' } },
    })
    for (const each of [parent, ...groups]) {
      expect(each?.metadata.ownerReferences).toEqual([
        owner,
        {
          apiVersion: 'scheduling.k8s.io/v1beta1',
          kind: 'Workload',
          name: workload?.metadata.name,
          uid: 'wl-uid',
        },
      ])
    }
    expect(parent?.spec).not.toHaveProperty('parentCompositePodGroupName')
    for (const group of groups) {
      expect(group.spec).toMatchObject({ parentCompositePodGroupName: parent?.metadata.name })
    }
    expect(new Set(objects.map(({ metadata }) => metadata.name)).size).toBe(4)
  })

  it('are not for one JobSet at once', () => {
    const both = jobSet([{ ...driver, scheduling: byRack }, workers], {
      scheduling: { replicatedJobPolicies: [{ targetReplicatedJob: 'workers', ...byRack }] },
    })
    expect(errorsOf(both)).toMatchObject([
      { field: 'spec.replicatedJobs[0].template.spec.scheduling', type: 'Forbidden' },
    ])
  })
})

describe('the sizes of a JobSet', () => {
  it('make it a gang of all its groups unless it says otherwise', () => {
    expect(composite(jobSet([driver, workers]))?.schedulingPolicy).toEqual({ gang: { minGroupCount: 2 } })
    const own = { scheduling: { schedulingPolicy: { gang: { minGroupCount: 1 } } } }
    expect(composite(jobSet([driver, workers], own))?.schedulingPolicy).toEqual({ gang: { minGroupCount: 1 } })
  })

  it('do not count a replicated job without replicas', () => {
    const policy = composite(jobSet([driver, { ...workers, replicas: 0 }]))?.schedulingPolicy
    expect(policy).toEqual({ gang: { minGroupCount: 1 } })
  })

  it.each([
    ['dependsOn', jobSet([driver, { ...workers, dependsOn: [{ name: 'driver', status: 'Ready' }] }])],
    ['InOrder', jobSet([driver, workers], { startupPolicy: { startupPolicyOrder: 'InOrder' } })],
  ])('make it no gang when its jobs start one after the other: %s', (_how, object) => {
    expect(composite(object)?.schedulingPolicy).toEqual({ basic: {} })
  })

  it('and a gang that was asked for then comes with a warning', () => {
    const object = jobSet([driver, workers], {
      startupPolicy: { startupPolicyOrder: 'InOrder' },
      scheduling: { policy: { gang: {} } },
    })
    expect(mapped(object).notes).toEqual([expect.stringMatching(/may never start$/)])
  })

  it('count the pods of all replicas for a gang that names no size', () => {
    const gang = { scheduling: { replicatedJobPolicies: [{ targetReplicatedJob: 'workers', policy: { gang: {} } }] } }
    const templates = composite(jobSet([driver, { ...workers, parallelism: 2 }], gang))?.podGroupTemplates
    expect(templates?.[1]?.schedulingPolicy).toEqual({ gang: { minCount: 32 } })
  })

  it('bound what may be asked for', () => {
    const object = jobSet([driver, workers], {
      scheduling: {
        policy: { gang: { minGroupCount: 3 } },
        replicatedJobPolicies: [{ targetReplicatedJob: 'workers', policy: { gang: { minCount: 17 } } }],
      },
    })
    expect(errorsOf(object)).toMatchObject([
      {
        field: 'spec.scheduling.policy.gang.minGroupCount',
        detail: 'must not be greater than the number of groups (2)',
      },
      {
        field: 'spec.scheduling.replicatedJobPolicies[0].policy.gang.minCount',
        detail: 'must not be greater than the number of pods: replicas × parallelism (16)',
      },
    ])
  })
})

describe('the priority of a JobSet', () => {
  const high = { podSpec: { priorityClassName: 'high' } }

  it('is that of its pods', () => {
    const template = composite(
      jobSet([
        { ...driver, ...high },
        { ...workers, ...high },
      ]),
    )
    expect(template).toMatchObject({
      priorityClassName: 'high',
      podGroupTemplates: [{ priorityClassName: 'high' }, { priorityClassName: 'high' }],
    })
  })

  it('must be one', () => {
    expect(errorsOf(jobSet([driver, { ...workers, ...high }]))).toMatchObject([
      { field: 'spec', type: 'Invalid', detail: expect.stringMatching(/^all priority and priorityClassName values/) },
    ])
  })
})

describe('a JobSet that is wrong', () => {
  const policies = (...replicatedJobPolicies: unknown[]) =>
    jobSet([driver, workers], { scheduling: { replicatedJobPolicies } })

  it.each<readonly [string, ReturnType<typeof jobSet>, string, string]>([
    ['no jobs', jobSet([]), 'spec.replicatedJobs', 'Required'],
    ['a job without a name', jobSet([{}]), 'spec.replicatedJobs[0].name', 'Required'],
    ['a name twice', jobSet([driver, driver]), 'spec.replicatedJobs[1].name', 'Duplicate'],
    ['replicas as text', jobSet([{ ...driver, replicas: '1' }]), 'spec.replicatedJobs[0].replicas', 'Invalid'],
    [
      'a policy for nobody',
      policies({ targetReplicatedJob: 'nobody' }),
      'spec.scheduling.replicatedJobPolicies[0].targetReplicatedJob',
      'Invalid',
    ],
    [
      'a policy without a target',
      policies({}),
      'spec.scheduling.replicatedJobPolicies[0].targetReplicatedJob',
      'Required',
    ],
    ['a policy that is none', policies('workers'), 'spec.scheduling.replicatedJobPolicies[0]', 'Invalid'],
    [
      'two policies for one job',
      policies({ targetReplicatedJob: 'workers' }, { targetReplicatedJob: 'workers' }),
      'spec.scheduling.replicatedJobPolicies[1].targetReplicatedJob',
      'Duplicate',
    ],
    [
      'policies that are no list',
      jobSet([driver], { scheduling: { replicatedJobPolicies: {} } }),
      'spec.scheduling.replicatedJobPolicies',
      'Invalid',
    ],
    [
      'pods counted where groups are',
      jobSet([driver], { scheduling: { policy: { gang: { minCount: 1 } } } }),
      'spec.scheduling.policy.gang.minCount',
      'Forbidden',
    ],
    [
      'too few groups',
      jobSet([driver], { scheduling: { policy: { gang: { minGroupCount: 0 } } } }),
      'spec.scheduling.policy.gang.minGroupCount',
      'Invalid',
    ],
    [
      'claims of the whole',
      jobSet([driver], { scheduling: { resourceClaims: [{ name: 'a', resourceClaimName: 'b' }] } }),
      'spec.scheduling.resourceClaims',
      'Forbidden',
    ],
    ['a key that nobody knows', jobSet([driver], { scheduling: { later: {} } }), 'spec.scheduling.later', 'Forbidden'],
    ['a block that is none', jobSet([driver], { scheduling: 'gang' }), 'spec.scheduling', 'Invalid'],
    [
      'all disrupted together though scheduled one by one',
      jobSet([{ ...driver, scheduling: { disruptionMode: { all: {} } } }]),
      'spec.replicatedJobs[0].template.spec.scheduling.disruptionMode',
      'Invalid',
    ],
  ])('is refused at the field: %s', (_name, object, field, type) => {
    expect(errorsOf(object)).toMatchObject([{ field, type }])
  })
})

describe('a JobSet that needs nothing', () => {
  it('has a controller that speaks for it', () => {
    const ownerReferences = [
      { apiVersion: 'trainer.kubeflow.org/v1', kind: 'TrainJob', name: 't', uid: 'u', controller: true },
    ]
    expect(mapped(jobSet([driver], {}, { ownerReferences }))).toEqual({
      objects: [],
      notes: ['TrainJob "t" is its controller and speaks for it'],
    })
  })

  it('or brings groups for its pods, job by job', () => {
    const own = { podSpec: { schedulingGroup: { podGroupName: 'mine' } } }
    expect(mapped(jobSet([{ ...driver, ...own }])).objects).toEqual([])
    const object = jobSet([{ ...driver, ...own }, workers])
    expect(composite(object)?.podGroupTemplates?.map(({ name }) => name)).toEqual(['workers'])
    expect(mapped(object).notes).toEqual(['the pods of "driver" name a group of their own and are left out'])
  })
})
