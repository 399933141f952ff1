import { describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { file, results, review } from './fixtures.ts'

const K = 'kueue.x-k8s.io/'
const config: Configuration = {
  ...DEFAULT_CONFIGURATION,
  integrations: { ...DEFAULT_CONFIGURATION.integrations, frameworks: ['pod', 'batch/job', 'jobset.x-k8s.io/jobset'] },
  queues: [
    { name: 'gpu', limits: { cpu: '4' }, nodeLabels: { pool: 'gpu' } },
    { name: 'q', limits: {} },
  ],
}

let files = 0
/** `CODE severity: message`, and the field. */
async function found(objects: readonly object[], options: Partial<Configuration> = {}): Promise<readonly string[]> {
  const name = file(`never-${files++}.json`, objects.map(object => JSON.stringify(object)).join('\n'))
  const report = await review([name], { config: { ...config, ...options } })
  expect([report.unreadable, report.failures]).toEqual([[], []])
  return results(report).flatMap(({ findings }) =>
    findings.map(({ code, severity, message, field }) => `${code} ${severity} ${field}: ${message}`),
  )
}

const GROUP_FIELD = `metadata.labels[${K}pod-group-name]`
const labels = { app: 'a', [`${K}queue-name`]: 'q', [`${K}pod-group-name`]: 'g' }
const annotations = (total: number, more: object = {}) => ({ [`${K}pod-group-total-count`]: String(total), ...more })
const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu: '1' } } }]
const member = (total: number, more: object = {}) => ({
  metadata: { labels, annotations: annotations(total, more) },
  spec: { containers },
})
const made = (apiVersion: string, kind: string, spec: object, metadata: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: 'm', namespace: 'a', ...metadata },
  spec,
})
const statefulSet = (template: object, more: object = {}) =>
  made('apps/v1', 'StatefulSet', { replicas: 3, selector: { matchLabels: { app: 'a' } }, template, ...more })
const jobOf = (template: object, pods: number) => ({ spec: { parallelism: pods, completions: pods, template } })
const ending = (template: { readonly metadata: object; readonly spec: object }) => ({
  ...template,
  spec: { restartPolicy: 'Never', ...template.spec },
})

describe('a group whose pods are made one after the other never starts:', () => {
  it('a StatefulSet', async () => {
    expect(await found([statefulSet(member(3))])).toEqual([
      expect.stringMatching(
        /^GroupDeadlock error metadata\.labels\[.*pod-group-name\]: group g never starts: a StatefulSet .* all 3 are there; write podManagementPolicy: Parallel/,
      ),
    ])
  })

  it('but not one that makes its pods at once, one pod, or one whose first pod starts alone', async () => {
    expect(await found([statefulSet(member(3), { podManagementPolicy: 'Parallel' })])).toEqual([])
    expect(await found([statefulSet(member(1), { replicas: 1 })])).toEqual([])
    expect(await found([statefulSet(member(3, { [`${K}pod-group-fast-admission`]: 'true' }))])).toEqual([])
  })

  it('nor is the second pod needed where others complete the group', async () => {
    const others = ['x', 'y'].map(name => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      ...{ metadata: { ...member(3).metadata, name, namespace: 'a' }, spec: { containers } },
    }))
    expect(await found([statefulSet(member(3), { replicas: 1 }), ...others])).toEqual([])
  })

  const jobSet = (more: object, second: object = {}, metadata: object = {}) =>
    made(
      'jobset.x-k8s.io/v1alpha2',
      'JobSet',
      {
        replicatedJobs: [
          { name: 'leader', template: jobOf(ending(member(3)), 1) },
          { name: 'workers', template: jobOf(ending(member(3)), 2), ...second },
        ],
        ...more,
      },
      metadata,
    )
  const dependsOn = (name: string) => [{ name, status: 'Complete' }]

  it('a JobSet in order, or with one of its Jobs behind another', async () => {
    const deadlock = [expect.stringMatching(/^GroupDeadlock error .*the Jobs of a JobSet start one after the other/)]
    expect(await found([jobSet({ startupPolicy: { startupPolicyOrder: 'InOrder' } })])).toEqual(deadlock)
    expect(await found([jobSet({}, { dependsOn: dependsOn('leader') })])).toEqual(deadlock)
    expect(await found([jobSet({})])).toEqual([])
  })

  it('also over a third that is in no group', async () => {
    const spec = {
      replicatedJobs: [
        { name: 'leader', template: jobOf(ending(member(2)), 1) },
        {
          name: 'between',
          template: jobOf(ending({ metadata: {}, spec: { containers } }), 1),
          dependsOn: dependsOn('leader'),
        },
        { name: 'workers', template: jobOf(ending(member(2)), 1), dependsOn: dependsOn('between') },
      ],
    }
    expect(await found([made('jobset.x-k8s.io/v1alpha2', 'JobSet', spec)])).toEqual([
      expect.stringContaining('GroupDeadlock'),
    ])
  })

  it('but not where the JobSet waits as a whole: its pods form no group then', async () => {
    const inOrder = { startupPolicy: { startupPolicyOrder: 'InOrder' } }
    const findings = await found([jobSet(inOrder, {}, { labels: { [`${K}queue-name`]: 'q' } })])
    expect(findings).toHaveLength(2)
    for (const finding of findings) {
      expect(finding).toBe(
        `KeyWithoutEffect warning ${GROUP_FIELD}: the pod waits with the object that makes it, and not by itself, so nothing waits for its group`,
      )
    }
  })

  const leaderWorkers = (startupPolicy: string, leaderTemplate?: object) =>
    made('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
      replicas: 1,
      startupPolicy,
      leaderWorkerTemplate: { size: 3, workerTemplate: member(3), ...(leaderTemplate && { leaderTemplate }) },
    })

  it('a LeaderWorkerSet whose workers wait for their leader', async () => {
    const deadlock = [expect.stringMatching(/^GroupDeadlock error .*write startupPolicy: LeaderCreated/)]
    expect(await found([leaderWorkers('LeaderReady', member(3))])).toEqual(deadlock)
    expect(await found([leaderWorkers('LeaderReady')])).toEqual(deadlock)
    expect(await found([leaderWorkers('LeaderCreated', member(3))])).toEqual([])
  })
})

