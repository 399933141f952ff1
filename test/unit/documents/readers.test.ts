import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDocuments } from '../../../src/documents/documents.ts'
import { readJson } from '../../../src/documents/json-reader.ts'
import { MAX_DEPTH } from '../../../src/documents/limits.ts'
import type { Problem, ReadValue } from '../../../src/documents/place.ts'
import { readYaml } from '../../../src/documents/yaml-reader.ts'
import { writeYaml } from '../../../src/documents/yaml-writer.ts'
import { tallyOf } from '../../support/tally.ts'

/** All that is read of a text, and what ended it. */
function jsonIn(text: string): { readonly values: readonly ReadValue[]; readonly failed?: Problem } {
  const read = [...readJson(text)]
  const failed = read.find(each => 'problem' in each)
  return { values: read.filter(each => 'value' in each), ...(failed === undefined ? {} : { failed }) }
}

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
    if (word !== '-') expect(yamlValue(`a: ${word}\n`)).toEqual({ a: value })
  })

  it('in quotes are texts', () => {
    expect(yamlValue(`['yes', "1", '', "~"]`)).toEqual(['yes', '1', '', '~'])
  })

  it('that JSON has no word for are refused', () => {
    expect(problemOf('a: .inf')).toBe('3: .inf has no place in JSON: put it in quotes')
    expect(problemOf('a: .NaN')).toContain('has no place in JSON')
  })
})

