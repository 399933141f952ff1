import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { createFormatter, type Format } from '../../../src/review/formats/all.ts'
import { Tally } from '../../../src/review/report.ts'
import { impersonated } from '../../../src/review/user.ts'
import { file, folder, path, pod, QUEUE, type Report, results, review } from './fixtures.ts'

const GATE = { name: 'kueue.x-k8s.io/admission' }
function update(oldObject: unknown, object: unknown, overrides: Record<string, unknown> = {}) {
  const request = { uid: 'u', operation: 'UPDATE', namespace: 'team', object, oldObject, ...overrides }
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
}
async function gated(): Promise<unknown> {
  return results(await review([file('to-gate.json', pod())]))[0]?.result
}

describe('a plain object', () => {
  it('is reviewed as CREATE: mutated, then validated', async () => {
    const [result] = results(await review([file('pod.json', pod())]))
    expect(result).toMatchObject({
      source: { file: path('pod.json'), document: 1, line: 1 },
      operation: 'CREATE',
      kind: 'Pod',
      namespace: 'default',
      name: 'a',
      allowed: true,
      code: 200,
      message: '',
      errors: [],
      warnings: [],
      result: { spec: { schedulingGates: [GATE] }, metadata: { finalizers: ['kueue.x-k8s.io/managed'] } },
    })
    expect(result?.patch.map(({ path }) => path)).toContain('/spec/schedulingGates')
    expect(Object.keys(result ?? {})).toEqual(
      'source operation kind namespace name allowed reason code message errors findings warnings patch result'.split(
        ' ',
      ),
    )
  })

  it('passes only the stage that is asked for', async () => {
    const input = [file('stage.json', pod({ labels: { [QUEUE]: 'Not A Queue' } }))]
    const [mutated] = results(await review(input, { stage: 'mutating' }))
    expect(mutated).toMatchObject({ allowed: true, result: { spec: { schedulingGates: [GATE] } } })
    const [validated] = results(await review(input, { stage: 'validating' }))
    expect(validated).toMatchObject({ allowed: false, code: 422, patch: [] })
    expect(validated?.result).not.toHaveProperty('spec.schedulingGates')
    const [both] = results(await review(input))
    expect(both).toMatchObject({ allowed: false, result: { spec: { schedulingGates: [GATE] } } })
    expect(both?.patch).toEqual(mutated?.patch)
    expect(both?.errors[0]).toEqual({
      field: `metadata.labels[${QUEUE}]`,
      type: 'Invalid',
      detail: expect.any(String),
      value: 'Not A Queue',
      line: 1,
      column: expect.any(Number),
    })
  })

  it('without a namespace is in the default one; without a name it has a prefix', async () => {
    const input = [file('nameless.json', pod({ name: undefined, generateName: 'a-' }))]
    expect(results(await review(input, { namespace: 'kube-system' }))[0]).toMatchObject({
      namespace: 'kube-system',
      name: 'a-*',
      patch: [],
    })
  })

  it('of another kind is admitted as it is', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } }
    const [result] = results(await review([file('other.json', object)]))
    expect(result).toMatchObject({
      kind: 'ConfigMap',
      namespace: '',
      allowed: true,
      code: 200,
      patch: [],
      result: object,
    })
    expect(result?.message).toBe('Muster has no webhook for CREATE of ConfigMap')
    const foreign = { ...pod(), apiVersion: 'example.com/v1' }
    expect(results(await review([file('foreign.json', foreign)]))[0]).toMatchObject({ allowed: true, patch: [] })
  })
})

describe('a List', () => {
  it('gives a result per item, with its line', async () => {
    const items = [pod(), { apiVersion: 'v1', kind: 'List', items: [pod({ name: 'b' })] }]
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 1)
    const found = results(await review([file('list.json', text)]))
    expect(found.map(({ name, source }) => [name, source.line])).toEqual([
      ['a', text.slice(0, text.indexOf('{', 10)).split('\n').length],
      ['b', text.slice(0, text.lastIndexOf('"apiVersion"')).split('\n').length - 1],
    ])
  })

  it('of pods tells its items what they are', async () => {
    const { apiVersion: _apiVersion, kind: _kind, ...item } = pod()
    const list = { apiVersion: 'v1', kind: 'PodList', items: [item, null] }
    const report = await review([file('pods.json', list)])
    expect(results(report)).toMatchObject([{ kind: 'Pod', allowed: true }])
    expect(report.unreadable).toMatchObject([{ message: expect.stringContaining('is no object') }])
  })

  it('may be empty', async () => {
    expect((await review([file('none.json', { apiVersion: 'v1', kind: 'List', items: [] })])).entries).toEqual([])
  })
})

