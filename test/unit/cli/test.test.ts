import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { withoutSecrets } from '../../../src/cli/recording.ts'
import { CASE_SCHEMA } from '../../../src/review/cases/case.ts'
import { differences } from '../../../src/review/cases/compare.ts'
import { RULES } from '../../../src/review/cases/coverage.ts'
import { readCases } from '../../../src/review/cases/read-cases.ts'
import type { Result } from '../../../src/review/report.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function muster(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin/muster.js'), ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return { status, stdout, stderr }
}

const write = (name: string, text: string): void => {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
}
const POD = `apiVersion: v1
kind: Pod
metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {containers: [{name: main}]}
`
const CASE = 'apiVersion: test.muster.dev/v1alpha1\nkind: Case\n'

describe('muster test', () => {
  it('runs the cases of the examples', () => {
    const { status, stdout } = muster('test', join(root, 'examples/cases'))
    expect(stdout).toMatch(/^passed {2}.*examples\/cases\/group\n1 case: 1 passed, 0 failed\nrules: 2 of \d+ touched/)
    expect(status).toBe(0)
  })

  it('tells what differs, ends with 1, and rewrites it when told so', () => {
    write('cases/pod.yaml', POD)
    write('cases/pod.case.yaml', `# why this case\n${CASE}expect:\n  - {allowed: false, reason: Invalid}\n`)
    const failed = muster('test', 'cases', '-o', 'table', '-o', 'junit=out.xml', '-o', 'json=out.json')
    expect(failed).toMatchObject({ status: 1, stderr: '' })
    expect(failed.stdout).toContain(
      'failed  cases/pod\n  expect[0].allowed: expected false, got true\n  expect[0].reason: expected "Invalid", got "Gated"\n',
    )
    expect(readFileSync(join(folder, 'out.xml'), 'utf8')).toContain('tests="1" failures="1"')
    expect(JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'))).toMatchObject({
      cases: [{ name: 'cases/pod', passed: false }],
      coverage: { rules: RULES.length },
    })
    const updated = muster('test', 'cases', '--update')
    expect(updated.status).toBe(0)
    expect(updated.stdout).toContain('\n-  - {allowed: false, reason: Invalid}\n')
    const text = readFileSync(join(folder, 'cases/pod.case.yaml'), 'utf8')
    expect(text.startsWith('# why this case\n')).toBe(true)
    expect(parse(text).expect).toMatchObject([{ kind: 'Pod', name: 'a', allowed: true, reason: 'Gated' }])
    expect(muster('test', 'cases').status).toBe(0)
  })

  it('makes a case of a manifest, and of a recorded review with its user', () => {
    const request = { operation: 'CREATE', namespace: 'team', object: { ...parse(POD) } }
    write('sent.json', JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }))
    expect(muster('test', 'made', '--init', 'sent.json').status).toBe(0)
    expect(muster('test', 'made').status).toBe(0)
    const made = parse(readFileSync(join(folder, 'made/sent.case.yaml'), 'utf8'))
    expect(made.expect).toMatchObject([{ namespace: 'team', name: 'a', reason: 'Gated' }])
    expect(muster('test', 'made', '--init', 'sent.json')).toMatchObject({ status: 2 })
    expect(muster('test', 'absent', '--init', 'absent.json')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'muster test: --init: absent.json: there is no such file\n',
    })
    expect(muster('test', 'absent').stderr).toBe(
      'absent: cannot be read: there is no such file or folder; muster test --init MANIFEST absent makes a first case\n',
    )
  })

  it('gives a case its configuration, cluster and user', () => {
    write('own/a.yaml', POD.replace('{name: a,', '{name: a, namespace: team,'))
    write(
      'own/muster.yaml',
      'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nintegrations:\n  podOptions: {namespaceSelector: {matchLabels: {batch: "true"}}}\n',
    )
    write('own/ns.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {batch: "true"}}\n')
    write(
      'own/a.case.yaml',
      `${CASE}config: muster.yaml\nclusterState: [ns.yaml]\nuser: {name: alice}\nexpect: [{reason: Gated}]\n`,
    )
    write('own/b.case.yaml', `${CASE}input: a.yaml\nconfig: muster.yaml\nexpect: [{reason: NamespaceNotSelected}]\n`)
    expect(muster('test', 'own')).toMatchObject({ status: 0 })
    expect(muster('test', 'own', '--run', 'b$').stdout).toContain('1 case: 1 passed')
  })

  it('fails below the wanted coverage, and names what no case touches', () => {
    const { status, stdout } = muster('test', 'own', '--coverage', '90')
    expect(status).toBe(1)
    expect(stdout).toContain('  no case touches lint UnknownKey\n')
    expect(stdout).not.toContain('no case touches reason Gated')
  })

  it.each([
    [
      'gone',
      'gone: cannot be read: there is no such file or folder; muster test --init MANIFEST gone makes a first case\n',
    ],
    [
      'empty',
      'muster test: no case to run: there is no file *.case.yaml in empty; muster test --init MANIFEST FOLDER makes one\n',
    ],
    ['wrong', 'wrong/x.case.yaml:4:13: expect.0: unknown key "allowd"; did you mean "allowed"?\n'],
    ['noinput', 'noinput/x.yaml: cannot be read: there is no such file or folder\n'],
  ])('ends with 2 for %s', (name, stderr) => {
    write('empty/readme.txt', '')
    write('wrong/x.case.yaml', `${CASE}expect:\n  - allowd: true\n`)
    write('noinput/x.case.yaml', `${CASE}expect: []\n`)
    expect(muster('test', name)).toMatchObject({ status: 2, stderr })
  })

  it('counts what cannot be read neither as passed nor as failed', () => {
    write('half/good.yaml', POD)
    write('half/good.case.yaml', `${CASE}expect: [{reason: Gated}]\n`)
    write('half/noinput.case.yaml', `${CASE}expect: []\n`)
    write('half/noconfig.case.yaml', `${CASE}input: good.yaml\nconfig: absent.yaml\nexpect: []\n`)
    write('half/wrong.case.yaml', `${CASE}expect: 1\n`)
    const { status, stdout, stderr } = muster(
      'test',
      'half',
      '-o',
      'table',
      '-o',
      'junit=half.xml',
      '-o',
      'json=half.json',
    )
    expect([status, stderr.trimEnd().split('\n').length]).toEqual([2, 3])
    expect(stdout).toContain('passed  half/good\n')
    expect(stdout).toContain('\n4 cases: 1 passed, 0 failed, 3 unreadable\n')
    const xml = readFileSync(join(folder, 'half.xml'), 'utf8')
    expect(xml).toContain('tests="4" failures="0" errors="3"')
    expect(xml.match(/<error message="half[^"]+">/g)).toHaveLength(3)
    const { cases } = JSON.parse(readFileSync(join(folder, 'half.json'), 'utf8'))
    expect(cases.filter(({ passed }: { passed: boolean }) => passed)).toEqual([
      { name: 'half/good', file: 'half/good.case.yaml', passed: true, differences: [], unreadable: [] },
    ])
  })

  it('reads no device, no pipe and no text that is none as a case', () => {
    const latin = join(folder, 'latin.case.yaml')
    writeFileSync(latin, Buffer.from([0x61, 0xff]))
    const pipe = join(folder, 'pipe.case.yaml')
    execFileSync('mkfifo', [pipe])
    const read = readCases(['/dev/zero', pipe, latin]).map(each => ('message' in each ? each.message : each.name))
    expect(read).toEqual([
      'is a device, not a file',
      'is a pipe: a case is a file, with its input beside it',
      'is not UTF-8 text',
    ])
    rmSync(pipe)
    rmSync(latin)
  })

  it('has an example in its page that the schema knows', () => {
    const example = /```yaml\n([\s\S]+?)```/.exec(readFileSync(join(root, 'docs/test.md'), 'utf8'))?.[1] ?? ''
    const validate = new Ajv({ allowUnionTypes: true }).compile(CASE_SCHEMA)
    expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true)
  })
})

