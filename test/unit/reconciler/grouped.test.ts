import { describe, expect, it } from 'vitest'
import type { Resource } from '../../../src/kube/vocabulary/api.ts'
import { GROUP_TEMPLATE_NAME, GROUPED, PARENT_COMPOSITE, SCHEDULING } from '../../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import type { ServedScheduling } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { decideGrouped, type GroupedDecision } from '../../../src/reconciler/grouped/decide-grouped.ts'
import { workloadName } from '../../../src/workload/builder/names.ts'
import type { SchedulingWorkload } from '../../../src/workload/builder/objects.ts'
import {
  GROUPED_JOB,
  GROUPED_JOB_SET,
  type GroupedKind,
  groupedForCache,
} from '../../../src/workload/grouped/grouped-object.ts'
import { SERVERS } from '../workload/grouped/served.ts'

const UID = 'job-uid'
const GROUP = 'train-muster-0123456789'
const WORKLOAD = workloadName('train', UID)
const GANG = '{"schedulingPolicy": {"gang": {}}}'

interface Given {
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
  readonly annotation?: string
}

const jobOf = ({ metadata, spec, status = {}, annotation = GANG }: Given = {}): KubeObject =>
  ({
    metadata: {
      ...{ name: 'train', namespace: 'ml', uid: UID, labels: { [GROUPED]: 'true' } },
      annotations: { [SCHEDULING]: annotation },
      ...metadata,
    },
    spec: {
      ...{ parallelism: 4, completions: 4, completionMode: 'Indexed' },
      template: { spec: { schedulingGroup: { podGroupName: GROUP }, priorityClassName: 'high' } },
      ...spec,
    },
    status,
  }) as KubeObject

interface Around {
  readonly served?: ServedScheduling
  readonly known?: readonly KubeObject[]
  readonly kind?: GroupedKind
}

/** The parents whose Workloads were asked for. */
const asked: string[] = []

function decided(
  object: KubeObject | undefined,
  { served = SERVERS.generic, known = [], kind = GROUPED_JOB }: Around = {},
) {
  const isOf = ({ kind: wanted }: Resource, object: KubeObject) => object.kind === wanted
  return decideGrouped({
    kind,
    object: object && groupedForCache(kind, object),
    served,
    find: (resource, name) => known.find(each => isOf(resource, each) && each.metadata.name === name),
    workloadsFor: parent => {
      asked.push(parent.name)
      return known.filter(({ kind: each }) => each === 'Workload') as SchedulingWorkload[]
    },
  })
}

const writes = ({ steps }: GroupedDecision) => steps.map(({ action: { wanted } }) => wanted)
const news = ({ steps, told }: GroupedDecision) => [...steps.flatMap(step => step.news ?? []), ...told]

/** As the API server has stored what was decided. */
function stored(decision: GroupedDecision, uid: string): KubeObject {
  const [wanted] = writes(decision)
  if (wanted === undefined) throw new Error('nothing was decided')
  return { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion: '1' } }
}

/** Everything that a Job gets, one after the other. */
function made(job: KubeObject, served: ServedScheduling = SERVERS.generic): readonly [KubeObject, KubeObject] {
  const workload = stored(decided(job, { served }), 'workload-uid')
  return [workload, stored(decided(job, { served, known: [workload] }), 'group-uid')]
}

const OWNER = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'train',
  uid: UID,
  controller: true,
  blockOwnerDeletion: true,
}

