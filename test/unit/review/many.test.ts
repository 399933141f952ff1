import { describe, expect, it } from 'vitest'
import { readDocuments } from '../../../src/documents/documents.ts'
import { LineCounter, type Unreadable } from '../../../src/documents/place.ts'
import { createFormatter } from '../../../src/review/formats/all.ts'
import { BaselineDraft } from '../../../src/review/lints/baseline.ts'
import { Fingerprints } from '../../../src/review/lints/fingerprints.ts'
import { Tally } from '../../../src/review/report.ts'
import { file, pod, QUEUE, results, review } from './fixtures.ts'

/** What is kept of many objects is small, and nothing is lost by it. */
describe('of many objects', () => {
  it('every name that repeats is suspected, and hardly another', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `\nPod\ndefault\np${index}`)
    const seen = new Fingerprints()
    for (const name of names) seen.add(name)
    for (const name of names.slice(0, 100)) seen.add(name)
    expect(names.slice(0, 100).every(name => seen.mayRepeat(name))).toBe(true)
    expect(names.slice(100).filter(name => seen.mayRepeat(name))).toEqual([])
    expect(seen.mayRepeat('another')).toBe(false)
  })

  it.each(['json', 'yaml'] as const)('what cannot be read is told last, each with its place, as %s', format => {
    const formatter = createFormatter(format, { version: '1', colours: false })
    const tally = new Tally()
    const given: Unreadable[] = Array.from({ length: 100 }, (_, index) => ({
      file: `f${index % 3}.yaml`,
      line: index,
      column: 2 * index,
      message: index % 7 === 0 ? `only ${index}` : 'is not valid YAML',
    }))
    const pieces = [formatter.begin()]
    for (const unreadable of given) {
      tally.add({ kind: 'unreadable', unreadable })
      pieces.push(formatter.entry({ kind: 'unreadable', unreadable }))
    }
    const text = [...pieces, ...formatter.end(tally.counts)].join('')
    const [first] = readDocuments(text, 'report')
    expect(first).toMatchObject({ value: { results: [], unreadable: given, counts: { unreadable: 100 } } })
  })

  it('a baseline names each object and code once, however often they are found', () => {
    const draft = new BaselineDraft()
    const about = { kind: 'Pod', namespace: 'n', name: 'p', source: { file: 'f', document: 1, line: 1 } }
    for (let each = 0; each < 3; each++) draft.add({ code: 'UnknownKey' }, about)
    draft.add({ code: 'UnknownKey' }, { ...about, source: { ...about.source, path: 'spec.template' } })
    const [read] = readDocuments([...draft.text()].join(''), 'baseline')
    const entry = { code: 'UnknownKey', kind: 'Pod', namespace: 'n', name: 'p', reason: expect.any(String) }
    expect(read).toMatchObject({ value: { findings: [entry, { ...entry, path: 'spec.template' }] } })
    const [empty] = readDocuments([...new BaselineDraft().text()].join(''), 'baseline')
    expect(empty).toMatchObject({ value: { kind: 'Baseline', findings: [] } })
  })

  it('a group of more pods than are counted one by one is too large all the same', async () => {
    const labels = { [QUEUE]: 'q', 'kueue.x-k8s.io/pod-group-name': 'g' }
    const annotations = { 'kueue.x-k8s.io/pod-group-total-count': '7' }
    const sets = Array.from({ length: 30 }, (_, index) => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: `s${index}` },
      spec: {
        replicas: 1000,
        selector: { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] },
        template: { metadata: { labels, annotations }, spec: pod().spec },
      },
    }))
    const report = await review([file('crowd.json', { apiVersion: 'v1', kind: 'List', items: sets })])
    expect(results(report).flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([
      'group g has 30000 pods here and declares 7: what is too many never starts',
    ])
    const large = { 'kueue.x-k8s.io/pod-group-total-count': '40000' }
    for (const { spec } of sets) spec.template.metadata.annotations = large
    const open = await review([file('crowd.json', { apiVersion: 'v1', kind: 'List', items: sets })])
    expect(results(open).flatMap(({ findings }) => findings)).toEqual([])
  })
})

it('lines and columns are right in whichever order they are asked for', () => {
  const text = 'a\n\nbcd\r\n\n\nef\ng'
  const expected = Array.from({ length: text.length + 2 }, (_, offset) => {
    const before = text.slice(0, offset)
    return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
  })
  for (let step = 1; step < expected.length; step++) {
    const lines = new LineCounter(text)
    for (let at = 0, count = 0; count < 3 * expected.length; count++, at = (at + step) % expected.length) {
      expect(lines.at(at)).toEqual(expected[at])
    }
  }
})
