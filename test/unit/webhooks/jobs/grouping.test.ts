import { describe, expect, it } from 'vitest'
import { applyPatch } from '../../../../src/admission/patch.ts'
import type { AdmissionRequest, UserInfo } from '../../../../src/admission/review.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../../src/config/configuration.ts'
import { GROUPED, QUEUE_NAME, QUEUED, ROOT_GROUP, SCHEDULING } from '../../../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { outlined } from '../../../../src/kube/vocabulary/outline.ts'
import type { ServedScheduling } from '../../../../src/kube/vocabulary/served-scheduling.ts'
import { JOB_WEBHOOKS, reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { reviewJobMutation } from '../../../../src/webhooks/jobs/mutation.ts'
import type { World } from '../../../../src/webhooks/world.ts'
import { podGroupName, workloadName } from '../../../../src/workload/builder/names.ts'
import { GROUPED_JOB_SET, groupedForCache } from '../../../../src/workload/grouped/grouped-object.ts'
import { SERVERS } from '../../workload/grouped/served.ts'
import { controller } from '../pods/fixtures.ts'
import { jobRequest, jobWorld } from './fixtures.ts'
import { ALICE, JOBSET_CONTROLLER, MUSTER, queueWorld } from './queue-fixtures.ts'

interface Grouped extends KubeObject {
  readonly spec: {
    readonly scheduling?: unknown
    readonly suspend?: boolean
    readonly parallelism?: number
    readonly template: { readonly spec: { readonly schedulingGroup?: { readonly podGroupName: string } } }
  }
}

interface Given {
  readonly metadata?: object
  readonly spec?: object
  readonly podSpec?: object
}

const GANG = { schedulingPolicy: { gang: {} } }
const TEXT = JSON.stringify(GANG)
const annotated = (text = TEXT, more: object = {}): Given => ({
  metadata: { annotations: { [SCHEDULING]: text }, ...more },
})

const jobOf = ({ metadata, spec, podSpec }: Given = {}): Grouped => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'train', namespace: 'team-a', ...metadata },
  spec: {
    ...{ parallelism: 4, completions: 4, completionMode: 'Indexed' },
    ...spec,
    template: { spec: { restartPolicy: 'Never', containers: [], ...podSpec } },
  } as Grouped['spec'],
})

const worldOn = (served: ServedScheduling, config: Partial<Configuration['coScheduling']> = {}): World => {
  const world = jobWorld()
  const coScheduling = { ...world.config.coScheduling, ...config }
  return { ...world, config: { ...world.config, coScheduling }, scheduling: () => served }
}

interface Options {
  readonly user?: UserInfo
  readonly old?: KubeObject
  readonly uid?: string
}

const requestFor = (object: KubeObject, { user = ALICE, old, uid = 'review-1' }: Options): AdmissionRequest => ({
  ...jobRequest(object, old ?? null),
  uid,
  userInfo: user,
})
const mutated = (object: KubeObject, world: World, options: Options = {}) => {
  const verdict = reviewJobMutation(requestFor(object, options), world)
  if (verdict.kind === 'denied') throw new Error(verdict.message)
  return { ...verdict, object: applyPatch(object, verdict.patch) as Grouped }
}
const refusedBy = (verdict: Verdict) =>
  verdict.kind === 'denied' ? verdict.errors.map(({ type, field }) => `${type} ${field}`) : []
const refused = (object: KubeObject, world: World, options: Options = {}) =>
  refusedBy(reviewJobValidation(requestFor(object, options), world))
const groupOf = ({ spec }: Grouped) => spec.template.spec.schedulingGroup?.podGroupName ?? ''

