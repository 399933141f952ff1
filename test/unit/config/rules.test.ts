import { describe, expect, it } from 'vitest'
import type { Configuration } from '../../../src/config/configuration.ts'
import { parseConfiguration } from '../../../src/config/load.ts'
import { formatConfigError } from '../../../src/config/source.ts'

const HEADER = 'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\n'
const KEY = 'is not a label key: write it as name or domain/name, with letters, digits, "-", "_" and "."'
const VALUE = 'is not a label value: at most 63 letters, digits, "-", "_" and ".", and a letter or digit at both ends'

function errorsOf(text: string): readonly string[] {
  const result = parseConfiguration(HEADER + text, 'm.yaml')
  return 'errors' in result ? result.errors.map(formatConfigError) : []
}

function warningsOf(text: string): readonly string[] {
  const result = parseConfiguration(HEADER + text, 'm.yaml')
  if ('errors' in result) throw new Error(result.errors.map(formatConfigError).join('\n'))
  return result.warnings
}

const selector = (text: string): string => `integrations:\n  podOptions:\n    podSelector: ${text}\n`
const AT = 'integrations.podOptions.podSelector'

describe('a label selector', () => {
  it('takes every operator', () => {
    const text =
      '{matchLabels: {a: "", b.c/d_e: F.g}, matchExpressions: [{key: a, operator: In, values: [x]}, {key: a, operator: NotIn, values: [x, ""]}, {key: a, operator: Exists}, {key: a, operator: DoesNotExist, values: []}]}'
    expect(errorsOf(selector(text))).toEqual([])
  })

  it.each([
    [
      'In without values',
      '{matchExpressions: [{key: a, operator: In}]}',
      `m.yaml:5:38: ${AT}.matchExpressions[0].values: operator In needs at least one value`,
    ],
    [
      'NotIn with none',
      '{matchExpressions: [{key: a, operator: NotIn, values: []}]}',
      `m.yaml:5:72: ${AT}.matchExpressions[0].values: operator NotIn needs at least one value`,
    ],
    [
      'Exists with values',
      '{matchExpressions: [{key: a, operator: Exists, values: [b]}]}',
      `m.yaml:5:73: ${AT}.matchExpressions[0].values: operator Exists takes no values: remove them`,
    ],
    [
      'an unknown operator',
      '{matchExpressions: [{key: a, operator: in}]}',
      `m.yaml:5:57: ${AT}.matchExpressions[0].operator: must be "In", "NotIn", "Exists" or "DoesNotExist", not "in"`,
    ],
    [
      'a bad key',
      '{matchExpressions: [{key: a/b/c, operator: Exists}]}',
      `m.yaml:5:44: ${AT}.matchExpressions[0].key: "a/b/c" ${KEY}`,
    ],
    ['a bad label', '{matchLabels: {"a b": c}}', `m.yaml:5:40: ${AT}.matchLabels[a b]: "a b" ${KEY}`],
    ['a bad label value', '{matchLabels: {a: "b c"}}', `m.yaml:5:36: ${AT}.matchLabels.a: "b c" ${VALUE}`],
    [
      'a bad expression value',
      '{matchExpressions: [{key: a, operator: In, values: [b, "-"]}]}',
      `m.yaml:5:73: ${AT}.matchExpressions[0].values[1]: "-" ${VALUE}`,
    ],
    [
      'a prototype for a label',
      '{matchLabels: {__proto__: a}}',
      `m.yaml:5:44: ${AT}.matchLabels.__proto__: "__proto__" ${KEY}`,
    ],
  ])('is refused with %s', (_, text, error) => {
    expect(errorsOf(selector(text))).toEqual([error])
  })

  it('is checked wherever it stands', () => {
    const broken = '{matchExpressions: [{key: a, operator: In}]}'
    const text = `integrations: {podOptions: {namespaceSelector: ${broken}}}\njobs: {scheduling: {namespaces: [{selector: ${broken}, allow: {}}]}}\n`
    expect(errorsOf(text)).toEqual([
      'm.yaml:3:68: integrations.podOptions.namespaceSelector.matchExpressions[0].values: operator In needs at least one value',
      'm.yaml:4:65: jobs.scheduling.namespaces[0].selector.matchExpressions[0].values: operator In needs at least one value',
    ])
  })
})

