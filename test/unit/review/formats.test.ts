import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { unifiedDiff } from '../../../src/review/formats/line-diff.ts'
import { file, folder, path, pod, QUEUE } from './fixtures.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const program = `${root}/bin/muster.js`
const schema = (name: string) => JSON.parse(readFileSync(`${root}/docs/schemas/${name}.schema.json`, 'utf8'))

function muster(args: readonly string[], options: { input?: string; cwd?: string } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'review', ...args], {
    cwd: options.cwd ?? folder,
    input: options.input ?? '',
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return { status, stdout, stderr }
}

const files = ['json', 'yaml', 'objects', 'diff', 'junit', 'sarif', 'github']
const outputs = files.map(format => `${format}=out.${format}`)
const written = (format: string): string => readFileSync(path(`out.${format}`), 'utf8')

describe('several formats of one run', () => {
  let run: ReturnType<typeof muster>
  beforeAll(() => {
    const wrong = pod({ name: 'b<"&\u0007', labels: { [QUEUE]: 'NO', 'kueue.x-k8s.io/oops': 'x' } })
    const text = `${JSON.stringify(pod())}\n---\n${JSON.stringify(wrong)}\n---\nkind: [\n`
    file('some, files.yaml', text)
    run = muster(['some, files.yaml', ...outputs.flatMap(output => ['-o', output])])
  })

  it('are all written, and what cannot be read is told on standard error', () => {
    expect(run).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^some, files\.yaml:\d+:\d+: is not/) })
    expect(files.filter(format => !existsSync(path(`out.${format}`)))).toEqual([])
  })

  it('JSON and YAML are the same report, as the schema says', () => {
    const report = JSON.parse(written('json'))
    const validate = new Ajv({ strict: false }).compile(schema('review-report'))
    expect(validate(report), JSON.stringify(validate.errors)).toBe(true)
    expect(parse(written('yaml'))).toEqual(report)
    expect(report.counts).toEqual({
      objects: 2,
      admitted: 1,
      denied: 1,
      errors: 1,
      warnings: 1,
      suppressed: 0,
      unreadable: 1,
    })
  })

  it('objects are those that are admitted, ready to apply', () => {
    const objects = parseAllDocuments(written('objects')).map(document => document.toJS())
    expect(objects).toEqual([JSON.parse(written('json')).results[0].result])
  })

  it('a diff shows what was added', () => {
    expect(written('diff')).toContain(
      '--- some, files.yaml:1 Pod default/a\n+++ some, files.yaml:1 Pod default/a, mutated\n@@ ',
    )
    expect(written('diff')).toContain('+  schedulingGates:\n+    - name: kueue.x-k8s.io/admission\n')
  })

  it('JUnit counts, and escapes what is not for XML', () => {
    const xml = written('junit')
    expect(xml).toContain('<testsuite name="some, files.yaml" tests="3" failures="1" errors="1" skipped="0">')
    expect(xml).toContain('CREATE Pod default/b&lt;&quot;&amp;\ufffd (line 3)')
    expect(xml).toContain('<error type="Unreadable"')
    expect(xml.split('<testcase').length - 1).toBe(3)
  })

  it('SARIF has a rule and a region for each result', () => {
    const { version, runs } = JSON.parse(written('sarif'))
    expect(version).toBe('2.1.0')
    const [{ tool, results }] = runs
    const rules = tool.driver.rules.map(({ id }: { id: string }) => id)
    expect(results).toHaveLength(4)
    for (const { ruleId, locations } of results) {
      expect(rules).toContain(ruleId)
      expect(locations[0].physicalLocation).toMatchObject({
        artifactLocation: { uri: 'some%2C%20files.yaml' },
        region: { startLine: expect.any(Number), startColumn: expect.any(Number) },
      })
    }
  })

  it('SARIF keeps to the rules of 2.1.0', () => {
    const log = JSON.parse(written('sarif'))
    const onlyKeys = (object: object, ...keys: readonly string[]): void =>
      expect(Object.keys(object).filter(key => !keys.includes(key))).toEqual([])
    onlyKeys(log, '$schema', 'version', 'runs')
    const [run] = log.runs
    onlyKeys(run, 'tool', 'columnKind', 'results')
    expect(['utf16CodeUnits', 'unicodeCodePoints']).toContain(run.columnKind)
    const { driver } = run.tool
    onlyKeys(driver, 'name', 'version', 'informationUri', 'rules')
    expect(driver.name).toBeTruthy()
    const levels = ['none', 'note', 'warning', 'error']
    for (const rule of driver.rules) {
      onlyKeys(rule, 'id', 'shortDescription', 'helpUri', 'defaultConfiguration')
      expect(rule.shortDescription.text).toBeTruthy()
      expect(URL.canParse(rule.helpUri)).toBe(true)
      expect(levels).toContain(rule.defaultConfiguration.level)
    }
    expect(new Set(driver.rules.map(({ id }: { id: string }) => id)).size).toBe(driver.rules.length)
    for (const result of run.results) {
      onlyKeys(result, 'ruleId', 'level', 'message', 'locations')
      expect(levels).toContain(result.level)
      expect(result.message.text).toBeTruthy()
      const [{ physicalLocation }] = result.locations
      onlyKeys(physicalLocation, 'artifactLocation', 'region')
      // A reference as RFC 3986 has it, from the root of the repository.
      expect(physicalLocation.artifactLocation.uri).toMatch(/^[A-Za-z0-9._~/%!$&'()*+;=@-]+$/)
      const { startLine, startColumn } = physicalLocation.region
      expect([startLine, startColumn].every(each => Number.isInteger(each) && each >= 1)).toBe(true)
    }
  })

  it('GitHub gets commands, escaped', () => {
    const lines = written('github').trimEnd().split('\n')
    expect(lines[0]).toMatch(
      /^::error file=some%2C files\.yaml,line=3,col=\d+,title=Invalid::Pod default\/b<"& : metadata/,
    )
    expect(lines[1]).toMatch(/^::error file=some%2C files\.yaml,line=3,col=\d+,title=FieldInvalid::/)
    expect(lines[2]).toMatch(/^::warning file=some%2C files\.yaml,line=3,col=\d+,title=UnknownKey::/)
    expect(lines[3]).toMatch(/^::error file=some%2C files\.yaml,line=\d+,col=\d+,title=Unreadable::/)
    expect(lines.slice(4)).toEqual([
      '::notice title=muster review::2 objects: 1 admitted, 1 denied; 1 error; 1 warning; 1 unreadable',
    ])
  })
})

