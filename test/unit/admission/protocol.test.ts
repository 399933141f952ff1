import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answer, refusal } from '../../../src/admission/answer.ts'
import { applyPatch } from '../../../src/admission/patch.ts'
import { createReviewDecoder, hasMoreBrackets, nestProblem } from '../../../src/admission/protocol.ts'
import { allowed, forbiddenRequest, invalidObject, patched } from '../../../src/admission/verdict.ts'
import { forbidden, invalid, required } from '../../../src/validation/field-error.ts'
import { pod, podReview } from '../../support/reviews.ts'
import { tallyOf } from '../../support/tally.ts'

const decode = createReviewDecoder()
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

function refusedBecause(value: unknown): string {
  const decoded = decode(bytes(value))
  if ('ok' in decoded) throw new Error('it was read')
  expect(decoded.error.status).toBe(400)
  return decoded.error.reason
}

describe('decoding a review', () => {
  it('reads what the API server sends, whatever the object holds', () => {
    const review = podReview()
    expect(decode(bytes(review))).toEqual({ ok: review })
  })

  it('reads a DELETE, whose object is null', () => {
    const review = podReview({ operation: 'DELETE', object: null, oldObject: pod() })
    expect(decode(bytes(review))).toEqual({ ok: review })
  })

  it('reads a CONNECT, whose object is no Kubernetes object', () => {
    const options = JSON.parse('{"kind":"PodExecOptions","command":["sh"]}')
    expect(decode(bytes(podReview({ operation: 'CONNECT', object: options })))).toHaveProperty('ok')
  })

  it('refuses v1beta1 and says what to configure', () => {
    expect(refusedBecause({ ...podReview(), apiVersion: 'admission.k8s.io/v1beta1' })).toBe(
      'not a readable AdmissionReview: apiVersion: expected "admission.k8s.io/v1", got "admission.k8s.io/v1beta1"; list only "v1" in admissionReviewVersions of the webhook configuration',
    )
  })

  it.each([
    ['', 'the body is empty'],
    ['{"kind": "Adm', 'the body is not JSON: syntax error'],
    ['null', 'body: expected object, got null'],
    ['[]', 'body: expected object, got array'],
    ['{}', 'apiVersion: required, but missing'],
    [{ ...podReview(), kind: 'Pod' }, 'kind: expected "AdmissionReview", got "Pod"'],
    [{ ...podReview(), request: null }, 'request: expected object, got null'],
    [{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, 'request: required, but missing'],
    [podReview({ uid: '' }), 'request.uid: must NOT have fewer than 1 characters'],
    [podReview({ uid: 7 as never }), 'request.uid: expected string, got number'],
    [podReview({ operation: 'PATCH' as never }), 'request.operation: expected one of CREATE, UPDATE, DELETE, CONNECT'],
    [podReview({ kind: { group: '', version: 'v1' } as never }), 'request.kind.kind: required, but missing'],
    [podReview({ userInfo: { groups: [1] } as never }), 'request.userInfo.groups.0: expected string, got number'],
    [podReview({ object: 'x' as never }), 'request.object: expected object, got string'],
    [podReview({ object: null }), 'request.object: required for CREATE'],
    [podReview({ operation: 'UPDATE' }), 'request.oldObject: required for UPDATE'],
  ])('refuses %j', (body, reason) => {
    expect(refusedBecause(body)).toContain(reason)
  })

  it('does not repeat the body in the reason, for it may hold a secret', () => {
    expect(refusedBecause('{"password": "hunter2" oops')).not.toContain('hunter2')
  })

  it('reads 100 levels and refuses 101 before parsing them', () => {
    const nested = (levels: number) => {
      const inner = `${'['.repeat(levels - 3)}${']'.repeat(levels - 3)}`
      return JSON.stringify(podReview()).replace('"status":{}', `"status":${inner}`)
    }
    expect(decode(bytes(nested(100)))).toHaveProperty('ok')
    expect(refusedBecause(nested(101))).toBe('the JSON nests deeper than 100 levels')
    expect(refusedBecause('['.repeat(6_000_000))).toBe('the JSON nests deeper than 100 levels')
  })
})

describe('the depth of JSON text', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

  it('is the depth of the value, with brackets, quotes and backslashes in strings', () => {
    const text = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', 'a', 'ä', '\u0000') })
    const value = fc.letrec(tie => ({
      value: fc.oneof({ depthSize: 'medium' }, text, fc.array(tie('value')), fc.dictionary(text, tie('value'))),
    })).value
    const tried = tallyOf('a text alone', 'one level', 'several levels', 'brackets in a text')
    fc.assert(
      fc.property(value, sample => {
        const body = bytes(sample === '' ? '""' : JSON.stringify(sample))
        const depth = depthOf(sample)
        expect(nestProblem(body, depth)).toBeUndefined()
        if (depth > 0) expect(nestProblem(body, depth - 1)).toContain('nests deeper')
        tried.count(depth === 0 ? 'a text alone' : depth === 1 ? 'one level' : 'several levels')
        if (/"[^"]*[[{]/.test(String(body))) tried.count('brackets in a text')
      }),
      { numRuns: 300 },
    )
    tried.expectAll()
  })

  it('is not asked for when there are too few brackets, and none is overlooked', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.stringMatching(/^[[{z;"\]}]{0,80}$/))
    const tried = tallyOf('no bracket', 'few brackets', 'more brackets')
    fc.assert(
      fc.property(text, fc.nat(7), fc.nat(5), (value, offset, spare) => {
        const body = Buffer.from('.'.repeat(offset) + value).subarray(offset)
        const brackets = body.filter(byte => byte === 0x5b || byte === 0x7b).length
        if (brackets > 0) expect(hasMoreBrackets(body, brackets - 1)).toBe(true)
        if (!hasMoreBrackets(body, spare)) expect(brackets).toBeLessThanOrEqual(spare)
        tried.count(brackets === 0 ? 'no bracket' : brackets <= spare ? 'few brackets' : 'more brackets')
      }),
      { numRuns: 300 },
    )
    tried.expectAll()
    expect(hasMoreBrackets(bytes(podReview()), 100)).toBe(false)
  })

  it('comes with the number of objects and lists, those in strings aside', () => {
    const body = bytes('[{},{"a":"[[[{{{"},[[]]]')
    expect(nestProblem(body, 9, 5)).toBeUndefined()
    expect(nestProblem(body, 9, 4)).toBe('the JSON has more than 4 objects and lists')
  })

  it('ends with the body, even inside of a string', () => {
    for (const body of ['"', '"\\', '"abc', '{"a":"\\"[[[[']) expect(nestProblem(bytes(body), 1)).toBeUndefined()
  })
})

describe('answering a review', () => {
  const { request } = podReview()
  const gate = { op: 'add', path: '/spec/schedulingGates', value: [{ name: 'kueue.x-k8s.io/admission' }] } as const

  it('echoes uid, apiVersion and kind', () => {
    expect(answer(request, allowed('Ignored'), true)).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: request.uid, allowed: true },
    })
  })

  it('sends a patch as base64 with its type, and it gives the intended pod', () => {
    const { response } = answer(request, patched('Gated', [gate]), true)
    expect(response.patchType).toBe('JSONPatch')
    const operations = JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString())
    expect(applyPatch(request.object, operations)).toEqual({
      ...pod(),
      spec: { ...pod().spec, schedulingGates: gate.value },
    })
  })

  it('sends neither patch nor patchType when there is nothing to change', () => {
    expect(answer(request, patched('AlreadyGated', []), true).response).toEqual({ uid: request.uid, allowed: true })
  })

  it('throws on a patch from a validating webhook, on DELETE, and on one that does not apply', () => {
    expect(() => answer(request, patched('Gated', [gate]), false)).toThrow('a validating webhook must not patch')
    const deletion = podReview({ operation: 'DELETE', object: null, oldObject: pod() }).request
    expect(() => answer(deletion, patched('Gated', [gate]), true)).toThrow('no object to patch on DELETE')
    const misfit = { op: 'add', path: '/metadata/annotations/x', value: 'y' } as const
    expect(() => answer(request, patched('Gated', [misfit]), true)).toThrow('there is no "annotations"')
  })

  it('carries every field error of a denial as a cause', () => {
    const verdict = invalidObject([
      invalid('metadata.labels[app]', 'x y', 'must be a label value'),
      required('spec.containers', 'at least one'),
    ])
    expect(answer(request, verdict, false).response.status).toEqual({
      code: 422,
      reason: 'Invalid',
      message: verdict.message,
      details: {
        name: 'train-0',
        kind: 'Pod',
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: "x y": must be a label value',
            field: 'metadata.labels[app]',
          },
          { reason: 'FieldValueRequired', message: 'Required value: at least one', field: 'spec.containers' },
        ],
      },
    })
  })

  it('never denies without an explanation', () => {
    const verdict = { ...forbiddenRequest([forbidden('spec', 'no')]), message: '', errors: [] }
    expect(answer(request, verdict, false).response.status?.message).toBe('Forbidden')
  })

  it('keeps warnings to one line of at most 256 characters', () => {
    const warnings = ['short', `two\r\nlines`, 'x'.repeat(300), `${'y'.repeat(252)}\u{1f600}${'z'.repeat(9)}`]
    const sent = answer(request, allowed('Ignored', warnings), true).response.warnings ?? []
    expect(sent.slice(0, 2)).toEqual(['short', 'two lines'])
    expect(sent[2]).toBe(`${'x'.repeat(253)}...`)
    expect(sent.every(warning => warning.length <= 256 && warning.isWellFormed())).toBe(true)
  })

  it('has a well-formed refusal for reviews without a verdict', () => {
    expect(refusal('u', 500, 'InternalError', 'it broke').response).toEqual({
      uid: 'u',
      allowed: false,
      status: { code: 500, reason: 'InternalError', message: 'it broke' },
    })
  })
})
