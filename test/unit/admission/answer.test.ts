import { describe, expect, it } from 'vitest'
import { answer, refusal } from '../../../src/admission/answer.ts'
import { applyPatch } from '../../../src/admission/patch.ts'
import { allowed, forbiddenRequest, invalidObject, patched } from '../../../src/admission/verdict.ts'
import { forbidden, invalid, required } from '../../../src/validation/field-error.ts'
import { pod, podReview } from '../../support/reviews.ts'

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
    const warnings = [
      'short',
      `more\r\nthan two\nlines`,
      'x'.repeat(300),
      `${'y'.repeat(252)}\u{1f600}${'z'.repeat(9)}`,
    ]
    const sent = answer(request, allowed('Ignored', warnings), true).response.warnings ?? []
    expect(sent.slice(0, 2)).toEqual(['short', 'more than two lines'])
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