describe('a Job that Muster groups', () => {
  const world = worldOn(SERVERS.both)

  it('names its PodGroup, and has the mark by which the reconciler finds it', () => {
    const { object, reason } = mutated(jobOf(annotated()), world)
    expect(reason).toBe('Grouped')
    expect(object.metadata.labels).toEqual({ [GROUPED]: 'true' })
    expect(groupOf(object)).toMatch(/^train-muster-[0-9a-f]{10}$/)
    expect(refused(object, world)).toEqual([])
  })

  it('is told if Muster has not seen it when it was created', () => {
    const warnings = (object: KubeObject) => reviewJobValidation(requestFor(object, {}), world).warnings
    expect(warnings(jobOf(annotated()))).toEqual([expect.stringContaining('/mutate/jobs has not seen it')])
    expect(warnings(mutated(jobOf(annotated()), world).object)).toEqual([])
  })

  it('has another group than the one of its name before it', () => {
    const names = ['one', 'two'].map(uid => groupOf(mutated(jobOf(annotated()), world, { uid }).object))
    expect(new Set(names).size).toBe(2)
  })

  it('has the group of the last review when that is held again, with another uid', () => {
    const first = mutated(jobOf(annotated()), world)
    const again = mutated(first.object, world, { uid: 'again' })
    expect(again.patch).toHaveLength(1)
    expect(groupOf(again.object)).toBe(groupOf(mutated(jobOf(annotated()), world, { uid: 'again' }).object))
    expect(refused(again.object, world)).toEqual([])
  })

  it('has a name before the API server has chosen its own', () => {
    const { object } = mutated(jobOf(annotated(TEXT, { name: undefined, generateName: 'train-' })), world)
    expect(groupOf(object)).toMatch(/^train-muster-[0-9a-f]{10}$/)
    // When it is validated the name is there.
    const named = { ...object, metadata: { ...object.metadata, name: 'train-x7k2p' } }
    expect(refused(named, world)).toEqual([])
  })

  it('has a name that fits, however long its own is', () => {
    const generateName = `${'a'.repeat(230)}.-`
    const { object } = mutated(jobOf(annotated(TEXT, { name: undefined, generateName })), world)
    expect(groupOf(object)).toMatch(/^a{230}-muster-[0-9a-f]{10}$/)
    const long = groupOf(mutated(jobOf(annotated(TEXT, { name: `muster-group-${'x'.repeat(300)}` })), world).object)
    expect(long).toHaveLength(253)
    // What begins like the group of plain pods would be taken for one of them.
    expect(long).toMatch(/^job-muster-group-x/)
  })

  it('that was copied from another gets a group of its own', () => {
    const { object } = mutated(jobOf(annotated()), world)
    const copy = { ...object, metadata: { ...object.metadata, name: 'other' } }
    expect(groupOf(mutated(copy, world).object)).toMatch(/^other-/)
  })

  it('that was copied without its name, which the API server chooses, gets a group of its own', () => {
    const given = jobOf(annotated(TEXT, { name: undefined, generateName: 'train-' }))
    const { object } = mutated(given, world)
    const copied = mutated(object, world, { uid: 'review-2' })
    expect(groupOf(copied.object)).toMatch(/^train-muster-[0-9a-f]{10}$/)
    expect(groupOf(copied.object)).not.toBe(groupOf(object))
  })

  it('waits in its queue, too', () => {
    const both = { ...queueWorld(), scheduling: () => SERVERS.generic }
    const given = jobOf({ metadata: { labels: { [QUEUE_NAME]: 'q' } }, spec: { scheduling: GANG } })
    const { object, reason } = mutated(given, both)
    expect(reason).toBe('Queued')
    expect(object.spec).toMatchObject({ suspend: true })
    expect(object.metadata).toMatchObject({
      labels: { [QUEUE_NAME]: 'q', [GROUPED]: 'true' },
      annotations: { [QUEUED]: 'true', [SCHEDULING]: TEXT },
    })
    expect(groupOf(object)).toMatch(/^train-/)
    expect(refused(object, both)).toEqual([])
  })

  it('is left alone where the Job controller makes its objects, or nobody does', () => {
    const field = jobOf({ spec: { scheduling: GANG } })
    expect(mutated(field, world)).toMatchObject({ patch: [] })
    expect(mutated(jobOf(annotated()), worldOn(SERVERS.none))).toMatchObject({ patch: [] })
    expect(mutated(jobOf(annotated()), worldOn(SERVERS.both, { jobs: 'never' }))).toMatchObject({ patch: [] })
    const own = jobOf({ ...annotated(), podSpec: { schedulingGroup: { podGroupName: 'mine' } } })
    expect(mutated(own, world)).toMatchObject({ patch: [] })
  })

  it('is one that has the shape of a gang, if the configuration calls that one', () => {
    const { jobs } = DEFAULT_CONFIGURATION
    const config = { ...world.config, jobs: { ...jobs, parallelism: { ...jobs.parallelism, implicitGang: 'indexed' } } }
    const indexed = { ...world, config: config as Configuration }
    const implicit = JOB_WEBHOOKS.find(({ path }) => path === '/mutate/implicit-gangs')
    expect(mutated(jobOf(), indexed).reason).toBe('Grouped')
    expect(implicit?.review(requestFor(jobOf(), {}), indexed)).toMatchObject({ reason: 'Grouped' })
    expect(mutated(jobOf(), world)).toMatchObject({ patch: [] })
  })
})

