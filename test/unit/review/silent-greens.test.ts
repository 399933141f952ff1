import { describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { file, results, review } from './fixtures.ts'

const K = 'kueue.x-k8s.io/'
const Q = `${K}queue-name`
const GROUP = `${K}pod-group-name`
const COUNT = `${K}pod-group-total-count`

const config: Configuration = {
  ...DEFAULT_CONFIGURATION,
  queues: [
    { name: 'team-alpha', limits: { cpu: '8', pods: 3, 'nvidia.com/gpu': 2 } },
    { name: 'team-beta', limits: {} },
  ],
}

let files = 0
/** `LINE CODE severity: message`, and what is denied or cannot be read. */
async function found(text: string, options: Partial<Configuration> = {}): Promise<readonly string[]> {
  const report = await review([file(`green-${files++}.yaml`, text)], { config: { ...config, ...options } })
  const unreadable = report.unreadable.map(({ line, message }) => `${line} unreadable: ${message}`)
  return [
    ...unreadable,
    ...results(report).flatMap(({ allowed, errors, findings }) => [
      ...(allowed ? [] : errors.map(({ line, field }) => `${line} denied: ${field}`)),
      ...findings.map(({ line, code, severity, message }) => `${line} ${code} ${severity}: ${message}`),
    ]),
  ]
}

const SPEC = 'spec:\n  containers: [{name: a, image: b}]\n'
function pod(metadata: string, spec = SPEC): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n${metadata}${spec}`
}
const labelled = (...labels: readonly string[]): string => `  labels:\n${labels.map(each => `    ${each}\n`).join('')}`
const annotated = (...keys: readonly string[]): string =>
  `  annotations:\n${keys.map(each => `    ${each}\n`).join('')}`
const QUEUED = `${Q}: team-alpha`

function made(apiVersion: string, kind: string, spec: string, metadata = ''): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: m\n${metadata}spec:\n${spec}`
}
const template = (label: string, indent: string, more = ''): string =>
  `${indent}template:\n${indent}  metadata:\n${indent}    labels:\n${indent}      ${label}\n${indent}  spec: {restartPolicy: Never, containers: [{name: a, image: b${more}}]}\n`
const endless = (label: string): string => template(label, '  ').replace('restartPolicy: Never, ', '')
const cron = (job: string, spec = ''): string =>
  made(
    'batch/v1',
    'CronJob',
    `  schedule: "* * * * *"\n  jobTemplate:\n${job}    spec:\n${spec}      template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}\n`,
  )

const MEANT = `did you mean ${Q}?`

