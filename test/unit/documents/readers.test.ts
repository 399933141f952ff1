import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBlockYaml } from '../../../src/documents/block-yaml.ts'
import { readJson } from '../../../src/documents/json-reader.ts'
import { MAX_DEPTH } from '../../../src/documents/limits.ts'
import { readYaml } from '../../../src/documents/yaml-reader.ts'
import { writeYaml } from '../../../src/documents/yaml-writer.ts'
import { tallyOf } from '../../support/tally.ts'

const yamlValue = (text: string): unknown => {
  const [read] = readYaml(text)
  if (read === undefined || 'problem' in read) throw new Error(read?.problem ?? 'nothing read')
  return read.value
}
const problemOf = (text: string): string => {
  const [read] = readYaml(text)
  if (read === undefined || !('problem' in read)) throw new Error(`was read: ${JSON.stringify(read)}`)
  return `${read.offset}: ${read.problem}`
}

describe('unquoted words', () => {
  it.each([
    ['true', true],
    ['yes', true],
    ['On', true],
    ['n', false],
    ['off', false],
    ['~', null],
    ['', null],
    ['42', 42],
    ['-7', -7],
    ['0777', 511],
    ['08', 8],
    ['0x1F', 31],
    ['0b101', 5],
    ['0o17', 15],
    ['1_000', 1000],
    ['1.5e3', 1500],
    ['.5', 0.5],
    ['1e400', '1e400'],
    ['2024-01-01', '2024-01-01'],
    ['1:30', '1:30'],
    ['16Gi', '16Gi'],
    ['1.2.3', '1.2.3'],
    ['truely', 'truely'],
    ['-', '-'],
    ['_1', '_1'],
  ])('%j is read as kubectl reads it', (word, value) => {
    expect(yamlValue(`[a, ${word === '' ? '~' : word === '-' ? '"-"' : word}]`)).toEqual(['a', value])
    if (word !== '-') expect(readBlockYaml(`a: ${word}\n`)?.value).toEqual({ a: value })
  })

  it('in quotes are texts', () => {
    expect(yamlValue(`['yes', "1", '', "~"]`)).toEqual(['yes', '1', '', '~'])
  })

  it('that JSON has no word for are refused', () => {
    expect(problemOf('a: .inf')).toBe('3: .inf has no place in JSON: put it in quotes')
    expect(readBlockYaml('a: .NaN')).toBeUndefined()
  })
})

