import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPatch, checkPatch, type PatchOperation, pointer } from '../../../src/admission/patch.ts'
import { tallyOf } from '../../support/tally.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })
const replace = (path: string, value: unknown): PatchOperation => ({ op: 'replace', path, value })

/** Objects as JSON.parse makes them: `__proto__` is an own key like any other. */
const key = fc.oneof(
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'a/b', 'm~n', '~1', '', '0', '-', 'hasOwnProperty'),
)
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map(entries => JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`)),
  ),
})).value

interface Place {
  readonly path: readonly (string | number)[]
  readonly container: unknown
}

/** Every object and list of a document with the way to it. */
function places(value: unknown, path: readonly (string | number)[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [{ path, container: value }, ...entries.flatMap(([step, child]) => places(child, [...path, step]))]
}

describe('pointer', () => {
  it('escapes "~" and "/" inside of a segment', () => {
    expect(pointer('metadata', 'labels', 'kueue.x-k8s.io/managed')).toBe('/metadata/labels/kueue.x-k8s.io~1managed')
    expect(pointer('a~b', '~1', 0)).toBe('/a~0b/~01/0')
    expect(pointer()).toBe('')
  })
})

describe('applyPatch', () => {
  it('adds to objects, inserts into lists and appends with "-"', () => {
    const document = { metadata: { finalizers: ['a', 'c'] } }
    const result = applyPatch(document, [
      add('/metadata/labels', {}),
      add('/metadata/labels/x~1y', 'z'),
      add('/metadata/finalizers/1', 'b'),
      add('/metadata/finalizers/-', 'd'),
    ])
    expect(result).toEqual({ metadata: { labels: { 'x/y': 'z' }, finalizers: ['a', 'b', 'c', 'd'] } })
  })

  it('replaces what exists and nothing else', () => {
    expect(applyPatch({ a: [1, 2] }, [replace('/a/1', 3)])).toEqual({ a: [1, 3] })
    expect(() => applyPatch({ a: 1 }, [replace('/b', 2)])).toThrow('patch does not apply at "/b": there is no "b"')
    expect(() => applyPatch({ a: [1] }, [replace('/a/1', 2)])).toThrow('there is no "1"')
    expect(() => applyPatch({}, [replace('/toString', 2)])).toThrow('there is no "toString"')
  })

  it('removes what exists and nothing else', () => {
    const remove = (path: string): PatchOperation => ({ op: 'remove', path })
    expect(applyPatch({ a: [1, 2, 3], b: 4 }, [remove('/a/1'), remove('/b')])).toEqual({ a: [1, 3] })
    expect(() => applyPatch({ a: 1 }, [remove('/b')])).toThrow('patch does not apply at "/b": there is no "b"')
    expect(() => applyPatch({ a: [1] }, [remove('/a/1')])).toThrow('there is no "1"')
    const original = { a: { b: 1 } }
    expect(applyPatch(original, [remove('/a/b')])).toEqual({ a: {} })
    expect(original).toEqual({ a: { b: 1 } })
  })

  it('replaces the whole document with the empty pointer', () => {
    expect(applyPatch({ a: 1 }, [replace('', { b: 2 })])).toEqual({ b: 2 })
  })

  it.each([
    [{ metadata: {} }, '/metadata/labels/app', 'there is no "labels"'],
    [{ metadata: { labels: null } }, '/metadata/labels/app', 'the parent is null'],
    [{ metadata: 'text' }, '/metadata/labels', 'the parent is string'],
    [null, '/metadata', 'the parent is null'],
    [[1], '/2', '"2" is no position in a list of 1'],
    [[1], '/-1', '"-1" is no position'],
    [[1], '/01', '"01" is no position'],
    [[1], '/length', '"length" is no position'],
    [{}, 'metadata', 'starts with "/"'],
    [{}, '/a~2', '"~" must be written as "~0"'],
    [{}, '/a~', '"~" must be written as "~0"'],
    [{}, '/__proto__/polluted', 'there is no "__proto__"'],
    [{}, '/constructor/prototype/polluted', 'there is no "constructor"'],
  ])('refuses a patch that does not fit: %j at %s', (document, path, problem) => {
    expect(() => applyPatch<unknown>(document, [add(path, 'x')])).toThrow(problem)
  })

  it('treats __proto__ and constructor as ordinary keys', () => {
    const document = JSON.parse('{"map":{"__proto__":{"a":1},"constructor":"x"}}')
    const result = applyPatch(document, [
      add('/map/__proto__/b', 2),
      add('/map/prototype', 3),
      replace('/map/constructor', 'y'),
    ])
    expect(JSON.stringify(result)).toBe('{"map":{"__proto__":{"a":1,"b":2},"constructor":"y","prototype":3}}')
    expect(JSON.stringify(applyPatch({}, [add('/__proto__', { polluted: true })]))).toBe(
      '{"__proto__":{"polluted":true}}',
    )
    expect(Object.prototype).not.toHaveProperty('polluted')
    expect(JSON.stringify(document)).toBe('{"map":{"__proto__":{"a":1},"constructor":"x"}}')
  })

  it('copies only what is on a touched path', () => {
    const document = { metadata: { labels: { a: '1' } }, spec: { containers: [{}] } }
    const result = applyPatch(document, [add('/metadata/labels/b', '2')])
    expect(result.spec).toBe(document.spec)
    expect(result.metadata).not.toBe(document.metadata)
    expect(document.metadata.labels).toEqual({ a: '1' })
  })

  it('never writes into the values of the patch itself', () => {
    const operations = [add('/list', ['a']), add('/list/-', 'b')]
    expect(applyPatch({}, operations)).toEqual({ list: ['a', 'b'] })
    expect(operations[0]?.value).toEqual(['a'])
  })

  it('gives exactly the intended document for any document and any place in it', () => {
    const tried = tallyOf(
      'into a list',
      'a new key',
      'a key that is there',
      'a key that objects inherit',
      'at the root',
    )
    fc.assert(
      fc.property(json, fc.nat(), key, json, fc.nat(), (document, pick, newKey, value, position) => {
        const all = places(document)
        fc.pre(all.length > 0)
        const place = all[pick % all.length]
        if (place === undefined) return
        const before = JSON.stringify(document)
        const intended = JSON.parse(before)
        const target = place.path.reduce((at, step) => Object.getOwnPropertyDescriptor(at, step)?.value, intended)
        tried.count(...kindsOfPlace(target, newKey, place.path))
        let step: string | number = newKey
        if (Array.isArray(target)) {
          step = position % (target.length + 1)
          target.splice(step, 0, value)
        } else {
          Object.defineProperty(target, newKey, { value, enumerable: true, writable: true, configurable: true })
        }
        const operation = add(pointer(...place.path, step), value)
        const result = applyPatch(document, [JSON.parse(JSON.stringify(operation))])
        expect(canonical(result)).toBe(canonical(intended))
        expect(JSON.stringify(document)).toBe(before)
      }),
      { numRuns: 1_000 },
    )
    tried.expectAll()
  })

  it('applies operations one after the other', () => {
    const tried = tallyOf('none', 'different keys', 'one key twice')
    fc.assert(
      fc.property(fc.array(fc.tuple(key, json), { maxLength: 6 }), entries => {
        const operations = entries.map(([k, v]) => add(pointer('map', k), v))
        const stepwise = operations.reduce((document, operation) => applyPatch(document, [operation]), { map: {} })
        expect(canonical(applyPatch({ map: {} }, operations))).toBe(canonical(stepwise))
        const keys = new Set(entries.map(([k]) => k))
        tried.count(keys.size === 0 ? 'none' : keys.size === entries.length ? 'different keys' : 'one key twice')
      }),
      { numRuns: 500 },
    )
    tried.expectAll()
  })
})

describe('checkPatch', () => {
  const outcome = (work: () => unknown): string => {
    try {
      work()
      return 'fits'
    } catch (error) {
      return String(error)
    }
  }

  it('looks for a parent in what an earlier operation has written', () => {
    expect(() => checkPatch({ a: { b: {} } }, [add('/a', 'text'), add('/a/b', 1)])).toThrow('the parent is string')
    expect(() => checkPatch({ a: { b: {} } }, [add('/a', {}), add('/a/b/c', 1)])).toThrow('there is no "b"')
    expect(() => checkPatch({ a: 'text' }, [add('/a', {}), add('/a/b', 1)])).not.toThrow()
  })

  it('says what applying the patch says, for any document and any operations', () => {
    const step = fc.oneof(key, fc.constantFrom('a', 'b', '0', '1', '-'))
    const path = fc.oneof(
      fc.array(step, { minLength: 1, maxLength: 3 }).map(steps => pointer(...steps)),
      fc.constantFrom('', 'a', '/a~2', '/a/~', '/a~1b/c', '/m~0n/a', '/a/~0~2', 'a/b'),
    )
    const operation = fc.record({ op: fc.constantFrom('add' as const, 'replace' as const), path, value: json })
    const document = fc.oneof(json, fc.constant({ a: { a: {}, b: [{ a: 1 }] }, b: [] }))
    const tried = tallyOf('nothing to do', 'fits', 'does not fit')
    fc.assert(
      fc.property(document, fc.array(operation, { maxLength: 4 }), (target, operations) => {
        const before = JSON.stringify(target)
        const checked = outcome(() => checkPatch(target, operations))
        expect(checked).toBe(outcome(() => applyPatch<unknown>(target, operations)))
        expect(JSON.stringify(target)).toBe(before)
        tried.count(checked !== 'fits' ? 'does not fit' : operations.length === 0 ? 'nothing to do' : 'fits')
      }),
      { numRuns: 1000 },
    )
    tried.expectAll()
  })
})

type PlaceKind = 'into a list' | 'a new key' | 'a key that is there' | 'a key that objects inherit' | 'at the root'

function kindsOfPlace(target: object, key: string, path: Place['path']): readonly PlaceKind[] {
  const root: readonly PlaceKind[] = path.length === 0 ? ['at the root'] : []
  if (Array.isArray(target)) return [...root, 'into a list']
  if (Object.hasOwn(target, key)) return [...root, 'a key that is there']
  return [...root, key in target ? 'a key that objects inherit' : 'a new key']
}

/** Text with sorted keys that sees an own `__proto__`, which most comparisons overlook. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`)
  return `{${entries.sort().join()}}`
}
