import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { answer } from '../../../../src/admission/answer.ts'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { SCHEDULING } from '../../../../src/kube/vocabulary/names.ts'
import type { KubeObject } from '../../../../src/kube/vocabulary/objects.ts'
import { reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { tallyOf } from '../../../support/tally.ts'
import { errorsOf } from '../pods/fixtures.ts'
import { type Job, jobOf, jobRequest, jobWorld } from './fixtures.ts'

/** Any JSON, with keys from which a path can be read back. */
const { anything } = fc.letrec<{ anything: unknown }>(tie => ({
  anything: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1.5, 1e300, '', 'text'),
    fc.array(tie('anything'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'gang', 'topology', '__proto__'), tie('anything'), { maxKeys: 2 }),
  ),
}))
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 })
const orAnything = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    { arbitrary: arbitrary as fc.Arbitrary<unknown>, weight: 9 },
    { arbitrary: anything as fc.Arbitrary<unknown>, weight: 1 },
  )

/** Objects with the given fields, some of them missing, and sometimes with a key that nobody knows. */
const recordOf = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .record({
      known: fc.record(Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, sometimes(value)]))),
      unknown: fc.dictionary(fc.constantFrom('quorum', 'half', 'constructor'), anything, { maxKeys: 1 }),
    })
    .map(({ known, unknown }) => ({
      ...unknown,
      ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    }))

const empty = orAnything(fc.constant({}))
const name = orAnything(fc.constantFrom('', 'a', 'b', 'a.b', 'A', 'x'.repeat(64)))
const policy = orAnything(
  recordOf({ basic: empty, gang: orAnything(recordOf({ minCount: orAnything(fc.integer({ min: -1, max: 9 })) })) }),
)
const topology = orAnything(fc.array(orAnything(recordOf({ key: name, level: name })), { maxLength: 2 }))
const constraints = orAnything(recordOf({ topology }))
const mode = orAnything(recordOf({ single: empty, all: empty }))
const claim = recordOf({ name, resourceClaimName: name, resourceClaimTemplateName: name })
const block = orAnything(
  recordOf({
    schedulingPolicy: policy,
    schedulingConstraints: constraints,
    disruptionMode: mode,
    resourceClaims: orAnything(fc.array(orAnything(claim), { maxLength: 5 })),
    policy,
    constraints,
    disruption: mode,
  }),
)

const jobs = fc
  .record({
    scheduling: sometimes(block),
    annotation: sometimes(
      fc.oneof(
        block.map(value => JSON.stringify(value)),
        fc.string(),
        anything,
      ),
    ),
    parallelism: orAnything(sometimes(fc.integer({ min: 0, max: 9 }))),
    completions: orAnything(sometimes(fc.integer({ min: 0, max: 9 }))),
  })
  .map(({ scheduling, annotation, parallelism, completions }) =>
    jobOf({
      scheduling,
      spec: { parallelism, completions },
      ...(annotation === undefined ? {} : { metadata: { annotations: { [SCHEDULING]: annotation } } }),
    }),
  )

/** Blocks with which nothing is wrong: only a list or the guard may be against them. */
const rightBlock = fc.record(
  {
    schedulingPolicy: fc.constantFrom({ gang: {} }, { gang: { minCount: 2 } }),
    schedulingConstraints: fc.constantFrom({ topology: [{ key: 'a' }] }, { topology: [{ key: 'b' }] }, {}),
    disruptionMode: fc.constantFrom({ single: {} }, { all: {} }),
    resourceClaims: fc.constant([{ name: 'a', resourceClaimName: 'b' }]),
  },
  { requiredKeys: ['schedulingPolicy'] },
)
const rightJob = (scheduling: unknown, isField: boolean, parallelism: number): Job =>
  isField
    ? jobOf({ scheduling, spec: { parallelism } })
    : jobOf({ spec: { parallelism }, metadata: { annotations: { [SCHEDULING]: JSON.stringify(scheduling) } } })

type Change = readonly [job: Job, old: Job | null]

/** A Job that is created, or updated from another one: from anything, or in its parallelism alone. */
const changes = fc.oneof(
  fc.tuple(jobs, fc.option(jobs)),
  fc.tuple(fc.constant(jobOf()), fc.option(fc.constantFrom(jobOf(), jobOf({ spec: { parallelism: 4 } })))),
  fc
    .tuple(
      rightBlock,
      fc.boolean(),
      fc.integer({ min: 2, max: 4 }),
      fc.option(fc.integer({ min: 2, max: 4 }), { freq: 1 }),
    )
    .map(
      ([scheduling, isField, parallelism, before]): Change => [
        rightJob(scheduling, isField, parallelism),
        before === null ? null : rightJob(scheduling, isField, before),
      ],
    ),
)

/** Whether the object that should hold the field is there, in the object or in the block of its annotation. */
function leadsSomewhere(object: unknown, field: string): boolean {
  const inside = `metadata.annotations[${SCHEDULING}]`
  if (field.startsWith(inside)) {
    const text = (object as KubeObject | null)?.metadata.annotations?.[SCHEDULING]
    if (field === inside) return true
    if (typeof text !== 'string') return false
    return leadsSomewhere({ block: parse(text) }, `block${field.slice(inside.length)}`)
  }
  const segments = field.replaceAll('[', '.').replaceAll(']', '').split('.')
  let value: unknown = object
  for (const segment of segments.slice(0, -1))
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[segment]
  // Go reads a null in a list as an empty object.
  return typeof value === 'object'
}