describe('expectations', () => {
  const result = {
    source: { file: 'a', document: 1, line: 1 },
    errors: [{ field: 'spec', type: 'Invalid', detail: 'is odd', value: null, line: 1, column: 1 }],
    findings: [],
    warnings: ['beware of it'],
    patch: [],
    result: { spec: { list: [{ a: 1, b: 2 }] } },
  } as unknown as Result

  it.each([
    [{ errors: [{ field: 'spec', detail: 'odd' }] }, []],
    [{ errors: [] }, ['expect[0].errors: Invalid at spec is not expected']],
    [{ errors: [{ field: 'spec' }, { field: 'x' }] }, ['expect[0].errors: there is no error at x']],
    [{ findings: ['UnknownKey'] }, ['expect[0].findings: expected ["UnknownKey"], got []']],
    [{ warnings: ['beware'] }, []],
    [{ result: { spec: { list: [{ a: 1 }] } } }, []],
    [{ result: { spec: { list: [] } } }, ['expect[0].result.spec.list: expected [], got [{"a":1,"b":2}]']],
    [{ result: { spec: { 'x/y': 1 } } }, ['expect[0].result.spec[x/y]: expected 1, got nothing']],
  ])('%j', (expectation, found) => {
    expect(differences([result], [expectation])).toEqual(found)
  })

  it('are as many as there are results', () => {
    expect(differences([result], [])).toHaveLength(1)
    expect(differences([], [{}])).toHaveLength(1)
  })
})

describe('recorded reviews', () => {
  it('hold no secrets', () => {
    const env = [
      { name: 'A', value: 'hunter2' },
      { name: 'B', valueFrom: {} },
    ]
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2', a: 'b' }
    const object = { metadata: { annotations }, spec: { containers: [{ name: 'c', env }] } }
    expect(withoutSecrets(object)).toEqual({
      metadata: { annotations: { a: 'b' } },
      spec: {
        containers: [
          {
            name: 'c',
            env: [
              { name: 'A', value: 'redacted' },
              { name: 'B', valueFrom: {} },
            ],
          },
        ],
      },
    })
  })
})

describe('the command line', () => {
  it('has suggestions and help', () => {
    expect(muster('reveiw')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('did you mean "muster review"?'),
    })
    expect(muster('config')).toMatchObject({ status: 2, stderr: expect.stringContaining('"muster config check"') })
    expect(muster('review', 'a', '--fial-on', 'warn').stderr).toContain('did you mean --fail-on?')
    expect(muster('help', 'review')).toEqual(muster('review', '--help'))
  })

  it('checks configuration files', () => {
    write('good/muster.yaml', 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n')
    write('bad.yaml', 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nengin: kueue\n')
    expect(muster('config', 'check', 'good/muster.yaml')).toEqual({
      status: 0,
      stdout: 'good/muster.yaml: is right\n',
      stderr: '',
    })
    expect(muster('config', 'check', '-f', 'bad.yaml')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^bad\.yaml:3:1: engin: unknown key/),
    })
    expect(muster('config', 'check')).toMatchObject({ status: 2, stderr: expect.stringContaining('no file to check') })
  })
})
