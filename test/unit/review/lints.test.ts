import { describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { Baseline } from '../../../src/review/lints/baseline.ts'
import { LINTS } from '../../../src/review/lints/catalog.ts'
import { kindFindings } from '../../../src/review/lints/kinds.ts'
import type { ReviewOptions } from '../../../src/review/review.ts'
import { file, path, pod, QUEUE, results, review } from './fixtures.ts'

const GROUP = 'kueue.x-k8s.io/pod-group-name'
const COUNT = 'kueue.x-k8s.io/pod-group-total-count'

const queues: Configuration = {
  ...DEFAULT_CONFIGURATION,
  queues: [{ name: 'team-alpha', limits: { cpu: '8', pods: 3 } }],
}

let files = 0
/** `LINE CODE severity: message` of every finding. */
async function found(
  texts: string | readonly unknown[],
  options: Partial<ReviewOptions> = {},
): Promise<readonly string[]> {
  const text = typeof texts === 'string' ? texts : texts.map(each => JSON.stringify(each)).join('\n---\n')
  const report = await review([file(`lint-${files++}.yaml`, text)], options)
  expect(report.unreadable).toEqual([])
  return results(report).flatMap(({ findings }) =>
    findings.map(({ line, code, severity, message }) => `${line} ${code} ${severity}: ${message}`),
  )
}

function member(name: string, labels: object = {}, annotations: object = {}, spec: Record<string, unknown> = {}) {
  return pod(
    { name, labels: { [QUEUE]: 'team-alpha', [GROUP]: 'g', ...labels }, annotations: { [COUNT]: '2', ...annotations } },
    spec,
  )
}
const asking = (cpu: string) => ({ containers: [{ name: 'main', image: 'b', resources: { requests: { cpu } } }] })

describe('the pods of a group are judged together', () => {
  it('and nothing is found when all are there and agree', async () => {
    expect(await found([member('a'), member('b')])).toEqual([])
  })

  it('fewer than declared wait for the others', async () => {
    expect(await found([member('a')])).toEqual([
      '1 GroupIncomplete warning: 1 of the 2 pods of group g exist: it waits for the others (WaitingForPods)',
    ])
  })

  it('more than declared never start', async () => {
    expect(await found([member('a'), member('b'), member('c')])).toEqual([
      '1 GroupExcess error: group g has 3 pods here and declares 2: what is too many never starts',
    ])
  })

  it('one that contradicts the others makes the group invalid', async () => {
    expect(await found([member('a'), member('b', { [QUEUE]: 'other' })])).toEqual([
      '1 GroupInvalid error: pods a and b differ in their queue: "team-alpha" and "other"; all pods of group g must say the same',
    ])
    expect(await found([member('a'), member('b', {}, { [COUNT]: '3' })])).toEqual([
      '1 GroupInvalid error: pods a and b differ in the size of the group: "2" and "3"; all pods of group g must say the same',
    ])
  })

  it('those of a template count as often as they will be made', async () => {
    const { metadata, spec } = member('a')
    const set = (replicas: number) => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's' },
      spec: {
        replicas,
        podManagementPolicy: 'Parallel',
        selector: { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] },
        template: { metadata, spec },
      },
    })
    expect(await found([set(2)])).toEqual([])
    expect(await found([set(1)])).toEqual([expect.stringContaining('GroupIncomplete')])
  })

  it('of a Job no more at once than it needs, and of a JobSet those of each of its templates', async () => {
    const { metadata, spec } = member('a')
    const template = { metadata, spec: { ...spec, restartPolicy: 'Never' } }
    const job = (counts: object) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      // Without labels of its own it would have those of its pods, and wait in their stead.
      metadata: { name: 'j', labels: { own: 'label' } },
      spec: { ...counts, template },
    })
    const codes = async (object: object) => (await found([object])).map(text => text.split(' ')[1])
    expect(await codes(job({ parallelism: 8, completions: 2 }))).toEqual([])
    expect(await codes(job({ parallelism: 2, completions: 8 }))).toEqual([])
    expect(await codes(job({ parallelism: 8 }))).toEqual(['GroupExcess'])
    const { apiVersion: _, kind: __, ...cron } = job({ parallelism: 2 })
    const cronJob = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: { schedule: '@daily', jobTemplate: { metadata: { labels: { own: 'label' } }, spec: cron.spec } },
    }
    expect(await codes(cronJob)).toEqual([])
    const set = (...replicas: number[]) => ({
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 's' },
      spec: { replicatedJobs: replicas.map((each, i) => ({ name: `r${i}`, replicas: each, template: job({}) })) },
    })
    expect(await codes(set(2))).toEqual([])
    expect(await codes(set(1, 1))).toEqual([])
    expect(await codes(set(1))).toEqual(['GroupIncomplete'])
    expect(await codes(set(2, 1))).toEqual(['GroupExcess'])
  })

  it('and where nobody knows how many a controller makes, only contradictions are found', async () => {
    const { metadata, spec } = member('a')
    const daemons = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'd', namespace: 'default' } }
    const open = {
      ...daemons,
      spec: {
        selector: { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] },
        template: { metadata, spec },
      },
    }
    expect(await found([open])).toEqual([])
    expect(await found([open, member('b'), member('c')])).toEqual([])
    expect(await found([open, member('b', { [QUEUE]: 'other' })])).toEqual([expect.stringContaining('GroupInvalid')])
  })

  it('and one that is there twice counts once', async () => {
    const files = ['base', 'overlay'].map(name => file(`${name}.json`, member('a')))
    const report = await review([...files, file('other.json', member('b'))])
    expect(results(report).flatMap(({ findings }) => findings.map(({ code }) => code))).toEqual(['DuplicateName'])
  })

  it('in one namespace only', async () => {
    const elsewhere = { ...member('b'), metadata: { ...member('b').metadata, namespace: 'x' } }
    expect(await found([member('a'), elsewhere])).toHaveLength(2)
  })

  it('their queue must be able to hold them all', async () => {
    const options = { config: queues }
    expect(await found([member('a', {}, {}, asking('5')), member('b', {}, {}, asking('3'))], options)).toEqual([])
    expect(await found([member('a', {}, {}, asking('5')), member('b', {}, {}, asking('5'))], options)).toEqual([
      expect.stringMatching(/^1 QueueTooSmall error: queue team-alpha can never hold it: asks for 10 cpu of 8;/),
    ])
  })
})

