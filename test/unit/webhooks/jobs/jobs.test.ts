import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../../src/admission/verdict.ts'
import { SCHEDULING } from '../../../../src/kube/vocabulary/names.ts'
import { JOB_WEBHOOKS, reviewJobValidation } from '../../../../src/webhooks/jobs/jobs.ts'
import { brief, errorsOf } from '../pods/fixtures.ts'
import { A, annotated, created, jobOf, jobRequest, jobWorld, updated } from './fixtures.ts'

describe('what /validate/jobs looks at', () => {
  it('is what /mutate/jobs has suspended, if it has to wait', () => {
    expect(JOB_WEBHOOKS).toMatchObject([
      { name: 'mutate-jobs', path: '/mutate/jobs', mutating: true },
      { name: 'mutate-implicit-gangs', path: '/mutate/implicit-gangs', mutating: true, advisory: true },
      { name: 'validate-jobs', path: '/validate/jobs', mutating: false },
    ])
  })

  it('lets a Job without a block pass, whatever the lists say', () => {
    const world = jobWorld({ allow: { policies: [], disruptionModes: [], topologyKeys: [], resourceClaims: false } })
    expect(created({}, world)).toMatchObject({ kind: 'allowed', reason: 'NoSchedulingBlock', warnings: [] })
    expect(updated({}, { spec: { parallelism: 2 } }, world)).toMatchObject({ kind: 'allowed' })
  })

  it('leaves other kinds, deletions and the status to others', () => {
    const bad = jobOf({ scheduling: { schedulingPolicy: {} } })
    const request = jobRequest(bad, bad)
    const review = (change: object): Verdict => reviewJobValidation({ ...request, ...change }, jobWorld())
    expect(review({ kind: { group: '', version: 'v1', kind: 'Pod' } })).toMatchObject({ reason: 'NotAJob' })
    expect(review({ kind: { group: 'example.com', version: 'v1', kind: 'Job' } })).toMatchObject({ reason: 'NotAJob' })
    expect(review({ operation: 'DELETE' })).toMatchObject({ reason: 'NotOurs' })
    expect(review({ subResource: 'status' })).toMatchObject({ reason: 'NotOurs' })
  })

  it('sees an annotation that comes in through the status', () => {
    const request = jobRequest(jobOf(annotated('{}')), jobOf(), 'status')
    expect(brief(reviewJobValidation(request, jobWorld()))).toEqual([`Invalid ${A}`])
  })

  it('says when there is no Job to look at', () => {
    const request = jobRequest({ ...jobOf(), spec: undefined } as never)
    expect(brief(reviewJobValidation(request, jobWorld()))).toEqual(['Required spec'])
  })
})

describe('the annotation', () => {
  it.each([
    ['JSON', '{"schedulingPolicy": {"gang": {"minCount": 9}}}', 'schedulingPolicy'],
    ['YAML', 'schedulingPolicy:\n  gang: {minCount: 9}\n', 'schedulingPolicy'],
    ['YAML in the names of the KEP', 'policy:\n  gang:\n    minCount: 9\n', 'policy'],
  ])('may be %s, and errors name its fields', (_, text, name) => {
    const verdict = created(annotated(text))
    expect(errorsOf(verdict)).toMatchObject([
      { field: `${A}.${name}.gang.minCount`, detail: 'must not be greater than parallelism (8)', value: 9 },
    ])
    expect(verdict).toMatchObject({ code: 422 })
  })

  it.each([
    ['not text', 'schedulingPolicy: [', 'must be YAML or JSON'],
    ['no object', '- gang', 'must be an object'],
    ['empty', '', 'must be an object'],
    ['full of references', 'a: &a {}\nb: *a\n', 'anchors'],
    ['too deep', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`, 'nested deeper'],
    ['too long', JSON.stringify({ x: 'x'.repeat(20_000) }), 'may not be more than 16384 characters'],
  ])('is refused when it is %s', (_, text, detail) => {
    expect(errorsOf(created(annotated(text)))).toMatchObject([{ field: A, detail: expect.stringContaining(detail) }])
  })

  it('must be a string', () => {
    const verdict = created({ metadata: { annotations: { [SCHEDULING]: { policy: {} } } } })
    expect(errorsOf(verdict)).toMatchObject([{ field: A, detail: expect.stringContaining('must be a string') }])
  })

  it('and the field exclude each other', () => {
    const verdict = created({ ...annotated('{}'), scheduling: {} })
    expect(verdict).toMatchObject({ kind: 'denied', code: 403 })
    expect(errorsOf(verdict)).toMatchObject([{ field: A, type: 'Forbidden' }])
    expect(errorsOf(verdict)[0]?.detail).toContain('spec.scheduling')
  })

  it('is no stand-in for the field later on, nor the other way round', () => {
    expect(brief(updated(annotated('{}'), { scheduling: {} }))).toEqual(['Invalid spec.scheduling', `Invalid ${A}`])
    expect(brief(updated({ scheduling: {} }, annotated('{}')))).toEqual(['Invalid spec.scheduling', `Invalid ${A}`])
  })

  it('may be written anew with the same meaning', () => {
    expect(updated(annotated('{"policy": {"gang": {}}}'), annotated('schedulingPolicy: {gang: }'))).toMatchObject({
      kind: 'denied',
    })
    expect(updated(annotated('{"policy": {"gang": {}}}'), annotated('schedulingPolicy: {gang: {}}'))).toMatchObject({
      kind: 'allowed',
    })
  })

  it('that was wrong before Muster came does not hold up a Job that leaves it alone', () => {
    for (const text of ['[', '{"schedulingPolicy": {"gang": {"minCount": 99}}}', '{"schedulingPolicy": {"x": {}}}']) {
      expect(updated(annotated(text), { ...annotated(text), spec: { suspend: true } }), text).toMatchObject({
        kind: 'allowed',
      })
    }
  })

  it('that could not be read before is judged like a new one', () => {
    expect(updated(annotated('['), annotated('{"policy": {"gang": {"minCount": 2}}}'))).toMatchObject({
      kind: 'allowed',
    })
    expect(brief(updated(annotated('['), annotated('{"policy": {}}')))).toEqual([`Invalid ${A}.policy`])
    expect(updated(annotated('['), {})).toMatchObject({ kind: 'allowed' })
  })
})
