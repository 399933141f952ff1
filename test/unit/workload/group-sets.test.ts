import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupOf, parseGroup } from '../../../src/workload/group.ts'
import { parseGroupSets } from '../../../src/workload/group-sets.ts'
import { tallyOf } from '../../support/tally.ts'
import { podOf } from '../webhooks/pods/fixtures.ts'

/** Story 4 of KEP-976, to the letter. */
const STORY_4 = `[
  {
    name: driver,
    count: 1,
  },
  {
    name: workers,
    count: 10,
    template:
      spec:
        containers:
          - name: worker
            requests:
              cpu: 1m
  }
]`

const FLOW = '[{name: driver, count: 1}, {name: workers, count: 10, template: {spec: {containers: [{name: worker}]}}}]'
const at = 'metadata.annotations[kueue.x-k8s.io/pod-group-sets]'

const driver = (sets: string, more: Record<string, string> = {}) =>
  podOf({
    labels: { 'pod-group-name': 'spark', 'pod-group-role': 'driver' },
    annotations: { 'pod-group-sets': sets, ...more },
  })

const fields = (sets: string): readonly string[] =>
  parseGroupSets(sets, 'driver').errors.map(({ type, field }) => `${type} ${field.replace(at, '')}`)

const announced = (spec: unknown): string =>
  JSON.stringify([
    { name: 'driver', count: 1 },
    { name: 'w', count: 2, template: { spec } },
  ])

it('refuses an amount below nothing behind any number of others', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`example.com/d-${index}`, '1']))
  const requests = { ...many, cpu: '-64' }
  const sets = [
    { name: 'driver', count: 1 },
    { name: 'worker', count: 1, template: { spec: { containers: [{ name: 'main', resources: { requests } }] } } },
  ]
  expect(parseGroupSets(JSON.stringify(sets), 'driver').errors.map(({ field }) => field)).toEqual([
    expect.stringContaining('requests[cpu]'),
  ])
})

describe('what is announced', () => {
  const container = (resources: unknown) => ({ name: 'c', resources })
  const spec = '[1].template.spec'

  it.each([
    [
      'below nothing',
      { containers: [container({ requests: { cpu: '-4' } })] },
      `${spec}.containers[0].resources.requests[cpu]`,
    ],
    [
      'no quantity',
      { containers: [container({ limits: { cpu: 'a lot' } })] },
      `${spec}.containers[0].resources.limits[cpu]`,
    ],
    [
      'no amount',
      { containers: [container({ requests: { cpu: {} } })] },
      `${spec}.containers[0].resources.requests[cpu]`,
    ],
    ['no map', { containers: [container({ requests: 'cpu' })] }, `${spec}.containers[0].resources.requests`],
    [
      'below nothing before the start',
      { containers: [container({})], initContainers: [container({ requests: { cpu: -1 } })] },
      `${spec}.initContainers[0].resources.requests[cpu]`,
    ],
    ['no list', { containers: [container({})], initContainers: {} }, `${spec}.initContainers`],
    [
      'below nothing for the sandbox',
      { containers: [container({})], overhead: { cpu: '-1' } },
      `${spec}.overhead[cpu]`,
    ],
    [
      'below nothing for the pod',
      { containers: [container({})], resources: { requests: { cpu: '-1' } } },
      `${spec}.resources.requests[cpu]`,
    ],
  ])('is refused where it is %s', (_, template, field) => {
    expect(fields(announced(template))).toEqual([`Invalid ${field}`])
  })

  it('is refused where it is more pods than can be counted', () => {
    const set = (name: string) => ({ name, count: 2_000_000_000, template: { spec: { containers: [{ name: 'c' }] } } })
    expect(fields(JSON.stringify([{ name: 'driver', count: 1 }, set('a'), set('b')]))).toEqual(['Invalid '])
  })

  it('passes with requests, limits, sidecars and overhead as people write them', () => {
    const resources = { requests: { cpu: 0.5, memory: '1Gi', 'example.com/gpu': 1 }, limits: { cpu: '1' } }
    const initContainers = [{ name: 'log', restartPolicy: 'Always', resources }]
    const template = { containers: [{ name: 'c', resources }], initContainers, overhead: { cpu: '10m' }, resources }
    expect(fields(announced(template))).toEqual([])
  })
})