describe('YAML of every kind', () => {
  it('repeats anchors and merges maps, own keys first', () => {
    const text = 'base: &b {x: 1, w: 2}\nlist: [*b]\nall:\n  w: 3\n  <<: *b\nmany: {<<: [*b, {z: 9}]}\n"<<": text\n'
    expect(yamlValue(text)).toEqual({
      base: { x: 1, w: 2 },
      list: [{ x: 1, w: 2 }],
      all: { w: 3, x: 1 },
      many: { x: 1, w: 2, z: 9 },
      '<<': 'text',
    })
  })

  it.each([
    ['a key that is there twice', 'a: 1\nb: 2\na: 3\n', '10: the key "a" is there twice: remove one'],
    ['an alias without an anchor', 'a: *b\n', '3: the alias *b names no anchor before it'],
    ['an anchor that contains itself', 'a: &a\n  b: *a\n', '11: the alias *a names no anchor before it'],
    ['a tag', 'a: !!binary aGk=\n', '3: the tag !!binary is not understood here: remove it'],
    ['a key that is no text', '? [a]\n: b\n', '2: a key must be a text, not a list or a map'],
    ['a tab that indents', 'a:\n\tb: 1\n', '3: a tab cannot indent YAML: use spaces'],
    [
      'a colon that kubectl takes for a letter',
      'a: [b:]\n',
      '5: ":" needs a space behind it here: without one, kubectl takes it for a part of the word',
    ],
    [
      'a name of an anchor that kubectl cuts',
      'a: &b:c d\n',
      '4: the anchor b:c may have only letters, digits, "-" and "_" in its name',
    ],
    ['a word that kubectl takes for a key', 'a: [?b]\n', '4: a word cannot begin with "?": put it in quotes'],
    [
      'a key that hides from kubectl nothing but its mark',
      'a: {?b: c}\n',
      '4: a word cannot begin with "?": put it in quotes',
    ],
    ['a merge of a text', 'a: {<<: b}\n', '4: "<<" takes in a map or a list of maps'],
  ])('refuses %s', (_what, text, expected) => {
    expect(problemOf(text)).toBe(expected)
  })

  it('refuses a document that aliases blow up', () => {
    const tenfold = (name: string, from: string) => `${name}: &${name} [${Array(10).fill(`*${from}`).join(', ')}]\n`
    const bomb = `a: &a [x]\n${tenfold('b', 'a')}${tenfold('c', 'b')}${tenfold('d', 'c')}${tenfold('e', 'd')}`
    expect(yamlValue(bomb)).toHaveProperty('e')
    expect(problemOf(`${bomb}${tenfold('f', 'e')}`)).toContain('aliases repeat more than 100000 values')
  })

  it('takes __proto__ as data, in every reader', () => {
    const text = '{"__proto__": {"polluted": true}, "constructor": 1}'
    for (const value of [yamlValue(text), jsonIn(text).values[0]?.value]) {
      expect(JSON.stringify(value)).toBe(text.replaceAll(' ', ''))
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    }
    const block = yamlValue('__proto__:\n  a: 1\nb: {__proto__: 2}\n')
    expect(JSON.stringify(block)).toBe('{"__proto__":{"a":1},"b":{"__proto__":2}}')
    expect(yamlValue('a: &a {__proto__: {x: 1}}\nb: {<<: *a}')).not.toHaveProperty('b.x')
  })

  it('reads as deep as the server does, and no deeper', () => {
    const nested = (depth: number) => '{"a":'.repeat(depth) + '1'.padEnd(depth + 1, '}')
    expect(jsonIn(nested(MAX_DEPTH)).failed).toBeUndefined()
    expect(jsonIn(nested(MAX_DEPTH + 1)).failed?.problem).toBe(`is nested deeper than ${MAX_DEPTH} levels`)
    expect(problemOf(nested(MAX_DEPTH + 2))).toContain(`is nested deeper than ${MAX_DEPTH} levels`)
    expect(problemOf('['.repeat(1_000_000))).toContain(`is nested deeper than ${MAX_DEPTH} levels`)
    const block = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')
    expect(problemOf(block)).toContain(`is nested deeper than ${MAX_DEPTH} levels`)
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
        const { values, failed } = jsonIn(text)
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
    expect(jsonIn('{"a":1}{"b":2}\n\n[3]').values.map(({ value, offset }) => [value, offset])).toEqual([
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
    expect(jsonIn(text).failed).toEqual({ offset, problem: message })
  })
})

describe('kubectl reads', () => {
  it.each([
    ['words for true and false as keys, too', 'on: 1\nn: 2\n', { true: 1, false: 2 }],
    ['numbers as keys', '1: a\n0x10: b\n1.5: c\n1e6: d\n', { 1: 'a', 16: 'b', '1.5': 'c', '1e+06': 'd' }],
    ["\\' in double quotes", `a: "it\\'s \\\\"\nb: 'x\\'\n`, { a: "it's \\", b: 'x\\' }],
    ['a list in brackets that ends where its key begins', 'a:\n  b: [\n    1,\n  ]\n', { a: { b: [1] } }],
    ['quoted texts at any indentation', 'a:\n  b: "x\ny\n z"\n  c: 1\n', { a: { b: 'x y z', c: 1 } }],
    ['the ends of documents', 'a: 1\n...\n', { a: 1 }],
    ['folded texts and the line ends of Windows', 'a: >-\r\n  x\r\n  y\r\nb: |\r\n  z\r\n', { a: 'x y', b: 'z\n' }],
    ['a last line without its end', 'a: |\n  x\n  y', { a: 'x\ny' }],
  ])('%s', (_what, text, value) => {
    const [read] = readDocuments(text, 'a.yaml')
    expect(read).toMatchObject({ value })
  })

  it('a line end that nobody sees as one, so that it is refused here', () => {
    expect(problemOf('a: 1 # c\u2028b: 2\n')).toBe(
      '8: has a character that nobody sees, and that kubectl minds: write it as "\\u2028", in double quotes',
    )
  })
})

describe('whole numbers beyond 2^53', () => {
  it.each([
    ['YAML', 'a:\n- 9007199254740993\n- 0x7fffffffffffffff\nb: 18446744073709551615\nc: 18446744073709551616\n'],
    ['JSON', '{"a": [9007199254740993, 9223372036854775807], "b": 18446744073709551615, "c": 18446744073709551616}'],
  ])('are kept exactly, with their places, in %s', (_what, text) => {
    const [read] = readDocuments(text, 'a')
    if (read === undefined || 'message' in read) throw new Error('not read')
    expect(read.exact).toEqual([
      { path: ['a', 0], digits: '9007199254740993' },
      { path: ['a', 1], digits: '9223372036854775807' },
      { path: ['b'], digits: '18446744073709551615' },
    ])
    expect(read.value).toEqual({ a: [2 ** 53, 2 ** 63], b: 2 ** 64, c: 2 ** 64 })
  })
})

describe('large and strange texts', () => {
  it('have no limit for one text in quotes', () => {
    const long = 'x'.repeat(8 * 1024 * 1024)
    expect((yamlValue(`a: "${long}"`) as { a: string }).a.length).toBe(long.length)
    expect(jsonIn(`{"a": "${long}"}`).failed).toBeUndefined()
  })

  it('are refused where they would need too much memory', () => {
    expect(problemOf(`a: [${'[],'.repeat(1_500_000)}]`)).toContain('values in one document: split it')
  })

  it('take about as long to read as to look at, however they are nested', () => {
    const hostile = [
      '&a '.repeat(2000),
      '- &a '.repeat(90),
      '? '.repeat(90),
      `${'- '.repeat(90)}x`,
      '{a: '.repeat(90),
      `[${'a: b, '.repeat(20_000)}]`,
      `${'!!str '.repeat(500)}x`,
      '"\n'.repeat(5_000),
      `a: [${'\n1,'.repeat(3_000)}]`,
      `a: "${"\\'".repeat(50_000)}"`,
    ]
    const before = process.threadCpuUsage()
    for (const text of hostile) expect(readYaml(text).length).toBeLessThanOrEqual(1)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(5_000)
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
