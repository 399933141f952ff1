import { describe, expect, it } from 'vitest'
import { file, results, review } from './fixtures.ts'

let files = 0
/** `LINE:COLUMN CODE severity: message`. */
async function found(text: string): Promise<readonly string[]> {
  const report = await review([file(`unworkable-${files++}.yaml`, text)])
  expect(report.unreadable).toEqual([])
  return results(report).flatMap(({ findings }) =>
    findings.map(({ line, column, code, severity, message }) => `${line}:${column} ${code} ${severity}: ${message}`),
  )
}

const TEMPLATE = '{metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: b}]}}'
const ENDING = '{spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}'
const made = (apiVersion: string, kind: string, spec: string, name = 'm'): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n${spec}`
const job = (spec: string): string => made('batch/v1', 'Job', `${spec}  template: ${ENDING}\n`)
const set = (spec: string): string => made('apps/v1', 'Deployment', spec)
const pod = (container: string, more = ''): string =>
  made('v1', 'Pod', `  containers:\n  - {name: a, image: b${container}}\n${more}`)
const jobSet = (spec: string): string => made('jobset.x-k8s.io/v1alpha2', 'JobSet', spec)
const cron = (schedule: string): string =>
  made('batch/v1', 'CronJob', `  schedule: ${schedule}\n  jobTemplate: {spec: {template: ${ENDING}}}\n`)
const SELECTOR = '  selector: {matchLabels: {app: web}}\n'

describe('what no API server takes is found:', () => {
  it.each([
    [
      'a name in capitals',
      made('v1', 'Pod', '  containers: [{name: a, image: b}]\n', 'Train'),
      '3:18 FieldInvalid error: no API',
    ],
    [
      'a name that is too long',
      made('v1', 'Pod', '  containers: [{name: a, image: b}]\n', 'a'.repeat(254)),
      '3:18 FieldInvalid',
    ],
    [
      'a namespace with a mark',
      made('v1', 'Pod', '  containers: [{name: a, image: b}]\n', 'p, namespace: team_a'),
      '3:32 FieldInvalid',
    ],
    [
      'a label with a space',
      made('v1', 'Pod', '  containers: [{name: a, image: b}]\n', 'p, labels: {app: a b}'),
      '3:35 FieldInvalid',
    ],
    [
      'a label of a template',
      set(
        `  selector: {matchExpressions: [{key: other, operator: DoesNotExist}]}\n  template: ${TEMPLATE.replace('web', '"-"')}\n`,
      ),
      '6:39 FieldInvalid',
    ],
    ['a pod without containers', made('v1', 'Pod', '  containers: []\n'), '5:3 FieldMissing warning: a pod needs'],
    ['two containers of one name', pod('', '  - {name: a, image: c}\n'), '7:12 FieldInvalid error: two containers'],
    ['a restart policy in small letters', pod('', '  restartPolicy: never\n'), '7:18 FieldInvalid'],
    [
      'a Job whose pods restart for ever',
      made('batch/v1', 'Job', `  template: ${ENDING.replace('Never', 'Always')}\n`),
      '5:36 FieldInvalid',
    ],
    [
      'a Job without a restart policy',
      made('batch/v1', 'Job', `  template: ${TEMPLATE}\n`),
      'FieldMissing warning: a Job takes no pods with restartPolicy Always',
    ],
    ['a Job without a template', made('batch/v1', 'Job', '  parallelism: 2\n'), 'FieldMissing warning: a Job needs'],
    ['a number in quotes', job('  parallelism: "4"\n'), '5:16 FieldInvalid error: parallelism is a whole number'],
    ['less than none', job('  completions: -1\n'), '5:16 FieldInvalid'],
    [
      'a Deployment whose pods end',
      set(`${SELECTOR}  template: ${TEMPLATE.replace('{containers', '{restartPolicy: Never, containers')}\n`),
      'FieldInvalid error: restartPolicy is Always here, not "Never"',
    ],
    [
      'a selector that selects others',
      set(`${SELECTOR.replace('web', 'api')}  template: ${TEMPLATE}\n`),
      '5:33 FieldInvalid',
    ],
    ['no selector', set(`  template: ${TEMPLATE}\n`), 'FieldMissing warning: it needs a selector'],
    ['a schedule in words', cron('every day'), '5:13 FieldInvalid error: "every day" is no schedule'],
    ['more than the limit', pod(', resources: {requests: {cpu: 2}, limits: {cpu: 1}}'), '6:53 FieldInvalid'],
    [
      'half a device',
      pod(', resources: {limits: {nvidia.com/gpu: "0.5"}}'),
      'FieldInvalid error: nvidia.com/gpu comes',
    ],
    [
      'a device without a limit',
      pod(', resources: {requests: {nvidia.com/gpu: 1}}'),
      'FieldMissing warning: nvidia.com/gpu',
    ],
    ['an amount that is none', pod(', resources: {requests: {cpu: 9 cores}}'), '6:53 FieldInvalid'],
    ['a JobSet without Jobs', jobSet('  replicatedJobs: []\n'), '5:3 FieldMissing'],
    [
      'two Jobs of one name in a JobSet',
      jobSet(`  replicatedJobs:\n${`  - {name: w, template: {spec: {template: ${ENDING}}}}\n`.repeat(2)}`),
      '7:12 FieldInvalid error: two of its Jobs',
    ],
    [
      'a template of Jobs without its spec',
      jobSet(`  replicatedJobs:\n  - {name: w, template: {template: ${ENDING}}}\n`),
      'UnknownField warning: there is no field template here; it belongs into the spec',
    ],
    [
      'a misspelt list of Jobs',
      jobSet('  replicatedJob: []\n'),
      'UnknownField warning: there is no field replicatedJob',
    ],
    [
      'replicas of a Job in the singular',
      jobSet(`  replicatedJobs:\n  - {name: w, replica: 3, template: {spec: {template: ${ENDING}}}}\n`),
      '6:24 UnknownField warning: there is no field replica here; did you mean replicas?',
    ],
    [
      'a queue in the spec',
      jobSet('  queueName: q\n  replicatedJobs: []\n'),
      'UnknownField warning: there is no field queueName',
    ],
    ['replicas in the singular', set(`${SELECTOR}  replica: 3\n  template: ${TEMPLATE}\n`), '6:12 UnknownField'],
    [
      'labels in the spec of a Deployment',
      set(`${SELECTOR}  labels: {a: b}\n  template: ${TEMPLATE}\n`),
      '6:3 UnknownField',
    ],
    [
      'a label of a template in the singular',
      set(`${SELECTOR}  template: ${TEMPLATE.replace('labels', 'label')}\n`),
      'UnknownField',
    ],
    ['resources in the singular', pod(', resource: {requests: {cpu: 1}}'), '6:25 UnknownField'],
    ['requests in the singular', pod(', resources: {request: {cpu: 1}}'), '6:37 UnknownField'],
    [
      'a slip on the way to a template',
      made('kubeflow.org/v1', 'PyTorchJob', `  pytorchReplicaSpec: {Worker: {template: ${TEMPLATE}}}\n`),
      '5:3 UnknownField warning: there is no field pytorchReplicaSpec here; did you mean pytorchReplicaSpecs?',
    ],
    [
      'a PodList without items',
      'apiVersion: v1\nkind: PodList\nitem: []\n',
      '2:7 UnknownKind error: a PodList has its',
    ],
  ])('%s', async (_what, text, expected) => {
    const all = await found(text)
    expect(
      all.filter(each => each.includes(expected)),
      all.join('\n'),
    ).toHaveLength(1)
  })
})

describe('what is no value of its field is found, in pods and in templates:', () => {
  it.each([
    [
      'an annotation that is a number',
      `${set(`${SELECTOR}  template: ${TEMPLATE}\n`).replace('{name: m}', '{name: m, annotations: {a: 7}}')}`,
      '3:38 FieldInvalid error: annotations[a] is a text, not 7: put it in quotes',
    ],
    [
      'labels as a list',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: [a=b]}\n',
      '3:21 FieldInvalid error: labels is a map, not ["a=b"]',
    ],
    [
      'a variable that is a number',
      pod(', env: [{name: X, value: 1}]'),
      '6:48 FieldInvalid error: value is a text, not 1',
    ],
    ['variables as a map', pod(', env: {X: "1"}'), '6:25 FieldInvalid error: env is a list, not {"X":"1"}'],
    ['an argument that is a number', pod(', args: [--n, 3]'), '6:37 FieldInvalid error: args[1] is a text, not 3'],
    ['a command in one text', pod(', command: sleep 3'), '6:34 FieldInvalid error: command is a list, not "sleep 3"'],
    [
      'a port in quotes',
      pod(', ports: [{containerPort: "80"}]'),
      '6:49 FieldInvalid error: containerPort is a whole number from 1',
    ],
    ['a port that there is not', pod(', ports: [{containerPort: 70000}]'), '6:49 FieldInvalid error: containerPort'],
    [
      'a word in small letters',
      pod(', imagePullPolicy: always'),
      '6:42 FieldInvalid error: imagePullPolicy is Always or IfNotPresent or Never',
    ],
    [
      'a switch in quotes',
      pod('', '  hostNetwork: "true"\n'),
      '7:16 FieldInvalid error: hostNetwork is true or false, not "true", without quotes',
    ],
    [
      'a number of a node',
      pod('', '  nodeSelector: {gpu: 1}\n'),
      '7:23 FieldInvalid error: nodeSelector[gpu] is a text',
    ],
    ['a toleration in one text', pod('', '  tolerations: [gpu]\n'), '7:17 FieldInvalid error: tolerations[0] is a map'],
    ['requests as a list', pod(', resources: {requests: [cpu]}'), '6:37 FieldInvalid error: requests is a map'],
    [
      'a device without its domain',
      pod(', resources: {limits: {gpu: 1}}'),
      '6:51 FieldInvalid error: no API server knows the resource "gpu"',
    ],
    [
      'containers as a map',
      made('v1', 'Pod', '  containers: {name: a, image: b}\n'),
      '5:3 FieldInvalid error: containers is a list',
    ],
    [
      'a container with capitals',
      made('v1', 'Pod', '  containers: [{name: Main, image: b}]\n'),
      '5:23 FieldInvalid error: no API server takes "Main"',
    ],
    [
      'a container without a name',
      made('v1', 'Pod', '  containers: [{image: b}]\n'),
      'FieldMissing warning: a container needs a name',
    ],
    [
      'a container and its preparation with one name',
      pod('', '  initContainers: [{name: a, image: b}]\n'),
      '7:27 FieldInvalid error: two containers have the name "a"',
    ],
    [
      'two volumes of one name',
      pod('', '  volumes: [{name: v}, {name: v}]\n'),
      '7:31 FieldInvalid error: two volumes have the name "v"',
    ],
    [
      'two gates of one name',
      pod('', '  schedulingGates: [{name: x.io/a}, {name: x.io/a}]\n'),
      'FieldInvalid error: two gates have',
    ],
    [
      'no time at all',
      pod('', '  activeDeadlineSeconds: 0\n'),
      '7:26 FieldInvalid error: activeDeadlineSeconds is a whole number from 1',
    ],
    ['a restart policy in a list', pod('', '  restartPolicy: [Never]\n'), '7:3 FieldInvalid error: restartPolicy is'],
    [
      'a prefix of names with capitals',
      pod('').replace('name: m', 'generateName: My_'),
      '3:26 FieldInvalid error: no API server takes the generateName',
    ],
    [
      'replicas in quotes',
      set(`${SELECTOR}  replicas: "3"\n  template: ${TEMPLATE}\n`),
      '6:13 FieldInvalid error: replicas is a whole number from 0 to 2147483647, not "3"',
    ],
    [
      'more replicas than a number holds',
      set(`${SELECTOR}  replicas: 9007199254740993\n  template: ${TEMPLATE}\n`),
      '6:13 FieldInvalid',
    ],
    [
      'a selector of nothing',
      set(`  selector: {}\n  template: ${TEMPLATE}\n`),
      '5:3 FieldInvalid error: no API server takes an empty selector',
    ],
    [
      'an expression that selects others',
      set(`  selector: {matchExpressions: [{key: app, operator: In, values: [x]}]}\n  template: ${TEMPLATE}\n`),
      '5:33 FieldInvalid error: it does not select',
    ],
    [
      'an operator that there is not',
      set(`  selector: {matchExpressions: [{key: app, operator: Is}]}\n  template: ${TEMPLATE}\n`),
      '5:33 FieldInvalid error: label selector: operator "Is"',
    ],
    [
      'more pods than a number holds',
      job('  parallelism: 3000000000\n'),
      '5:16 FieldInvalid error: parallelism is a whole number from 0 on',
    ],
    [
      'a mode in small letters',
      job('  completionMode: indexed\n'),
      '5:19 FieldInvalid error: completionMode is NonIndexed or Indexed',
    ],
    ['an index without an end', job('  completionMode: Indexed\n'), 'FieldMissing warning: an Indexed Job needs'],
    [
      'a limit per index without one',
      job('  backoffLimitPerIndex: 1\n'),
      'FieldMissing warning: backoffLimitPerIndex needs',
    ],
    [
      'a host name with a dot',
      job('  completionMode: Indexed\n  completions: 2\n').replace('name: m', 'name: a.b'),
      '3:18 FieldInvalid error: "a.b-1" would be the host name',
    ],
    [
      'a Job with a name for no label',
      job('').replace('name: m', `name: ${'a'.repeat(64)}`),
      '3:18 FieldInvalid error: no API server takes a name of more than 63',
    ],
    [
      'a CronJob with a name for no Job',
      cron('"@daily"').replace('name: m', `name: ${'a'.repeat(53)}`),
      '3:18 FieldInvalid error: no API server takes a name of more than 52',
    ],
    [
      'a minute that there is not',
      cron('60 3 * * *'),
      '5:13 FieldInvalid error: "60 3 * * *" is no schedule: "60" is no minute',
    ],
    [
      'the eighth day of the week',
      cron('0 3 * * 7'),
      '5:13 FieldInvalid error: "0 3 * * 7" is no schedule: "7" is no day of the week',
    ],
    ['a step of nothing', cron('"*/0 3 * * *"'), '5:13 FieldInvalid'],
    ['a range from its end', cron('5-1 3 * * *'), '5:13 FieldInvalid'],
    [
      'a policy in small letters',
      cron('"@daily"\n  concurrencyPolicy: forbid'),
      '6:22 FieldInvalid error: concurrencyPolicy is Allow',
    ],
    [
      'a Job of a JobSet with capitals',
      jobSet(`  replicatedJobs:\n  - {name: Worker, template: {spec: {template: ${ENDING}}}}\n`),
      '6:12 FieldInvalid error: a Job of it would be called "m-Worker-0"',
    ],
  ])('%s', async (_what, text, expected) => {
    const all = await found(text)
    expect(
      all.filter(each => each.includes(expected)),
      all.join('\n'),
    ).toHaveLength(1)
  })
})

describe('what may be meant is not found:', () => {
  it.each([
    ['a number that is filled in later', job('  parallelism: $(WORKERS)\n')],
    ['a field that is null', pod(', env: null, args: null', '  hostNetwork: null\n')],
    ['a label that is null, which is an empty text', pod('').replace('name: m', 'name: m, labels: {a: null}')],
    ['a whole number with a fraction of nothing', job('  parallelism: 2.0\n')],
    ['days by their names, and a list of ranges', cron('0,30 8-18/2 ? JAN-MAR,12 sun,TUE-sat')],
    ['an index and its end', job('  completionMode: Indexed\n  completions: 3\n  backoffLimitPerIndex: 1\n')],
    [
      'an expression that selects',
      set(`  selector: {matchExpressions: [{key: app, operator: Exists}]}\n  template: ${TEMPLATE}\n`),
    ],
    ['large pages', pod(', resources: {limits: {hugepages-2Mi: 4Mi, memory: 1Gi}}')],
    ['a name that is filled in later', made('v1', 'Pod', '  containers: [{name: a, image: b}]\n', '"$(NAME)"')],
    ['a schedule by its name', cron('"@daily"')],
    ['a schedule with steps and names', cron('"*/15 0-6 1,15 * MON-FRI"')],
    ['a whole device', pod(', resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: "1"}}')],
    ['less than the limit', pod(', resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {cpu: 1}}')],
    ['a Deployment as Helm makes it', set(`  replicas: 2\n${SELECTOR}  template: ${TEMPLATE}\n`)],
    [
      'a template that needs no leader',
      made(
        'leaderworkerset.x-k8s.io/v1',
        'LeaderWorkerSet',
        `  leaderWorkerTemplate: {size: 2, workerTemplate: ${TEMPLATE}}\n`,
      ),
    ],
    [
      'a JobSet that leaves the restart policy to its controller',
      jobSet(`  replicatedJobs:\n  - {name: w, replicas: 2, template: {spec: {template: ${TEMPLATE}}}}\n`),
    ],
    [
      'a container with its own restart policy',
      pod('', '  initContainers: [{name: i, image: b, restartPolicy: Always}]\n'),
    ],
  ])('%s', async (_what, text) => {
    expect(await found(text)).toEqual([])
  })

  it('a template without metadata, nor does it fail', async () => {
    expect(
      await found(
        set(
          `  replicas: 2\n  selector: {matchExpressions: [{key: other, operator: DoesNotExist}]}\n  template: ${ENDING.replace('restartPolicy: Never, ', '')}\n`,
        ),
      ),
    ).toEqual([])
  })
})