describe('pod-group-sets', () => {
  it('reads YAML and JSON alike', () => {
    const json =
      '[{"name":"driver","count":1},{"name":"workers","count":10,"template":{"spec":{"containers":[{"name":"worker"}]}}}]'
    expect(parseGroupSets(FLOW, 'driver')).toEqual(parseGroupSets(json, 'driver'))
    expect(groupOf(driver(json))).toMatchObject({ totalCount: 11, role: 'driver', roleCount: 1 })
    expect(groupOf(driver(json))?.sets?.map(set => set.name)).toEqual(['driver', 'workers'])
  })

  it('explains that a block cannot stand inside braces, as in the example of the KEP', () => {
    expect(fields(STORY_4)).toEqual(['Invalid '])
  })

  it('warns of requests outside of resources, where they count for nothing', () => {
    const sets =
      '[{name: driver, count: 1}, {name: w, count: 2, template: {spec: {containers: [{name: c, requests: {cpu: 1m}}]}}}]'
    const { errors, warnings } = parseGroup(driver(sets))
    expect(errors).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('belong under "resources"')])
    expect(warnings[0]?.length).toBeLessThanOrEqual(256)
  })

  it.each([
    ['no list', '{name: driver}', ['Invalid ']],
    ['an empty list', '[]', ['Required ']],
    ['nine sets', `[${Array.from({ length: 9 }, (_, i) => `{name: r${i}, count: 1}`).join(',')}]`, ['TooMany ']],
    ['an entry that is no object', '[1]', ['Invalid [0]']],
    [
      'a set without name and count',
      '[{template: {spec: {containers: [{name: c}]}}}]',
      ['Required [0].name', 'Required [0].count'],
    ],
    ['a bad name', '[{name: A, count: 1, template: {spec: {containers: [{name: c}]}}}]', ['Invalid [0].name']],
    ['a name twice', '[{name: driver, count: 1}, {name: driver, count: 1}]', ['Duplicate [1].name']],
    ['a count of zero', '[{name: driver, count: 0}]', ['Invalid [0].count']],
    ['a count that is text', '[{name: driver, count: "1"}]', ['Invalid [0].count']],
    ['a count beyond int32', '[{name: driver, count: 2147483648}]', ['Invalid [0].count']],
    ['an unknown field', '[{name: driver, count: 1, minCount: 1}]', ['Forbidden [0].minCount']],
    ['no template for a foreign role', '[{name: driver, count: 1}, {name: w, count: 1}]', ['Required [1].template']],
    [
      'a template without a spec',
      '[{name: driver, count: 1, template: {metadata: {}}}]',
      ['Required [0].template.spec'],
    ],
    [
      'a template without containers',
      '[{name: driver, count: 1, template: {spec: {containers: []}}}]',
      ['Required [0].template.spec.containers'],
    ],
    [
      'a container without a name',
      '[{name: driver, count: 1, template: {spec: {containers: [{}]}}}]',
      ['Required [0].template.spec.containers[0].name'],
    ],
    ['aliases', '[{name: &a driver, count: 1}, {name: *a, count: 1}]', ['Invalid ']],
    ['a key twice', '[{name: driver, name: driver, count: 1}]', ['Invalid ']],
    ['broken YAML', '[{name: ', ['Invalid ']],
  ])('refuses %s', (_what, sets, expected) => {
    expect(fields(sets)).toEqual(expected)
  })

  it.each([
    ['pod-group-count', '12', 'add up to 11'],
    ['pod-group-roles', '3', 'has 2 roles'],
    ['pod-group-role-count', '2', 'has 1 pods of role driver'],
  ])('has to agree with %s', (key, value, text) => {
    const { errors } = parseGroup(driver(FLOW, { [key]: value }))
    expect(errors).toEqual([expect.objectContaining({ detail: expect.stringContaining(text) })])
  })

  it('has to declare the role of the pod itself', () => {
    const sets = '[{name: workers, count: 10, template: {spec: {containers: [{name: worker}]}}}]'
    expect(parseGroup(driver(sets)).errors).toEqual([
      expect.objectContaining({ field: 'metadata.labels[kueue.x-k8s.io/pod-group-role]', value: 'driver' }),
    ])
  })

  it.each([
    ['deep brackets', '['.repeat(200_000)],
    ['deep JSON', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['deep block lists', '- '.repeat(16_000)],
    ['deep question marks', '? '.repeat(16_000)],
    ['deep indentation', Array.from({ length: 240 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['an alias bomb', `a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]`],
    ['long text', 'x '.repeat(130_000)],
    ['many anchors', '&a '.repeat(10_000)],
    ['a tag', '!!binary aaaa'],
    ['quotes without an end', `"${'\\'.repeat(30_000)}`],
  ])('answers hostile input at once: %s', (_what, sets) => {
    const before = process.threadCpuUsage()
    expect(parseGroupSets(sets, 'driver').errors.length).toBeGreaterThan(0)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(250)
  })

  it('is refused with the limit when it is too long', () => {
    const [error] = parseGroup(driver(`[${' '.repeat(32_768)}]`)).errors
    expect(error).toMatchObject({
      type: 'TooLong',
      field: 'metadata.annotations[kueue.x-k8s.io/pod-group-sets]',
      detail: expect.stringMatching(/^may have at most 32768 characters, this has 32770: /),
    })
  })

  it('never throws', () => {
    const bits = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '- ',
      '\n',
      ' ',
      'name',
      'count',
      '1',
      '"',
      "'",
      '&a',
      '*a',
      '|',
      '>',
      '#',
      '!',
      '%',
      '@',
      '\t',
      'template',
      'spec',
      '__proto__',
    )
    const noise = fc.array(bits, { maxLength: 40 }).map(parts => parts.join(''))
    // One piece in the wrong place spoils some of what is right and leaves the rest readable.
    const right = fc.constantFrom('- name: driver\n  count: 1\n', '[{"name": "driver", "count": 1}]')
    const spoiled = fc.tuple(right, fc.nat(), bits).map(([text, at, bit]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + bit + text.slice(place)
    })
    const tried = tallyOf('read', 'refused')
    fc.assert(
      fc.property(fc.oneof(noise, spoiled), text => {
        const { errors, sets } = parseGroupSets(text, 'driver')
        expect(errors.length > 0).toBe(sets.length === 0)
        tried.count(errors.length > 0 ? 'refused' : 'read')
      }),
      { numRuns: 1_000 },
    )
    tried.expectAll()
  })
})
