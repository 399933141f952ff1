import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { brief, errorsOf, K } from '../pods/fixtures.ts'
import {
  type Asked,
  CHILD_OF,
  HELD,
  JOB_CONTROLLER,
  JOB_SET_OWNER,
  JOBSET_CONTROLLER,
  job,
  jobSet,
  MUSTER,
  passed,
  QUEUE,
  QUEUED,
  queuedSet,
  queueWorld,
  ROOT,
  running,
  STOPPING,
  validated,
  waiting,
} from './queue-fixtures.ts'

const label = (name: string): string => `metadata.labels[${name.includes('/') ? name : K + name}]`
const annotation = (name: string): string => `metadata.annotations[${name.includes('/') ? name : K + name}]`
const MIN = 'job-min-parallelism'
const FOLLOW = 'job-completions-equal-parallelism'

/** `Type field: detail` of the only error. */
function refusal(made: KubeObject, asked: Asked = {}): string {
  const [error, ...more] = errorsOf(passed(made, asked).verdict)
  expect(more).toEqual([])
  return error === undefined ? 'allowed' : `${error.type} ${error.field}: ${error.detail}`
}

describe('what a new Job says of its queue', () => {
  it.each<[string, KubeObject, string]>([
    [
      'E9: a queue that is no name',
      job({ labels: { 'queue-name': 'queue name' } }),
      `Invalid ${label('queue-name')}: a lowercase RFC 1123`,
    ],
    ['an empty queue', job({ labels: { 'queue-name': '' } }), `Invalid ${label('queue-name')}: a lowercase RFC 1123`],
    [
      'E10: too large a least parallelism',
      waiting({ annotations: { [MIN]: '5' } }),
      `Invalid ${annotation(MIN)}: should be between 0 and 3`,
    ],
    [
      'one that is all',
      waiting({ annotations: { [MIN]: '4' } }),
      `Invalid ${annotation(MIN)}: should be between 0 and 3`,
    ],
    ['one of zero', waiting({ annotations: { [MIN]: '0' } }), `Invalid ${annotation(MIN)}: should be between 0 and 3`],
    [
      'one that is no number',
      waiting({ annotations: { [MIN]: 'x' } }),
      `Invalid ${annotation(MIN)}: strconv.Atoi: parsing "x": invalid syntax`,
    ],
    ['E10: one that fits', waiting({ annotations: { [MIN]: '3' } }), 'allowed'],
    [
      'E11: completions that follow, and do not',
      waiting({ annotations: { [FOLLOW]: 'true' }, spec: { completionMode: 'Indexed' } }),
      `Invalid spec.completions: should be equal to parallelism when ${K}${FOLLOW} annotation is true`,
    ],
    [
      'completions that follow without an index',
      waiting({ annotations: { [FOLLOW]: 'true' }, spec: { completions: 4 } }),
      `Invalid ${annotation(FOLLOW)}: should not be enabled for NonIndexed jobs`,
    ],
    [
      'completions that follow',
      waiting({ annotations: { [FOLLOW]: 't' }, spec: { completions: 4, completionMode: 'Indexed' } }),
      'allowed',
    ],
    ['completions that do not', waiting({ annotations: { [FOLLOW]: 'false' } }), 'allowed'],
    [
      'no boolean',
      waiting({ annotations: { [FOLLOW]: 'yes' } }),
      `Invalid ${annotation(FOLLOW)}: strconv.ParseBool: parsing "yes": invalid syntax`,
    ],
    [
      'E12: no time at all',
      waiting({ labels: { 'max-exec-time-seconds': '0' } }),
      `Invalid ${label('max-exec-time-seconds')}: should be greater than 0`,
    ],
    [
      'a Job that grows',
      waiting({ annotations: { 'elastic-job': 'true' } }),
      `Forbidden ${annotation('elastic-job')}: elastic job is not supported for "batch/v1, Kind=Job"`,
    ],
    [
      'a JobSet that grows',
      waiting({ annotations: { 'elastic-job': 'true' } }, jobSet),
      `Forbidden ${annotation('elastic-job')}: elastic job is not supported for "jobset.x-k8s.io/v1alpha2, Kind=JobSet"`,
    ],
    ['a JobSet with the marks of Jobs', waiting({ annotations: { [MIN]: 'x' } }, jobSet), 'allowed'],
  ])('%s', (_what, made, expected) => {
    const found = refusal(made)
    expect(found.slice(0, expected.length)).toBe(expected)
  })

  const closed: World = (() => {
    const world = queueWorld()
    const queues = [
      { name: 'open', limits: {} },
      { name: 'theirs', limits: {}, namespaces: { matchLabels: { team: 'b' } } },
    ]
    return { ...world, config: { ...world.config, queues, unlistedQueues: 'refuse' } }
  })()

  it('names a queue that is open to its namespace', () => {
    const inQueue = (name: string) => job({ labels: { 'queue-name': name } })
    expect(refusal(inQueue('open'), { world: closed })).toBe('allowed')
    expect(refusal(inQueue('theirs'), { world: closed })).toContain('queue "theirs" is not for namespace "team-a"')
    expect(refusal(inQueue('opne'), { world: closed })).toContain('there is no queue "opne"')
    const old = waiting({ labels: { 'queue-name': 'open' } })
    expect(refusal(waiting({ labels: { 'queue-name': 'theirs' } }), { old, world: closed })).toContain('is not for')
  })

  it.each([QUEUED, HELD, STOPPING, CHILD_OF])('comes without a mark of ours that it was not given: %s', key => {
    const value = key === QUEUED ? 'yes' : 'true'
    const marked = { annotations: { [key]: value } }
    expect(brief(validated(job(marked)))).toEqual([`Forbidden ${annotation(key)}`])
    expect(brief(validated(waiting({ annotations: { [QUEUED]: 'true', ...marked.annotations } })))).toContain(
      `Forbidden ${annotation(key)}`,
    )
  })

  it('may come with the mark that it would get', () => {
    expect(validated(waiting())).toMatchObject({ kind: 'allowed' })
    expect(brief(validated(job({ annotations: { [QUEUED]: 'true' } })))).toEqual([`Forbidden ${annotation(QUEUED)}`])
  })

  it('is not stored unless it waits', () => {
    const asks = { labels: { 'queue-name': 'q' } }
    expect(brief(validated(job(asks)))).toEqual([`Required spec.suspend`, `Required ${annotation(QUEUED)}`])
    expect(brief(validated(job(), { world: queueWorld({ manageAll: true }) }))).toContain(
      `Required ${label('queue-name')}`,
    )
    const ofRoot = { user: JOBSET_CONTROLLER, world: queueWorld({ objects: [queuedSet] }) }
    expect(brief(validated(job({ ...asks, owners: [JOB_SET_OWNER] }), ofRoot))).toEqual([
      `Required ${annotation(CHILD_OF)}`,
    ])
  })

  it('selects its pods by the label of its uid, and not by one that anybody may take off them', () => {
    const own = { manualSelector: true, selector: { matchLabels: { app: 'mine' } } }
    const asks = { labels: { 'queue-name': 'q' } }
    const detail = 'Forbidden spec.manualSelector: the pods of a queued Job are counted by the label'
    expect(refusal(job({ ...asks, spec: own }))).toContain(detail)
    expect(refusal(job({ spec: own }))).toBe('allowed')
    const sets = [{ name: 'a', template: { spec: own } }]
    expect(refusal(jobSet({ ...asks, spec: { replicatedJobs: sets } }))).toContain(
      'Forbidden spec.replicatedJobs[0].template.spec.manualSelector: ',
    )
    const given = { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-of-train' } }
    expect(refusal(job({ ...asks, spec: { selector: given } }))).toBe('allowed')
  })

  it('does not call its pods queued by themselves: they run on what it was given', () => {
    const asks = { labels: { 'queue-name': 'q' } }
    const claims = (metadata: object) => ({ template: { metadata, spec: { containers: [] } } })
    const labels = { [`${K}managed`]: 'true' }
    expect(refusal(job({ ...asks, spec: claims({ labels }) }))).toContain(
      `Forbidden spec.template.${label('managed')}: the pods of a queued Job wait with it`,
    )
    expect(refusal(job({ ...asks, spec: claims({ finalizers: [`${K}managed`] }) }))).toContain(
      'Forbidden spec.template.metadata.finalizers: ',
    )
    expect(refusal(job({ spec: claims({ labels }) }))).toBe('allowed')
    const sets = [{ name: 'a', template: { spec: claims({ labels }) } }]
    expect(refusal(jobSet({ ...asks, spec: { replicatedJobs: sets } }))).toContain(
      `Forbidden spec.replicatedJobs[0].template.spec.template.${label('managed')}: `,
    )
    const spec = { suspend: true, ...claims({ labels }) }
    expect(refusal(waiting({ spec }), { old: waiting() })).toContain(`Forbidden spec.template.${label('managed')}: `)
    expect(refusal(waiting({ spec, annotations: { note: 'x' } }), { old: waiting({ spec }) })).toBe('allowed')
  })

  it('does not come into a queue later with a selector of its own, nor with one that says no more that it is', () => {
    const asks = { labels: { 'queue-name': 'q' } }
    for (const manualSelector of [true, false]) {
      const spec = { suspend: true, manualSelector, selector: { matchLabels: { app: 'mine' } } }
      const asked = { old: job({ spec }) }
      expect(refusal(job({ ...asks, spec }), asked)).toContain('Forbidden spec.manualSelector: ')
      const known = { old: waiting({ spec }) }
      expect(refusal(waiting({ spec, annotations: { note: 'x' } }), known)).toBe('allowed')
    }
  })

  it('is not stored with the stamp of a child that nobody gave it', () => {
    const world = queueWorld({ objects: [queuedSet] })
    const forged = job({ labels: { 'queue-name': 'q' }, annotations: { [CHILD_OF]: ROOT }, owners: [JOB_SET_OWNER] })
    expect(brief(validated(forged, { world }))).toContain(`Forbidden ${annotation(CHILD_OF)}`)
    const bare = job({ annotations: { [CHILD_OF]: ROOT }, owners: [JOB_SET_OWNER] })
    expect(brief(validated(bare, { world: queueWorld({ objects: [queuedSet], defaultQueue: true }) }))).toContain(
      `Forbidden ${annotation(CHILD_OF)}`,
    )
  })

  it.each<[string, World]>([
    ['Jobs are not enabled', queueWorld({ frameworks: ['pod'] })],
    ['Kueue queues them', queueWorld({ engine: 'kueue' })],
    ['its namespace is not selected', queueWorld({ namespaceSelector: { matchLabels: { team: 'b' } } })],
  ])('is not judged where %s', (_where, world) => {
    expect(validated(job({ labels: { 'queue-name': 'queue name' } }), { world })).toMatchObject({ kind: 'allowed' })
  })
})

describe('how that may change', () => {
  const moved = { labels: { 'queue-name': 'other' } }
  const urgent = { labels: { 'priority-class': 'urgent' } }

  it('is told once, though it is judged as a change and as what is new', () => {
    const gated = (names: string) => waiting({ annotations: { 'admission-gated-by': names } })
    expect(brief(validated(gated('a.io/x,'), { old: gated('a.io/x') }))).toEqual([
      `Forbidden ${annotation('admission-gated-by')}`,
      `Invalid ${annotation('admission-gated-by')}`,
    ])
  })

  it.each<[string, KubeObject, KubeObject, string]>([
    ['E13: the queue, while it runs', running(), running(moved), `Invalid ${label('queue-name')}: field is immutable`],
    ['E13: the queue, while it waits', waiting(), waiting(moved), 'allowed'],
    [
      'the queue, while it is being stopped',
      waiting({ annotations: { [STOPPING]: 'true' } }),
      waiting({ ...moved, annotations: { [STOPPING]: 'true' } }),
      `Invalid ${label('queue-name')}: field is immutable`,
    ],
    ['the queue, given to what runs in none', job(), job(moved), `Invalid ${label('queue-name')}: field is immutable`],
    [
      'E14: the parallelism of what was admitted in part',
      running({ annotations: { [MIN]: '2' } }),
      running({ annotations: { [MIN]: '2' }, spec: { parallelism: 3 } }),
      'Forbidden spec.parallelism: cannot change when partial admission is enabled and the job is not suspended',
    ],
    [
      'whether completions follow, while it runs',
      running({ spec: { completionMode: 'Indexed', completions: 4 } }),
      running({ annotations: { [FOLLOW]: 'true' }, spec: { completionMode: 'Indexed', completions: 4 } }),
      `Forbidden ${annotation(FOLLOW)}: field is immutable while the job is not suspended`,
    ],
    [
      'whether completions follow, said in other words while it runs',
      running(),
      running({ annotations: { [FOLLOW]: 'false' } }),
      'allowed',
    ],
    [
      'whether completions follow, while it waits',
      waiting(),
      waiting({ annotations: { [FOLLOW]: 'false' } }),
      'allowed',
    ],
    [
      'E15: the priority, taken away',
      waiting(urgent),
      waiting(),
      `Invalid ${label('priority-class')}: WorkloadPriorityClass cannot be removed from a workload`,
    ],
    [
      'the priority, given to what runs',
      running(),
      running(urgent),
      `Invalid ${label('priority-class')}: WorkloadPriorityClass cannot be added to a non-suspended workload`,
    ],
    ['the size, while it waits', waiting(), waiting({ spec: { parallelism: 40, completions: 40 } }), 'allowed'],
    [
      'the least parallelism, which a smaller size is below',
      waiting({ annotations: { [MIN]: '3' } }),
      waiting({ annotations: { [MIN]: '3' }, spec: { parallelism: 2 } }),
      'allowed',
    ],
    ['the size, to a smaller one, while it runs', running(), running({ spec: { parallelism: 2 } }), 'allowed'],
    [
      'the size, beyond what it runs with',
      running(),
      running({ spec: { parallelism: 5 } }),
      'Forbidden spec.parallelism: cannot grow from 4 to 5 pods while it runs',
    ],
    [
      'the parallelism, where completions bound it',
      running({ spec: { completions: 4 } }),
      running({ spec: { completions: 4, parallelism: 9 } }),
      'allowed',
    ],
    [
      'the size of a JobSet',
      running({}, jobSet),
      running({ spec: { replicatedJobs: [{ replicas: 9 }] } }, jobSet),
      'Forbidden spec.replicatedJobs: cannot grow from 2 to 9 pods while it runs',
    ],
    [
      'one Job of a JobSet for another',
      running({}, jobSet),
      running({ spec: { replicatedJobs: [{ replicas: 4 }, { replicas: 1 }] } }, jobSet),
      'Forbidden spec.replicatedJobs: cannot grow from 2 to 4 pods while it runs',
    ],
    [
      'the label, taken away',
      waiting(),
      job({ annotations: { [QUEUED]: 'true' }, spec: { suspend: true } }),
      `Forbidden ${label('queue-name')}: a queued Job stays queued`,
    ],
    [
      'what was wrong before',
      waiting({ labels: { 'max-exec-time-seconds': 'x' } }),
      waiting({ labels: { 'max-exec-time-seconds': 'x', app: 'a' } }),
      'allowed',
    ],
  ])('%s', (_what, old, made, expected) => {
    expect(refusal(made, { old }).slice(0, expected.length)).toBe(expected)
  })

  it('leaves what is being deleted alone, whatever is wrong with it', () => {
    const made = waiting({ deletionTimestamp: 'now', labels: { 'max-exec-time-seconds': 'x' } })
    expect(refusal(made, { old: waiting({ deletionTimestamp: 'now' }) })).toBe('allowed')
  })
})

describe('who may start what waits', () => {
  const resume = (asked: Asked, make = job) => brief(validated(running({}, make), { old: waiting({}, make), ...asked }))

  it.each([job, jobSet])('is Muster, and who is exempt (%o)', make => {
    expect(resume({}, make)).toEqual(['Forbidden spec.suspend'])
    expect(resume({ user: JOB_CONTROLLER }, make)).toEqual(['Forbidden spec.suspend'])
    expect(resume({ user: MUSTER }, make)).toEqual([])
    expect(resume({ world: queueWorld({ exemptUsers: ['alice'] }) }, make)).toEqual([])
  })

  it('is nobody else, also before Muster has taken it in, and not by taking the label away', () => {
    const old = job({ labels: { 'queue-name': 'q' }, spec: { suspend: true } })
    const made = job({ labels: { 'queue-name': 'q' }, spec: { suspend: false } })
    expect(brief(validated(made, { old }))).toEqual(['Forbidden spec.suspend'])
    expect(brief(validated(job({ spec: { suspend: false } }), { old: waiting() }))).toEqual([
      `Invalid ${label('queue-name')}`,
    ])
  })

  it.each([QUEUED, HELD, STOPPING, CHILD_OF])('is no question of %s, which nobody else writes', key => {
    for (const subResource of [undefined, 'status']) {
      const asked = { ...(subResource && { subResource }) }
      const other = waiting({ annotations: { [key]: 'other' } })
      expect(brief(validated(other, { old: waiting(), ...asked }))).toContain(`Forbidden ${annotation(key)}`)
      const marked = job({ labels: { 'queue-name': 'q' }, annotations: { [key]: 'true' }, spec: { suspend: false } })
      const unmarked = job({ labels: { 'queue-name': 'q' }, spec: { suspend: false } })
      expect(brief(validated(marked, { old: unmarked, ...asked }))).toContain(`Forbidden ${annotation(key)}`)
      expect(brief(validated(unmarked, { old: marked, ...asked }))).toContain(`Forbidden ${annotation(key)}`)
      expect(validated(marked, { old: unmarked, user: MUSTER, ...asked })).toMatchObject({ kind: 'allowed' })
    }
  })

  it('does not begin with a mark that says that it waits', () => {
    const plain = job({ spec: { suspend: true } })
    const marked = job({ annotations: { [QUEUED]: 'true' }, spec: { suspend: true } })
    expect(brief(validated(marked, { old: plain }))).toEqual([`Forbidden ${annotation(QUEUED)}`])
  })

  it('is nobody who brings it into a queue past the webhook that has it wait, as the status does', () => {
    const [plain, labelled] = [{}, { labels: { 'queue-name': 'q' } }].map(more =>
      job({ ...more, spec: { suspend: true } }),
    ) as [KubeObject, KubeObject]
    const asked = { old: plain, subResource: 'status' }
    expect(brief(validated(labelled, asked))).toEqual([`Required ${annotation(QUEUED)}`])
    expect(validated(labelled, { ...asked, user: MUSTER })).toMatchObject({ kind: 'allowed' })
    // By the Job itself the mutation has its say first.
    expect(passed(labelled, { old: plain }).verdict).toMatchObject({ kind: 'allowed' })
    expect(validated(labelled, { ...asked, old: labelled })).toMatchObject({ kind: 'allowed' })
  })

  it('does not come into a queue that is not open to its namespace, taken in or not', () => {
    const queues = [{ name: 'theirs', limits: {}, namespaces: { matchLabels: { team: 'theirs' } } }]
    const world = queueWorld()
    const closed = { ...world, config: { ...world.config, queues } }
    const made = job({ labels: { 'queue-name': 'theirs' }, spec: { suspend: true } })
    const old = job({ labels: { 'queue-name': 'q' }, spec: { suspend: true } })
    expect(brief(validated(made, { old, subResource: 'status', world: closed }))).toEqual([
      `Forbidden ${label('queue-name')}`,
    ])
  })

  it('excuses no pods by an empty queue name, where that is what Muster writes', () => {
    const world = queueWorld({ manageAll: true })
    const [plain, emptied] = [job(), job({ labels: { 'queue-name': '' } })]
    expect(brief(validated(emptied, { old: plain, world }))).toEqual([`Forbidden ${label('queue-name')}`])
    expect(validated(emptied, { old: emptied, world })).toMatchObject({ kind: 'allowed' })
    expect(validated(emptied, { old: plain, world, user: MUSTER })).toMatchObject({ kind: 'allowed' })
  })

  it('holds what its user suspends, and refuses to forget it', () => {
    expect(brief(validated(waiting(), { old: running() }))).toEqual([`Required ${annotation(HELD)}`])
    expect(validated(waiting(), { old: running(), user: MUSTER })).toMatchObject({ kind: 'allowed' })
  })
})

describe('the Jobs of a queued JobSet', () => {
  const world = queueWorld({ objects: [queuedSet] })
  const child = { owners: [JOB_SET_OWNER] }
  const suspended = { ...child, spec: { suspend: true } }
  const changes: [string, KubeObject, KubeObject, string][] = [
    ['resumed', job(suspended), job(child), 'spec.suspend'],
    ['set free', job(suspended), job({ spec: { suspend: true } }), 'metadata.ownerReferences'],
    ...(['apiVersion', 'kind', 'name', 'uid'] as const).map((key): [string, KubeObject, KubeObject, string] => [
      `given an owner of another ${key}`,
      job(child),
      job({ owners: [{ ...JOB_SET_OWNER, [key]: `${JOB_SET_OWNER[key]}x` }] }),
      'metadata.ownerReferences',
    ]),
    ['made larger', job(child), job({ ...child, spec: { parallelism: 5 } }), 'spec.parallelism'],
    [
      'given another template',
      job(suspended),
      job({ ...child, spec: { suspend: true, template: {} } }),
      'spec.template',
    ],
  ]

  it.each(changes)("are %s by their root's controller alone", (_what, old, made, field) => {
    expect(brief(validated(made, { old, world }))).toEqual([`Forbidden ${field}`])
    expect(errorsOf(validated(made, { old, world }))[0]?.detail).toContain(`waits and runs with ${ROOT}`)
    expect(validated(made, { old, world, user: JOBSET_CONTROLLER })).toMatchObject({ kind: 'allowed' })
    expect(validated(made, { old, world, user: MUSTER })).toMatchObject({ kind: 'allowed' })
  })

  it('are known by their stamp when their owner is gone', () => {
    const stamp = { annotations: { [CHILD_OF]: ROOT } }
    const verdict = validated(job(stamp), { old: job({ ...stamp, spec: { suspend: true } }) })
    expect(brief(verdict)).toEqual(['Forbidden spec.suspend'])
  })

  it.each(changes)("are anybody's to be %s where the JobSet waits in no queue", (_what, old, made) => {
    const { labels: _labels, ...metadata } = queuedSet.metadata
    const unqueued = queueWorld({ objects: [{ ...queuedSet, metadata }] })
    expect(validated(made, { old, world: unqueued })).toMatchObject({ kind: 'allowed' })
    expect(validated(made, { old, world: queueWorld() })).toMatchObject({ kind: 'allowed' })
  })
})

describe('the status of what is queued', () => {
  const done = { conditions: [{ type: 'Complete', status: 'True' }] }
  it.each([
    [job, JOB_CONTROLLER],
    [jobSet, JOBSET_CONTROLLER],
  ])('comes from its controller (%o)', (make, user) => {
    const asked = { old: running({ status: {} }, make), subResource: 'status' }
    expect(brief(validated(running({ status: done }, make), asked))).toEqual(['Forbidden status'])
    expect(validated(running({ status: done }, make), { ...asked, user })).toMatchObject({ kind: 'allowed' })
    expect(validated(running({ status: done }, make), { ...asked, user: MUSTER })).toMatchObject({ kind: 'allowed' })
    expect(validated(running({ status: {} }, make), asked)).toMatchObject({ kind: 'allowed' })
  })

  it("is anybody's of what is not", () => {
    const asked = { old: job({ status: {} }), subResource: 'status' }
    expect(validated(job({ status: done }), asked)).toMatchObject({ kind: 'allowed' })
  })
})

it('judges how a Job asks to be scheduled and how it asks to be queued, in one answer', () => {
  const config = {
    ...DEFAULT_CONFIGURATION.jobs,
    scheduling: {
      ...DEFAULT_CONFIGURATION.jobs.scheduling,
      allow: { ...DEFAULT_CONFIGURATION.jobs.scheduling.allow, policies: [] },
    },
  }
  const world = { ...queueWorld(), config: { ...queueWorld().config, jobs: config } }
  const made = job({ labels: { 'queue-name': 'q' }, spec: { scheduling: { schedulingPolicy: { basic: {} } } } })
  const verdict = validated(made, { world })
  expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
  expect(brief(verdict)).toEqual([
    'Forbidden spec.scheduling.schedulingPolicy.basic',
    'Required spec.suspend',
    `Required ${annotation(QUEUED)}`,
  ])
  expect(verdict.kind === 'denied' && verdict.message).toContain('spec.suspend')
  // 422 is what is wrong, and comes before what is not allowed.
  const wrong = job({ labels: { [QUEUE]: 'queue name' }, spec: { scheduling: { schedulingPolicy: { basic: {} } } } })
  expect(validated(wrong, { world })).toMatchObject({ code: 422 })
})
