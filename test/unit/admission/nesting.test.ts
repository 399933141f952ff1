import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasMoreBrackets, nestProblem } from '../../../src/admission/protocol.ts'
import { podReview } from '../../support/reviews.ts'
import { tallyOf } from '../../support/tally.ts'

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

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
