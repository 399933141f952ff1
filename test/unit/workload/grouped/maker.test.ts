import { describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import {
  GROUP_TEMPLATE_NAME,
  GROUPED,
  PARENT_COMPOSITE,
  PARENT_COMPOSITE_KEP,
  ROOT_GROUP,
  SCHEDULING,
} from '../../../../src/kube/vocabulary/names.ts'
import { jobToGroup } from '../../../../src/workload/grouped/job-to-group.ts'
import { infersGangs, type Maker, makerOf } from '../../../../src/workload/grouped/maker.ts'
import { SERVERS } from './served.ts'

interface Given {
  readonly field?: object
  readonly annotation?: string
  readonly owner?: 'CronJob' | 'JobSet' | 'Other'
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly spec?: object
  readonly podSpec?: object
}

const API_VERSIONS = { CronJob: 'batch/v1', JobSet: 'jobset.x-k8s.io/v1alpha2', Other: 'example.com/v1' }

function jobOf({ field, annotation, owner, annotations, labels, spec, podSpec }: Given) {
  const ownerReferences =
    owner === undefined
      ? []
      : [{ apiVersion: API_VERSIONS[owner], kind: owner, name: 'root', uid: 'root-uid', controller: true }]
  const job = jobToGroup({
    metadata: {
      name: 'train',
      ownerReferences,
      labels,
      annotations: { ...annotations, ...(annotation !== undefined && { [SCHEDULING]: annotation }) },
    },
    spec: {
      ...{ parallelism: 4, completions: 4 },
      ...(field && { scheduling: field }),
      ...spec,
      template: { spec: { containers: [], ...podSpec } },
    },
  })
  if (job === undefined) throw new Error('it is a Job')
  return job
}

type Changes = Partial<Configuration['coScheduling']> & Partial<Configuration['jobs']['parallelism']>

function configured({ gangChanges, implicitGang, ...coScheduling }: Changes): Configuration {
  const { jobs } = DEFAULT_CONFIGURATION
  return {
    ...DEFAULT_CONFIGURATION,
    coScheduling: { ...DEFAULT_CONFIGURATION.coScheduling, ...coScheduling },
    jobs: {
      ...jobs,
      parallelism: {
        gangChanges: gangChanges ?? jobs.parallelism.gangChanges,
        implicitGang: implicitGang ?? jobs.parallelism.implicitGang,
      },
    },
  }
}

const said = (maker: Maker): string =>
  maker.who === 'muster' ? `muster: ${maker.of}` : maker.who === 'nobody' ? maker.why : maker.who

const GANG = { schedulingPolicy: { gang: {} } }
const TEXT = 'schedulingPolicy: {gang: {}}'
const INDEXED = { spec: { completionMode: 'Indexed' } }

describe('who makes the Workload and the PodGroup of a Job', () => {
  /** What the Job is, and who makes its objects with both gates, with GenericWorkload alone, with none, and on 1.36. */
  const table: readonly (readonly [string, Given, readonly string[]])[] = [
    ['a plain Job', {}, same('AsksForNothing')],
    ['a block in the field', { field: GANG }, ['jobController', 'muster: block', 'NotServed', 'muster: block']],
    [
      'a block in the annotation',
      { annotation: TEXT },
      ['muster: block', 'muster: block', 'NotServed', 'muster: block'],
    ],
    [
      "a CronJob's, whose block the Job controller ignores",
      { field: GANG, owner: 'CronJob' },
      ['muster: block', 'muster: block', 'NotServed', 'muster: block'],
    ],
    [
      'a block of a Job that another controller owns',
      { field: GANG, owner: 'Other' },
      ['muster: block', 'muster: block', 'NotServed', 'muster: block'],
    ],
    [
      "a JobSet's, which speaks for it",
      { annotation: TEXT, owner: 'JobSet' },
      ['RootDecides', 'RootDecides', 'NotServed', 'RootDecides'],
    ],
    [
      "one in the groups of a JobSet's",
      { annotation: TEXT, owner: 'JobSet', annotations: { [ROOT_GROUP]: 'workers' } },
      ['muster: root', 'muster: root', 'NotServed', 'muster: root'],
    ],
    [
      'one to which its parent has delegated a template',
      { field: GANG, owner: 'Other', annotations: { [GROUP_TEMPLATE_NAME]: 'workers' } },
      ['jobController', 'muster: delegated', 'NotServed', 'muster: delegated'],
    ],
    [
      'one below a group of groups, which the Job controller does not look for',
      { owner: 'Other', annotations: { [GROUP_TEMPLATE_NAME]: 'workers', [PARENT_COMPOSITE]: 'all' } },
      ['muster: delegated', 'muster: delegated', 'NotServed', 'muster: delegated'],
    ],
    [
      'the same in the spelling of the KEP',
      { owner: 'Other', annotations: { [GROUP_TEMPLATE_NAME]: '', [PARENT_COMPOSITE_KEP]: 'all' } },
      ['muster: delegated', 'muster: delegated', 'NotServed', 'muster: delegated'],
    ],
    ['a delegation to a root is none', { annotations: { [GROUP_TEMPLATE_NAME]: 'x' } }, same('AsksForNothing')],
    ['the shape of a gang', INDEXED, ['AsksForNothing', 'AsksForNothing', 'AsksForNothing', 'jobController']],
    [
      'a block in the shape of a gang',
      { annotation: TEXT, ...INDEXED },
      ['muster: block', 'muster: block', 'NotServed', 'muster: block'],
    ],
    ['pods with a group of their own', { field: GANG, podSpec: { schedulingGroup: {} } }, same('BringsGroup')],
    [
      'pods with the group that Muster gave them',
      {
        annotation: TEXT,
        labels: { [GROUPED]: 'true' },
        podSpec: { schedulingGroup: { podGroupName: 'train-muster-0123456789' } },
      },
      ['muster: block', 'muster: block', 'NotServed', 'muster: block'],
    ],
    ['one of another controller', { field: GANG, spec: { managedBy: 'example.com/mine' } }, same('ForeignController')],
    ['one for another scheduler', { annotation: TEXT, podSpec: { schedulerName: 'mine' } }, same('OtherScheduler')],
    [
      'one for the default scheduler by name',
      { annotation: TEXT, podSpec: { schedulerName: 'default-scheduler' } },
      ['muster: block', 'muster: block', 'NotServed', 'muster: block'],
    ],
  ]

  it.each(table)('%s', (_what, given, expected) => {
    const job = jobOf(given)
    const makers = [SERVERS.both, SERVERS.generic, SERVERS.none, SERVERS.with136].map(server =>
      said(makerOf(job, server, DEFAULT_CONFIGURATION)),
    )
    expect(makers).toEqual(expected)
  })

  it('is Muster always, or never, where the configuration says so', () => {
    const field = jobOf({ field: GANG })
    const annotation = jobOf({ annotation: TEXT })
    const always = configured({ jobs: 'always' })
    const never = configured({ jobs: 'never' })
    expect(said(makerOf(field, SERVERS.both, always))).toBe('muster: block')
    expect(said(makerOf(field, SERVERS.both, never))).toBe('jobController')
    expect(said(makerOf(field, SERVERS.generic, never))).toBe('SwitchedOff')
    expect(said(makerOf(annotation, SERVERS.both, never))).toBe('SwitchedOff')
    expect(said(makerOf(annotation, SERVERS.both, configured({ backend: 'none' })))).toBe('SwitchedOff')
    expect(said(makerOf(annotation, SERVERS.both, configured({ backend: 'kai' })))).toBe('SwitchedOff')
    expect(said(makerOf(annotation, SERVERS.both, configured({ backend: 'kubernetes' })))).toBe('muster: block')
  })

  it('is Muster for the shape of a gang, if the configuration calls that one', () => {
    const shaped = jobOf(INDEXED)
    const indexed = configured({ implicitGang: 'indexed' })
    expect(said(makerOf(shaped, SERVERS.both, indexed))).toBe('muster: shape')
    expect(said(makerOf(shaped, SERVERS.generic, indexed))).toBe('muster: shape')
    expect(said(makerOf(shaped, SERVERS.generic136, indexed))).toBe('muster: shape')
    // Its Job controller makes them all the same: two would be one too many.
    expect(said(makerOf(shaped, SERVERS.with136, indexed))).toBe('jobController')
    for (const spec of [{}, { ...INDEXED.spec, completions: 5 }, { ...INDEXED.spec, parallelism: 1, completions: 1 }]) {
      expect(said(makerOf(jobOf({ spec }), SERVERS.generic, indexed))).toBe('AsksForNothing')
    }
  })
})

describe('the shape of a gang', () => {
  it('is one where the Job controller has it so, or the configuration', () => {
    const auto = configured({ implicitGang: 'auto' })
    expect(DEFAULT_CONFIGURATION.jobs.parallelism.implicitGang).toBe('auto')
    expect(Object.entries(SERVERS).filter(([, server]) => infersGangs(server, auto))).toEqual([
      ['with136', SERVERS.with136],
    ])
    for (const server of Object.values(SERVERS)) {
      expect(infersGangs(server, configured({ implicitGang: 'indexed' }))).toBe(true)
      expect(infersGangs(server, configured({ implicitGang: 'none' }))).toBe(false)
    }
  })
})

function same(why: string): readonly string[] {
  return [why, why, why, why]
}