describe('a block that the API server would drop', () => {
  const world = worldOn(SERVERS.generic)
  const A = `metadata.annotations[${SCHEDULING}]`

  it('is kept in the annotation', () => {
    const { object } = mutated(jobOf({ spec: { scheduling: GANG } }), world)
    expect(object.spec.scheduling).toBeUndefined()
    expect(object.metadata.annotations).toEqual({ [SCHEDULING]: TEXT })
    expect(groupOf(object)).not.toBe('')
    expect(refused(object, world)).toEqual([])
  })

  it('is refused under the name that its author knows', () => {
    const wrong = jobOf({ spec: { scheduling: { schedulingPolicy: { gang: { minCount: 9 } } } } })
    expect(refusedBy(reviewJobMutation(requestFor(wrong, {}), world))).toEqual([
      'Invalid spec.scheduling.schedulingPolicy.gang.minCount',
    ])
    const two = jobOf({ ...annotated(), spec: { scheduling: GANG } })
    expect(refusedBy(reviewJobMutation(requestFor(two, {}), world))).toEqual([])
  })

  it('is what it was when the manifest is applied again', () => {
    const { object: stored } = mutated(jobOf({ spec: { scheduling: GANG } }), world)
    const applied = { ...stored, spec: { ...stored.spec, scheduling: GANG } }
    const { object, patch } = mutated(applied, world, { old: stored })
    expect(object).toEqual(stored)
    expect(patch).toEqual([{ op: 'remove', path: '/spec/scheduling' }])
  })

  it('changes with the manifest, as far as blocks change', () => {
    const { object: stored } = mutated(jobOf({ spec: { scheduling: GANG } }), world)
    const applied = (scheduling: object) => ({ ...stored, spec: { ...stored.spec, scheduling } })
    const smaller = { schedulingPolicy: { gang: { minCount: 2 } } }
    const { object } = mutated(applied(smaller), world, { old: stored })
    expect(object.metadata.annotations).toEqual({ [SCHEDULING]: JSON.stringify(smaller) })
    expect(refused(object, world, { old: stored })).toEqual([])
    const basic = applied({ schedulingPolicy: { basic: {} } })
    expect(refusedBy(reviewJobMutation(requestFor(basic, { old: stored }), world))).toEqual([
      'Invalid spec.scheduling.schedulingPolicy',
    ])
  })

  it('comes too late to a Job that was created without', () => {
    const given = jobOf({ spec: { scheduling: GANG } })
    const { patch, warnings } = mutated(given, world, { old: jobOf() })
    expect(patch).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('created without a scheduling block')])
  })

  it('of a CronJob is kept in its template', () => {
    const cron = (
      scheduling: object,
      metadata?: object,
    ): KubeObject & { readonly spec: { readonly jobTemplate: object } } => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'nightly', namespace: 'team-a' },
      spec: { jobTemplate: { ...(metadata && { metadata }), spec: { ...jobOf().spec, scheduling } } },
    })
    for (const metadata of [undefined, {}, { annotations: { mine: 'x' } }]) {
      const { object } = mutated(cron(GANG, metadata), world)
      expect(object.spec).toMatchObject({
        jobTemplate: { metadata: { annotations: { ...metadata?.annotations, [SCHEDULING]: TEXT } } },
      })
      expect(JSON.stringify(object.spec)).not.toContain('"scheduling"')
    }
    const wrong = reviewJobMutation(requestFor(cron({ schedulingPolicy: {} }), {}), world)
    expect(refusedBy(wrong)).toEqual(['Invalid spec.jobTemplate.spec.scheduling.schedulingPolicy'])
    expect(mutated(cron(GANG), worldOn(SERVERS.both)).patch).toEqual([])
    expect(mutated(cron(GANG), worldOn(SERVERS.none)).patch).toEqual([])
  })

  it('on 1.36 cannot change the size of a gang, and is told so', () => {
    const on136 = worldOn(SERVERS.generic136)
    const { object: stored } = mutated(jobOf(annotated()), on136)
    const changed = (text: string): KubeObject => ({
      ...stored,
      metadata: { ...stored.metadata, annotations: { [SCHEDULING]: text } },
    })
    const smaller = changed(JSON.stringify({ schedulingPolicy: { gang: { minCount: 2 } } }))
    expect(refused(smaller, on136, { old: stored })).toEqual([`Forbidden ${A}.schedulingPolicy.gang.minCount`])
    expect(refused(smaller, world, { old: stored })).toEqual([])
    expect(refused(changed(`  ${TEXT}`), on136, { old: stored })).toEqual([])
  })
})