describe('a Job that Muster groups', () => {
  it('gets its Workload, and then its PodGroup, by the name that its pods have', () => {
    const [workload, group] = made(jobOf())
    const template = { name: 'train-pgt-0', priorityClassName: 'high', schedulingPolicy: { gang: { minCount: 4 } } }
    expect(workload).toMatchObject({
      apiVersion: 'scheduling.k8s.io/v1beta1',
      metadata: { name: WORKLOAD, namespace: 'ml', ownerReferences: [OWNER] },
      spec: { controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'train' }, podGroupTemplates: [template] },
    })
    expect(group.metadata).toMatchObject({ name: GROUP, namespace: 'ml' })
    expect(group.metadata.ownerReferences).toEqual([
      OWNER,
      { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'Workload', name: WORKLOAD, uid: 'workload-uid' },
    ])
    expect(group).toMatchObject({
      spec: {
        workloadRef: { workloadName: WORKLOAD, templateName: 'train-pgt-0' },
        schedulingPolicy: { gang: { minCount: 4 } },
      },
    })
    expect(decided(jobOf(), { known: [workload, group] })).toEqual({ steps: [], told: [] })
  })

  it('tells of both as the Job controller does', () => {
    const first = decided(jobOf())
    const note = `Created Workload ${WORKLOAD} for Job train`
    expect(news(first)).toEqual([{ type: 'Normal', reason: 'WorkloadCreated', note }])
    const second = decided(jobOf(), { known: [stored(first, 'w')] })
    expect(news(second)).toMatchObject([{ reason: 'PodGroupCreated', note: `Created PodGroup ${GROUP} for Job train` }])
  })

  it('gets them in the words of 1.36 there, when it is started', () => {
    const served = SERVERS.generic136
    expect(decided(jobOf({ spec: { suspend: true } }), { served })).toEqual({ steps: [], told: [] })
    const [workload, group] = made(jobOf(), served)
    expect([workload.apiVersion, group.apiVersion]).toEqual(Array(2).fill('scheduling.k8s.io/v1alpha2'))
    expect(group).toMatchObject({ spec: { podGroupTemplateRef: { workload: { workloadName: WORKLOAD } } } })
    // Nothing of them changes there.
    const smaller = jobOf({ annotation: '{"schedulingPolicy": {"gang": {"minCount": 2}}}' })
    expect(decided(smaller, { served, known: [workload, group] }).steps).toEqual([])
  })

  it('gets them while it waits in its queue, and nothing when it has ended, goes, or nothing is served', () => {
    expect(writes(decided(jobOf({ spec: { suspend: true } })))).toHaveLength(1)
    const conditions = [{ type: 'Complete', status: 'True' }]
    expect(decided(jobOf({ status: { conditions } })).steps).toEqual([])
    expect(decided(jobOf({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).steps).toEqual([])
    expect(decided(undefined).steps).toEqual([])
    expect(decided(jobOf(), { served: SERVERS.none }).steps).toEqual([])
  })

  it('is a gang by its shape, if it has no block', () => {
    const bare = jobOf({ metadata: { annotations: {} } })
    expect(writes(decided(bare))).toMatchObject([
      { spec: { podGroupTemplates: [{ schedulingPolicy: { gang: { minCount: 4 } } }] } },
    ])
  })

  it('has a template of a name that the API server takes, whatever its own is', () => {
    for (const name of ['with.dot', 'x'.repeat(63), `${'y'.repeat(39)}.z`]) {
      const job = jobOf({ metadata: { name, namespace: 'ml', uid: UID, annotations: { [SCHEDULING]: GANG } } })
      const [wanted] = writes(decided(job))
      const [template] = (wanted as SchedulingWorkload).spec.podGroupTemplates ?? []
      expect(template?.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
    }
  })

  it('never takes over what belongs to somebody else, and says whose it is', () => {
    const [workload, group] = made(jobOf())
    const another = { ...OWNER, name: 'other', uid: 'other-uid' }
    const taken = { ...workload, metadata: { ...workload.metadata, ownerReferences: [another] } }
    const refused = decided(jobOf(), { known: [taken] })
    expect(refused.steps).toEqual([])
    expect(refused.told).toMatchObject([{ reason: 'FailedWorkloadCreate', type: 'Warning' }])
    expect(refused.told[0]?.note).toContain('belongs to Job other')
    const nobodys = { ...group, metadata: { ...group.metadata, ownerReferences: [] } }
    expect(decided(jobOf(), { known: [workload, nobodys] })).toMatchObject({ steps: [], told: [{ type: 'Warning' }] })
  })

  it('waits for the name of one that is on its way out', () => {
    const [workload, group] = made(jobOf())
    const leaving = { ...group, metadata: { ...group.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect(decided(jobOf(), { known: [workload, leaving] })).toEqual({ steps: [], told: [] })
    expect(writes(decided(jobOf(), { known: [workload] }))).toMatchObject([{ kind: 'PodGroup' }])
  })

  it('says what keeps it from being compiled', () => {
    const wrong = decided(jobOf({ annotation: '{"schedulingPolicy": {"gang": {"minCount": 9}}}' }))
    expect(wrong).toMatchObject({ steps: [], told: [{ reason: 'FailedWorkloadCompilation' }] })
    expect(wrong.told[0]?.note).toContain('must not be greater than parallelism (4)')
    const large = jobOf({ metadata: { annotations: { [SCHEDULING]: ' '.repeat(5000) } } })
    expect(decided(large).told).toMatchObject([{ reason: 'FailedWorkloadCompilation' }])
  })
})

describe('what the API server has stored without, for want of a feature gate', () => {
  const annotation = JSON.stringify({
    schedulingPolicy: { gang: {} },
    schedulingConstraints: { topology: [{ key: 'rack' }] },
    resourceClaims: [{ name: 'shared', resourceClaimName: 'one' }],
  })
  const job = jobOf({ annotation })
  const [workload, group] = made(job)
  const { spec } = group as unknown as { readonly spec: object }
  const without = (...fields: readonly string[]) => ({
    ...group,
    spec: Object.fromEntries(Object.entries(spec).filter(([key]) => !fields.includes(key))),
  })

  it('is told, each with its gate, and nothing is written again', () => {
    const decision = decided(job, { known: [workload, without('schedulingConstraints', 'resourceClaims')] })
    expect(decision.steps).toEqual([])
    expect(decision.told).toMatchObject([
      {
        type: 'Warning',
        reason: 'SchedulingDropped',
        note: expect.stringContaining('TopologyAwareWorkloadScheduling'),
      },
      { type: 'Warning', reason: 'SchedulingDropped', note: expect.stringContaining('DRAWorkloadResourceClaims') },
    ])
    expect(decided(job, { known: [workload, without('resourceClaims')] }).told).toHaveLength(1)
  })

  it('is nothing where all of it is there, or was not asked for', () => {
    expect(decided(job, { known: [workload, group] }).told).toEqual([])
    const [plain, ofPlain] = made(jobOf())
    expect(decided(jobOf(), { known: [plain, ofPlain] }).told).toEqual([])
  })
})

describe('what is kept of a Job in memory', () => {
  const owner = (name: string, controller: boolean) => ({ apiVersion: 'x/v1', kind: 'X', name, uid: name, controller })

  it('is nothing to compile when it has ended, and little before', () => {
    const conditions = [{ type: 'Failed', status: 'True' }]
    expect(groupedForCache(GROUPED_JOB, jobOf({ status: { conditions } })).source).toBe('')
    const large = jobOf({ metadata: { annotations: { [PARENT_COMPOSITE]: 'x'.repeat(4096) } } })
    expect(groupedForCache(GROUPED_JOB, large).source).toBe('')
  })

  it('is of its owners the controller alone', () => {
    const many = Array.from({ length: 100 }, (_, index) => owner(`other-${index}`, false))
    const job = jobOf({ metadata: { ownerReferences: [...many, owner('parent', true)] } })
    const { source } = groupedForCache(GROUPED_JOB, job)
    expect(source).toContain('"name":"parent"')
    expect(source).not.toContain('other-')
  })
})

describe('the size of a gang', () => {
  const sized = (minCount: number, given: Given = {}) =>
    jobOf({ ...given, annotation: `{"schedulingPolicy": {"gang": {"minCount": ${minCount}}}}` })
  const known = made(sized(4))
  const sizeOf = (object: KubeObject | undefined) => JSON.stringify(object).match(/"minCount":(\d+)/)?.[1]

  it('follows the Job: the Workload first, then the PodGroup', () => {
    const first = decided(sized(2), { known })
    expect(writes(first).map(({ kind }) => kind)).toEqual(['Workload'])
    expect(sizeOf(writes(first)[0])).toBe('2')
    expect(news(first)).toEqual([])
    const workload = { ...known[0], ...writes(first)[0], metadata: known[0].metadata }
    const second = decided(sized(2), { known: [workload, known[1]] })
    expect(writes(second).map(each => [each.kind, sizeOf(each)])).toEqual([['PodGroup', '2']])
  })

  it('is no more than the pods that its queue has let it start with', () => {
    const partial = jobOf({ spec: { parallelism: 2 } })
    expect(sizeOf(writes(decided(partial))[0])).toBe('2')
  })

  it('shrinks to what is left when a pod lacks that has to be replaced, and not before', () => {
    const status = { succeeded: 3, completedIndexes: '0-2', active: 1 }
    expect(decided(sized(4, { status: { ...status, ready: 1 } }), { known }).steps).toEqual([])
    const lacking = decided(sized(4, { status: { ...status, ready: 0 } }), { known })
    expect(sizeOf(writes(lacking)[0])).toBe('1')
    // At the start all of them lack, and all of them are needed.
    expect(decided(sized(4, { status: { active: 1, ready: 0 } }), { known }).steps).toEqual([])
  })

  it('is what is left when it starts again', () => {
    const status = { succeeded: 2, completedIndexes: '0,2' }
    const resumed = decided(sized(4, { status, spec: { ...sizedSpec(), suspend: true } }), { known })
    expect(sizeOf(writes(resumed)[0])).toBe('2')
  })

  const sizedSpec = () => ({ template: { spec: { schedulingGroup: { podGroupName: GROUP } } } })

  it('leaves alone what else the API server has made of an object', () => {
    const [workload, group] = known
    const dropped = { ...group, spec: { ...(group as { spec?: object }).spec, disruptionMode: { single: {} } } }
    expect(decided(sized(4), { known: [workload, dropped as KubeObject] }).steps).toEqual([])
  })
})

describe('a Job to which its parent has delegated a template', () => {
  const template = (name: string, minCount: number) => ({ name, schedulingPolicy: { gang: { minCount } } })
  const parent = {
    kind: 'Workload',
    metadata: { name: 'root-workload', namespace: 'ml', uid: 'p' },
    spec: {
      controllerRef: { apiGroup: 'example.com', kind: 'Root', name: 'root' },
      compositePodGroupTemplates: [
        {
          name: 'all',
          schedulingPolicy: { basic: {} },
          podGroupTemplates: [template('driver', 1)],
          compositePodGroupTemplates: [
            { name: 'inner', schedulingPolicy: { basic: {} }, podGroupTemplates: [template('workers', 3)] },
          ],
        },
      ],
    },
  } as KubeObject
  const child = (annotations: object) =>
    jobOf({
      metadata: {
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Root', name: 'root', uid: 'r', controller: true }],
        annotations,
      },
    })

  it('gets its PodGroup from there, also from below a group of groups', () => {
    const job = child({ [GROUP_TEMPLATE_NAME]: 'workers', [PARENT_COMPOSITE]: 'all-instance' })
    const served = { ...SERVERS.both, kubernetes: { version: 'v1beta1', podGroups: true, composites: true } } as const
    const decision = decided(job, { known: [parent], served })
    expect(writes(decision)).toMatchObject([
      {
        kind: 'PodGroup',
        metadata: { name: GROUP, ownerReferences: [{ kind: 'Job', name: 'train', controller: true }] },
        spec: {
          workloadRef: { workloadName: 'root-workload', templateName: 'workers' },
          parentCompositePodGroupName: 'all-instance',
          schedulingPolicy: { gang: { minCount: 3 } },
        },
      },
    ])
    expect(decided(job, { known: [parent, stored(decision, 'g')], served }).steps).toEqual([])
  })

  it('is the only one for whom Workloads of others are looked through', () => {
    asked.length = 0
    decided(jobOf(), { known: [parent] })
    expect(asked).toEqual([])
    decided(child({ [GROUP_TEMPLATE_NAME]: 'workers' }), { known: [parent] })
    expect(asked).toEqual(['root'])
  })

  it('waits for its parent, and for a template of that name', () => {
    const job = child({ [GROUP_TEMPLATE_NAME]: 'workers' })
    expect(decided(job)).toMatchObject({ steps: [], told: [{ reason: 'FailedWorkloadCompilation' }] })
    const wrong = decided(child({ [GROUP_TEMPLATE_NAME]: 'others' }), { known: [parent] })
    expect(wrong.told[0]?.note).toContain('has no template "others"')
  })
})

describe('a JobSet that Muster groups', () => {
  const job = (name: string, podSpec: object = {}) => ({
    name,
    replicas: 2,
    template: { spec: { parallelism: 3, template: { spec: podSpec } } },
  })
  const setOf = (text: string, ...replicatedJobs: object[]) =>
    ({
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 'set', namespace: 'ml', uid: 'set-uid', annotations: { [SCHEDULING]: text } },
      spec: { replicatedJobs },
    }) as KubeObject
  const TEXT = JSON.stringify({
    schedulingPolicy: { basic: {} },
    replicatedJobPolicies: [{ targetReplicatedJob: 'workers', schedulingPolicy: { gang: {} } }],
  })
  const set = setOf(TEXT, job('driver'), job('workers'))
  const composites = { ...SERVERS.both, kubernetes: { version: 'v1beta1', podGroups: true, composites: true } } as const
  const kind = GROUPED_JOB_SET

  it('gets one group for the pods of each replicated job, under a group of groups where that is served', () => {
    const workload = stored(decided(set, { kind, served: composites }), 'w')
    expect(workload).toMatchObject({
      spec: { compositePodGroupTemplates: [{ podGroupTemplates: [{ name: 'driver' }, { name: 'workers' }] }] },
    })
    const groups = writes(decided(set, { kind, served: composites, known: [workload] }))
    expect(groups.map(({ kind: each }) => each)).toEqual(['CompositePodGroup', 'PodGroup', 'PodGroup'])
    expect(groups[2]).toMatchObject({ spec: { schedulingPolicy: { gang: { minCount: 6 } } } })
  })

  it('gets them side by side where no groups of groups are served, and is told what is lost', () => {
    const first = decided(set, { kind })
    expect(writes(first)).toMatchObject([{ spec: { podGroupTemplates: [{ name: 'driver' }, { name: 'workers' }] } }])
    expect(first.told).toMatchObject([{ reason: 'FailedWorkloadCompilation' }])
    const groups = writes(decided(set, { kind, known: [stored(first, 'w')] }))
    expect(groups.map(({ kind: each }) => each)).toEqual(['PodGroup', 'PodGroup'])
    expect(JSON.stringify(groups)).not.toContain('parentCompositePodGroupName')
  })
})
