import { describe, expect, it } from 'vitest'
import { file, QUEUE, results, review } from './fixtures.ts'

const LABELS = { [QUEUE]: 'user-queue' }
const K = 'kueue.x-k8s.io/'
const containers = [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1', memory: '200Mi' } } }]

interface Shape {
  readonly labels?: object
  readonly annotations?: object
  readonly template?: object
  readonly pod?: object
  readonly spec?: object
}

function job({ labels = LABELS, annotations, template, pod, spec }: Shape = {}) {
  const metadata = { generateName: 'sample-', labels, ...(annotations && { annotations }) }
  const inner = { ...(template && { metadata: { annotations: template } }), spec: { containers, ...pod } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: { parallelism: 3, completions: 3, template: inner, ...spec },
  }
}

function jobSet(template?: object) {
  const pods = { ...(template && { metadata: { annotations: template } }), spec: { containers } }
  const replicated = { replicas: 2, template: { spec: { parallelism: 4, completions: 4, template: pods } } }
  const spec = {
    replicatedJobs: [
      { name: 'leader', ...replicated },
      { name: 'workers', ...replicated },
    ],
  }
  return { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { name: 'set', labels: LABELS }, spec }
}

const pod = (labels: object = {}, annotations?: object) => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { generateName: 'sample-', labels: { ...LABELS, ...labels }, ...(annotations && { annotations }) },
  spec: { restartPolicy: 'Never', containers },
})
const member = () => pod({ [`${K}pod-group-name`]: 'group' }, { [`${K}pod-group-total-count`]: '2' })

const serving = (kind: string, own: object, inner: object) => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { name: 'web', labels: own } },
  spec: { replicas: 3, template: { metadata: { labels: { app: 'web', ...inner } }, spec: { containers } } },
})
const other = (apiVersion: string, kind: string, labels: object = LABELS) => ({
  ...{ apiVersion, kind, metadata: { name: 'other', labels }, spec: { suspend: false } },
})
const cronJob = (own: object, jobs: object) => ({
  ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly', labels: own } },
  spec: { schedule: '0 3 * * *', jobTemplate: { metadata: { labels: jobs }, spec: job().spec } },
})

/** The shapes of the examples that Kueue publishes, by kind. All of these wait when they are created. */
const WAIT: readonly (readonly [string, object])[] = [
  ['a Job', job()],
  ['a Job of one pod', job({ spec: { parallelism: 1, completions: 1 } })],
  ['a Job that is suspended already', job({ spec: { suspend: true } })],
  ['a Job that may start with fewer pods', job({ annotations: { [`${K}job-min-parallelism`]: '2' } })],
  ['a Job that asks for machines', job({ annotations: { 'provreq.kueue.x-k8s.io/maxRunDurationSeconds': '600' } })],
  ['a Job with a priority', job({ labels: { ...LABELS, [`${K}priority-class`]: 'sample-priority' } })],
  ['a Job whose place is required', job({ template: { [`${K}podset-required-topology`]: 'example.com/block' } })],
  ['a Job whose place is preferred', job({ template: { [`${K}podset-preferred-topology`]: 'example.com/block' } })],
  ['a Job that may be anywhere', job({ template: { [`${K}podset-unconstrained-topology`]: 'true' } })],
  [
    'a Job with a claim',
    job({ pod: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'single-gpu' }] }, spec: {} }),
  ],
  ['a JobSet', jobSet()],
  ['a JobSet whose place is required', jobSet({ [`${K}podset-required-topology`]: 'example.com/block' })],
  [
    'a JobSet in slices',
    jobSet({
      [`${K}podset-required-topology`]: 'example.com/block',
      [`${K}podset-slice-required-topology`]: 'example.com/rack',
      [`${K}podset-slice-size`]: '4',
    }),
  ],
  ['a pod', pod()],
  ['a pod of a group', member()],
]

/** These do not, and the answer says why. */
const TOLD: readonly (readonly [string, object, RegExp])[] = [
  ['a Deployment with the label', serving('Deployment', LABELS, {}), /queues no Deployments here.*spec\.template/],
  ['a StatefulSet with the label', serving('StatefulSet', LABELS, {}), /queues no StatefulSets here.*spec\.template/],
  ['a CronJob with the label', cronJob(LABELS, {}), /queues no CronJobs here.*spec\.jobTemplate\.metadata\.labels/],
  ...[
    ['ray.io/v1', 'RayJob'],
    ['ray.io/v1', 'RayCluster'],
    ['ray.io/v1', 'RayService'],
    ['kubeflow.org/v2beta1', 'MPIJob'],
    ['kubeflow.org/v1', 'PyTorchJob'],
    ['kubeflow.org/v1', 'TFJob'],
    ['kubeflow.org/v1', 'XGBoostJob'],
    ['kubeflow.org/v1', 'PaddleJob'],
    ['kubeflow.org/v1', 'JAXJob'],
    ['trainer.kubeflow.org/v1alpha1', 'TrainJob'],
    ['sparkoperator.k8s.io/v1beta2', 'SparkApplication'],
    ['leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet'],
    ['workload.codeflare.dev/v1beta2', 'AppWrapper'],
    ['tekton.dev/v1', 'PipelineRun'],
  ].map(([apiVersion = '', kind = '']): readonly [string, object, RegExp] => [
    `a ${kind}`,
    other(apiVersion, kind),
    new RegExp(`queues no ${kind}s here.*needs Kueue`),
  ]),
]

/** Nothing of these waits itself: what they create does, and has the label. */
const MAKERS: readonly (readonly [string, object])[] = [
  ['a CronJob of Jobs with the label', cronJob({}, LABELS)],
  ['a Deployment of pods with the label', serving('Deployment', {}, LABELS)],
  ['a StatefulSet of pods with the label', serving('StatefulSet', {}, LABELS)],
  ['a Workflow of pods with the label', other('argoproj.io/v1alpha1', 'Workflow', {})],
  ['a Sandbox of a pod with the label', other('agents.x-k8s.io/v1alpha1', 'Sandbox', {})],
]

async function answerTo(object: object) {
  const [result] = results(await review([file('shape.json', object)]))
  if (result === undefined) throw new Error('no answer')
  const { spec } = result.result as { spec: { suspend?: boolean; schedulingGates?: readonly { name: string }[] } }
  const waits = spec.suspend === true || spec.schedulingGates?.[0]?.name === `${K}admission`
  return { waits, allowed: result.allowed, warnings: result.warnings, errors: result.errors }
}

describe('what Kueue publishes as examples, by its shape', () => {
  it.each(WAIT)('waits: %s', async (_what, object) => {
    expect(await answerTo(object)).toEqual({ waits: true, allowed: true, warnings: [], errors: [] })
  })

  it.each(TOLD)('does not wait, and the answer says why: %s', async (_what, object, why) => {
    const { waits, allowed, warnings } = await answerTo(object)
    expect({ waits, allowed }).toEqual({ waits: false, allowed: true })
    expect(warnings).toEqual([expect.stringMatching(why)])
  })

  it.each(MAKERS)('is for others to wait: %s', async (_what, object) => {
    expect(await answerTo(object)).toEqual({ waits: false, allowed: true, warnings: [], errors: [] })
  })

  it('is refused where nobody here can do what it asks: an elastic Job', async () => {
    const elastic = job({ annotations: { [`${K}elastic-job`]: 'true' }, spec: { completions: 100 } })
    const { allowed, errors } = await answerTo(elastic)
    expect(allowed).toBe(false)
    expect(errors).toMatchObject([{ type: 'Forbidden', field: `metadata.annotations[${K}elastic-job]` }])
  })
})
