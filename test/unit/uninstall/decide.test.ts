import { describe, expect, it } from 'vitest'
import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { KUEUE_KINDS } from '../../../src/kube/vocabulary/kueue.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import { COMPOSITE_POD_GROUPS, MUTATING_WEBHOOKS, SECRETS } from '../../../src/kube/vocabulary/resources.ts'
import { decideUninstall } from '../../../src/uninstall/decide.ts'
import { CRDS, DEPLOYMENTS, NARROW_KINDS, WIDE_KINDS } from '../../../src/uninstall/kinds.ts'
import type { Choice, Job, Remains } from '../../../src/uninstall/remains.ts'
import type { PhaseName, Step } from '../../../src/uninstall/steps.ts'
import { BATCH_JOB } from '../../../src/workload/jobs/batch-job.ts'
import { podGroupNameFor } from '../../../src/workload/placement.ts'
import { job as queuedJob } from '../../support/jobs.ts'
import { managedPod } from '../../support/pods.ts'

const NOTHING: Remains = {
  wide: WIDE_KINDS.map(kind => ({ ...kind, objects: [] })),
  narrow: NARROW_KINDS.map(kind => ({ ...kind, objects: [] })),
  namespace: undefined,
  pods: [],
  jobs: [],
  workloads: { resource: WORKLOADS, objects: [] },
  kueueWorkloads: undefined,
  kueueQueuesPods: false,
  podGroupVersion: 'v1beta1',
  podGroups: [],
  around: [],
  kaiPodGroups: [],
}

const named = (name: string, metadata: object = {}): KubeObject => ({
  metadata: { name, uid: `uid-${name}`, ...metadata },
})
const withObjects = (kinds: Remains['wide'], plural: string, ...objects: KubeObject[]): Remains['wide'] =>
  kinds.map(kind => (kind.resource.plural === plural ? { ...kind, objects } : kind))

const stepsOf = (remains: Partial<Remains>, choice: Choice | undefined, phase: PhaseName): readonly Step[] =>
  decideUninstall({ ...NOTHING, ...remains }, choice)
    .stages.flat()
    .find(({ name }) => name === phase)?.steps ?? []

const bodyOf = (step: Step | undefined): unknown => (step?.kind === 'patch' ? step.patch.body : step)

describe('the order', () => {
  const installed: Partial<Remains> = {
    wide: withObjects(
      withObjects(NOTHING.wide, MUTATING_WEBHOOKS.plural, named('muster'), named('theirs')),
      CRDS.plural,
      named('workloads.muster.dev'),
      named('workloads.kueue.x-k8s.io'),
    ),
    narrow: withObjects(NOTHING.narrow, DEPLOYMENTS.plural, named('muster')),
    namespace: named('muster-system'),
    pods: [managedPod()],
  }

  it('is to stop, to free what is held, and to remove, each when nothing is left of the one before', () => {
    const { stages } = decideUninstall({ ...NOTHING, ...installed }, 'start')
    expect(stages.map(phases => phases.map(({ name }) => name))).toEqual([
      ['StopServer', 'RemoveWebhooks'],
      ['FreePods'],
      ['RemoveCrd', 'RemoveNamespace'],
    ])
  })

  it('names what is Muster’s and nothing else', () => {
    const steps = decideUninstall({ ...NOTHING, ...installed }, 'start')
      .stages.flat()
      .flatMap(({ steps }) => steps)
    expect(steps.map(({ object }) => object.metadata.name)).toEqual([
      ...['muster', 'muster', 'train', 'workloads.muster.dev', 'muster-system'],
    ])
  })

  it('takes what another version of the manifests has, by their label, and no stranger with that label', () => {
    const labels = { 'app.kubernetes.io/part-of': 'muster' }
    const wide = withObjects(
      NOTHING.wide,
      'validatingadmissionpolicies',
      named('muster-of-tomorrow', { labels }),
      named('muster-of-others'),
      named('others', { labels }),
    )
    expect(stepsOf({ wide }, undefined, 'RemovePolicies').map(({ object }) => object.metadata.name)).toEqual([
      'muster-of-tomorrow',
    ])
  })

  it('keeps a namespace in which somebody else has something, and takes Muster’s own out of it', () => {
    const narrow = withObjects(NOTHING.narrow, SECRETS.plural, named('muster-tls'), named('theirs'))
    const plan = decideUninstall({ ...NOTHING, narrow, namespace: named('muster-system') }, undefined)
    expect(plan.foreign).toEqual(['Secret muster-system/theirs'])
    expect(
      plan.stages.flat().map(({ name, steps }) => [name, steps.map(({ object }) => object.metadata.name)]),
    ).toEqual([['RemoveObjects', ['muster-tls']]])
  })

  it('has nothing to do where nothing is', () => {
    expect(decideUninstall(NOTHING, undefined)).toEqual({
      stages: [[], [], []],
      waiting: { pods: 0, jobs: 0 },
      foreign: [],
    })
  })
})