describe('the marks of what is grouped', () => {
  const world = worldOn(SERVERS.both)
  const LABEL = `metadata.labels[${GROUPED}]`
  const ROOT = `metadata.annotations[${ROOT_GROUP}]`

  it('are no way to have Muster make a group of any name', () => {
    const forged = (given: Given, podGroupName: string) =>
      jobOf({ ...given, podSpec: { schedulingGroup: { podGroupName } } })
    const labels = { [GROUPED]: 'true' }
    expect(refused(forged(annotated(TEXT, { labels }), 'somebody-elses'), world)).toEqual([`Forbidden ${LABEL}`])
    expect(refused(forged(annotated(TEXT, { labels }), 'other-muster-0123456789'), world)).toEqual([
      `Forbidden ${LABEL}`,
    ])
    expect(refused(forged({ metadata: { labels } }, 'train-muster-0123456789'), world)).toEqual([`Forbidden ${LABEL}`])
    // With our own webhook before it, he gets the name that everybody gets.
    const { object } = mutated(forged(annotated(TEXT, { labels }), 'somebody-elses'), world)
    expect(groupOf(object)).toMatch(/^train-muster-[0-9a-f]{10}$/)
  })

  it('stay as they are', () => {
    const { object } = mutated(jobOf(annotated()), world)
    const bare = { ...object, metadata: { ...object.metadata, labels: {} } }
    expect(refused(bare, world, { old: object })).toEqual([`Forbidden ${LABEL}`])
    expect(refused(object, world, { old: bare })).toEqual([`Forbidden ${LABEL}`])
    expect(refused(bare, world, { old: object, user: MUSTER })).toEqual([])
    const inStatus = { ...requestFor(bare, { old: object }), subResource: 'status' }
    expect(refusedBy(reviewJobValidation(inStatus, world))).toEqual([`Forbidden ${LABEL}`])
  })

  it("bring nobody into the group of a JobSet but the Jobs that the JobSet's controller makes", () => {
    const ownerReferences = [controller('jobset.x-k8s.io/v1alpha2', 'JobSet', 'set')]
    const metadata = { ownerReferences, annotations: { [ROOT_GROUP]: 'workers' } }
    const child = jobOf({ metadata })
    const { uid = '' } = ownerReferences[0] ?? {}
    expect(mutated(child, world).patch).toEqual([])
    expect(refused(child, world)).toEqual([`Forbidden ${ROOT}`])
    const { object } = mutated(child, world, { user: JOBSET_CONTROLLER })
    expect(groupOf(object)).toBe(podGroupName(workloadName('set', uid), 'workers'))
    expect(object.metadata.labels).toBeUndefined()
    expect(refused(object, world, { user: JOBSET_CONTROLLER })).toEqual([])
    expect(refused(object, world)).toEqual([`Forbidden ${ROOT}`])
    // A webhook after ours took the name away.
    expect(refused(child, world, { user: JOBSET_CONTROLLER })).toEqual(['Required spec.template.spec.schedulingGroup'])
    expect(refused(jobOf({ metadata: { annotations: { [ROOT_GROUP]: 'workers' } } }), world)).toEqual([
      `Forbidden ${ROOT}`,
    ])
  })
})

