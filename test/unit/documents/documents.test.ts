import { describe, expect, it } from 'vitest'
import { readDocuments } from '../../../src/documents/documents.ts'
import { LARGE_LIST } from '../../../src/documents/limits.ts'

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

  it('that are templates still are told apart from wrong ones', () => {
    const advice = 'is a Helm template, no manifest: review what it renders to, helm template CHART | muster review -'
    expect(read('{{- if .Values.on }}\na: 1\n{{- end }}\n')).toEqual([expect.stringContaining(advice)])
    expect(read('a: {{ .Values.a }}\n')).toEqual([`1:5: ${advice}`])
    expect(read('a: "{{ inputs.x }}"\na: 2\n')).toEqual(['2:1: the key "a" is there twice: remove one'])
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

describe('a large List of JSON', () => {
  const item = (name: string): string => `{"metadata":{"name":"${name}","uid":9007199254740993}}`
  const list = (items: string, size = LARGE_LIST): string =>
    `{"apiVersion":"v1","items":[\n${items}\n],"kind":"PodList","metadata":{"x":["${'x'.repeat(size)}\\""]}}\n{"kind":"After"}`
  const read = (text: string) =>
    [...readDocuments(text, 'list.json')].map(each =>
      'message' in each
        ? each
        : { value: each.value, ...each.source, exact: each.exact, at: each.placeOf(['metadata', 'name']) },
    )

  it('is read item by item, as one document, with the places of the file', () => {
    const uid = { exact: [{ path: ['metadata', 'uid'], digits: '9007199254740993' }] }
    const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, uid: 9007199254740992 } })
    expect(read(list(`${item('a')},\n ${item('b')}`))).toMatchObject([
      { value: pod('a'), document: 1, line: 2, at: { line: 2, column: 21 }, ...uid },
      { value: pod('b'), document: 1, line: 3, at: { line: 3, column: 22 }, ...uid },
      { value: { kind: 'After' }, document: 2 },
    ])
    expect(read(list(''))).toMatchObject([{ value: { kind: 'After' } }])
  })

  it('tells what is wrong with an item, behind those before it', () => {
    expect(read(list(`${item('a')},\n{"a":1,"a":2}`))).toMatchObject([
      { line: 2 },
      { line: 3, message: 'the key "a" is there twice: remove one' },
    ])
    expect(read(list(item('a')).replace(']', '')).at(-1)).toMatchObject({
      message: expect.stringContaining('valid JSON'),
    })
  })
})