describe('an AdmissionReview', () => {
  it('is taken as it is: operation, oldObject, namespace and user', async () => {
    const before = await gated()
    const lifted = { ...(before as object), spec: pod().spec }
    const userInfo = { username: 'system:serviceaccount:muster-system:muster' }
    const input = file(
      'lift.yaml',
      `${JSON.stringify(update(before, lifted))}\n---\n${JSON.stringify(update(before, lifted, { userInfo }))}`,
    )
    const [byAnyone, byMuster] = results(await review([input]))
    expect(byAnyone).toMatchObject({ operation: 'UPDATE', namespace: 'team', name: 'a', allowed: false, code: 403 })
    expect(byAnyone?.errors).toMatchObject([{ field: 'spec.schedulingGates', type: 'Forbidden', value: null }])
    expect(byAnyone?.result).toEqual(lifted)
    expect(byMuster).toMatchObject({ allowed: true, patch: [] })
  })

  it('is asked for another user only by a flag', async () => {
    const before = await gated()
    const lifted = { ...(before as object), spec: pod().spec }
    const input = [file('as.json', update(before, lifted, { userInfo: { username: 'alice' } }))]
    const user = impersonated('system:serviceaccount:muster-system:muster', [])
    expect(results(await review(input))[0]?.allowed).toBe(false)
    expect(results(await review(input, { user }))[0]?.allowed).toBe(true)
  })

  it.each([
    ['DELETE', { operation: 'DELETE', object: null }],
    ['a subresource that is not ours', { subResource: 'ephemeralcontainers' }],
    ['another resource', { resource: { group: 'apps', version: 'v1', resource: 'deployments' } }],
  ])('of %s is admitted', async (_what, overrides) => {
    const before = await gated()
    const [result] = results(await review([file('review.json', update(before, pod(), overrides))]))
    expect(result).toMatchObject({ allowed: true, code: 200, patch: [] })
    expect(result?.message).toMatch(/^Muster has no webhook for /)
  })

  it('of a resize goes to validation', async () => {
    const before = await gated()
    const [result] = results(await review([file('resize.json', update(before, before, { subResource: 'resize' }))]))
    expect(result).toMatchObject({ allowed: false, errors: [{ field: 'spec.containers' }] })
  })

  it('that cannot be read says what is missing', async () => {
    const { unreadable } = await review([
      file('wrong.json', update(undefined, pod())),
      file('operation.json', update(pod(), pod(), { operation: 'PATCH' })),
    ])
    expect(unreadable.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual([
      '1:1: not a readable AdmissionReview: request.oldObject: required for UPDATE',
      '1:1: not a readable AdmissionReview: request.operation: expected one of CREATE, UPDATE, DELETE, CONNECT, got "PATCH"',
    ])
  })
})

describe('a failure of Muster itself', () => {
  it('is denied, told with its stack, and does not stop the others', async () => {
    const config = {
      ...DEFAULT_CONFIGURATION,
      integrations: {
        ...DEFAULT_CONFIGURATION.integrations,
        get podOptions(): never {
          throw new Error('boom')
        },
      },
    }
    const other = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
    const report = await review([file('boom.json', `${JSON.stringify(pod())}\n${JSON.stringify(other)}`)], { config })
    expect(results(report)).toMatchObject([
      { allowed: false, code: 500, errors: [{ type: 'InternalError' }] },
      { allowed: true },
    ])
    expect(report.failures[0]).toMatch(/^Error: boom\n {4}at /)
  })
})

function formatted({ entries }: Report, format: Format, colours = false): string {
  const formatter = createFormatter(format, { version: '1.2.3', colours })
  const tally = new Tally()
  for (const entry of entries) tally.add(entry)
  return (
    formatter.begin() +
    entries.map(entry => formatter.entry(entry)).join('') +
    [...formatter.end(tally.counts)].join('')
  )
}

describe('the table', () => {
  it('shows what is wrong below each denied object, and no control characters of others', async () => {
    const wrong = pod({ name: 'b\u001b[31m', labels: { [QUEUE]: 'NO' } })
    writeFileSync(path('table.yaml'), `${JSON.stringify(pod())}\n---\n${JSON.stringify(wrong)}\n---\nkind: [\n`)
    const report = await review([path('table.yaml')])
    const text = formatted(report, 'table').replaceAll(`${folder}/`, '')
    expect(text.split('\n').map(line => line.replace(/(Invalid value: "NO").*/, '$1'))).toEqual([
      'RESULT    REASON   KIND  NAMESPACE/NAME  WHERE',
      'admitted  Gated    Pod   default/a       table.yaml:1',
      'denied    Invalid  Pod   default/b [31m  table.yaml:3',
      `  metadata.labels[${QUEUE}]: Invalid value: "NO"`,
      expect.stringMatching(/^ {2}error FieldInvalid: no API server takes the name "b\\u001b\[31m"/),
      '2 objects: 1 admitted, 1 denied; 1 error; 1 unreadable',
      '',
    ])
    expect(formatted(report, 'table', true)).toContain('\u001b[31mdenied\u001b[0m')
  })
})

describe('impersonation', () => {
  it('adds the groups that the API server adds', () => {
    expect(impersonated('alice', ['dev'])).toEqual({ username: 'alice', groups: ['dev', 'system:authenticated'] })
    expect(impersonated('system:serviceaccount:ns:bot', []).groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ])
    expect(impersonated('system:anonymous', ['system:unauthenticated']).groups).toEqual(['system:unauthenticated'])
  })
})