describe('nothing is green in silence that cannot work:', () => {
  it.each([
    ['a queue among the annotations', pod(annotated(QUEUED)), 6, 'KeyMisplaced'],
    ['a prefix without its end', pod(labelled('kueue.x-k8s/queue-name: q')), 6, 'UnknownKey', MEANT],
    ['a prefix of another project', pod(labelled('kueue.k8s.io/queue-name: q')), 6, 'UnknownKey', MEANT],
    ['a prefix with q', pod(labelled('queue.x-k8s.io/queue-name: q')), 6, 'UnknownKey', MEANT],
    ['a prefix in capitals', pod(labelled('Kueue.x-k8s.io/queue-name: q')), 6, 'UnknownKey', MEANT],
    ['another mark than a slash', pod(labelled('kueue.x-k8s.io_queue-name: q')), 6, 'UnknownKey', MEANT],
    ['no prefix at all', pod(labelled('queue-name: q')), 6, 'UnknownKey', MEANT],
    ['the prefix of the other', pod(labelled('muster.dev/queue-name: q')), 6, 'UnknownKey', MEANT],
    ['a size of the group among the labels', pod(labelled(QUEUED, `${COUNT}: "1"`)), 7, 'KeyMisplaced'],
    [
      'a group without a queue',
      pod(labelled(`${GROUP}: g`) + annotated(`${COUNT}: "1"`)),
      6,
      'KeyWithoutEffect',
      'asks for no queue',
    ],
    [
      'a switch of groups on a pod of none',
      pod(annotated(`${K}retriable-in-group: "false"`)),
      6,
      'KeyWithoutEffect',
      'is of none',
    ],
    [
      'a switch that is neither on nor off',
      pod(labelled(QUEUED, `${GROUP}: g`) + annotated(`${COUNT}: "1"`, `${K}retriable-in-group: "no"`)),
      10,
      'KeyWithoutEffect',
      '"true" or "false"',
    ],
    ['labels under spec', pod('', `${SPEC}  labels: {${QUEUED}}\n`), 7, 'UnknownField', 'belongs into metadata'],
    ['labels beside metadata', pod('', `labels: {${QUEUED}}\n${SPEC}`), 5, 'UnknownField', 'belongs into metadata'],
    ['one label', pod(`  label: {${QUEUED}}\n`), 5, 'UnknownField', 'did you mean labels?'],
    ['a key in metadata itself', pod(`  ${QUEUED}\n`), 5, 'UnknownField', 'metadata.labels'],
    [
      'a misspelt block',
      made('batch/v1', 'Job', `  schedulling: {}\n${template('app: x', '  ')}`),
      6,
      'UnknownField',
      'did you mean scheduling?',
    ],
    [
      'a block in the pod spec',
      made(
        'batch/v1',
        'Job',
        '  template:\n    spec:\n      scheduling: {}\n      containers: [{name: a, image: b}]\n',
      ),
      8,
      'UnknownField',
      'Job spec',
    ],
    [
      'labels in the spec of a template of Jobs',
      cron('', '      labels: {a: b}\n'),
      9,
      'UnknownField',
      'belongs into metadata',
    ],
    [
      'a misspelt key in a template of Jobs',
      cron(`    metadata: {labels: {${K}queue-nam: q}}\n`),
      8,
      'UnknownKey',
      MEANT,
    ],
    [
      'a misspelt queue in a template of Jobs',
      cron(`    metadata: {labels: {${Q}: team-alhpa}}\n`),
      8,
      'QueueUnlisted',
    ],
    [
      'a queue that no API server takes, in a template of Jobs',
      cron(`    metadata: {labels: {${Q}: Team_Alpha}}\n`),
      8,
      'denied',
    ],
    [
      'Jobs that their queue never holds',
      cron(`    metadata: {labels: {${QUEUED}}}\n`, '      parallelism: 9\n'),
      8,
      'QueueTooSmall',
      'error',
    ],
    [
      'a misspelt queue in a pod template',
      made('apps/v1', 'Deployment', template(`${Q}: team-aplha`, '  ')),
      9,
      'QueueUnlisted',
    ],
    [
      'pods that their queue never holds',
      made('apps/v1', 'Deployment', template(QUEUED, '  ', ', resources: {requests: {cpu: 9}}')),
      9,
      'QueueTooSmall',
      'error',
    ],
    [
      'replicas that their queue never holds all',
      made('apps/v1', 'Deployment', `  replicas: 4\n${template(QUEUED, '  ')}`),
      6,
      'QueueTooSmall',
      'warning: not all of its 4 pods start',
    ],
    [
      'another queue in the template than on the Job',
      made('batch/v1', 'Job', template(`${Q}: team-beta`, '  '), labelled(QUEUED)),
      11,
      'LabelWithoutEffect',
      'waits in queue "team-alpha"',
    ],
    [
      'a template in a kind that nobody knows',
      made('example.com/v1', 'Thing', template(QUEUED, '  ')),
      6,
      'TemplateNotReviewed',
      '{kind: example.com/Thing, paths: [spec.template]}',
    ],
    ['a misspelt kind of others', made('ray.io/v1', 'RayJobs', '  a: b\n'), 2, 'UnknownKind', 'did you mean RayJob?'],
    [
      'a misspelt kind of Kueue',
      made('kueue.x-k8s.io/v1beta2', 'LocalQue', '  a: b\n'),
      2,
      'UnknownKind',
      'LocalQueue',
    ],
    [
      'a resource in the plural',
      pod(labelled(QUEUED), 'spec:\n  containers: [{name: a, resources: {requests: {nvidia.com/gpus: 4}}}]\n'),
      6,
      'ResourceUnlisted',
      'did you mean nvidia.com/gpu?',
    ],
    [
      'a namespace that is not queued',
      pod(`  namespace: kube-system\n${labelled(QUEUED)}`),
      7,
      'LabelWithoutEffect',
      'namespace',
    ],
    [
      'a Job of another controller',
      made('batch/v1', 'Job', `  managedBy: example.com/x\n${template('app: x', '  ')}`, labelled(QUEUED)),
      6,
      'LabelWithoutEffect',
      'another controller',
    ],
    [
      'a gate without a queue',
      pod('', `spec:\n  schedulingGates: [{name: ${K}admission}]\n  containers: []\n`),
      6,
      'GateNeverLifted',
      'error',
    ],
    [
      'a misspelt gate',
      pod('', `spec:\n  schedulingGates: [{name: ${K}admision}]\n  containers: []\n`),
      6,
      'GateNeverLifted',
      'error',
    ],
    ['a block on a pod', pod(annotated('muster.dev/scheduling: "{}"')), 6, 'KeyMisplaced', 'Job or JobSet'],
    [
      'a group on a Deployment',
      made('apps/v1', 'Deployment', template(QUEUED, '  '), labelled(`${GROUP}: g`)),
      6,
      'KeyMisplaced',
      'pod template',
    ],
    ['a word for Jobs on a pod', pod(annotated(`${K}job-min-parallelism: "1"`)), 6, 'KeyMisplaced', 'on a Job itself'],
    [
      'a List without items',
      `apiVersion: v1\nkind: List\nitem:\n- ${JSON.stringify({ kind: 'Pod' })}\n`,
      1,
      'unreadable',
      'items',
    ],
    [
      'a pod without a name',
      `apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: b}}\n${SPEC}`,
      3,
      'NameMissing',
      'error',
    ],
    [
      'a name that YAML takes for false',
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n`,
      3,
      'NameMissing',
      'put it in quotes',
    ],
    [
      'a name twice, once with the namespace',
      `${made('v1', 'ConfigMap', '  a: b\n')}---\n${made('v1', 'ConfigMap', '  a: b\n', '  namespace: default\n')}`,
      11,
      'DuplicateName',
      'error',
    ],
    [
      'a kustomization',
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n',
      2,
      'NotRendered',
      'kustomize build',
    ],
  ])('%s', async (_what, text, line, code, message = '') => {
    const all = await found(text)
    expect(
      all.filter(each => each.startsWith(`${line} ${code}`) && each.includes(message)),
      all.join('\n'),
    ).toHaveLength(1)
  })
})

describe('nothing is found where nothing is wrong:', () => {
  it.each([
    ['a pod in a queue', pod(labelled(QUEUED))],
    [
      'a pod that came with its gate',
      pod(labelled(QUEUED), `spec:\n  schedulingGates: [{name: ${K}admission}]\n  containers: [{name: a, image: b}]\n`),
    ],
    [
      'a gate of somebody else',
      pod('', 'spec:\n  schedulingGates: [{name: example.com/hold}]\n  containers: [{name: a, image: b}]\n'),
    ],
    [
      'keys of others that sound alike',
      pod(annotated('volcano.sh/queue-name: q', 'example.com/pod-group-name: g') + labelled('muster-team: a')),
    ],
    ['a field of a later Kubernetes', pod('', `${SPEC}  quiescence: {}\n`)],
    ['a CronJob whose Jobs wait', cron(`    metadata: {labels: {${QUEUED}}}\n`)],
    [
      'the same queue on the Job and in its template',
      made('batch/v1', 'Job', template(QUEUED, '  '), labelled(QUEUED)),
    ],
    [
      'replicas that all have room',
      made(
        'apps/v1',
        'Deployment',
        `  replicas: 3\n  selector: {matchExpressions: [{key: other, operator: DoesNotExist}]}\n${endless(QUEUED)}`,
      ),
    ],
    [
      'a resource that the queue does not limit',
      pod(labelled(QUEUED), 'spec:\n  containers: [{name: a, image: b, resources: {limits: {amd.com/gpu: 4}}}]\n'),
    ],
    ['the same name in two namespaces', `${pod('  namespace: dev\n')}---\n${pod('  namespace: prod\n')}`],
    [
      'the same name of two cluster-wide kinds',
      `${made('v1', 'Node', '  a: b\n')}---\n${made('v1', 'Namespace', '  a: b\n')}`,
    ],
    ['an empty List', 'apiVersion: v1\nkind: List\nitems:\n'],
    ['a kind of others whose template is known', made('example.com/v1', 'Thing', template('app: x', '  '))],
  ])('%s', async (_what, text) => {
    expect(await found(text)).toEqual([])
  })

  it("the gate of topologies is Kueue's where Kueue is the engine", async () => {
    const text = pod('', `spec:\n  schedulingGates: [{name: ${K}topology}]\n  containers: [{name: a, image: b}]\n`)
    expect(await found(text)).toEqual([expect.stringContaining('GateNeverLifted')])
    expect(await found(text, { engine: 'kueue' })).toEqual([])
  })
})
