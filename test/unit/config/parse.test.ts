import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { parseConfiguration } from '../../../src/config/load.ts'
import { formatConfigError } from '../../../src/config/source.ts'

const HEADER = 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n'

function errorsOf(text: string): readonly string[] {
  const result = parseConfiguration(text, 'muster.yaml')
  return 'errors' in result ? result.errors.map(formatConfigError) : []
}

function parsed(text: string) {
  const result = parseConfiguration(text, 'muster.yaml')
  if ('errors' in result) throw new Error(result.errors.map(formatConfigError).join('\n'))
  return result
}

const KNOWN =
  'known here: apiVersion, kind, engine, manageJobsWithoutQueueName, integrations, guard, queues, unlistedQueues, review, coScheduling, jobs'

describe('a configuration file', () => {
  it('that says nothing gives the defaults, without a warning', () => {
    expect(parsed(HEADER)).toEqual({ configuration: DEFAULT_CONFIGURATION, warnings: [] })
  })

  it('may be JSON, may have a byte order mark and Windows line ends', () => {
    const json = '{"apiVersion": "config.muster.dev/v1alpha1", "kind": "Configuration", "engine": "kueue"}'
    expect(parsed(json).configuration.engine).toBe('kueue')
    expect(parsed(`\uFEFF${HEADER}engine: kueue\n`.replaceAll('\n', '\r\n')).configuration.engine).toBe('kueue')
  })

  it('gets a default for each key that it leaves out, however deep', () => {
    const text = `${HEADER}
integrations: {podOptions: {podSelector: {matchLabels: {team: a}}}}
guard: {exemptGroups: [platform-admins], statusWriters: [kwok]}
queues: [{name: team-a}, {name: team-b, limits: {pods: 64, cpu: "128", nvidia.com/gpu: 16}}]
jobs: {scheduling: {allow: {policies: [gang]}}, parallelism: {implicitGang: indexed}}
`
    expect(parsed(text).configuration).toEqual({
      ...DEFAULT_CONFIGURATION,
      integrations: {
        frameworks: ['pod', 'batch/job', 'jobset.x-k8s.io/jobset'],
        podOptions: {
          namespaceSelector: DEFAULT_CONFIGURATION.integrations.podOptions.namespaceSelector,
          podSelector: { matchLabels: { team: 'a' } },
        },
      },
      guard: { ...DEFAULT_CONFIGURATION.guard, exemptGroups: ['platform-admins'], statusWriters: ['kwok'] },
      queues: [
        { name: 'team-a', limits: {} },
        { name: 'team-b', limits: { pods: 64, cpu: '128', 'nvidia.com/gpu': 16 } },
      ],
      jobs: {
        scheduling: { allow: { ...DEFAULT_CONFIGURATION.jobs.scheduling.allow, policies: ['gang'] }, namespaces: [] },
        parallelism: { gangChanges: 'deny', implicitGang: 'indexed' },
      },
    })
  })

  it('never opens for a namespace what it closes for all, unless it says so', () => {
    const text = `${HEADER}
jobs:
  scheduling:
    allow: {policies: [basic], disruptionModes: [], topologyKeys: [rack], resourceClaims: false}
    namespaces: [{selector: {}, allow: {policies: [gang]}}]
`
    expect(parsed(text).configuration.jobs.scheduling.namespaces).toEqual([
      {
        selector: {},
        allow: { policies: ['gang'], disruptionModes: [], topologyKeys: ['rack'], resourceClaims: false },
      },
    ])
  })

  it('may use an anchor', () => {
    const text = `${HEADER}guard: {exemptUsers: &who [ada], exemptGroups: *who}\n`
    expect(parsed(text).configuration.guard).toMatchObject({ exemptUsers: ['ada'], exemptGroups: ['ada'] })
  })
})

