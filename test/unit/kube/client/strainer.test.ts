import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Strainer } from '../../../../src/kube/client/strainer.ts'
import { fields, type Outline, outlined } from '../../../../src/kube/vocabulary/outline.ts'
import { tallyOf } from '../../../support/tally.ts'

const POD: Outline = {
  metadata: { name: true, labels: fields('queue', 'ключ'), finalizers: true },
  spec: { containers: { name: true, resources: { requests: true } }, nodeSelector: true, priority: true },
}
const EVENT: Outline = { type: true, object: POD }

function strained(text: string, outline: Outline = EVENT, object: Outline = POD, chunk = 65_536): unknown {
  const strainer = new Strainer(outline, object)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunk) strainer.push(bytes.subarray(at, at + chunk))
  return JSON.parse(strainer.finish().toString())
}

describe('what is let through of a JSON text', () => {
  const event = {
    type: 'ADDED',
    object: {
      kind: 'Pod',
      metadata: {
        name: 'a "b" \\',
        labels: { queue: 'q', ключ: 'значение', other: 'x' },
        managedFields: [{ a: [1, { b: ']}"' }] }],
        finalizers: [],
      },
      spec: {
        containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '1' }, limits: null } }, {}, null],
        volumes: { '}': '{' },
        nodeSelector: null,
        priority: -1.5e3,
      },
      status: {},
    },
    extra: true,
  }

  it.each([1, 2, 3, 7, 65_536])('is what lies within the outline, in chunks of %i bytes', chunk => {
    for (const text of [JSON.stringify(event), JSON.stringify(event, undefined, 2)]) {
      expect(strained(text, EVENT, POD, chunk)).toEqual(outlined(event, EVENT))
    }
  })

  it('is the same for any value, outline and size of chunks', () => {
    // No key of a lone backslash: V8's own parser takes the text of a lone quote for one, if it has seen one before.
    const key = fc.constantFrom('a', 'b', 'c', '"', '__proto__', 'é', 'a\\b')
    const { outline } = fc.letrec<{ outline: Outline }>(tie => ({
      outline: fc.oneof(
        { depthSize: 'small' },
        fc.constant<true>(true),
        fc.dictionary(key, tie('outline'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }))
    const value = fc
      .jsonValue({ maxDepth: 5, noUnicodeString: false })
      .chain(inner => fc.dictionary(key, fc.oneof(fc.constant(inner), fc.jsonValue()), { noNullPrototype: true }))
    const tried = tallyOf('kept whole', 'something left out', 'cut in many pieces')
    fc.assert(
      fc.property(value, outline, fc.integer({ min: 1, max: 20 }), (object, outline, chunk) => {
        const text = JSON.stringify(object)
        const wanted = outlined(JSON.parse(text), outline)
        expect(strained(text, outline, outline, chunk)).toEqual(wanted)
        tried.count(JSON.stringify(wanted) === text ? 'kept whole' : 'something left out')
        if (text.length > 3 * chunk) tried.count('cut in many pieces')
      }),
      { numRuns: 2_000 },
    )
    tried.expectAll()
  })

  it.each([
    [
      'a list',
      { spec: { containers: Array(2000).fill({ name: 'c'.repeat(20), image: 'x' }), priority: 1 } },
      'spec.containers',
    ],
    ['an object', { spec: { nodeSelector: { a: 'x'.repeat(40_000) }, priority: 1 } }, 'spec.nodeSelector'],
    [
      'a text',
      { metadata: { labels: { queue: 'x'.repeat(100_000) } }, spec: { priority: 1 } },
      'metadata.labels.queue',
    ],
    [
      'a list that ends it',
      { spec: { priority: 1 }, metadata: { finalizers: Array(4000).fill('finalizer') } },
      'metadata.finalizers',
    ],
  ])('is not %s that is too large, and the object says so', (_what, object, path) => {
    for (const chunk of [100, 65_536]) {
      const { object: kept } = strained(JSON.stringify({ object, type: 'ADDED' }), EVENT, POD, chunk) as typeof event
      expect(kept).toMatchObject({ spec: { priority: 1 }, omitted: [path] })
      expect(JSON.stringify(kept).length).toBeLessThan(200)
    }
  })

  it('counts for each object of a list by itself', () => {
    const large = { metadata: { name: 'large', finalizers: Array(4000).fill('finalizer') } }
    const items = [{ metadata: { name: 'a' } }, large, { metadata: { name: 'b' } }]
    expect(strained(JSON.stringify({ kind: 'PodList', items }), { kind: true, items: POD })).toEqual({
      kind: 'PodList',
      items: [
        { metadata: { name: 'a' } },
        { metadata: { name: 'large' }, omitted: ['metadata.finalizers'] },
        { metadata: { name: 'b' } },
      ],
    })
  })

  it.each(['', '{', '{"type":"ADDED"', '{"object":{"metadata":{"name":"a', '{"type"'])('is nothing of %s', text => {
    expect(() => strained(text)).toThrow('the JSON ends in the middle of a value')
  })

  it.each(['{"type","a"}', '{type:1}', '{}}'])('is nothing of %s, which is no JSON', text => {
    expect(() => strained(text)).toThrow(/the JSON has .* in a place where it cannot be/)
  })

  it.each([
    ['control characters', '\\u0001', 1_500_000],
    ['quotes', '\\"', 1_500_000],
    ['backslashes', '\\\\', 1_500_000],
    ['brackets', '[],', 500_000],
    ['short keys', '', 300_000],
  ])('costs no single chunk more than a moment: %s', (what, unit, times) => {
    const junk = what === 'brackets' ? `[${unit.repeat(times)}0]` : `"${unit.repeat(times)}"`
    const many = what === 'short keys' ? `{${'"a":1,'.repeat(times)}"z":0}` : junk
    const bytes = Buffer.from(`{"type":"ADDED","object":{"junk":${many},"metadata":{"name":"a","labels":${many}}}}`)
    const worst = (): number => {
      const strainer = new Strainer(EVENT, POD)
      const chunks: number[] = []
      for (let at = 0; at < bytes.length; at += 65_536) {
        const before = process.threadCpuUsage()
        strainer.push(bytes.subarray(at, at + 65_536))
        const { user, system } = process.threadCpuUsage(before)
        chunks.push((user + system) / 1000)
      }
      expect(JSON.parse(strainer.finish().toString()).object.metadata.name).toBe('a')
      return Math.max(...chunks)
    }
    // A collection of garbage may fall into any chunk, and not into the same one three times.
    expect(Math.min(worst(), worst(), worst())).toBeLessThan(20)
  })
})