describe('a pod', () => {
  const THEIRS = 'example.com/theirs'
  const waiting = managedPod({
    gates: ['kueue.x-k8s.io/admission', THEIRS],
    finalizers: ['kueue.x-k8s.io/managed', THEIRS],
    annotations: { 'muster.dev/creator': 'abc', [THEIRS]: 'yes' },
  })
  const free = (pod: Pod, choice?: Choice, remains: Partial<Remains> = {}) =>
    stepsOf({ ...remains, pods: [pod] }, choice, 'FreePods')[0]

  it('that waits is rid of all that is Muster’s in one write, and of nothing else', () => {
    expect(bodyOf(free(waiting, 'start'))).toEqual({
      metadata: {
        uid: 'uid-train',
        labels: { 'kueue.x-k8s.io/managed': null },
        annotations: { 'kueue.x-k8s.io/role-hash': null, 'muster.dev/creator': null },
        '$deleteFromPrimitiveList/finalizers': ['kueue.x-k8s.io/managed'],
      },
      spec: { schedulingGates: [{ $patch: 'delete', name: 'kueue.x-k8s.io/admission' }] },
    })
  })

  it.each(['keep', 'delete'] as const)('that waits does not start by that if it is to %s', choice => {
    expect(bodyOf(free(waiting, choice))).not.toHaveProperty('spec')
  })

  it('is deleted only if it waits and that is wanted', () => {
    const runs = managedPod({ name: 'runs', gates: [], phase: 'Running' })
    const pods = [waiting, runs]
    expect(stepsOf({ pods }, 'delete', 'DeletePods').map(({ object }) => object)).toEqual([waiting])
    for (const choice of ['keep', 'start'] as const) expect(stepsOf({ pods }, choice, 'DeletePods')).toEqual([])
  })

  it('that was kept has the gate alone, and nothing is to be done about it', () => {
    const { spec } = waiting
    const kept = { spec, metadata: { name: 'kept', namespace: 'ml', uid: 'u', labels: {}, annotations: {} } }
    const plan = decideUninstall({ ...NOTHING, pods: [kept] }, 'keep')
    expect(plan.stages.flat()).toEqual([])
    expect(plan.waiting).toEqual({ pods: 1, jobs: 0 })
    expect(stepsOf({ pods: [kept] }, 'start', 'FreePods')).toHaveLength(1)
    expect(stepsOf({ pods: [kept] }, 'delete', 'DeletePods')).toHaveLength(1)
  })

  it('with nothing but the finalizer is let go, wherever its label is', () => {
    const stray = { ...waiting, metadata: { ...waiting.metadata, labels: {}, annotations: {} }, spec: {} }
    expect(bodyOf(free(stray))).toMatchObject({
      metadata: { '$deleteFromPrimitiveList/finalizers': ['kueue.x-k8s.io/managed'] },
    })
  })

  it('of Kueue is left to Kueue where Kueue looks after pods', () => {
    const stamped = managedPod({ name: 'stamped', annotations: { 'muster.dev/creator': 'abc' } })
    const pods = [managedPod({ name: 'of-kueue' }), stamped]
    const touched = (kueueQueuesPods: boolean) =>
      stepsOf({ pods, kueueQueuesPods }, 'start', 'FreePods').map(({ object }) => object.metadata.name)
    expect(touched(true)).toEqual(['stamped'])
    expect(touched(false)).toEqual(['of-kueue', 'stamped'])
  })

  it('that waits for a PodGroup of KAI that was never made loses the link to it', () => {
    const base = managedPod({ gates: ['muster.dev/pod-group'], annotations: { 'pod-group-name': 'g' } })
    const pod = { ...base, metadata: { ...base.metadata, labels: { 'muster.dev/pod-group': 'group' } } }
    expect(bodyOf(free(pod, 'start'))).toMatchObject({
      metadata: { annotations: { 'pod-group-name': null }, labels: { 'muster.dev/pod-group': null } },
      spec: { schedulingGates: [{ name: 'muster.dev/pod-group' }] },
    })
    const made = named('g', { namespace: 'ml' })
    const body = bodyOf(free(pod, 'start', { kaiPodGroups: [made] }))
    expect(body).not.toMatchObject({ metadata: { annotations: { 'pod-group-name': null } } })
  })
})

