import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAME, STOPPING } from '../../src/kube/vocabulary/names.ts'
import type { Condition, KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../src/workload/queued-workload.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list, type QueuedJobOptions, queuedJob } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

type Job = KubeObject & {
  readonly spec: { readonly suspend?: boolean; readonly template: { readonly spec: Pod['spec'] } }
  readonly status: { readonly startTime?: string; readonly conditions?: readonly Condition[] }
}

const SLOW = { timeoutMs: 90_000 }
const DRAINED = 50

describe('Jobs and JobSets in queues of a real control plane', { timeout: 240_000 }, () => {
  let plane: ControlPlane
  let muster: Muster

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'jobs-queue', featureGates: 'none', jobset: true })
    muster = await Muster.install(plane, {
      queues: [
        { name: 'three', limits: { pods: 3 } },
        { name: 'placed', limits: { pods: 2 }, nodeLabels: { 'kubernetes.io/hostname': 'node-1' } },
      ],
    })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const create = (...objects: object[]) => plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
  const items = async <T>(kind: string, namespace: string, ...more: string[]) =>
    (await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace, ...more])).items
  const jobIn = (namespace: string, name: string) => plane.kubectl.json<Job>(['get', 'job', name, '-n', namespace])
  const podsOf = (namespace: string, job: string) => items<Pod>('pods', namespace, '-l', `job-name=${job}`)
  const runningOf = async (namespace: string, job: string) =>
    (await podsOf(namespace, job)).filter(({ status }) => status?.phase === 'Running')
  const workloadsIn = (namespace: string) => items<QueuedWorkload>('workloads.muster.dev', namespace)
  const workloadOf = async (namespace: string, owner: string) => {
    const all = await workloadsIn(namespace)
    const found = all.find(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === owner))
    if (found === undefined) throw new Error(`${owner} has no Workload yet`)
    return found
  }
  const says = (object: { readonly status?: { readonly conditions?: readonly Condition[] | null } }, type: string) =>
    object.status?.conditions?.find(condition => condition.type === type)
  const waits = (namespace: string, owner: string) =>
    eventually(`${owner} waits and says why`, async () => {
      const reserved = says(await workloadOf(namespace, owner), 'QuotaReserved')
      expect(reserved).toMatchObject({ status: 'False', reason: 'OverQueueLimits' })
      return reserved?.message ?? ''
    })
  const patch = (kind: string, namespace: string, name: string, body: object) =>
    plane.kubectl(['patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(body)])
  const removed = (namespace: string) =>
    plane.kubectl(['delete', 'namespace', namespace, '--timeout=90s'], { timeoutMs: 100_000 })

  it(`drains a full queue of ${DRAINED} Jobs in the order in which they came`, async () => {
    await plane.createNamespace('drain')
    const options = (name: string): QueuedJobOptions => ({
      ...{ namespace: 'drain', name, queue: 'three' },
      ...{ outcome: 'succeed', runs: '200ms' },
    })
    await create(queuedJob({ namespace: 'drain', name: 'first', queue: 'three', parallelism: 3 }))
    await eventually('the queue is full', async () => (await runningOf('drain', 'first')).length === 3)
    const names = Array.from({ length: DRAINED }, (_, index) => `job-${String(index).padStart(2, '0')}`)
    // One after the other: within one List the API server is asked for several at once.
    for (const name of names) await create(queuedJob(options(name)))
    await eventually('all have their Workload', async () => (await workloadsIn('drain')).length === DRAINED + 1)
    expect((await items<Pod>('pods', 'drain')).length).toBe(3)
    await plane.kubectl(['annotate', 'pods', '--all', '-n', 'drain', 'muster.dev/test-outcome=succeed'])
    await eventually(
      'all have ended',
      async () => (await items<Job>('jobs', 'drain')).every(job => says(job, 'Complete')?.status === 'True'),
      SLOW,
    )
    const workloads = await workloadsIn('drain')
    const admittedAt = (name: string) => {
      const own = workloads.find(({ metadata }) => metadata.ownerReferences?.some(owner => owner.name === name))
      return Date.parse((own && says(own, 'Admitted')?.lastTransitionTime) ?? '')
    }
    const times = names.map(admittedAt)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(new Set(times).size).toBeGreaterThan(3)
    await eventually('nothing holds quota or a finalizer', async () => {
      const left = (await workloadsIn('drain')).filter(
        workload => says(workload, 'Finished')?.status !== 'True' || (workload.metadata.finalizers ?? []).length > 0,
      )
      expect(left.map(({ metadata }) => metadata.name)).toEqual([])
      return true
    })
    await removed('drain')
  })

  it('gives the quota of an evicted Job to the next when its last pod is gone, and not before', async () => {
    await plane.createNamespace('slow')
    await create(
      queuedJob({ namespace: 'slow', name: 'old', queue: 'placed', parallelism: 2, termination: '6s' }),
      queuedJob({ namespace: 'slow', name: 'next', queue: 'placed', parallelism: 2 }),
    )
    await eventually('the first runs', async () => (await runningOf('slow', 'old')).length === 2)
    expect(await waits('slow', 'next')).toContain('asks for 2 pods, 0 of 2 free')
    const { metadata } = await workloadOf('slow', 'old')
    await patch('workloads.muster.dev', 'slow', metadata.name ?? '', { spec: { active: false } })
    let together = 0
    let terminating = 0
    await eventually('the next runs', async () => {
      const [old, next] = [await podsOf('slow', 'old'), await podsOf('slow', 'next')]
      const dying = old.filter(pod => pod.metadata.deletionTimestamp != null).length
      terminating = Math.max(terminating, dying)
      if (old.length > 0 && next.length > 0) together++
      return next.length === 2
    })
    expect({ terminating, together }).toEqual({ terminating: 2, together: 0 })
    await removed('slow')
  })

  it('finishes a stop that it was killed in the middle of', async () => {
    await plane.createNamespace('killed')
    await create(
      queuedJob({ namespace: 'killed', name: 'stopped', queue: 'placed', parallelism: 2, termination: '5s' }),
      queuedJob({ namespace: 'killed', name: 'next', queue: 'placed', parallelism: 2 }),
    )
    await eventually('it runs', async () => (await runningOf('killed', 'stopped')).length === 2)
    const { template } = (await jobIn('killed', 'stopped')).spec
    expect(template.spec.nodeSelector).toEqual({ 'kubernetes.io/hostname': 'node-1' })
    const { metadata } = await workloadOf('killed', 'stopped')
    await patch('workloads.muster.dev', 'killed', metadata.name ?? '', { spec: { active: false } })
    await eventually('the first write is made', async () => {
      const job = await jobIn('killed', 'stopped')
      return job.spec.suspend === true && job.metadata.annotations?.[STOPPING] === 'true'
    })
    await muster.kill()
    expect((await podsOf('killed', 'stopped')).length).toBeGreaterThan(0)
    await eventually('its pods are gone', async () => (await podsOf('killed', 'stopped')).length === 0)
    const half = await jobIn('killed', 'stopped')
    expect(half.metadata.annotations?.[STOPPING]).toBe('true')
    expect(await podsOf('killed', 'next')).toEqual([])
    await muster.start()
    await eventually('the next runs', async () => (await runningOf('killed', 'next')).length === 2, SLOW)
    const whole = await jobIn('killed', 'stopped')
    expect(whole.metadata.annotations).not.toHaveProperty(STOPPING)
    expect(whole.spec.template.spec.nodeSelector).toBeUndefined()
    expect(whole.spec.suspend).toBe(true)
    await removed('killed')
  })

  it('starts a JobSet when there is room for all of it, and ends its Workload with it', async () => {
    await plane.createNamespace('sets')
    await create(queuedJob({ namespace: 'sets', name: 'before', queue: 'three', parallelism: 1 }))
    await eventually('one place is taken', async () => (await runningOf('sets', 'before')).length === 1)
    await create(jobSet('set', 'three'))
    expect(await waits('sets', 'set')).toContain('asks for 3 pods, 2 of 3 free')
    const { podSets } = (await workloadOf('sets', 'set')).spec
    expect(podSets.map(({ name, count }) => `${name} ${count}`)).toEqual(['driver 1', 'workers 2'])
    const podsOfSet = () => items<Pod>('pods', 'sets', '-l', 'jobset.sigs.k8s.io/jobset-name=set')
    await eventually('its Jobs are there, suspended', async () => {
      const jobs = await items<Job>('jobs', 'sets', '-l', 'jobset.sigs.k8s.io/jobset-name=set')
      expect(jobs.map(({ spec }) => spec.suspend)).toEqual([true, true, true])
      return true
    })
    expect(await podsOfSet()).toEqual([])
    await plane.kubectl(['annotate', 'pods', '-n', 'sets', '-l', 'job-name=before', 'muster.dev/test-outcome=succeed'])
    await eventually('it runs', async () => (await podsOfSet()).filter(pod => !pod.spec.schedulingGates).length === 3)
    expect((await workloadsIn('sets')).length).toBe(2)
    await plane.kubectl([
      ...['annotate', 'pods', '-n', 'sets', '-l', 'jobset.sigs.k8s.io/jobset-name=set'],
      'muster.dev/test-outcome=succeed',
    ])
    await eventually(
      'its Workload has ended',
      async () => {
        expect(says(await workloadOf('sets', 'set'), 'Finished')).toMatchObject({ status: 'True', reason: 'Succeeded' })
        return true
      },
      SLOW,
    )
    await removed('sets')
  })
})

function jobSet(name: string, queue: string): object {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/none:1' }] }
  const replicated = (role: string, replicas: number) => ({
    name: role,
    replicas,
    template: { spec: { parallelism: 1, completions: 1, template: { spec } } },
  })
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name, namespace: 'sets', labels: { [QUEUE_NAME]: queue } },
    spec: { replicatedJobs: [replicated('driver', 1), replicated('workers', 2)] },
  }
}
