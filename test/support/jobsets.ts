import { SCHEDULING } from '../../src/kube/vocabulary/names.ts'

export const RACK = 'topology.kubernetes.io/rack'

interface Replicated {
  readonly name?: unknown
  readonly replicas?: unknown
  readonly dependsOn?: unknown
  readonly scheduling?: unknown
  readonly annotation?: string
  readonly parallelism?: unknown
  readonly podSpec?: object
}

const replicated = ({ scheduling, annotation, parallelism, podSpec, ...rest }: Replicated) => ({
  ...rest,
  template: {
    ...(annotation === undefined ? {} : { metadata: { annotations: { [SCHEDULING]: annotation } } }),
    spec: { parallelism, scheduling, template: { spec: { containers: [], ...podSpec } } },
  },
})

export const jobSet = (jobs: readonly Replicated[], spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'js', namespace: 'ml', uid: 'js-uid', ...metadata },
  spec: { replicatedJobs: jobs.map(replicated), ...spec },
})

export const driver: Replicated = { name: 'driver', replicas: 1 }
export const workers: Replicated = { name: 'workers', replicas: 16 }
export const byRack = { constraints: { topology: [{ level: RACK }] } }
export const forWorkers = { targetReplicatedJob: 'workers', ...byRack }

/** The whole is basic in all three, the workers stay in one rack. */
export const OPTION_A = jobSet([driver, { ...workers, scheduling: byRack }], { scheduling: { policy: { basic: {} } } })
export const OPTION_B = jobSet([driver, workers], {
  scheduling: { policy: { basic: {} }, replicatedJobPolicies: [forWorkers] },
})
export const OPTION_B_BESIDE = jobSet([driver, workers], {
  scheduling: { policy: { basic: {} } },
  replicatedJobPolicies: [forWorkers],
})

export interface JobSetCase {
  readonly title: string
  readonly object: ReturnType<typeof jobSet>
  /** `Type field`, of each error. None: it is admitted and compiled. */
  readonly errors: readonly string[]
  /** Why the review lets it pass although a build does not compile it; `warns`: and says so. */
  readonly passesReview?: { readonly because: string; readonly warns: boolean }
}

const right = (title: string, object: JobSetCase['object']): JobSetCase => ({ title, object, errors: [] })
const wrong = (title: string, object: JobSetCase['object'], ...errors: readonly string[]): JobSetCase => ({
  title,
  object,
  errors,
})
const inWorkload = (title: string, object: JobSetCase['object'], ...errors: readonly string[]): JobSetCase => ({
  ...wrong(title, object, ...errors),
  passesReview: { because: 'what the Workload will be is up to the controller of the JobSet', warns: true },
})
const silent = (title: string, object: JobSetCase['object'], ...errors: readonly string[]): JobSetCase => ({
  ...wrong(title, object, ...errors),
  passesReview: { because: 'a JobSet that says nothing about scheduling is not judged', warns: false },
})

const whole = (scheduling: unknown, ...jobs: readonly Replicated[]) =>
  jobSet(jobs.length === 0 ? [driver, workers] : jobs, { scheduling })
const policies = (...replicatedJobPolicies: unknown[]) => whole({ replicatedJobPolicies })
const TARGETS = 'spec.scheduling.replicatedJobPolicies'
const template = (index: number) => `spec.replicatedJobs[${index}].template.spec.scheduling`
const all = { disruptionMode: { all: {} } }
const gang = (minCount?: number) => ({ schedulingPolicy: { gang: minCount === undefined ? {} : { minCount } } })
const nine = Array.from({ length: 9 }, (_, index): Replicated => ({ name: `role-${index}` }))
const high = { podSpec: { priorityClassName: 'high' } }
const owned = {
  ownerReferences: [{ apiVersion: 'trainer.kubeflow.org/v1', kind: 'TrainJob', name: 't', uid: 'u', controller: true }],
}