describe('text that is not one YAML document', () => {
  it.each([
    ['is empty', '', ['muster.yaml:1:1: the file is empty']],
    ['has only comments', '# later\n', ['muster.yaml:1:1: the file is empty']],
    ['is null', 'null\n', ['muster.yaml:1:1: the file is empty']],
    ['is a list', '- a\n', ['muster.yaml:1:1: must be a map, not a list']],
    ['is a word', 'hello\n', ['muster.yaml:1:1: must be a map, not "hello"']],
    [
      'is two documents',
      `${HEADER}---\n${HEADER}`,
      ['muster.yaml:3:1: one document is expected, not 2: remove what follows "---"'],
    ],
    [
      'has a key twice',
      `${HEADER}engine: kueue\nengine: builtin\n`,
      ['muster.yaml:4:1: the key is there twice in this map: remove one'],
    ],
    [
      'is indented by a tab',
      `${HEADER}guard:\n\texemptUsers: []\n`,
      ['muster.yaml:4:1: a tab cannot indent YAML: use spaces'],
    ],
    [
      'has a quote left open',
      `${HEADER}engine: "kueue\n`,
      ['muster.yaml:4:1: is not valid YAML: Missing closing "quote'],
    ],
    ['has a key that is a number', `${HEADER}1: x\n`, ['muster.yaml:3:1: a key must be a string: put it in quotes']],
    [
      'has a key that is a list',
      `${HEADER}? [a]\n: b\n`,
      ['muster.yaml:3:3: a key must be a string: put it in quotes'],
    ],
    ['has an unknown tag', `${HEADER}engine: !x kueue\n`, ['muster.yaml:3:9: is not valid YAML: Unresolved tag: !x']],
    ['has an alias of nothing', `${HEADER}engine: *x\n`, ['muster.yaml:3:9: the alias *x names no anchor before it']],
    ['is nested beyond reason', `${HEADER}x: ${'['.repeat(50_000)}`, [expect.stringContaining('is nested too deeply')]],
    ['is too large', ' '.repeat(1024 * 1024 + 1), ['muster.yaml: is larger than 1048576 characters']],
  ])('%s: says where and what to do', (_, text, errors) => {
    expect(errorsOf(text)).toEqual(errors)
  })

  it('stops aliases that multiply', () => {
    const list = (item: string): string => `[${Array.from({ length: 10 }, () => item).join(', ')}]`
    const text = `a: &a ${list('x')}\nb: &b ${list('*a')}\nc: &c ${list('*b')}\nd: &d ${list('*c')}\n`
    expect(errorsOf(HEADER + text)).toEqual([
      'muster.yaml:4:8: aliases repeat more than 100 times: write the values out',
    ])
  })
})

describe('a key', () => {
  it('that is misspelt is shown with the one that was meant', () => {
    const text = `${HEADER}integrations:\n  podOptions:\n    podSelectr: {}\n`
    const result = parseConfiguration(text, 'muster.yaml')
    expect(result).toEqual({
      errors: [
        {
          file: 'muster.yaml',
          line: 5,
          column: 5,
          path: 'integrations.podOptions.podSelectr',
          message: 'unknown key "podSelectr"; did you mean "podSelector"?',
        },
      ],
    })
  })

  it.each([
    [
      'in the wrong place',
      'podSelector: {}',
      'podSelector: unknown key "podSelector"; did you mean "integrations.podOptions.podSelector"?',
    ],
    ['in the wrong case', 'Engine: kueue', 'Engine: unknown key "Engine"; did you mean "engine"?'],
    ['with two letters swapped', 'gaurd: {}', 'gaurd: unknown key "gaurd"; did you mean "guard"?'],
    ['that is like none', 'replicas: 2', `replicas: unknown key "replicas"; ${KNOWN}`],
    ['that is a prototype', '__proto__: {engine: kueue}', `__proto__: unknown key "__proto__"; ${KNOWN}`],
    ['that would merge', '<<: {engine: kueue}', `[<<]: unknown key "<<"; ${KNOWN}`],
  ])('%s is refused with a hint', (_, line, error) => {
    expect(errorsOf(`${HEADER}${line}\n`)).toEqual([`muster.yaml:3:1: ${error}`])
  })

  it('that is required says what to add', () => {
    expect(errorsOf('engine: kueue\nqueues: [{}]\njobs: {scheduling: {namespaces: [{selector: {}}]}}\n')).toEqual([
      'muster.yaml:1:1: apiVersion: is required: add "apiVersion: config.muster.dev/v1alpha1"',
      'muster.yaml:1:1: kind: is required: add "kind: Configuration"',
      'muster.yaml:2:10: queues[0].name: is required',
      'muster.yaml:3:34: jobs.scheduling.namespaces[0].allow: is required',
    ])
  })
})