describe('a JobSet with the annotation', () => {
  const world = worldOn(SERVERS.both)
  const job = (name: string, annotations?: object, podSpec: object = {}) => ({
    name,
    replicas: 2,
    template: { ...(annotations && { metadata: { annotations } }), spec: jobOf({ podSpec }).spec },
  })
  const setOf = (annotations: object, ...replicatedJobs: object[]) =>
    ({
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 'set', namespace: 'team-a', annotations },
      spec: { replicatedJobs },
    }) as unknown as KubeObject
  const WHOLE = JSON.stringify({ schedulingPolicy: { basic: {} }, replicatedJobPolicies: [] })
  const rootGroups = (object: unknown) =>
    (object as { spec: { replicatedJobs: { template: KubeObject }[] } }).spec.replicatedJobs.map(
      ({ template }) => template.metadata?.annotations?.[ROOT_GROUP],
    )

  it('has the mark, and its templates say which group their Jobs belong to', () => {
    const given = setOf({ [SCHEDULING]: WHOLE }, job('driver'), job('workers', { mine: 'x' }))
    const { object } = mutated(given, world)
    expect(object.metadata.labels).toEqual({ [GROUPED]: 'true' })
    expect(rootGroups(object)).toEqual(['driver', 'workers'])
    expect(refused(object, world)).toEqual([])
    expect(mutated(object, world).patch).toEqual([])
  })

  it('is refused where it says more than is kept of it, and so would wait for groups that never come', () => {
    // Blanks around the block are kept, and mean nothing.
    const given = (length: number) => setOf({ [SCHEDULING]: WHOLE.padEnd(length) }, job('driver'), job('workers'))
    expect(refused(mutated(given(3000), world).object, world)).toEqual([])
    const { object } = mutated(given(9000), world)
    expect(refused(object, world)).toEqual(['Forbidden spec'])
    expect(groupedForCache(GROUPED_JOB_SET, outlined(object, GROUPED_JOB_SET.outline) as KubeObject)).toHaveProperty(
      'excess',
    )
    const { object: small } = mutated(given(10), world)
    expect(refused(object, world, { old: small })).toContain('Forbidden spec')
    // Nobody is kept from anything else by what is there already.
    expect(refused({ ...object, metadata: { ...object.metadata, finalizers: [] } }, world, { old: object })).toEqual([])
  })

  it('may have it in the templates alone, and leaves out who brings a group', () => {
    const own = { schedulingGroup: { podGroupName: 'mine' } }
    const given = setOf({}, job('driver', undefined, own), job('workers', { [SCHEDULING]: TEXT }))
    expect(rootGroups(mutated(given, world).object)).toEqual([undefined, 'workers'])
  })

  it('is judged at the annotation', () => {
    const wrong = setOf({ [SCHEDULING]: '{"schedulingPolicy": {"gang": {"minGroupCount": 5}}}' }, job('workers'))
    expect(refused(wrong, world)).toEqual([
      `Invalid metadata.annotations[${SCHEDULING}].schedulingPolicy.gang.minGroupCount`,
    ])
    expect(refused(setOf({ [SCHEDULING]: '{' }, job('workers')), world)).toEqual([
      `Invalid metadata.annotations[${SCHEDULING}]`,
    ])
  })

  it('is left alone without it, for another scheduler, and where nothing is served', () => {
    expect(mutated(setOf({}, job('workers')), world).patch).toEqual([])
    const elsewhere = setOf({ [SCHEDULING]: WHOLE }, job('workers', undefined, { schedulerName: 'mine' }))
    expect(mutated(elsewhere, world)).toMatchObject({ patch: [] })
    const given = setOf({ [SCHEDULING]: WHOLE }, job('workers'))
    expect(mutated(given, worldOn(SERVERS.none)).patch).toEqual([])
    const told = reviewJobValidation(requestFor(given, {}), worldOn(SERVERS.none))
    expect(told.warnings).toEqual([expect.stringContaining('nothing will act on it')])
  })

  it('is told if Muster has not seen it when it was created, and never will', () => {
    const given = setOf({ [SCHEDULING]: WHOLE }, job('workers'))
    const unseen = reviewJobValidation(requestFor(given, {}), world)
    expect(unseen.warnings).toEqual([expect.stringContaining('/mutate/jobs has not seen it')])
    expect(reviewJobValidation(requestFor(mutated(given, world).object, {}), world).warnings).toEqual([])
  })

  it('cannot have the marks for nothing, nor lose them', () => {
    const { object } = mutated(setOf({ [SCHEDULING]: WHOLE }, job('workers')), world)
    const at = `spec.replicatedJobs[0].template.metadata.annotations[${ROOT_GROUP}]`
    const bare = { ...object, metadata: { ...object.metadata, annotations: {} } }
    expect(refused(bare, world)).toEqual([`Forbidden metadata.labels[${GROUPED}]`, `Forbidden ${at}`])
    const unmarked = { ...object, metadata: { ...object.metadata, labels: {} } }
    expect(refused(unmarked, world, { old: object })).toEqual([`Forbidden metadata.labels[${GROUPED}]`])
  })
})

