import { describe, expect, it } from 'vitest'
import { readDocuments } from '../../../src/documents/documents.ts'

/** `document@line: value`, or the complaint with its place. */
function read(text: string, file = 'pods.yaml'): readonly string[] {
  return [...readDocuments(text, file)].map(each =>
    'message' in each
      ? `${each.line}:${each.column}: ${each.message}`
      : `${each.source.document}@${each.source.line}: ${JSON.stringify(each.value)}`,
  )
}

describe('documents of a file', () => {
  it('are counted from 1 with the line of their first key', () => {
    expect(read('---\n# first\na: 1\n--- # second\n\nb: 2\n---\nc: 3\n')).toEqual([
      '1@3: {"a":1}',
      '2@6: {"b":2}',
      '3@8: {"c":3}',
    ])
  })

  it('that are empty or only a comment do not count', () => {
    expect(read('---\n---\n# Source: chart/a.yaml\n---\na: 1\n---\n\n')).toEqual(['1@5: {"a":1}'])
    expect(read('')).toEqual([])
    expect(read('null\n')).toEqual([])
  })

  it('that cannot be read do not hide the others', () => {
    expect(read('a: 1\n---\na: [\n---\na: 2\na: 3\n---\na: 4\n')).toEqual([
      '1@1: {"a":1}',
      expect.stringMatching(/^(3|4):\d+: is not valid YAML: /),
      '6:1: the key "a" is there twice: remove one',
      '4@8: {"a":4}',
    ])
  })

  it('end at --- also inside of a block of text, and only at the start of a line', () => {
    expect(read('a: |\n  x\n  --- y\n---\nb: "---"\n')).toEqual(['1@1: {"a":"x\\n--- y\\n"}', '2@5: {"b":"---"}'])
  })

  it('may have directives and ends', () => {
    expect(read('%YAML 1.2\n---\na: 1\n...\n---\nb: 2\n')).toEqual(['1@3: {"a":1}', '2@6: {"b":2}'])
  })

  it('may be JSON, one after the other or between ---', () => {
    expect(read('{"a":1}\n{"b":2}\n', 'x.json')).toEqual(['1@1: {"a":1}', '2@2: {"b":2}'])
    expect(read('{"a":1}\n---\n{b: 2}\n---\n{"c": 3,}\n')).toEqual(['1@1: {"a":1}', '2@3: {"b":2}', '3@5: {"c":3}'])
    expect(read('{"c": 3,}\n', 'x.json')).toEqual([
      '1:9: is not valid JSON: there is "}" where a key in double quotes should be',
    ])
  })

  it('may have the line ends of Windows', () => {
    expect(read('a: 1\r\nb:\r\n- x\r\n---\r\nc: z\r\n')).toEqual(['1@1: {"a":1,"b":["x"]}', '2@5: {"c":"z"}'])
  })

  it.each([
    ['block YAML', 'kind: List\nitems:\n- a: 1\n\n# c\n- a: 2\n', [3, 6]],
    ['other YAML', 'kind: List\nitems:\n- &x a: 1\n- {a: 2}\n', [3, 4]],
    ['braces', 'kind: List\nitems: [{a: 1},\n  {a: 2}]\n', [2, 3]],
    ['JSON', '{"items": [\n  {"a": 1},\n\n  {"a": 2}]}', [2, 4]],
  ])('know the lines of the items of a List in %s', (_what, text, lines) => {
    const [document] = readDocuments(text, 'list')
    if (document === undefined || 'message' in document) throw new Error('not read')
    const { items } = document.value as { items: readonly unknown[] }
    expect(items.map(item => document.lineOf(item))).toEqual(lines)
  })
})
