import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { file, folder, path, pod, QUEUE } from './fixtures.ts'

const program = fileURLToPath(new URL('../../../bin/muster.js', import.meta.url))

/** The real command in a process of its own, in the folder with the files of the test. */
function muster(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'review', ...args], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
    maxBuffer: 1024 * 1024 * 1024,
  })
  return { status, stdout, stderr }
}

file('good.json', pod())
file('bad.json', pod({ labels: { [QUEUE]: 'NO' } }))
file('broken.yaml', 'apiVersion: v1\nkind: Pod\n---\nkind: Pod\nmetadata:\n  name: a\n  name: b\n')

describe('the exit code of muster review', () => {
  it('is 0 when everything is admitted', () => {
    const { status, stdout, stderr } = muster(['good.json'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(
      /^RESULT .*\nadmitted {2}Gated {3}Pod {3}default\/a .* good\.json:1\n1 object: 1 admitted, 0 denied\n$/,
    )
  })

  it('is 1 when something is denied', () => {
    expect(muster(['good.json', '-f', 'bad.json', '-o', 'json'])).toMatchObject({ status: 1, stderr: '' })
  })

  it('is 2 when something cannot be read, whatever the others are; they are reported all the same', () => {
    const { status, stdout, stderr } = muster(['broken.yaml', 'bad.json', 'gone.yaml', '-o', 'json'])
    expect(status).toBe(2)
    expect(stderr.split('\n')).toEqual([
      'broken.yaml:7:3: the key "name" is there twice: remove one',
      'gone.yaml: cannot be read: there is no such file or folder',
      '',
    ])
    const report = JSON.parse(stdout)
    expect(report.results.map(({ allowed }: { allowed: boolean }) => allowed)).toEqual([false, false])
    expect(report.unreadable).toEqual([
      { file: 'broken.yaml', line: 7, column: 3, message: 'the key "name" is there twice: remove one' },
      { file: 'gone.yaml', line: 0, column: 0, message: 'cannot be read: there is no such file or folder' },
    ])
  })

  it('is 2 when the configuration or the cluster state cannot be used, with the place', () => {
    file('config.yaml', 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nengin: builtin\n')
    const config = muster(['good.json', '--config', 'config.yaml', '-o', 'json'])
    expect(config).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^config\.yaml:3:1: engin: unknown key "engin"/),
    })
    expect(JSON.parse(config.stdout)).toMatchObject({ results: [], unreadable: [{ file: 'config.yaml', line: 3 }] })
    expect(muster(['good.json', '--cluster-state', 'broken.yaml'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('broken.yaml:7:3: the key "name" is there twice'),
    })
  })

  it.each([
    [[], 'nothing to review: name a file or a folder, or "-" for standard input'],
    [['a', '-o', 'xml'], '--output: "xml" is none of table, json, yaml, objects, diff, junit, sarif, github'],
    [['a', '--stage', 'both'], '--stage: "both" is none of all, mutating, validating'],
    [['a', '--as-group', 'dev'], '--as-group needs --as USER, and USER a name'],
    [['-', '--cluster-state', '-'], '"-" is there twice, but standard input can be read only once'],
    [['a', '--recursive'], "Unknown option '--recursive'; see muster review --help"],
  ])('is 2 for the command line %j', (args, message) => {
    expect(muster(args)).toEqual({ status: 2, stdout: '', stderr: `muster review: ${message}\n` })
  })
})

describe('muster review', () => {
  it('reviews standard input with configuration, cluster state, namespace and user', () => {
    file(
      'own.yaml',
      `apiVersion: config.muster.dev/v1alpha1
kind: Configuration
manageJobsWithoutQueueName: true
integrations:
  podOptions: {namespaceSelector: {matchLabels: {batch: "true"}}}
guard: {exemptGroups: [admins]}
`,
    )
    mkdirSync(path('state'), { recursive: true })
    writeFileSync(
      path('state/namespace.yml'),
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {batch: "true"}}\n',
    )
    const flags = ['-', '--config', 'own.yaml', '--cluster-state', 'state', '-n', 'team', '-o', 'json']
    const created = JSON.parse(muster(flags, JSON.stringify(pod({ labels: {} }))).stdout)
    expect(created).toMatchObject({
      apiVersion: 'review.muster.dev/v1alpha1',
      kind: 'ReviewReport',
      results: [
        { source: { file: '-' }, namespace: 'team', allowed: true, result: { spec: { schedulingGates: [{}] } } },
      ],
    })
    const before = created.results[0].result
    const request = {
      operation: 'UPDATE',
      namespace: 'team',
      oldObject: before,
      object: { ...before, spec: pod().spec },
    }
    const lift = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
    expect(muster([...flags, '--as', 'eve'], lift).status).toBe(1)
    expect(muster([...flags, '--as', 'root', '--as-group', 'dev', '--as-group', 'admins'], lift).status).toBe(0)
  })

  it('says the same in JSON and in YAML', () => {
    // A text that ends with empty lines, at the end of its result and at the end of all results.
    file('ends.json', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'e' }, data: { text: 'a\n\nb\n\n\n' } })
    const args = ['good.json', 'ends.json', 'bad.json', 'broken.yaml', 'ends.json']
    const json = muster([...args, '-o=json']).stdout
    expect(parse(muster([...args, '-o', 'yaml']).stdout)).toEqual(JSON.parse(json))
    expect(json).toBe(`${JSON.stringify(JSON.parse(json), null, 2)}\n`)
  })

  it('reviews ten thousand pods in one file', () => {
    const text = Array.from({ length: 10_000 }, (_, index) => {
      const labels = `    ${QUEUE}: q\n    app: train\n`
      return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: p-${index}\n  labels:\n${labels}spec:\n  containers:\n    - name: main\n      image: a:1\n`
    }).join('---\n')
    const { status, stdout } = muster([file('many.yaml', text), '-o', 'json'])
    expect(status).toBe(0)
    const { results } = JSON.parse(stdout)
    expect(results).toHaveLength(10_000)
    expect(results.at(-1)).toMatchObject({ name: 'p-9999', source: { document: 10_000, line: 9_999 * 12 + 1 } })
  })

  it('does not load the server', () => {
    const trace =
      "import { registerHooks } from 'node:module'; registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context) } })"
    const { stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(trace)}`, program, 'review', 'good.json'],
      { cwd: folder, encoding: 'utf8' },
    )
    expect(stderr).toContain('/src/review/review.ts')
    expect(stderr).not.toMatch(/node_modules\/(fastify|pino|prom-client|@kubernetes|ajv|selfsigned)\//)
  })
})