describe('YAML of every kind', () => {
  it('repeats anchors and merges maps, own keys first', () => {
    const text = 'base: &b {x: 1, y: 2}\nlist: [*b]\nall:\n  y: 3\n  <<: *b\nmany: {<<: [*b, {z: 9}]}\n"<<": text\n'
    expect(yamlValue(text)).toEqual({
      base: { x: 1, y: 2 },
      list: [{ x: 1, y: 2 }],
      all: { y: 3, x: 1 },
      many: { x: 1, y: 2, z: 9 },
      '<<': 'text',
    })
  })

  it.each([
    ['a key that is there twice', 'a: 1\nb: 2\na: 3\n', '10: the key "a" is there twice: remove one'],
    ['an alias without an anchor', 'a: *b\n', '3: the alias *b names no anchor before it'],
    ['an anchor that contains itself', 'a: &a\n  b: *a\n', '11: the alias *a names no anchor before it'],
    ['a tag', 'a: !!binary aGk=\n', '12: the tag !!binary is not understood here: remove it'],
    ['a key that is no text', '? [a]\n: b\n', '2: a key must be a text, not a list or a map'],
    ['a tab that indents', 'a:\n\tb: 1\n', '3: a tab cannot indent YAML: use spaces'],
    ['a merge of a text', 'a: {<<: b}\n', '4: "<<" takes in a map or a list of maps'],
  ])('refuses %s', (_what, text, expected) => {
    expect(problemOf(text)).toBe(expected)
    expect(readBlockYaml(text)).toBeUndefined()
  })

  it('refuses a document that aliases blow up', () => {
    const tenfold = (name: string, from: string) => `${name}: &${name} [${Array(10).fill(`*${from}`).join(', ')}]\n`
    const bomb = `a: &a [x]\n${tenfold('b', 'a')}${tenfold('c', 'b')}${tenfold('d', 'c')}${tenfold('e', 'd')}`
    expect(yamlValue(bomb)).toHaveProperty('e')
    expect(problemOf(`${bomb}${tenfold('f', 'e')}`)).toContain('aliases repeat more than 100000 values')
  })

  it('takes __proto__ as data, in every reader', () => {
    const text = '{"__proto__": {"polluted": true}, "constructor": 1}'
    for (const value of [yamlValue(text), readJson(text).values[0]?.value]) {
      expect(JSON.stringify(value)).toBe(text.replaceAll(' ', ''))
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    }
    const quick = readBlockYaml('__proto__:\n  a: 1\nb: {__proto__: 2}\n')?.value
    expect(JSON.stringify(quick)).toBe('{"__proto__":{"a":1},"b":{"__proto__":2}}')
    expect(yamlValue('a: &a {__proto__: {x: 1}}\nb: {<<: *a}')).not.toHaveProperty('b.x')
  })

  it('reads as deep as the server does, and no deeper', () => {
    const nested = (depth: number) => '{"a":'.repeat(depth) + '1'.padEnd(depth + 1, '}')
    expect(readJson(nested(MAX_DEPTH)).failed).toBeUndefined()
    expect(readJson(nested(MAX_DEPTH + 1)).failed?.problem).toBe(`is nested deeper than ${MAX_DEPTH} levels`)
    expect(problemOf(nested(MAX_DEPTH + 2))).toContain(`is nested deeper than ${MAX_DEPTH} levels`)
    expect(problemOf('['.repeat(50_000))).toContain('nested too deeply')
    const block = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')
    expect(readBlockYaml(block)).toBeUndefined()
  })
})

describe('the JSON reader', () => {
  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    const texts = fc.oneof(
      fc.json().map(text => text),
      fc
        .tuple(fc.json(), fc.nat(), fc.constantFrom('"', '\\', ',', ':', '{', ']', ' ', '0', 'e', '\n'))
        .map(([text, at, inserted]) => {
          const place = at % (text.length + 1)
          return text.slice(0, place) + inserted + text.slice(place)
        }),
      fc.tuple(fc.json(), fc.json()).map(([first, second]) => `{"a":${first},"b":[1e999],"a":${second}}`),
      fc.json().map(text => `[${text},1e999]`),
    )
    const tried = tallyOf('JSON', 'JSON that only JSON.parse reads', 'no JSON')
    fc.assert(
      fc.property(texts, text => {
        const { values, failed } = readJson(text)
        const parsed = attempt(() => JSON.parse(text) as unknown)
        if (parsed === undefined) expect(failed !== undefined || values.length !== 1).toBe(true)
        // Equal keys are what this reader is for.
        else if (failed === undefined) expect(JSON.stringify(values[0]?.value)).toBe(JSON.stringify(parsed.value))
        else expect(failed.problem).toMatch(/is there twice|is too large/)
        if (parsed === undefined) tried.count('no JSON')
        else tried.count(failed === undefined ? 'JSON' : 'JSON that only JSON.parse reads')
      }),
      { numRuns: 2_000 },
    )
    tried.expectAll()
  })

  it('reads documents that follow each other', () => {
    expect(readJson('{"a":1}{"b":2}\n\n[3]').values.map(({ value, offset }) => [value, offset])).toEqual([
      [{ a: 1 }, 0],
      [{ b: 2 }, 7],
      [[3], 16],
    ])
  })

  it.each([
    ['{"a":1,"a":2}', 7, 'the key "a" is there twice: remove one'],
    ['{"a":1e999}', 5, 'the number "1e999" is too large'],
    ['{"a" 1}', 5, 'is not valid JSON: there is "1" where ":" should be'],
    ['{"a":1,}', 7, 'is not valid JSON: there is "}" where a key in double quotes should be'],
    ['[1', 2, 'is not valid JSON: the text ends where "," or "]" should be'],
    ['["a\nb"]', 1, 'a text in double quotes does not end on its line'],
    ['["\\x"]', 1, 'a text has a backslash that JSON does not know: write it twice'],
  ])('says where %j is wrong', (text, offset, message) => {
    expect(readJson(text).failed).toEqual({ offset, problem: message })
  })
})