describe('a queue', () => {
  it('has a name of its own', () => {
    expect(errorsOf('queues:\n  - name: team-a\n  - name: team-b\n  - name: team-a\n')).toEqual([
      'm.yaml:6:11: queues[2].name: "team-a" is already the name of queues[0]',
    ])
  })

  it.each(['Team', 'a_b', '-a', 'a'.repeat(64)])('has a name that a pod can write in its label, not %s', name => {
    expect(errorsOf(`queues: [{name: ${name}}]\n`)).toEqual([
      `m.yaml:3:17: queues[0].name: "${name}" is not a queue name: at most 63 lower-case letters, digits, "-" and "."`,
    ])
  })

  it('takes limits as numbers or quantities', () => {
    const limits = '{pods: 64, cpu: "128", memory: 16Gi, nvidia.com/gpu: 16, ephemeral-storage: 1.5, x.y/z: 0}'
    expect(errorsOf(`queues: [{name: a, limits: ${limits}}]\n`)).toEqual([])
  })

  it.each([
    [
      'cpu: many',
      '3:34: queues[0].limits.cpu: "many" is not a quantity: write a number and at most one suffix, such as 500m, 2, 1.5Gi or 1e3',
    ],
    ['cpu: -1', '3:34: queues[0].limits.cpu: -1 is negative: a limit is 0 or more'],
    ['cpu: "-500m"', '3:34: queues[0].limits.cpu: "-500m" is negative: a limit is 0 or more'],
    ['cpu: .nan', '3:34: queues[0].limits.cpu: must be a number or a string, not NaN'],
    ['cpu: .inf', '3:34: queues[0].limits.cpu: must be a number or a string, not Infinity'],
    ['cpu: true', '3:34: queues[0].limits.cpu: must be a number or a string, not true'],
    ['memory: 9007199254740993', '3:37: queues[0].limits.memory: is too large for a YAML number: put it in quotes'],
    [
      'nvidia.com/gpu: x',
      '3:45: queues[0].limits[nvidia.com/gpu]: "x" is not a quantity: write a number and at most one suffix, such as 500m, 2, 1.5Gi or 1e3',
    ],
    [
      '"a b": 1',
      '3:36: queues[0].limits[a b]: "a b" is not a resource name: write it as cpu, memory, pods or domain/name',
    ],
  ])('is refused with the limit %s', (limit, error) => {
    expect(errorsOf(`queues: [{name: a, limits: {${limit}}}]\n`)).toEqual([`m.yaml:${error}`])
  })
})

describe('topology keys', () => {
  it.each(['["*"]', '[]', '[topology.kubernetes.io/zone, rack]'])('may be %s', keys => {
    expect(errorsOf(`jobs: {scheduling: {allow: {topologyKeys: ${keys}}}}\n`)).toEqual([])
  })

  it('are exact keys or the star alone', () => {
    const text =
      'jobs: {scheduling: {allow: {topologyKeys: [rack, "*"]}, namespaces: [{selector: {}, allow: {topologyKeys: [topology.kubernetes.io/*]}}]}}\n'
    expect(errorsOf(text)).toEqual([
      'm.yaml:3:50: jobs.scheduling.allow.topologyKeys[1]: "*" allows every key and must stand alone: remove it or the other keys',
      `m.yaml:3:108: jobs.scheduling.namespaces[0].allow.topologyKeys[0]: "topology.kubernetes.io/*" ${KEY}`,
    ])
  })
})

describe('a warning', () => {
  const danger = (line: string, namespace: string): string =>
    `m.yaml:${line}: integrations.podOptions.namespaceSelector: selects ${namespace}, whose pods may be needed before Muster can lift a gate: exclude it with {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, muster-system]}`
  const scope = (text: string): string => `integrations: {podOptions: {namespaceSelector: ${text}}}\n`

  it('tells that a selector reaches the namespaces that everything depends on', () => {
    expect(warningsOf(scope('{}'))).toEqual([danger('3:48', 'kube-system'), danger('3:48', 'muster-system')])
    const onlyKubeSystem =
      '{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}]}'
    expect(warningsOf(scope(onlyKubeSystem))).toEqual([danger('3:48', 'muster-system')])
  })

  it('is silent where the selector asks for a label that they do not have', () => {
    expect(warningsOf(scope('{matchLabels: {muster.dev/managed: "true"}}'))).toEqual([])
    expect(warningsOf('engine: kueue\n')).toEqual([])
  })

  it('tells of a framework that nobody knows, and of the one that was meant', () => {
    const frameworks = 'integrations: {frameworks: [pod, ray.io/raycluster, batch/jobs, example.com/thing]}\n'
    const creators = 'guard: {controllers: {ray.io/raycluster: ["*"], batch/jobs: [ada], example.com/thing: [bob]}}\n'
    expect(warningsOf(frameworks + creators)).toEqual([
      'm.yaml:3:53: integrations.frameworks[2]: "batch/jobs" is not a framework name that Kueue ships; did you mean "batch/job"?',
      'm.yaml:3:65: integrations.frameworks[3]: "example.com/thing" is not a framework name that Kueue ships',
      'm.yaml:4:61: guard.controllers[batch/jobs]: did you mean "batch/job"?',
    ])
  })
})

