import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answer, answerText } from '../../../src/admission/answer.ts'
import { PreparedPatch } from '../../../src/admission/prepared-patch.ts'
import { allowed, forbiddenRequest, invalidObject, patched, patchedAlike } from '../../../src/admission/verdict.ts'
import { quoted } from '../../../src/kube/vocabulary/json-text.ts'
import { forbidden, invalid, MAX_ERRORS } from '../../../src/validation/field-error.ts'
import { podReview } from '../../support/reviews.ts'
import { tallyOf } from '../../support/tally.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme-ascii', minLength: 120, maxLength: 140 }),
  fc.string(),
  fc.constantFrom('"', '\\', '\ud800', '\u007f'),
)

describe('the text of an answer', () => {
  const label = fc.record({ op: fc.constant('add' as const), path: fc.constant('/metadata/labels/x'), value: anyText })
  const patch = fc.array(label, { maxLength: 3 })
  const warnings = fc.array(anyText, { maxLength: 2 })
  const errors = fc.array(
    fc.tuple(anyText, anyText).map(([field, value]) => invalid(field, value, 'is wrong')),
    { maxLength: 3 },
  )
  const verdict = fc.oneof(
    warnings.map(texts => allowed('Ignored', texts)),
    fc.tuple(warnings, anyText).map(([texts, text]) => allowed('Exempt', texts, { exemption: text })),
    fc.tuple(patch, warnings).map(([operations, texts]) => patched('Gated', operations, texts)),
    patch.map(operations => patchedAlike('Gated', new PreparedPatch(operations))),
    fc.tuple(errors, warnings).map(([list, texts]) => invalidObject(list, texts)),
    errors.map(list => forbiddenRequest(list)),
  )

  it('is the JSON of the answer, byte for byte, whatever uid, patch and warnings say', () => {
    const tried = tallyOf(
      'allowed',
      'with a patch',
      'with a shared patch',
      'refused without an error',
      'refused',
      'with warnings',
      'audited',
    )
    fc.assert(
      fc.property(anyText, verdict, (uid, decided) => {
        const { request } = podReview({ uid })
        const expected = JSON.stringify(answer(request, decided, true))
        expect(answerText(request, decided, true)).toBe(expected)
        expect(answerText(request, decided, true)).toBe(expected)
        if (decided.kind === 'denied') tried.count(decided.errors.length === 0 ? 'refused without an error' : 'refused')
        else if (decided.patch.length === 0) tried.count('allowed')
        else tried.count(decided.prepared === undefined ? 'with a patch' : 'with a shared patch')
        if ('audit' in decided) {
          tried.count('audited')
          expect(JSON.parse(expected).response.auditAnnotations).toEqual(JSON.parse(JSON.stringify(decided.audit)))
        }
        if (decided.warnings.length > 0) tried.count('with warnings')
      }),
      { numRuns: 300 },
    )
    tried.expectAll()
  })

  it('is refused for a patch that does not fit, also when the same patch fitted before', () => {
    const shared = new PreparedPatch([{ op: 'add', path: '/metadata/labels/x', value: '1' }])
    const { request } = podReview()
    expect(answerText(request, patchedAlike('Gated', shared), true)).toContain('"patch"')
    const bare = podReview({ object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } } }).request
    expect(() => answerText(bare, patchedAlike('Gated', shared), true)).toThrow('patch does not apply')
    expect(() => answerText(request, patchedAlike('Gated', shared), false)).toThrow('must not patch')
  })

  it('stays short for an object that is wrong in a million places', () => {
    const [field, detail] = ['x'.repeat(10_000), 'y'.repeat(10_000)]
    const errors = Array.from({ length: 1_000_000 }, () => forbidden(field, detail))
    const text = answerText(podReview().request, invalidObject(errors), false)
    expect(text.length).toBeLessThan(1024 * 1024)
    const { status } = JSON.parse(text).response
    expect(status.message).toMatch(/, and 999900 more]$/)
    expect(status.details.causes).toHaveLength(MAX_ERRORS)
  })
})

describe('a quoted text', () => {
  it('is what JSON.stringify writes', () => {
    const tried = tallyOf('as it is', 'with something to escape', 'long')
    fc.assert(
      fc.property(anyText, text => {
        expect(quoted(text)).toBe(JSON.stringify(text))
        tried.count(JSON.stringify(text) === `"${text}"` ? 'as it is' : 'with something to escape')
        if (text.length > 128) tried.count('long')
      }),
      { numRuns: 500 },
    )
    tried.expectAll()
  })
})