const restricted = jobWorld({
  allow: { policies: ['gang'], disruptionModes: [], topologyKeys: ['a'], resourceClaims: false },
})

/** Always the same Jobs: some kinds are rare, and a test that misses them now and then tells nothing. */
const RUNS = { numRuns: 1_000, seed: 20_261_117 }

describe('for every Job', () => {
  it('a review never throws, and its answer can be sent', () => {
    const tried = tallyOf('without a block', 'allowed', 'wrong (422)', 'not allowed here (403)', 'update allowed')
    fc.assert(
      fc.property(changes, fc.constantFrom(jobWorld(), restricted), ([job, old], world) => {
        const request = jobRequest(job, old)
        const verdict = reviewJobValidation(request, world)
        expect(answer(request, verdict, false).response.allowed).toBe(verdict.kind === 'allowed')
        if (verdict.kind === 'denied') tried.count(verdict.code === 422 ? 'wrong (422)' : 'not allowed here (403)')
        else if (verdict.reason === 'NoSchedulingBlock') tried.count('without a block')
        else tried.count(old === null ? 'allowed' : 'update allowed')
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('every error leads to a place that the manifest has, old or new', () => {
    const tried = tallyOf('in the field', 'in the annotation', 'elsewhere')
    fc.assert(
      fc.property(changes, ([job, old]) => {
        for (const { field } of errorsOf(reviewJobValidation(jobRequest(job, old), restricted))) {
          expect(leadsSomewhere(job, field) || leadsSomewhere(old, field), field).toBe(true)
          if (field.startsWith('metadata.annotations')) tried.count('in the annotation')
          else tried.count(field.startsWith('spec.scheduling') ? 'in the field' : 'elsewhere')
        }
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('no error is reported twice', () => {
    const tried = tallyOf('no error', 'one', 'several')
    fc.assert(
      fc.property(changes, ([job, old]) => {
        const errors = errorsOf(reviewJobValidation(jobRequest(job, old), restricted))
        expect(new Set(errors.map(error => JSON.stringify(error))).size).toBe(errors.length)
        tried.count(errors.length === 0 ? 'no error' : errors.length === 1 ? 'one' : 'several')
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('an update that changes nothing of it is never refused by policy', () => {
    const tried = tallyOf('refused by policy when it was new', 'never refused')
    fc.assert(
      fc.property(jobs, job => {
        const verdict = reviewJobValidation(jobRequest(job, structuredClone(job)), restricted)
        const forbidden = (answered: Verdict) => errorsOf(answered).filter(({ type }) => type === 'Forbidden')
        expect(forbidden(verdict)).toEqual([])
        const wasRefused = forbidden(reviewJobValidation(jobRequest(job), restricted)).length > 0
        tried.count(wasRefused ? 'refused by policy when it was new' : 'never refused')
      }),
      RUNS,
    )
    tried.expectAll()
  })

  it('no object, however malformed, makes a review throw', () => {
    const part = fc.oneof(anything, jobs, block)
    const template = fc.oneof(part, jobs, fc.record({ metadata: part, spec: part }), fc.constant(jobOf()))
    const anyJobSet = fc.record({
      metadata: part,
      spec: fc.record({
        scheduling: part,
        replicatedJobPolicies: part,
        replicatedJobs: fc.oneof(part, fc.array(fc.record({ name: part, template }))),
      }),
    })
    const objects = {
      Job: template,
      CronJob: fc.oneof(template, fc.record({ metadata: part, spec: fc.record({ jobTemplate: template }) })),
      JobSet: fc.oneof(template, anyJobSet),
    }
    const reviews = fc
      .constantFrom('Job' as const, 'CronJob' as const, 'JobSet' as const)
      .chain(kind => fc.tuple(fc.constant(kind), objects[kind], objects[kind]))
    const tried = tallyOf(
      ...['Job', 'CronJob', 'JobSet'].flatMap(kind =>
        ['creation', 'update'].flatMap(operation => [`${kind} ${operation} allowed`, `${kind} ${operation} denied`]),
      ),
    )
    fc.assert(
      fc.property(reviews, ([kind, object, oldObject]) => {
        const group = kind === 'JobSet' ? 'jobset.x-k8s.io' : 'batch'
        const request = {
          ...jobRequest(jobOf()),
          kind: { group, version: 'v1', kind },
          namespace: '',
          object: object as unknown as KubeObject,
          oldObject: oldObject as unknown as KubeObject,
        }
        const creation = reviewJobValidation(request, restricted)
        const update = reviewJobValidation({ ...request, operation: 'UPDATE' }, restricted)
        reviewJobValidation({ ...request, operation: 'UPDATE', subResource: 'status' }, restricted)
        tried.count(`${kind} creation ${creation.kind}`, `${kind} update ${update.kind}`)
      }),
      { numRuns: 1_000 },
    )
    tried.expectAll()
  })
})