describe('a queue', () => {
  it('that can never hold a pod, a Job or a JobSet', async () => {
    const template = { spec: { ...asking('3'), restartPolicy: 'Never' } }
    const metadata = { name: 'j', labels: { [QUEUE]: 'team-alpha' } }
    const job = (parallelism: number) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: { parallelism, template },
    })
    const jobs = [{ name: 'w', replicas: 2, template: { spec: job(2).spec } }]
    const set = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata, spec: { replicatedJobs: jobs } }
    const options = { config: queues }
    expect(await found([job(2)], options)).toEqual([])
    expect(await found([job(3)], options)).toEqual([expect.stringContaining('asks for 9 cpu of 8')])
    expect(await found([set], options)).toEqual([expect.stringContaining('asks for 12 cpu of 8, asks for 4 pods of 3')])
    expect(await found([pod({ labels: { [QUEUE]: 'team-alpha' } }, asking('9'))], options)).toHaveLength(1)
  })

  it('whose name is nearly a listed one, where others are not refused anyway', async () => {
    const named = (queue: string) => found([pod({ labels: { [QUEUE]: queue } })], { config: queues })
    expect(await named('team-alfa')).toEqual([
      '1 QueueUnlisted warning: queue "team-alfa" is not listed, so it has no limits; did you mean "team-alpha"?',
    ])
    expect(await named('research')).toEqual([])
    const refused = await review([file('refused.json', pod({ labels: { [QUEUE]: 'team-alfa' } }))], {
      config: { ...queues, unlistedQueues: 'refuse' },
    })
    expect(results(refused)[0]).toMatchObject({ allowed: false, findings: [] })
  })

  it('named by an object that nothing queues', async () => {
    const text = `apiVersion: ray.io/v1\nkind: RayJob\nmetadata:\n  name: r\n  labels:\n    ${QUEUE}: q\n`
    expect(await found(text)).toEqual([expect.stringMatching(/^6 LabelWithoutEffect warning: nothing queues a RayJob/)])
    const template = { metadata: { labels: { [QUEUE]: 'q' } }, spec: { containers: [{ name: 'a', image: 'b' }] } }
    const set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'd', labels: { [QUEUE]: 'q' } } }
    expect(
      await found([
        { ...set, spec: { selector: { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] }, template } },
      ]),
    ).toEqual([])
  })
})

describe('keys', () => {
  it('that neither Kueue nor Muster knows, with the nearest that is known', async () => {
    const labels = { [QUEUE]: 'q', 'kueue.x-k8s.io/pod-grop-name': 'g' }
    expect(await found([pod({ labels, annotations: { 'muster.dev/x': 'y' } })])).toEqual([
      '1 UnknownKey warning: kueue.x-k8s.io/pod-grop-name is no key of Kueue; did you mean kueue.x-k8s.io/pod-group-name?',
      '1 UnknownKey warning: muster.dev/x is no key of Muster',
    ])
  })

  it('of Kueue on which the built-in engine does not act', async () => {
    const object = pod({
      labels: { 'kueue.x-k8s.io/max-exec-time-seconds': '60', 'kueue.x-k8s.io/priority-class': 'high' },
      annotations: { 'kueue.x-k8s.io/podset-required-topology': 'rack' },
    })
    expect((await found([object])).map(text => text.split(' ')[1])).toEqual(Array(3).fill('KeyWithoutEffect'))
    expect(await found([object], { config: { ...DEFAULT_CONFIGURATION, engine: 'kueue' } })).toEqual([])
  })

  it('of which one has an effect where PodGroups are served', async () => {
    const object = pod({ name: 'p', annotations: { 'kueue.x-k8s.io/podset-required-topology': 'rack' } })
    const group = { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata: { name: 'g' } }
    expect(await found([object], { clusterState: [file('state.json', JSON.stringify(group))] })).toEqual([])
    expect(await found([object])).toHaveLength(1)
  })
})

