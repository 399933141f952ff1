import { describe, expect, it } from 'vitest'
import { type Configuration, DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { file, pod, QUEUE, results, review } from './fixtures.ts'

const wrong = { metadata: { labels: { [QUEUE]: 'NO' } }, spec: pod().spec }
const right = { metadata: { labels: { [QUEUE]: 'q' } }, spec: pod().spec }
const list = [{ name: 'a', template: wrong }]

/** `path reason` of the results for templates of an object. */
async function templates(apiVersion: string, kind: string, spec: object, options = {}) {
  const object = { apiVersion, kind, metadata: { name: 'x' }, spec }
  const report = await review([file('object.json', object)], options)
  expect(report.unreadable).toEqual([])
  return results(report)
    .filter(({ source }) => source.path !== undefined)
    .map(({ source, kind, name, reason }) => `${source.path} ${kind} ${name} ${reason}`)
}

describe('the pod templates of', () => {
  it.each([
    ['v1', 'ReplicationController', { template: wrong }, 'spec.template'],
    ['apps/v1', 'Deployment', { template: wrong }, 'spec.template'],
    ['apps/v1', 'StatefulSet', { template: wrong }, 'spec.template'],
    ['apps/v1', 'ReplicaSet', { template: wrong }, 'spec.template'],
    ['apps/v1', 'DaemonSet', { template: wrong }, 'spec.template'],
    ['batch/v1', 'Job', { template: wrong }, 'spec.template'],
    ['batch/v1', 'CronJob', { jobTemplate: { spec: { template: wrong } } }, 'spec.jobTemplate.spec.template'],
    [
      'jobset.x-k8s.io/v1alpha2',
      'JobSet',
      { replicatedJobs: [{ name: 'w', template: { spec: { template: wrong } } }] },
      'spec.replicatedJobs[0].template.spec.template',
    ],
    [
      'ray.io/v1',
      'RayJob',
      { rayClusterSpec: { workerGroupSpecs: list } },
      'spec.rayClusterSpec.workerGroupSpecs[0].template',
    ],
    [
      'kubeflow.org/v1',
      'PyTorchJob',
      { pytorchReplicaSpecs: { Worker: { template: wrong } } },
      'spec.pytorchReplicaSpecs.Worker.template',
    ],
    [
      'leaderworkerset.x-k8s.io/v1',
      'LeaderWorkerSet',
      { leaderWorkerTemplate: { workerTemplate: wrong } },
      'spec.leaderWorkerTemplate.workerTemplate',
    ],
    ['sparkoperator.k8s.io/v1beta2', 'SparkApplication', { executor: { template: wrong } }, 'spec.executor.template'],
  ])('%s %s are reviewed', async (apiVersion, kind, spec, path) => {
    const found = await templates(apiVersion, kind, spec)
    expect(found.filter(each => !each.includes(' Job '))).toEqual([`${path} Pod x-* Invalid`])
    // Without labels of its own, each of its Jobs gets those of its pods.
    expect(found.filter(each => each.includes(' Job '))).toEqual(
      kind === 'CronJob' ? ['spec.jobTemplate Job x-* Invalid'] : [],
    )
  })

  it('a kind that the configuration names', async () => {
    const config: Configuration = {
      ...DEFAULT_CONFIGURATION,
      review: { templates: [{ kind: 'example.com/Training', paths: ['spec.roles[].template'] }] },
    }
    expect(await templates('example.com/v1', 'Training', { roles: list })).toEqual([])
    expect(await templates('example.com/v1', 'Training', { roles: list }, { config })).toEqual([
      'spec.roles[0].template Pod x-* Invalid',
    ])
  })

  it('a kind of others are in the namespace that is given where the object names none', async () => {
    const spec = { rayClusterSpec: { workerGroupSpecs: [{ name: 'a', template: right }] } }
    const ray = { apiVersion: 'ray.io/v1', kind: 'RayJob', metadata: { name: 'x' }, spec }
    const found = async (namespace: string) =>
      results(await review([file('ray.json', ray)], { namespace })).map(each => `${each.namespace} ${each.reason}`)
    expect(await found('team')).toEqual(['team NotForMuster', 'team Gated'])
    // Nothing is queued there.
    expect(await found('kube-system')).toEqual(['kube-system NotForMuster', 'kube-system NamespaceNotSelected'])
  })

  it('owners that wait themselves make pods that do not', async () => {
    expect(await templates('apps/v1', 'StatefulSet', { template: right })).toEqual(['spec.template Pod x-* Gated'])
    const labels = { [QUEUE]: 'q' }
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x', labels }, spec: { template: right } }
    expect(results(await review([file('job.json', job)]))).toMatchObject([{ kind: 'Job', reason: 'Queued' }])
    const jobTemplate = { metadata: { labels }, spec: { template: right } }
    expect(await templates('batch/v1', 'CronJob', { jobTemplate })).toEqual([])
  })
})

describe('places', () => {
  const errorsOf = async (text: string) =>
    results(await review([file('places.yaml', text)])).flatMap(({ errors }) =>
      errors.map(({ field, line, column }) => `${line}:${column} ${field}`),
    )

  it('of errors are those of the field, in templates, Lists and annotations too', async () => {
    const text = `apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: d}
  spec:
    template:
      metadata:
        labels:
          app: web
          ${QUEUE}: q
          kueue.x-k8s.io/pod-group-name: g
          kueue.x-k8s.io/pod-group-role: driver
        annotations:
          kueue.x-k8s.io/pod-group-sets: |
            - name: driver
              count: 1
            - name: worker
              count: none
              template: {spec: {containers: [{name: a, image: b}]}}
      spec: {containers: [{name: main, image: b}]}
---
{"apiVersion": "v1", "kind": "Pod",
 "metadata": {"name": "p", "labels": {
   "${QUEUE}": "NO"}},
 "spec": {"containers": [{"name": "main"}]}}
`
    expect(await errorsOf(text)).toEqual([
      '20:22 metadata.annotations[kueue.x-k8s.io/pod-group-sets][1].count',
      `26:33 metadata.labels[${QUEUE}]`,
    ])
  })

  it('of what is missing are those of what is around it', async () => {
    const text = `apiVersion: v1
kind: Pod
metadata:
  name: a
  labels:
    ${QUEUE}: q
    kueue.x-k8s.io/pod-group-name: g
spec:
  containers: [{name: main, image: b}]
`
    expect(await errorsOf(text)).toEqual(['3:1 metadata.annotations[kueue.x-k8s.io/pod-group-total-count]'])
  })

  it('and whole numbers beyond 2^53 are what was written', async () => {
    const text = `apiVersion: v1
kind: Pod
metadata:
  name: a
  labels: {${QUEUE}: q, n: 9007199254740993}
spec:
  priority: 9223372036854775807
  containers: [{name: main, image: b}]
`
    const [result] = results(await review([file('exact.yaml', text)]))
    expect(JSON.stringify(result?.errors[0])).toContain('"value":9007199254740993,')
    expect(JSON.stringify(result?.result)).toContain('"priority":9223372036854775807,')
  })
})