/** What both commands are asked about JobSets: they read the same rules, so they give the same answers. */
export const JOBSET_CASES: readonly JobSetCase[] = [
  right('nothing about scheduling', jobSet([driver, workers])),
  right('option A: the whole and a template', OPTION_A),
  right('option B: the whole and an entry for a replicated job', OPTION_B),
  right('option B with the list beside the block', OPTION_B_BESIDE),
  right('option A in an annotation', jobSet([driver, { ...workers, annotation: JSON.stringify(byRack) }])),
  right(
    'one job in its template and another in an entry',
    jobSet([{ ...driver, scheduling: gang() }, workers], { scheduling: { replicatedJobPolicies: [forWorkers] } }),
  ),
  wrong(
    'a template and an entry for the same job',
    jobSet([driver, { ...workers, scheduling: byRack }], { scheduling: { replicatedJobPolicies: [forWorkers] } }),
    `Forbidden ${template(1)}`,
  ),
  wrong(
    'a template and an entry beside the block for the same job',
    jobSet([driver, { ...workers, scheduling: {} }], { replicatedJobPolicies: [forWorkers] }),
    `Forbidden ${template(1)}`,
  ),
  wrong(
    'an annotation and an entry for the same job',
    jobSet([driver, { ...workers, annotation: '{}' }], { replicatedJobPolicies: [forWorkers] }),
    `Forbidden spec.replicatedJobs[1].template.metadata.annotations[${SCHEDULING}]`,
  ),
  wrong(
    'a field and an annotation in the same template',
    jobSet([{ ...driver, scheduling: {}, annotation: '{}' }]),
    `Forbidden spec.replicatedJobs[0].template.metadata.annotations[${SCHEDULING}]`,
  ),
  wrong('two entries for one job', policies(forWorkers, forWorkers), `Duplicate ${TARGETS}[1].targetReplicatedJob`),
  wrong(
    'entries for one job in both lists',
    jobSet([driver, workers], {
      scheduling: { replicatedJobPolicies: [forWorkers] },
      replicatedJobPolicies: [forWorkers],
    }),
    'Duplicate spec.replicatedJobPolicies[0].targetReplicatedJob',
  ),
  wrong('an entry for nobody', policies({ targetReplicatedJob: 'no' }), `Invalid ${TARGETS}[0].targetReplicatedJob`),
  wrong('an entry without a target', policies({}), `Required ${TARGETS}[0].targetReplicatedJob`),
  wrong('an entry that is none', policies('workers'), `Invalid ${TARGETS}[0]`),
  wrong('entries that are no list', whole({ replicatedJobPolicies: {} }), `Invalid ${TARGETS}`),
  wrong(
    'a wrong entry',
    policies({ ...forWorkers, schedulingPolicy: {}, resourceClaims: [{ name: 'a' }] }),
    `Invalid ${TARGETS}[0].schedulingPolicy`,
    `Invalid ${TARGETS}[0].resourceClaims[0]`,
    `Forbidden ${TARGETS}[0].constraints`,
  ),
  wrong(
    '`all` without a gang in an entry',
    policies({ ...forWorkers, ...all }),
    `Invalid ${TARGETS}[0].disruptionMode`,
  ),
  wrong(
    '`all` without a gang in a template',
    jobSet([{ ...driver, scheduling: all }]),
    `Invalid ${template(0)}.disruptionMode`,
  ),
  wrong('`all` with a basic whole', whole({ ...all, policy: { basic: {} } }), 'Invalid spec.scheduling.disruptionMode'),
  right('`all` of the whole, which is a gang', whole(all)),
  wrong(
    '`all` of the whole, which is none because its jobs start in order',
    jobSet([driver, workers], { startupPolicy: { startupPolicyOrder: 'InOrder' }, scheduling: all }),
    'Invalid spec.scheduling.disruptionMode',
  ),
  wrong(
    'pods counted where groups are',
    whole({ policy: { gang: { minCount: 1 } } }),
    'Forbidden spec.scheduling.policy.gang.minCount',
  ),
  wrong(
    'too few groups',
    whole({ policy: { gang: { minGroupCount: 0 } } }),
    'Invalid spec.scheduling.policy.gang.minGroupCount',
  ),
  wrong(
    'more groups than there are',
    whole({ policy: { gang: { minGroupCount: 3 } } }),
    'Invalid spec.scheduling.policy.gang.minGroupCount',
  ),
  wrong(
    'more pods than there are in an entry',
    policies({ targetReplicatedJob: 'workers', ...gang(17) }),
    `Invalid ${TARGETS}[0].schedulingPolicy.gang.minCount`,
  ),
  wrong(
    'more pods than a Job has',
    jobSet([driver, { ...workers, scheduling: gang(2) }]),
    `Invalid ${template(1)}.schedulingPolicy.gang.minCount`,
  ),
  wrong(
    'a gang of a job without replicas',
    jobSet([driver, { ...workers, replicas: 0, scheduling: gang(1) }]),
    `Invalid ${template(1)}.schedulingPolicy.gang.minCount`,
  ),
  wrong(
    'claims of the whole',
    whole({ resourceClaims: [{ name: 'a', resourceClaimName: 'b' }] }),
    'Forbidden spec.scheduling.resourceClaims',
  ),
  wrong('a key that nobody knows', whole({ later: {} }), 'Forbidden spec.scheduling.later'),
  wrong('a policy that nobody knows', whole({ policy: { quorum: {} } }), 'Invalid spec.scheduling.policy'),
  wrong('a block that is none', whole('gang'), 'Invalid spec.scheduling'),
  wrong('a block in a template that is none', jobSet([{ ...driver, scheduling: 'gang' }]), `Invalid ${template(0)}`),
  wrong(
    'an annotation that is no block',
    jobSet([{ ...driver, annotation: '{' }]),
    `Invalid spec.replicatedJobs[0].template.metadata.annotations[${SCHEDULING}]`,
  ),
  wrong('no jobs, but a block', jobSet([], { scheduling: {} }), 'Required spec.replicatedJobs'),
  wrong('a name twice, and a block', whole({}, driver, driver), 'Duplicate spec.replicatedJobs[1].name'),
  wrong(
    'replicas as text, and a block',
    whole({}, { ...driver, replicas: '1' }),
    'Invalid spec.replicatedJobs[0].replicas',
  ),
  wrong(
    'parallelism as text, and a block',
    whole({}, { ...driver, parallelism: '1' }),
    'Invalid spec.replicatedJobs[0].template.spec.parallelism',
  ),
  silent('no jobs', jobSet([]), 'Required spec.replicatedJobs'),
  silent('a job without a name', jobSet([{}]), 'Required spec.replicatedJobs[0].name'),
  silent('a name twice', jobSet([driver, driver]), 'Duplicate spec.replicatedJobs[1].name'),
  silent('replicas as text', jobSet([{ ...driver, replicas: '1' }]), 'Invalid spec.replicatedJobs[0].replicas'),
  silent('two priorities', jobSet([driver, { ...workers, ...high }]), 'Invalid spec'),
  inWorkload('two priorities, and a block', whole({}, driver, { ...workers, ...high }), 'Invalid spec'),
  inWorkload('more groups than a Workload takes', whole({}, ...nine), 'TooMany spec.replicatedJobs'),
  right('a controller that speaks for it', jobSet([driver], { scheduling: {} }, owned)),
  wrong(
    'a controller, and a key that nobody knows',
    jobSet([driver], { scheduling: { later: {} } }, owned),
    'Forbidden spec.scheduling.later',
  ),
]
