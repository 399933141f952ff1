import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAME, QUEUED } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { condition, type QueuedWorkload } from '../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

const NAMESPACE = 'kueue'
const K = 'kueue.x-k8s.io/'
const labels = { [QUEUE_NAME]: 'closed' }
const container = { name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu: '1' } } }
const pods = { restartPolicy: 'Never', containers: [container] }

interface Shape {
  readonly annotations?: object
  readonly template?: object
  readonly pod?: object
  readonly spec?: object
}

function job(name: string, { annotations = {}, template = {}, pod, spec }: Shape = {}): object {
  const inner = { metadata: { annotations: template }, spec: { ...pods, ...pod } }
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: NAMESPACE, labels, annotations } },
    spec: { parallelism: 3, completions: 3, ...spec, template: inner },
  }
}

function jobSet(name: string, template: object = {}): object {
  const inner = { metadata: { annotations: template }, spec: pods }
  const replicated = { replicas: 2, template: { spec: { parallelism: 4, completions: 4, template: inner } } }
  return {
    ...{ apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { name, namespace: NAMESPACE, labels } },
    spec: { replicatedJobs: [{ name: 'workers', ...replicated }] },
  }
}

const serving = (kind: string, name: string, own: object, inner: object): object => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { name, namespace: NAMESPACE, labels: own } },
  spec: {
    ...{ replicas: 1, selector: { matchLabels: { app: name } }, ...(kind === 'StatefulSet' && { serviceName: name }) },
    template: { metadata: { labels: { app: name, ...inner } }, spec: { containers: [container] } },
  },
})

/** The shapes of the examples that Kueue publishes, as far as Kubernetes and JobSet alone know them. */
describe('what people bring from Kueue', { timeout: 120_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'jobs-from-kueue', featureGates: 'none', jobset: true })
    muster = await Muster.install(plane, { queues: [{ name: 'closed', limits: { pods: 0 } }] })
    await plane.createNamespace(NAMESPACE)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (...objects: object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const items = async <T>(kind: string, namespace: string, ...more: string[]) =>
    (await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace, ...more])).items
  const workloadOf = async (owner: string, namespace = NAMESPACE) => {
    const all = await items<QueuedWorkload>('workloads.muster.dev', namespace)
    const found = all.find(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === owner))
    if (found === undefined) throw new Error(`${owner} has no Workload yet`)
    return found
  }
  const waits = (owner: string) =>
    eventually(`${owner} waits and says why`, async () => {
      const reserved = condition(await workloadOf(owner), 'QuotaReserved')
      expect(reserved).toMatchObject({ status: 'False', reason: 'OverQueueLimits' })
      return true
    })

  it.each<[string, object]>([
    ['plain', job('plain')],
    ['suspended', job('suspended', { spec: { suspend: true } })],
    ['partial', job('partial', { annotations: { [`${K}job-min-parallelism`]: '2' } })],
    ['required', job('required', { template: { [`${K}podset-required-topology`]: 'example.com/block' } })],
    ['preferred', job('preferred', { template: { [`${K}podset-preferred-topology`]: 'example.com/block' } })],
    ['anywhere', job('anywhere', { template: { [`${K}podset-unconstrained-topology`]: 'true' } })],
    ['claiming', job('claiming', { pod: { resourceClaims: [{ name: 'g', resourceClaimTemplateName: 'gpu' }] } })],
  ])('a Job waits: %s', async (name, object) => {
    await create(object)
    await waits(name)
    const stored = await plane.kubectl.json<KubeObject>(['get', 'job', name, '-n', NAMESPACE])
    expect(stored).toMatchObject({ metadata: { annotations: { [QUEUED]: 'true' } }, spec: { suspend: true } })
  })

  it.each<[string, object]>([
    ['set', jobSet('set')],
    [
      'sliced',
      jobSet('sliced', { [`${K}podset-slice-required-topology`]: 'example.com/rack', [`${K}podset-slice-size`]: '4' }),
    ],
  ])('a JobSet waits: %s', async (name, object) => {
    await create(object)
    await waits(name)
  })

  it('the Jobs of a CronJob wait, by the label of its jobTemplate', async () => {
    const jobTemplate = { metadata: { labels }, spec: { template: { spec: pods } } }
    const metadata = { name: 'tick', namespace: NAMESPACE }
    await create({ apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec: { schedule: '0 0 1 1 *', jobTemplate } })
    await plane.kubectl(['create', 'job', '-n', NAMESPACE, 'tick-now', '--from=cronjob/tick'])
    await waits('tick-now')
  })

  it('a pod waits, and so does a group', async () => {
    const pod = (name: string, metadata: object) => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE, labels, ...metadata }, spec: pods },
    })
    const member = {
      labels: { ...labels, [`${K}pod-group-name`]: 'group' },
      annotations: { [`${K}pod-group-total-count`]: '2' },
    }
    await create(pod('single', {}), pod('leader', member), pod('worker', member))
    for (const name of ['single', 'leader']) await waits(name)
  })

  it.each(['Deployment', 'StatefulSet'])('the pods of a %s wait by the label of its template', async kind => {
    const name = kind.toLowerCase()
    await create(serving(kind, name, {}, labels))
    await eventually('its pod waits', async () => {
      const [found] = await items<Pod>('pods', NAMESPACE, '-l', `app=${name}`)
      return found?.spec.schedulingGates?.length === 1
    })
    const { stderr } = await create(serving(kind, `${name}-labelled`, labels, {}))
    expect(stderr).toMatch(/Warning: .*kueue\.x-k8s\.io\/queue-name.*holds nothing back/)
  })

  it('what nobody here can do is refused with the reason', async () => {
    const refused = async (object: object) =>
      (await plane.kubectl(['create', '-f', '-'], { stdin: object, expectFailure: true })).stderr
    expect(await refused(job('elastic', { annotations: { [`${K}elastic-job`]: 'true' } }))).toContain(
      'elastic job is not supported',
    )
    expect(await refused(job('misplaced', { template: { [`${K}podset-required-topology`]: 'no name' } }))).toContain(
      `spec.template.metadata.annotations[${K}podset-required-topology]`,
    )
    const wrong = {
      ...job('wrong'),
      metadata: { name: 'wrong', namespace: NAMESPACE, labels: { [QUEUE_NAME]: 'No_Name' } },
    }
    expect(await refused(wrong)).toContain('metadata.labels[kueue.x-k8s.io/queue-name]')
  })

  it('the lines of the README make a Job that waits, is admitted and runs', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    const [pipe = ''] = /^kubectl create job [^`]*? kubectl create -f -$/m.exec(readme) ?? []
    const parts = pipe.split('|').map(part => part.trim().split(/\s+/))
    expect(parts.map(([program]) => program)).toEqual(['kubectl', 'kubectl', 'kubectl'])
    let text = ''
    for (const [, ...args] of parts) text = (await plane.kubectl(args, { stdin: text })).stdout
    expect(text).toContain('job.batch/train created')
    await eventually('it was admitted and has been started', async () => {
      const { status } = await workloadOf('train', 'default')
      const started = await plane.kubectl.json<{ spec: { suspend?: boolean } }>(['get', 'job', 'train'])
      return status?.admission?.clusterQueue === 'team-a' && started.spec.suspend === false
    })
  })
})