describe('flags of reports', () => {
  it('--only denied leaves out what passes, and counts it', () => {
    file(
      'two.yaml',
      `${JSON.stringify(pod())}\n---\n${JSON.stringify(pod({ name: 'b', labels: { [QUEUE]: 'NO' } }))}\n`,
    )
    const { results, counts } = JSON.parse(muster(['two.yaml', '--only', 'denied', '-o', 'json']).stdout)
    expect(results.map(({ name }: { name: string }) => name)).toEqual(['b'])
    expect(counts.objects).toBe(2)
  })

  it('--fail-on warn makes warnings fail, and a baseline forgives them', () => {
    file('warned.json', pod({ labels: { 'kueue.x-k8s.io/oops': 'x' } }))
    expect(muster(['warned.json']).status).toBe(0)
    expect(muster(['warned.json', '--fail-on', 'warn', '--write-baseline', 'known.yaml']).status).toBe(1)
    const validate = new Ajv().compile(schema('baseline'))
    expect(validate(parse(readFileSync(path('known.yaml'), 'utf8')))).toBe(true)
    expect(muster(['warned.json', '--fail-on', 'warn', '--baseline', 'known.yaml'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 suppressed'),
    })
    file('bare.yaml', 'apiVersion: review.muster.dev/v1alpha1\nkind: Baseline\nfindings:\n- code: UnknownKey\n')
    expect(muster(['warned.json', '--baseline', 'bare.yaml'])).toMatchObject({
      status: 2,
      stderr: 'bare.yaml:4:3: kind must be a text\n',
    })
  })

  it('--write-baseline keeps what the baseline before it forgave', () => {
    file('old.json', pod({ labels: { 'kueue.x-k8s.io/oops': 'x' } }))
    expect(muster(['old.json', '--write-baseline', 'again.yaml']).status).toBe(0)
    const first = readFileSync(path('again.yaml'), 'utf8').replace(/was there when .+/, 'is known to Ada')
    expect(first).toContain('Ada')
    file('again.yaml', first)
    expect(muster(['old.json', '--baseline', 'again.yaml', '--write-baseline', 'again.yaml']).status).toBe(0)
    expect(readFileSync(path('again.yaml'), 'utf8')).toBe(first)
    expect(muster(['old.json', 'absent.json', '--write-baseline', 'again.yaml'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('again.yaml is not written, because not everything could be reviewed\n'),
    })
    expect(readFileSync(path('again.yaml'), 'utf8')).toBe(first)
    expect(muster(['old.json', '--write-baseline', 'absent/known.yaml'])).toMatchObject({
      status: 2,
      stderr: 'muster review: --write-baseline: absent/known.yaml: cannot be written: there is no such folder\n',
    })
  })

  it('a lint that is an error ends with 1', () => {
    file('twice.yaml', `${JSON.stringify(pod())}\n---\n${JSON.stringify(pod())}\n`)
    expect(muster(['twice.yaml']).status).toBe(1)
  })

  it('--skip-unknown and --stdin-filename', () => {
    expect(muster(['-'], { input: 'replicas: 3\n' }).status).toBe(2)
    const input = `replicas: 3\n---\n${JSON.stringify(pod())}\n`
    const { status, stdout } = muster(['-', '--skip-unknown', '--stdin-filename', 'values.yaml'], { input })
    expect(status).toBe(0)
    expect(stdout).toContain('values.yaml:3')
  })

  it('muster.yaml is found in the folder above', () => {
    // Test files that share a process share the folder of the fixtures: what lies there is found by all of them.
    const cwd = path('configured/below')
    mkdirSync(cwd, { recursive: true })
    file('configured/muster.yaml', 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nengine: none\n')
    const { stderr, status } = muster(['../../two.yaml'], { cwd })
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^\.\.\/muster\.yaml:3:9: engine: must be/),
    })
    file('configured/muster.yaml', 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n')
    expect(muster(['../../two.yaml'], { cwd }).status).toBe(1)
  })

  it.each([
    [
      ['a', '-o', 'json', '-o', 'yaml'],
      '--output: json and yaml cannot both be printed: write one to a file, yaml=FILE',
    ],
    [['a', '-o', 'json='], '--output: json= needs a file behind it'],
    [['a', '--fail-on', 'never'], '--fail-on: "never" is none of deny, warn'],
  ])('%j is no command line', (args, message) => {
    expect(muster(args)).toMatchObject({ status: 2, stderr: `muster review: ${message}\n` })
  })
})

describe('a report that cannot be written', () => {
  const shell = (command: string) => spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' })
  const review = `'${process.execPath}' '${program}' review`

  it('because the disk is full is one line and 3', () => {
    const { status, stderr } = shell(`${review} two.yaml > /dev/full`)
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: 'muster review: standard output: cannot be written: no space is left on the disk\n',
    })
  })

  it('because its folder is not there is one line and 3', () => {
    expect(muster(['two.yaml', '-o', 'json=no/where.json'])).toMatchObject({
      status: 3,
      stderr: 'muster review: no/where.json: cannot be written: there is no such folder\n',
    })
  })

  it('because nobody reads on is no error', () => {
    const { stdout, stderr } = shell(`{ ${review} two.yaml -o json; echo "code $?" >&2; } | head -c 5`)
    expect({ stdout, stderr }).toEqual({ stdout: '{\n  "', stderr: 'code 1\n' })
  })
})

describe('a diff', () => {
  it.each([
    ['a\nb\nc\n', 'a\nx\nc\n', '@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n'],
    ['a\n', 'a\nb\n', '@@ -1,1 +1,2 @@\n a\n+b\n'],
    ['a\n', 'a\n', ''],
  ])('between %j and %j', (before, after, difference) => {
    expect(unifiedDiff(before, after)).toBe(difference)
  })

  it('shows changes that are far apart by themselves', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`)
    const changed = lines.map((line, index) => (index === 2 || index === 27 ? 'new\n' : line))
    expect(unifiedDiff(lines.join(''), changed.join('')).match(/^@@/gm)).toHaveLength(2)
  })
})