describe('what is no Job at all', () => {
  const PARTS = [undefined, null, 7, 'text', [], {}, { annotations: 'x' }, { labels: [] }, { annotations: { a: 1 } }]
  const path = '/mutate/implicit-gangs'
  const implicit = JOB_WEBHOOKS.find(webhook => webhook.path === path)
  const { jobs } = DEFAULT_CONFIGURATION
  const parallelism = { ...jobs.parallelism, implicitGang: 'indexed' as const }
  const world = { ...worldOn(SERVERS.generic), config: { ...DEFAULT_CONFIGURATION, jobs: { ...jobs, parallelism } } }

  it('makes no review throw, and no patch that does not fit', () => {
    let patched = 0
    for (const metadata of PARTS) {
      const template = { metadata, spec: { ...jobOf().spec, scheduling: GANG } }
      const objects = [
        { apiVersion: 'batch/v1', kind: 'Job', ...template },
        { apiVersion: 'batch/v1', kind: 'CronJob', metadata: {}, spec: { jobTemplate: template } },
        {
          apiVersion: 'jobset.x-k8s.io/v1alpha2',
          kind: 'JobSet',
          metadata: { name: 'set', annotations: { [SCHEDULING]: TEXT } },
          spec: { replicatedJobs: [{ name: 'workers', template: { metadata, spec: jobOf().spec } }, metadata] },
        },
      ] as unknown as KubeObject[]
      for (const object of objects) {
        const request = { ...jobRequest({ ...object, metadata: {} }), object }
        for (const verdict of [reviewJobMutation(request, world), implicit?.review(request, world)]) {
          if (verdict?.kind !== 'allowed' || verdict.patch.length === 0) continue
          expect(() => applyPatch(object, verdict.patch)).not.toThrow()
          patched++
        }
      }
    }
    expect(patched).toBeGreaterThan(5)
  })
})