describe('a Job', () => {
  const jobs = (...objects: readonly KubeObject[]): Partial<Remains> => ({
    jobs: [{ kind: BATCH_JOB, objects: objects as readonly Job[] }],
  })
  const waiting = queuedJob()
  const held = queuedJob({ annotations: { 'muster.dev/queued': 'true', 'muster.dev/held': 'true' } })

  it('that waits is resumed without its mark in one write', () => {
    expect(bodyOf(stepsOf(jobs(waiting), 'start', 'FreeJobs')[0])).toEqual({
      metadata: { uid: 'u1', annotations: { 'muster.dev/queued': null } },
      spec: { suspend: false },
    })
  })

  it('that waits stays suspended if it is kept', () => {
    expect(bodyOf(stepsOf(jobs(waiting), 'keep', 'FreeJobs')[0])).not.toHaveProperty('spec')
  })

  it('that is to be deleted keeps its mark, by which it is found again', () => {
    expect(stepsOf(jobs(waiting), 'delete', 'FreeJobs')).toEqual([])
    expect(stepsOf(jobs(waiting), 'delete', 'DeleteJobs')).toHaveLength(1)
  })

  it.each(['start', 'delete'] as const)('that its user holds is neither started nor deleted (%s)', choice => {
    expect(stepsOf(jobs(held), choice, 'DeleteJobs')).toEqual([])
    expect(bodyOf(stepsOf(jobs(held), choice, 'FreeJobs')[0])).not.toHaveProperty('spec')
  })

  it('without marks is nobody’s business, suspended or not', () => {
    expect(decideUninstall({ ...NOTHING, ...jobs(queuedJob({ annotations: {} })) }, 'delete').stages.flat()).toEqual([])
  })
})