describe('a value', () => {
  it.each([
    [
      'of another API',
      'apiVersion: v1\nkind: Config',
      [
        '1:13: apiVersion: must be "config.muster.dev/v1alpha1", not "v1"',
        '2:7: kind: must be "Configuration", not "Config"',
      ],
    ],
    ['outside its list', `${HEADER}engine: Kueue`, ['3:9: engine: must be "builtin" or "kueue", not "Kueue"']],
    ['that is no word', `${HEADER}engine: 5`, ['3:9: engine: must be "builtin" or "kueue", not 5']],
    [
      'that is not a flag',
      `${HEADER}manageJobsWithoutQueueName: yes`,
      ['3:29: manageJobsWithoutQueueName: must be true or false, not "yes"'],
    ],
    ['left empty', `${HEADER}queues:`, ['3:8: queues: must be a list, not empty: give it a value or remove the key']],
    [
      'of the wrong kind',
      `${HEADER}integrations: [pod]\nguard: {exemptUsers: ada}`,
      ['3:15: integrations: must be a map, not a list', '4:22: guard.exemptUsers: must be a list, not "ada"'],
    ],
    [
      'that YAML reads as a number',
      `${HEADER}guard: {exemptUsers: [1e3]}`,
      ['3:23: guard.exemptUsers[0]: must be a string, not 1000: put it in quotes'],
    ],
    ['that is empty', `${HEADER}guard: {exemptUsers: [""]}`, ['3:23: guard.exemptUsers[0]: must not be empty']],
    [
      'listed twice',
      `${HEADER}guard: {exemptUsers: [ada, bob, ada]}`,
      ['3:33: guard.exemptUsers[2]: "ada" is listed twice'],
    ],
  ])('%s is refused', (_, text, errors) => {
    expect(errorsOf(`${text}\n`)).toEqual(errors.map(error => `muster.yaml:${error}`))
  })

  it('is shown in part when it is long', () => {
    expect(errorsOf(`${HEADER}engine: ${'x'.repeat(500)}\n`)).toEqual([
      `muster.yaml:3:9: engine: must be "builtin" or "kueue", not "${'x'.repeat(76)}...`,
    ])
  })
})

describe('schedulers', () => {
  it('place by one kind of groups each', () => {
    const text = `${HEADER}coScheduling: {kubernetes: {schedulerNames: [default-scheduler, kai-scheduler]}}\n`
    expect(parseConfiguration(text, 'c.yaml')).toMatchObject({
      errors: [
        { path: 'coScheduling.kubernetes.schedulerNames[1]', message: expect.stringContaining('both backends') },
      ],
    })
    const other = `${HEADER}coScheduling: {kai: {schedulerName: default-scheduler}}\n`
    expect(parseConfiguration(other, 'c.yaml')).toMatchObject({ errors: [{ path: 'coScheduling.kai.schedulerName' }] })
  })

  it('get a default for what is left out', () => {
    const text = `${HEADER}coScheduling: {backend: kai, kai: {naming: hashed}}\n`
    expect(parsed(text).configuration.coScheduling).toEqual({
      backend: 'kai',
      jobs: 'auto',
      kubernetes: { schedulerNames: ['default-scheduler'] },
      kai: { schedulerName: 'kai-scheduler', naming: 'hashed' },
    })
  })
})
