import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PodSpec } from '../../../src/kube/vocabulary/objects.ts'
import { roleHash, roleShape } from '../../../src/workload/role-hash.ts'
import { tallyOf } from '../../support/tally.ts'

const spec = (requests: unknown, rest: object = {}): PodSpec =>
  ({ containers: [{ name: 'c', ...(requests === undefined ? {} : { resources: { requests } }) }], ...rest }) as PodSpec

const cpu = (rest: object = {}): PodSpec => spec({ cpu: '1' }, rest)

const defaults = {
  priority: 0,
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
}

const archIsAmd64 = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] }],
    },
  },
}

describe('the role hash', () => {
  it.each<[string, string, PodSpec]>([
    ['a9f06f3a', 'empty requests', spec({})],
    ['dc85db45', 'one cpu', cpu()],
    ['4ebdd4a6', 'cpu and memory', spec({ cpu: '1', memory: '1Gi' })],
    ['bf90803c', 'no requests, as the API server completes it', spec(undefined, defaults)],
    ['4b0469f7', 'one cpu, as the API server completes it', cpu(defaults)],
    ['5949e52e', 'a tenth of a cpu, as the API server completes it', spec({ cpu: '100m' }, defaults)],
    ['7aa6c7b8', 'no requests', spec(undefined)],
    ['17b35bde', 'no requests, priority zero', spec(undefined, { priority: 0 })],
    [
      'd45f54e0',
      'a port',
      {
        containers: [
          { name: 'c', ports: [{ containerPort: 8080, protocol: 'TCP' }], resources: { requests: { cpu: '1' } } },
        ],
      },
    ],
    [
      'c550150e',
      'an init container',
      cpu({ initContainers: [{ name: 'i', resources: { requests: { cpu: '100m' } } }] }),
    ],
    ['6f5ca789', 'a node selector', cpu({ nodeSelector: { disk: 'ssd', arch: 'arm64' } })],
    ['142a553d', 'a required node affinity', cpu({ affinity: archIsAmd64 })],
    ['424e2272', 'pod-level requests', spec(undefined, { resources: { requests: { cpu: '1' } } })],
    ['2baaddf0', 'a runtime class with overhead', cpu({ runtimeClassName: 'kata', overhead: { cpu: '100m' } })],
    [
      '6daf9846',
      'a spread constraint',
      cpu({
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'a' } },
          },
        ],
      }),
    ],
    ['ffff5c24', 'a resource claim', cpu({ resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'tpl' }] })],
  ])('is %s for %s', (hash, _what, podSpec) => {
    expect(roleHash(podSpec)).toBe(hash)
  })

  it.each([
    [{ cpu: '1000m' }, { cpu: '1' }],
    [{ memory: '1024Mi' }, { memory: '1Gi' }],
    [{ cpu: '0.5' }, { cpu: '500m' }],
    [{ cpu: '1000' }, { cpu: '1k' }],
    [{ cpu: 1 }, { cpu: '1' }],
    [
      { memory: '1Gi', cpu: '2' },
      { cpu: '2', memory: '1Gi' },
    ],
  ])('counts %o as %o', (written, canonical) => {
    expect(roleHash(spec(written))).toBe(roleHash(spec(canonical)))
  })

  it('does not look at names, images, volumes or limits', () => {
    const container = { name: 'x', image: 'y', env: [], resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }
    const other = { containers: [container], volumes: [{ name: 'v' }], nodeName: 'n', schedulerName: 's' } as PodSpec
    expect(roleHash(other)).toBe(roleHash(cpu()))
  })

  it('keeps absent apart from empty, as Go does', () => {
    expect(roleShape(spec(undefined))).toContain('"requests":null')
    expect(roleShape(spec({}))).toContain('"requests":{}')
    expect(roleShape(spec({}, { tolerations: [], nodeSelector: null }))).toContain('"tolerations":[]')
    expect(roleShape({ containers: [], initContainers: null })).toContain('"containers":null,"initContainers":null')
  })

  it('drops zero values only where Go declares omitempty', () => {
    const ports = [{ name: '', hostPort: 0, containerPort: 0, protocol: '' }]
    const tolerations = [{ operator: 'Exists', tolerationSeconds: 0 }]
    const shape = roleShape({ containers: [{ name: 'c', ports }], tolerations } as PodSpec)
    expect(shape).toContain('"ports":[{"containerPort":0}]')
    expect(shape).toContain('"tolerations":[{"operator":"Exists","tolerationSeconds":0}]')
  })

  it('writes structs in the order of the Go declarations', () => {
    const term = { topologyKey: 'zone', namespaces: ['a'], namespaceSelector: {}, labelSelector: { matchLabels: {} } }
    const podAntiAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: term, weight: 3 }],
      requiredDuringSchedulingIgnoredDuringExecution: [],
    }
    expect(roleShape(cpu({ affinity: { podAntiAffinity } }))).toContain(
      '"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":3,' +
        '"podAffinityTerm":{"labelSelector":{},"namespaces":["a"],"topologyKey":"zone","namespaceSelector":{}}}]}}',
    )
  })

  it('escapes what Go escapes', () => {
    const shape = roleShape(cpu({ nodeSelector: { a: '<&>\u2028\u2029"\\\u0001é' } }))
    expect(shape).toContain('{"a":"\\u003c\\u0026\\u003e\\u2028\\u2029\\"\\\\\\u0001é"}')
  })

  it('replaces a lone surrogate, as Go’s decoder does', () => {
    expect(roleShape(cpu({ nodeSelector: { a: '\ud800' } }))).toContain('{"a":"\ufffd"}')
  })

  it('sorts keys by their UTF-8 bytes', () => {
    const shape = roleShape(cpu({ nodeSelector: { '\u{1f600}': '1', '\uffee': '2', b: '3', a: '4' } }))
    expect(shape).toContain('{"a":"4","b":"3","\uffee":"2","\u{1f600}":"1"}')
  })

  it('never throws, whatever the spec holds', () => {
    const fields = ['containers', 'initContainers', 'affinity', 'tolerations', 'resources', 'overhead', 'priority']
    const keys = [...fields, 'nodeSelector', 'resourceClaims']
    const tried = tallyOf(...keys.flatMap(key => [`${key}: a list`, `${key}: an object`, `${key}: something else`]))
    const value = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue())
    const hostile = fc.dictionary(fc.constantFrom(...keys), value)
    fc.assert(
      fc.property(hostile, spec => {
        expect(roleHash(spec as PodSpec)).toMatch(/^[0-9a-f]{8}$/)
        for (const [key, value] of Object.entries(spec)) {
          const isObject = typeof value === 'object' && value !== null
          tried.count(`${key}: ${Array.isArray(value) ? 'a list' : isObject ? 'an object' : 'something else'}`)
        }
      }),
      { numRuns: 500 },
    )
    tried.expectAll()
  })
})