describe('where the pods of a queue run', () => {
  const queue = (text: string): string => `queues:\n  - name: team-a\n    ${text}\n`

  it('takes node labels and every form of toleration', () => {
    const text =
      '{nodeLabels: {pool: gpu, a.b/c: ""}, tolerations: [{operator: Exists}, {key: a, value: b, effect: NoSchedule}, {key: a.b/c, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]}'
    expect(errorsOf(`queues: [{name: team-a, ${text.slice(1, -1)}}]\n`)).toEqual([])
  })

  it.each([
    ['nodeLabels: {a b: c}', `queues[0].nodeLabels[a b]: "a b" ${KEY}`],
    ['nodeLabels: {a: "b c"}', `queues[0].nodeLabels.a: "b c" ${VALUE}`],
    ['tolerations: [{key: a b}]', `queues[0].tolerations[0].key: "a b" ${KEY}`],
    ['tolerations: [{value: b}]', 'queues[0].tolerations[0]: has no key: only operator Exists tolerates every taint'],
    [
      'tolerations: [{key: a, operator: Exists, value: b}]',
      'queues[0].tolerations[0].value: operator Exists takes no value: remove it',
    ],
    [
      'tolerations: [{key: a, tolerationSeconds: 5}]',
      'queues[0].tolerations[0].tolerationSeconds: needs effect NoExecute: no other effect ends with time',
    ],
  ])('refuses %s', (text, message) => {
    const [error = '', ...rest] = errorsOf(queue(text))
    expect(rest).toEqual([])
    expect(error).toContain(message)
  })
})

describe('who creates the pods of a framework', () => {
  function configurationOf(text: string): Configuration {
    const result = parseConfiguration(HEADER + text, 'm.yaml')
    if ('errors' in result) throw new Error(result.errors.map(formatConfigError).join('\n'))
    return result.configuration
  }

  it.each([
    ['the defaults', ''],
    [
      'the kinds whose controllers are Kubernetes’ own',
      'integrations: {frameworks: [pod, batch/job, deployment, statefulset]}\n',
    ],
    [
      'a kind whose creators are named',
      'integrations: {frameworks: [pod, ray.io/raycluster]}\nguard: {controllers: {ray.io/raycluster: [kuberay]}}\n',
    ],
    [
      'a kind that anybody may name',
      'integrations: {frameworks: [ray.io/rayjob]}\nguard: {controllers: {ray.io/rayjob: ["*"]}}\n',
    ],
  ])('is known for %s', (_what, text) => {
    expect(errorsOf(text)).toEqual([])
  })

  it('is added to what is known by default, kind by kind', () => {
    const { controllers } = configurationOf(
      'guard: {controllers: {ray.io/rayjob: [kuberay], statefulset: [mine]}}\n',
    ).guard
    expect(controllers).toMatchObject({
      'ray.io/rayjob': ['kuberay'],
      statefulset: ['mine'],
      'batch/job': ['system:serviceaccount:kube-system:job-controller', 'system:kube-controller-manager'],
    })
  })

  it('must be said for every other kind in use, and the error says what to write', () => {
    expect(errorsOf('integrations: {frameworks: [pod, batch/job, ray.io/raycluster]}\n')).toEqual([
      'm.yaml:3:45: integrations.frameworks[2]: nobody is named who creates the pods of "ray.io/raycluster": write ' +
        'guard.controllers: {ray.io/raycluster: ["system:serviceaccount:NAMESPACE:NAME"]} with the user of its ' +
        'controller, or ["*"] to believe whoever names such an owner',
    ])
    expect(errorsOf('integrations: {frameworks: [__proto__]}\n')).toHaveLength(1)
    expect(errorsOf('guard: {controllers: {batch/job: []}}\n')).toEqual([
      expect.stringMatching(/^m.yaml:3:34: guard.controllers\[batch\/job\]: nobody is named/),
    ])
  })

  it('is everybody or some, not both', () => {
    expect(errorsOf('guard: {controllers: {batch/job: [ada, "*"]}}\n')).toEqual([
      'm.yaml:3:40: guard.controllers[batch/job][1]: "*" stands for every user and must stand alone: remove it or the others',
    ])
  })
})

describe('whose queue it is', () => {
  it('is said by a label selector, as for everything that namespaces are chosen for', () => {
    expect(errorsOf('queues: [{name: a, namespaces: {matchLabels: {team: a}}}]\nunlistedQueues: refuse\n')).toEqual([])
    expect(errorsOf('queues: [{name: a, namespaces: {matchExpressions: [{key: team, operator: In}]}}]\n')).toEqual([
      expect.stringContaining('queues[0].namespaces.matchExpressions[0].values: operator In needs at least one value'),
    ])
    expect(errorsOf('unlistedQueues: deny\n')).toEqual([
      expect.stringMatching(/^m.yaml:3:17: unlistedQueues: must be "admit" or "refuse"/),
    ])
  })
})
