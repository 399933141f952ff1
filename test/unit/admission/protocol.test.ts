import { describe, expect, it } from 'vitest'
import { createReviewDecoder } from '../../../src/admission/protocol.ts'
import { pod, podReview } from '../../support/reviews.ts'

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