describe('what its admission would write and cannot', () => {
  const gpu = { labels: { [`${K}queue-name`]: 'gpu' } }
  const there = (pool: string) => ({ containers, nodeSelector: { pool } })

  it('is that the pods run on the nodes of their queue', async () => {
    const pod = (pool: string) => made('v1', 'Pod', there(pool), gpu)
    const job = (pool: string) =>
      made('batch/v1', 'Job', jobOf(ending({ metadata: {}, spec: there(pool) }), 1).spec, gpu)
    expect(await found([pod('cpu')])).toEqual([
      'QueueElsewhere error spec.nodeSelector[pool]: queue gpu has its pods run on nodes with pool=gpu, and these ask for pool=cpu: they never start',
    ])
    expect(await found([job('cpu')])).toEqual([
      expect.stringMatching(/^QueueElsewhere error spec\.template\.spec\.nodeSelector\[pool\]: /),
    ])
    expect(await found([pod('gpu')])).toEqual([])
    expect(await found([job('gpu')])).toEqual([])
    expect(await found([pod('cpu')], { engine: 'kueue', queues: [] })).toEqual([])
  })

  it('are the marks of the admission', async () => {
    const template = ending({ metadata: { labels: { [`${K}podset`]: 'mine' } }, spec: { containers } })
    expect(await found([made('batch/v1', 'Job', jobOf(template, 1).spec, gpu)])).toEqual([
      `KeyMisplaced error spec.template.metadata.labels[${K}podset]: ${K}podset is written when it is admitted, and what says it already never starts: remove it`,
    ])
  })
})

describe('a Job without labels, which gets those of its pods,', () => {
  const template = ending({ metadata: { labels: { [`${K}queue-name`]: 'gpu' } }, spec: { containers } })
  const tooSmall = [
    expect.stringMatching(/^QueueTooSmall error spec\.template\.metadata\.labels\[.*queue-name\]: .*10 cpu of 4/),
  ]

  it('is held to its queue', async () => {
    expect(await found([made('batch/v1', 'Job', jobOf(template, 10).spec)])).toEqual(tooSmall)
    expect(await found([made('batch/v1', 'Job', jobOf(template, 4).spec)])).toEqual([])
  })

  it('also when a CronJob makes it, and its pods wait with it', async () => {
    const cron = (pods: number) =>
      made('batch/v1', 'CronJob', { schedule: '@daily', jobTemplate: jobOf(template, pods) })
    expect(await found([cron(10)])).toEqual(tooSmall)
    const report = await review([file('bare-cron.json', cron(2))], { config })
    expect(results(report).map(({ kind, reason, warnings }) => [kind, reason, warnings])).toEqual([
      ['CronJob', 'NotAJob', []],
    ])
  })
})