describe('the quick reader of YAML', () => {
  const seeds = [
    readFileSync(new URL('../../../manifests/base/deployment.yaml', import.meta.url), 'utf8'),
    'a: |\n  x\n   y\n\n  z\nb: |-\n  q\nitems:\n  - k: v # c\n  # c\n  - {k: w}\n  -\n    k: z\nc:\n- x\n- [1, -a, --b=c, "b\\n", {x: y}]\n',
    `'a b': 'it''s'\n"c": "x" # c\nd: http://a:8/b#c\ne: ~\nf:\ng: -1\n`,
  ]
  const pieces = [...' \n:-#"\'[]{},|>&*!?%~.<0e_\\a', '- ', ': ', ' #', '\n  ', '\n- ', '|\n', '---', '<<: ', '   \n']
  const mangled = fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...pieces)), { maxLength: 3 }),
    )
    .map(([seed, edits]) =>
      edits.reduce((text, [at, removed, piece]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + piece + text.slice(place + removed)
      }, seed),
    )

  it('reads what the library reads, or leaves it to the library', () => {
    const tried = tallyOf('quick', 'left to the library', 'quick, though mangled')
    fc.assert(
      fc.property(mangled, text => {
        const read = readBlockYaml(text)
        if (read === undefined) return tried.count('left to the library')
        tried.count(seeds.includes(text) ? 'quick' : 'quick, though mangled')
        const [whole, ...more] = readYaml(text)
        expect(more).toEqual([])
        expect(whole).toEqual(read)
        expect(JSON.stringify(whole)).toBe(JSON.stringify(read))
      }),
      { numRuns: 3_000 },
    )
    tried.expectAll()
  })

  it('knows the manifests of this repository', () => {
    const [first = ''] = seeds
    expect(readBlockYaml(first)?.value).toEqual(yamlValue(first))
    expect(readBlockYaml(first)).toBeDefined()
  })
})

describe('the YAML writer', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^[-a-zA-Z0-9 \n:#'"|>.~_=+]*$/),
    fc.constantFrom(
      'yes',
      '0x1',
      '~',
      '',
      '- a',
      'a: b',
      'x\n',
      'x\n\n',
      '\nx',
      ' x\ny',
      '---',
      '2024-01-01',
      '<<',
      'e5',
    ),
  )
  const { value } = fc.letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  }))

  it('writes what reads back as the same data', () => {
    const tried = tallyOf('empty', 'of several lines', 'in quotes', 'with lists')
    fc.assert(
      fc.property(fc.dictionary(text, value), data => {
        const json = JSON.stringify(data)
        const written = writeYaml(JSON.parse(json))
        expect(JSON.stringify(yamlValue(written))).toBe(json)
        if (json === '{}') tried.count('empty')
        if (written.includes(': |')) tried.count('of several lines')
        if (written.includes('"')) tried.count('in quotes')
        if (written.includes('- ')) tried.count('with lists')
      }),
      { numRuns: 1_000 },
    )
    tried.expectAll()
  })

  it('writes as people do', () => {
    const data = { name: 'a', script: 'x\n  y\n', quoted: 'on', list: [{ a: 1, b: [] }, ['c'], {}], none: null }
    expect(writeYaml(data)).toBe(
      'name: a\nscript: |\n  x\n    y\nquoted: "on"\nlist:\n  - a: 1\n    b: []\n  -\n    - c\n  - {}\nnone: null\n',
    )
  })
})

function attempt<T>(action: () => T): { readonly value: T } | undefined {
  try {
    return { value: action() }
  } catch {
    return undefined
  }
}