describe('kinds', () => {
  it.each([
    ['batch', 'v2', 'Job', 'no API server serves Job in version v2: write batch/v1'],
    ['app', 'v1', 'Deployment', 'there is no group app: Deployment is of apps/v1'],
    ['', 'v1', 'Deployment', 'Deployment is of apps/v1'],
    ['apps', 'v1', 'Deploymnet', 'there is no Deploymnet; did you mean Deployment?'],
    ['', 'v1', 'pod', 'there is no pod; did you mean Pod?'],
    ['', 'v1', 'Pods', 'there is no Pods; did you mean Pod?'],
    ['extensions', 'v1beta1', 'Ingress', 'there is no group extensions: Ingress is of networking.k8s.io/v1'],
    [
      'jobset.x-k8s.io',
      'v1alpha1',
      'JobSet',
      'no API server serves JobSet in version v1alpha1: write jobset.x-k8s.io/v1alpha2',
    ],
  ])('%s/%s %s: %s', (group, version, kind, message) => {
    expect(kindFindings(group, version, kind).map(each => each.message)).toEqual([message])
  })

  it.each([
    ['batch', 'v1', 'Job'],
    ['batch.volcano.sh', 'v1alpha1', 'Job'],
    ['serving.knative.dev', 'v1', 'Service'],
    ['', 'v1', 'ComponentStatus'],
    ['example.com', 'v1', 'Anything'],
  ])('%s/%s %s may be right', (group, version, kind) => {
    expect(kindFindings(group, version, kind)).toEqual([])
  })
})

describe('names', () => {
  it('that are there twice: an error in one file, a warning in two', async () => {
    expect(await found([pod(), pod()])).toEqual([
      expect.stringMatching(/^3 DuplicateName error: Pod "a" is also at .*:1:/),
    ])
    const report = await review([file('base.json', pod()), file('overlay.json', pod())])
    expect(results(report).map(({ findings }) => findings[0]?.severity)).toEqual([undefined, 'warning'])
    expect(await found([pod(), pod({ namespace: 'x' }), pod({ name: undefined, generateName: 'a' })])).toEqual([])
  })
})

describe('suppression', () => {
  const once = JSON.stringify(pod())

  it('stands in the document, with a reason', async () => {
    const text = `${once}\n---\n# muster:ignore DuplicateName: the other one is for the old cluster\n${once}\n`
    expect(await found(text)).toEqual([])
    const report = await review([path('lint-suppressed.yaml')].map(name => file(name.split('/').at(-1) ?? '', text)))
    expect(report.entries.map(entry => (entry.kind === 'result' ? entry.suppressed : -1))).toEqual([0, 1])
  })

  it('without a reason, or of a code that is none, is told itself', async () => {
    expect(await found(`${once}\n---\n# muster:ignore DuplicateName\n${once}\n`)).toEqual([
      expect.stringContaining('DuplicateName error'),
      expect.stringContaining('BareSuppression warning: muster:ignore DuplicateName needs a reason'),
    ])
    expect(await found(`# muster:ignore Everything please\n${once}\n`)).toEqual([
      expect.stringContaining('muster:ignore Everything: there is no lint of this code'),
    ])
  })

  it('by a baseline holds for the object and the code, wherever it stands', async () => {
    const entry = { code: 'DuplicateName', kind: 'Pod', namespace: 'default', name: 'a', reason: 'known' }
    const baseline = new Baseline([entry, { ...entry, name: 'gone' }])
    expect(await found(`\n\n${once}\n---\n${once}\n`, { baseline })).toEqual([])
    expect(baseline.stale).toBe(1)
  })
})

it('a request that was once sent is not linted', async () => {
  const request = { operation: 'CREATE', namespace: 'default', object: pod({ labels: { 'kueue.x-k8s.io/oops': 'x' } }) }
  const sent = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
  expect(await found([sent, sent])).toEqual([])
})

it('codes are unique and sorted', () => {
  const codes = LINTS.map(({ code }) => code)
  expect(codes).toEqual([...new Set(codes)].sort())
})
