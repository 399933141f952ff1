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
      made('v1', 'Pod', '  containers: [{name: a}]\n', 'Train'),
      '3:18 FieldInvalid error: no API',
    ],
    ['a name that is too long', made('v1', 'Pod', '  containers: [{name: a}]\n', 'a'.repeat(254)), '3:18 FieldInvalid'],
    [
      'a namespace with a mark',
      made('v1', 'Pod', '  containers: [{name: a}]\n', 'p, namespace: team_a'),
      '3:32 FieldInvalid',
    ],
    [
      'a label with a space',
      made('v1', 'Pod', '  containers: [{name: a}]\n', 'p, labels: {app: a b}'),
      '3:35 FieldInvalid',
    ],
    [
      'a label of a template',
      set(`  selector: {}\n  template: ${TEMPLATE.replace('web', '"-"')}\n`),
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

describe('what may be meant is not found:', () => {
  it.each([
    ['a name that is filled in later', made('v1', 'Pod', '  containers: [{name: a}]\n', '"$(NAME)"')],
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
      await found(set(`  replicas: 2\n  selector: {}\n  template: ${ENDING.replace('restartPolicy: Never, ', '')}\n`)),
    ).toEqual([])
  })
})
