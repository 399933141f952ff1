import { describe, expect, it } from 'vitest'
import {
  dnsLabelProblems,
  domainPrefixedPathProblems,
  isDnsLabel,
  isLabelKey,
  isLabelValue,
  isSubdomain,
  labelKeyProblems,
  subdomainProblems,
} from '../../../../src/kube/vocabulary/formats.ts'

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

  it.each([
    ['', true],
    ['a', true],
    ['A_b.c-9', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['-a', false],
    ['a.', false],
    ['a/b', false],
  ])('knows of the label value %j: %s', (value, expected) => {
    expect(isLabelValue(value)).toBe(expected)
  })

  it('answers shortly where nobody asks what is wrong', () => {
    expect([isSubdomain('a.b'), isSubdomain('a'.repeat(254)), isSubdomain('A')]).toEqual([true, false, false])
    expect([isDnsLabel('a-b'), isDnsLabel('a.b'), isDnsLabel('a'.repeat(64)), isDnsLabel('')]).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect([isLabelKey('a.io/B_c'), isLabelKey('/b'), isLabelKey('a/b/c')]).toEqual([true, false, false])
  })
})