describe('what groups are placed by', () => {
  const name = podGroupNameFor('ml', 'train')
  const owner = { apiVersion: 'muster.dev/v1alpha1', kind: 'Workload', name: 'train', uid: 'w', controller: true }
  const gang = { schedulingPolicy: { gang: { minCount: 2 } } }
  const podGroup = { ...named(name, { namespace: 'ml', ownerReferences: [owner] }), spec: gang }
  const composite = named(`${name}-group`, { namespace: 'ml', ownerReferences: [owner] })
  const member = (index: number): Pod => {
    const pod = managedPod({ name: `train-${index}`, group: 'train', count: 2 })
    return { ...pod, spec: { ...pod.spec, schedulingGroup: { podGroupName: name } } }
  }
  const members = [member(0), member(1)]
  const owners = members.map(({ metadata }) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    name: metadata.name,
    uid: metadata.uid,
  }))

  it('asks for one pod and belongs to those who name it, with all that is around it', () => {
    const around = [{ resource: COMPOSITE_POD_GROUPS, objects: [composite] }]
    const steps = stepsOf({ pods: members, podGroups: [podGroup], around }, 'start', 'SettleGroups')
    expect(steps.map(bodyOf)).toEqual([
      {
        metadata: { uid: `uid-${name}`, ownerReferences: owners },
        spec: { schedulingPolicy: { gang: { minCount: 1 } } },
      },
      { metadata: { uid: `uid-${name}-group`, ownerReferences: owners } },
    ])
  })

  it('keeps its size in 1.36, which changes nothing of it', () => {
    const remains = { pods: members, podGroups: [podGroup], podGroupVersion: 'v1alpha2' as const }
    expect(bodyOf(stepsOf(remains, 'start', 'SettleGroups')[0])).not.toHaveProperty('spec')
  })

  it('is settled when it belongs to pods', () => {
    const settled = named(name, { namespace: 'ml', ownerReferences: owners })
    expect(stepsOf({ pods: members, podGroups: [settled] }, 'start', 'SettleGroups')).toEqual([])
  })

  it('is deleted where nobody names it any more', () => {
    const ended = members.map(pod => ({ ...pod, status: { phase: 'Succeeded' } }))
    const steps = stepsOf({ pods: ended, podGroups: [podGroup] }, 'start', 'SettleGroups')
    expect(steps.map(({ kind }) => kind)).toEqual(['delete'])
  })

  it('is made where pods name it and it is not there', () => {
    const [step] = stepsOf({ pods: members }, 'start', 'SettleGroups')
    expect(step).toMatchObject({
      kind: 'create',
      object: {
        metadata: { name, namespace: 'ml', ownerReferences: owners },
        spec: { schedulingPolicy: { basic: {} } },
      },
    })
  })

  it('is not made for who is about to go: in a namespace that goes, too, nothing can be made', () => {
    const leaving = members.map(pod => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: '2026-11-16T10:00:00Z' },
    }))
    expect(stepsOf({ pods: leaving }, 'start', 'SettleGroups')).toEqual([])
    expect(stepsOf({ pods: leaving }, 'start', 'FreePods')).toHaveLength(2)
  })

  it('is left alone if it is somebody else’s, whatever its name', () => {
    const others = [{ ...owner, apiVersion: 'example.com/v1' }]
    const foreign = { ...podGroup, metadata: { ...podGroup.metadata, ownerReferences: others } }
    const another = { ...podGroup, metadata: { ...podGroup.metadata, name: 'theirs' } }
    expect(stepsOf({ podGroups: [foreign, another] }, 'start', 'SettleGroups')).toEqual([])
  })

  it('asks for one pod, and stays with its Job, if it is of a Job that Muster has grouped', () => {
    const grouped = queuedJob({ metadata: { labels: { 'muster.dev/grouped': 'true' } } }) as unknown as Job
    const ofJob = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u1', controller: true }
    const podGroups = [{ ...named('train-muster-0123456789', { ownerReferences: [ofJob] }), spec: gang }]
    const steps = stepsOf({ jobs: [{ kind: BATCH_JOB, objects: [grouped] }], podGroups }, 'start', 'SettleGroups')
    expect(steps.map(bodyOf)).toEqual([
      {
        metadata: { uid: 'uid-train-muster-0123456789' },
        spec: { schedulingPolicy: { gang: { minCount: 1 } } },
      },
    ])
  })

  it('of KAI belongs to the pods that are linked to it', () => {
    const linked = managedPod({ annotations: { 'pod-group-name': 'g' } })
    const metadata = { namespace: 'ml', annotations: { 'muster.dev/pod-group-of': '[]' } }
    const kaiPodGroups = [named('g', metadata), named('h', metadata), named('theirs', { namespace: 'ml' })]
    const steps = stepsOf({ pods: [linked], kaiPodGroups }, 'start', 'SettleGroups')
    expect(steps.map(({ kind, object }) => [kind, object.metadata.name])).toEqual([
      ['patch', 'g'],
      ['delete', 'h'],
    ])
    expect(bodyOf(steps[0])).toMatchObject({
      metadata: { annotations: { 'muster.dev/pod-group-of': null }, ownerReferences: [{ uid: 'uid-train' }] },
      spec: { minMember: 1 },
    })
  })
})

describe('a Workload', () => {
  it('loses the finalizer of Muster, and no other', () => {
    const held = named('w', { resourceVersion: '7', finalizers: ['muster.dev/resource-in-use', 'example.com/mine'] })
    const workloads = { resource: WORKLOADS, objects: [held, named('free')] }
    expect(stepsOf({ workloads }, undefined, 'FreeWorkloads').map(bodyOf)).toEqual([
      { metadata: { uid: 'uid-w', resourceVersion: '7', finalizers: ['example.com/mine'] } },
    ])
  })

  it('of Kueue is deleted if Muster made it, and is Kueue’s if not', () => {
    const resource = KUEUE_KINDS.v1beta2.workloads
    const finalizers = ['kueue.x-k8s.io/resource-in-use']
    const made = named('made', { annotations: { 'muster.dev/pod': 'train' }, finalizers })
    const kueueWorkloads = { resource, objects: [made, named('theirs', { finalizers })] }
    for (const phase of ['FreeWorkloads', 'DeleteKueueWorkloads'] as const) {
      expect(stepsOf({ kueueWorkloads }, undefined, phase).map(({ object }) => object)).toEqual([made])
    }
  })
})
