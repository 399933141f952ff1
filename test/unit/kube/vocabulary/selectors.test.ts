import { describe, expect, it } from 'vitest'
import { matchesSelector } from '../../../../src/kube/vocabulary/selectors.ts'

const labels = { app: 'web', tier: 'front', empty: '' }
const expression = (key: string, operator: string, values?: readonly string[]) => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
})

describe('label selectors', () => {
  it('match nothing when there is no selector, and everything when it is empty', () => {
    expect(matchesSelector(null, labels)).toBe(false)
    expect(matchesSelector(undefined, labels)).toBe(false)
    expect(matchesSelector({}, labels)).toBe(true)
    expect(matchesSelector({ matchLabels: null, matchExpressions: null }, null)).toBe(true)
    expect(matchesSelector({ matchLabels: {}, matchExpressions: [] }, undefined)).toBe(true)
  })

  it('want every matchLabel', () => {
    expect(matchesSelector({ matchLabels: { app: 'web', tier: 'front' } }, labels)).toBe(true)
    expect(matchesSelector({ matchLabels: { app: 'web', tier: 'back' } }, labels)).toBe(false)
    expect(matchesSelector({ matchLabels: { app: 'web' } }, null)).toBe(false)
    expect(matchesSelector({ matchLabels: { empty: '' } }, labels)).toBe(true)
    expect(matchesSelector({ matchLabels: { absent: '' } }, labels)).toBe(false)
  })

  it.each([
    ['app', 'In', ['web', 'db'], true],
    ['app', 'In', ['db'], false],
    ['absent', 'In', ['web'], false],
    ['app', 'NotIn', ['web'], false],
    ['app', 'NotIn', ['db'], true],
    ['absent', 'NotIn', ['web'], true],
    ['empty', 'In', [''], true],
    ['app', 'Exists', undefined, true],
    ['empty', 'Exists', [], true],
    ['absent', 'Exists', undefined, false],
    ['app', 'DoesNotExist', undefined, false],
    ['absent', 'DoesNotExist', undefined, true],
  ])('%s %s %j is %s', (key, operator, values, expected) => {
    expect(matchesSelector(expression(key, operator, values), labels)).toBe(expected)
  })

  it('want all parts at once', () => {
    const selector = { matchLabels: { app: 'web' }, ...expression('tier', 'NotIn', ['front']) }
    expect(matchesSelector(selector, labels)).toBe(false)
    expect(matchesSelector(selector, { app: 'web' })).toBe(true)
  })

  it('do not find labels on the prototype', () => {
    expect(matchesSelector(expression('constructor', 'Exists'), {})).toBe(false)
    expect(matchesSelector(expression('__proto__', 'DoesNotExist'), {})).toBe(true)
    expect(matchesSelector(expression('__proto__', 'In', ['x']), JSON.parse('{"__proto__":"x"}'))).toBe(true)
  })

  it('say what is wrong with them, even when an earlier part has failed to match', () => {
    expect(() => matchesSelector(expression('app', 'Gt', ['1']), labels)).toThrow(
      'operator "Gt" on key "app" is unknown; use In, NotIn, Exists or DoesNotExist',
    )
    const broken = { matchLabels: { app: 'other' }, ...expression('tier', 'In', []) }
    expect(() => matchesSelector(broken, labels)).toThrow('In on key "tier" needs at least one value')
    expect(() => matchesSelector(expression('tier', 'Exists', ['x']), labels)).toThrow('takes no values')
  })
})