describe('what the API server takes and what not:', () => {
  const pod = (metadata: object, spec: object = {}) => made('v1', 'Pod', { containers, ...spec }, metadata)

  it('a label is shorter than a name may be', async () => {
    const queue = (length: number) => pod({ labels: { [`${K}queue-name`]: 'a'.repeat(length) } })
    expect(await found([queue(64)])).toEqual([
      expect.stringMatching(/^FieldInvalid error metadata\.labels\[.*\]: no API server takes a label of more than 63/),
    ])
    expect(await found([queue(63)])).toEqual([])
  })

  it('an empty restart policy is filled in', async () => {
    expect(await found([pod({}, { restartPolicy: '' })])).toEqual([])
    const job = made('batch/v1', 'Job', { template: { spec: { restartPolicy: '', containers } } })
    expect(await found([job])).toEqual([expect.stringContaining('restartPolicy is OnFailure or Never here')])
  })

  it('a Job may take longer than 31 bits of seconds', async () => {
    const job = (seconds: number) =>
      made('batch/v1', 'Job', {
        activeDeadlineSeconds: seconds,
        ...jobOf(ending({ metadata: {}, spec: { containers } }), 1).spec,
      })
    expect(await found([job(2 ** 31)])).toEqual([])
    expect(await found([job(-1)])).toEqual([expect.stringContaining('activeDeadlineSeconds is a whole number')])
  })

  it('labels that are null are empty texts in a template, too', async () => {
    const template = ending({ metadata: { labels: { x: null } }, spec: { containers } })
    const report = await review([file('null-label.json', made('batch/v1', 'Job', jobOf(template, 1).spec))], { config })
    expect(results(report)[0]).toMatchObject({ allowed: true, errors: [], findings: [] })
  })

  it('an object has metadata', async () => {
    const { metadata: _, ...nameless } = made('apps/v1', 'DaemonSet', {
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a' } }, spec: { containers } },
    })
    expect(await found([nameless])).toEqual([
      expect.stringMatching(/^NameMissing error metadata: a DaemonSet needs a name/),
    ])
  })
})

describe('what is not for pods, and decides about them:', () => {
  const configuration = (more: object, version = 'v1alpha1') => ({
    apiVersion: `config.muster.dev/${version}`,
    kind: 'Configuration',
    ...more,
  })

  it('a configuration of Muster is judged like one that is checked', async () => {
    expect(await found([configuration({ queues: [{ name: 'a', limits: { cpu: '4' } }] })])).toEqual([])
    expect(await found([configuration({ engin: 'kueue' })])).toEqual([
      'ConfigurationInvalid error engin: unknown key "engin"; did you mean "engine"?',
    ])
    expect(await found([configuration({ queues: [{ name: 'a', limits: { cpu: 'x' } }] })])).toEqual([
      expect.stringMatching(/^ConfigurationInvalid error queues\[0\]\.limits/),
    ])
    expect(await found([configuration({}, 'v9')])).toEqual([
      expect.stringMatching(/^ConfigurationInvalid error apiVersion: /),
    ])
  })

  it('its place is in the file, whatever stands before it', async () => {
    const text = `${JSON.stringify(made('v1', 'ConfigMap', {}))}\n---\n${'apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nengine: x\n'}`
    const report = await review([file('late-configuration.yaml', text)], { config })
    expect(results(report).flatMap(({ findings }) => findings.map(({ line, column }) => [line, column]))).toEqual([
      [5, 9],
    ])
  })

  const localQueue = (spec: object, version: string) => made(`kueue.x-k8s.io/${version}`, 'LocalQueue', spec)

  it('a LocalQueue has its ClusterQueue, and a version that Kueue serves', async () => {
    for (const version of ['v1beta1', 'v1beta2', 'v1']) {
      expect(await found([localQueue({ clusterQueue: 'c' }, version)])).toEqual([])
    }
    expect(await found([localQueue({}, 'v1beta1')])).toEqual([
      expect.stringMatching(/^FieldMissing warning spec\.clusterQueue: /),
    ])
    expect(await found([localQueue({ clusterQueue: 'c' }, 'v1alpha2')])).toEqual([
      'UnknownKind error apiVersion: no API server serves LocalQueue in version v1alpha2: write kueue.x-k8s.io/v1beta1',
    ])
    expect(await found([made('kueue.x-k8s.io/v1alpha1', 'Topology', {})])).toEqual([])
  })
})
