import { describe, expect, it } from 'vitest'
import {
  dnsLabelProblems,
  domainPrefixedPathProblems,
  labelKeyProblems,
  subdomainProblems,
} from '../../../src/validation/formats.ts'
import { isUint64, parseInt32 } from '../../../src/validation/numbers.ts'

describe('names', () => {
  it.each(['a', 'a-b.c0', '0', 'a'.repeat(253)])('accepts %s as a subdomain', value => {
    expect(subdomainProblems(value)).toEqual([])
  })

  it.each(['', '-a', 'a-', 'a..b', 'A', 'a_b', 'a\n', 'é'])('refuses %j as a subdomain', value => {
    expect(subdomainProblems(value)).toEqual([
      expect.stringContaining("(e.g. 'example.com', regex used for validation"),
    ])
  })

  it('tells a long name from a malformed one, and says both', () => {
    expect(subdomainProblems('a'.repeat(254))).toEqual(['must be no more than 253 characters'])
    expect(subdomainProblems('A'.repeat(254))).toHaveLength(2)
    expect(dnsLabelProblems('a'.repeat(64))).toEqual(['must be no more than 63 characters'])
  })

  it.each([
    ['example.com/zone', 0],
    ['zone', 0],
    ['/zone', 1],
    ['example.com/', 2],
    ['', 2],
    ['a/b/c', 1],
    ['A_B/zone', 1],
    ['zone-', 1],
  ])('finds in the label key %j %i problems', (value, count) => {
    expect(labelKeyProblems(value)).toHaveLength(count)
  })

  it.each([
    ['acme.io/foo', 0],
    ['acme.io/foo/bar?', 1],
    ['foo', 1],
    ['/foo', 1],
    ['acme.io/', 1],
    ['ACME/foo bar', 2],
  ])('finds in the domain-prefixed path %j %i problems', (value, count) => {
    expect(domainPrefixedPathProblems(value)).toHaveLength(count)
  })
})

describe('numbers', () => {
  it.each([
    ['3', { value: 3 }],
    ['+3', { value: 3 }],
    ['-3', { value: -3 }],
    ['007', { value: 7 }],
    ['2147483647', { value: 2147483647 }],
    ['2147483648', { problem: 'value out of range' }],
    ['-2147483649', { problem: 'value out of range' }],
    ['9'.repeat(400), { problem: 'value out of range' }],
    ['', { problem: 'invalid syntax' }],
    [' 3', { problem: 'invalid syntax' }],
    ['3.0', { problem: 'invalid syntax' }],
    ['0x10', { problem: 'invalid syntax' }],
    ['1_000', { problem: 'invalid syntax' }],
    ['٣', { problem: 'invalid syntax' }],
  ])('reads %j as Go does', (text, expected) => {
    expect(parseInt32(text)).toEqual(expected)
  })

  it('knows the end of a uint64', () => {
    expect(isUint64('18446744073709551615')).toBe(true)
    expect(isUint64('18446744073709551616')).toBe(false)
    expect(isUint64('+1')).toBe(false)
  })
})
