import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalQuantity,
  formatQuantity,
  parseQuantity,
  QuantityError,
} from '../../../../src/kube/vocabulary/quantities.ts'
import { tallyOf } from '../../../support/tally.ts'

/**
 * [input, text after a JSON round trip, exact decimal value] or [input, null] for what is refused.
 * Produced by resource.ParseQuantity and json.Marshal of k8s.io/apimachinery v0.37.1.
 */
type Vector = readonly [string, string, string] | readonly [string, null]
const vectors: readonly Vector[] = JSON.parse(readFileSync(new URL('./quantity-vectors.json', import.meta.url), 'utf8'))

function decimal(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, '0')
  const text = `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
  return nano < 0n ? `-${text}` : text
}

describe('quantities, against vectors of apimachinery', () => {
  it('has a table worth the name', () => {
    expect(vectors.length).toBeGreaterThan(500)
  })

  it.each(vectors.filter(vector => vector[1] !== null))('reads %j and shows %j', (input, canonical, value) => {
    expect(canonicalQuantity(input)).toBe(canonical)
    expect(decimal(parseQuantity(input).nano)).toBe(value)
  })

  it.each(vectors.filter(vector => vector[1] === null))('refuses %j', input => {
    expect(() => parseQuantity(input)).toThrow(QuantityError)
  })
})

describe('quantities', () => {
  it.each(['', '-', '+', '.', 'm', 'Ki', 'e3', '-.'])('refuses %j, which has no digits', input => {
    expect(() => parseQuantity(input)).toThrow(QuantityError)
  })

  it('keeps the value above 999E, where Go loses it', () => {
    expect(canonicalQuantity('1000E')).toBe('1000E')
    expect(canonicalQuantity('100000000000000000000000')).toBe('100000E')
  })

  it('refuses exponents and lengths that only an attacker would write, and does so at once', () => {
    expect(() => parseQuantity('1e1000000000')).toThrow(/exponent is beyond 100/)
    expect(() => parseQuantity('9'.repeat(100_000))).toThrow(/longer than 256 characters/)
    expect(() => parseQuantity(Number.POSITIVE_INFINITY)).toThrow(QuantityError)
  })

  it('names the suffix that it does not know', () => {
    expect(() => parseQuantity('5gb')).toThrow(/write a number/)
    expect(() => parseQuantity('5K')).toThrow(/suffix "K" is unknown/)
  })

  it('takes the numbers of a YAML file', () => {
    expect(canonicalQuantity(16)).toBe('16')
    expect(canonicalQuantity(0.1)).toBe('100m')
    expect(parseQuantity(1e21).nano).toBe(parseQuantity('1e21').nano)
  })

  it('reads the same amount from every way to write it', () => {
    expect(parseQuantity('1Gi').nano).toBeGreaterThan(parseQuantity('1G').nano)
    expect(parseQuantity('1000m').nano).toBe(parseQuantity('1').nano)
    expect(parseQuantity('0.1').nano * 30n).toBe(parseQuantity('3').nano)
  })

  const texts = fc
    .tuple(
      fc.constantFrom('', '-', '+'),
      fc.nat(),
      fc.option(fc.nat({ max: 99_999 })),
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'e3', 'E-2'),
    )
    .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${suffix}`)

  it('shows every quantity in a way that reads back as the same amount', () => {
    const tried = tallyOf('negative', 'with a fraction', 'in powers of 1024', 'with an exponent', 'smaller than one')
    fc.assert(
      fc.property(texts, text => {
        expect(parseQuantity(canonicalQuantity(text)).nano).toBe(parseQuantity(text).nano)
        expect(parseQuantity(formatQuantity(parseQuantity(text))).nano).toBe(parseQuantity(text).nano)
        if (text.startsWith('-')) tried.count('negative')
        if (text.includes('.')) tried.count('with a fraction')
        if (text.endsWith('i')) tried.count('in powers of 1024')
        if (/[eE]-?\d/.test(text)) tried.count('with an exponent')
        if (/[num]$/.test(text)) tried.count('smaller than one')
      }),
      { numRuns: 300 },
    )
    tried.expectAll()
  })
})
