import { describe, expect, it } from 'vitest'
import type { SchedulingWorkload } from '../../../../src/workload/builder/objects.ts'
import { mapJobSet } from '../../../../src/workload/mappers/jobset.ts'
import {
  byRack,
  driver,
  forWorkers,
  jobSet,
  OPTION_A,
  OPTION_B,
  OPTION_B_BESIDE,
  RACK,
  workers,
} from '../../../support/jobsets.ts'

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
  const [workload] = mapped(object).objects as readonly SchedulingWorkload[]
  const templates = workload?.spec.compositePodGroupTemplates ?? []
  expect(templates).toHaveLength(1)
  return templates[0]
}

describe('both options of KEP-6089', () => {
  it.each([
    ['nested in the templates', OPTION_A],
    ['targeted', OPTION_B],
    ['targeted beside the block', OPTION_B_BESIDE],
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
    const { objects } = mapped(OPTION_A)
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

  it('may meet in one JobSet, for different replicated jobs', () => {
    const both = jobSet([{ ...driver, scheduling: { policy: { gang: {} } } }, workers], {
      scheduling: { replicatedJobPolicies: [forWorkers] },
    })
    expect(composite(both)?.podGroupTemplates).toEqual([
      { name: 'driver', schedulingPolicy: { gang: { minCount: 1 } } },
      { name: 'workers', schedulingPolicy: { basic: {} }, schedulingConstraints: { topology: [{ key: RACK }] } },
    ])
  })

  it('may not both speak for one replicated job', () => {
    const both = jobSet([driver, { ...workers, scheduling: byRack }], { replicatedJobPolicies: [forWorkers] })
    const template = 'spec.replicatedJobs[1].template.spec.scheduling'
    expect(errorsOf(both)).toMatchObject([{ field: template, type: 'Forbidden' }])
    expect(errorsOf(both)[0]?.detail).toContain(`spec.replicatedJobPolicies[0] and ${template} both say`)
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
