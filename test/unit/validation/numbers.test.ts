import { describe, expect, it } from 'vitest'
import { isUint64, parseInt32 } from '../../../src/validation/numbers.ts'

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
