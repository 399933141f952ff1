import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMISSION_GATE, QUEUE_NAME, SCHEDULING } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import type { UninstallReport } from '../../src/uninstall/report.ts'
import { podGroupNameFor } from '../../src/workload/placement.ts'
import { musterCommand } from './support/command.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { everything } from './support/everything.ts'
import { isGated, list, queuedJob, queuedPod } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

interface Job extends KubeObject {
  readonly spec: { readonly suspend?: boolean }
}
interface PodGroup extends KubeObject {
  readonly spec: { readonly schedulingPolicy: { readonly gang?: { readonly minCount: number } } }
}

const CONFIG = { queues: [{ name: 'closed', limits: { pods: 0 } }] }
const PAGE = new URL('../../docs/uninstall.md', import.meta.url)
const SHOULD_GO =
  /kueue\.x-k8s\.io\/(managed|podset|workload|role-hash|local-queue-name|cluster-queue-name)|muster\.dev\/(?!test)/
const OTHERS = 'example.com/others'

describe('muster uninstall', { timeout: 300_000 }, () => {
  let plane: ControlPlane
  let muster: Muster | undefined
  let before: readonly string[]

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'uninstall', featureGates: 'generic', jobset: true })
    before = await everything(plane)
  }, 300_000)

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const items = async <T extends KubeObject>(kind: string, namespace: string) =>
    (await plane.kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace])).items
  const pods = (namespace: string) => items<Pod>('pods', namespace)
  const byName = <T extends KubeObject>(all: readonly T[], name: string) =>
    all.find(({ metadata }) => metadata.name === name)
  const uninstall = (...args: string[]) => musterCommand(plane, ['uninstall', ...args])
  const group = (namespace: string, name: string, options: object) =>
    [0, 1].map(index => queuedPod({ namespace, name: `${name}-${index}`, group: name, count: 2, ...options }))
  const suspended = async (namespace: string) =>
    (await items<Job>('jobs', namespace)).filter(({ spec }) => spec.suspend).map(({ metadata }) => metadata.name)

  /** Pods and Jobs that run, that wait, and that their user holds himself; then Muster is gone without a word. */
  async function populate(namespace: string): Promise<void> {
    await plane.createNamespace(namespace)
    muster = await Muster.install(plane, CONFIG)
    const gang = queuedJob({ namespace, name: 'gang', parallelism: 2 }) as KubeObject
    const set = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 'set', namespace, labels: { [QUEUE_NAME]: 'closed' } },
      spec: {
        replicatedJobs: [
          {
            name: 'all',
            replicas: 1,
            template: { spec: (queuedJob({ namespace, name: 'x' }) as { spec: object }).spec },
          },
        ],
      },
    }
    await plane.kubectl(['create', '-f', '-'], {
      stdin: list([
        queuedPod({ namespace, name: 'runs' }),
        queuedPod({ namespace, name: 'waits', queue: 'closed' }),
        queuedPod({ namespace, name: 'guarded', queue: 'closed', gates: [OTHERS] }),
        ...group(namespace, 'running', {}),
        ...group(namespace, 'large', { cpu: '60', nodeSelector: { room: 'later' } }),
        ...group(namespace, 'gated', { queue: 'closed' }),
        queuedJob({ namespace, name: 'running', queue: 'team-a' }),
        queuedJob({ namespace, name: 'waiting', queue: 'closed' }),
        queuedJob({ namespace, name: 'held', queue: 'team-a' }),
        {
          ...gang,
          metadata: { ...gang.metadata, annotations: { [SCHEDULING]: '{"schedulingPolicy": {"gang": {}}}' } },
        },
        set,
      ]),
    })
    await eventually('everybody is where he belongs', async () => {
      const all = await pods(namespace)
      const gated = all.filter(pod => isGated(pod)).map(({ metadata }) => metadata.name)
      expect(gated.sort()).toEqual(['gated-0', 'gated-1', 'guarded', 'waits'])
      expect(byName(all, 'runs')?.status?.phase).toBe('Running')
      expect(byName(all, 'running-1')?.status?.phase).toBe('Running')
      expect((await items('workloads.muster.dev', namespace)).length).toBe(10)
      expect((await items('podgroups.scheduling.k8s.io', namespace)).length).toBe(3)
      expect(await suspended(namespace)).toEqual(['set-all-0', 'waiting'])
      return true
    })
    await plane.kubectl(['patch', 'job', 'held', '-n', namespace, '-p', '{"spec": {"suspend": true}}'])
    await eventually('the Job is held, and has lost its pods and its place', async () => {
      const held = byName(await items<Job>('jobs', namespace), 'held')
      expect(held?.metadata.annotations?.['muster.dev/held']).toBe('true')
      expect((await pods(namespace)).filter(({ metadata }) => metadata.name?.startsWith('held-'))).toEqual([])
      expect((await items('workloads.muster.dev', namespace)).length).toBe(9)
      return true
    })
    const finalizers = JSON.stringify({ metadata: { finalizers: [OTHERS], labels: { 'example.com/mine': 'yes' } } })
    await plane.kubectl(['patch', 'pod', 'runs', '-n', namespace, '-p', finalizers])
    await muster.kill()
  }

  /** The namespace and all that is in it go: nothing hangs on anything. */
  async function nothingLeft(namespace: string): Promise<void> {
    const noFinalizers = JSON.stringify({ metadata: { finalizers: null } })
    await plane.kubectl(['patch', 'pod', 'runs', '-n', namespace, '--type=merge', '-p', noFinalizers])
    await plane.kubectl(['delete', 'namespace', namespace, '--timeout=100s'])
    await eventually('the cluster is as it was', async () => {
      expect(await everything(plane)).toEqual(before)
      return true
    })
  }

  /** Nobody has a mark of Muster any more, and marks of others are where they were. */
  async function unmarked(namespace: string): Promise<void> {
    for (const { metadata } of [...(await pods(namespace)), ...(await items<Job>('jobs', namespace))]) {
      if (metadata.ownerReferences?.[0]?.kind === 'Job') continue
      const { labels, annotations, finalizers } = metadata
      const keys = [...Object.keys({ ...labels, ...annotations }), ...(finalizers ?? [])]
      expect(keys.filter(key => SHOULD_GO.test(key) && key !== SCHEDULING)).toEqual([])
    }
    const runs = byName(await pods(namespace), 'runs')
    expect(runs?.metadata.finalizers).toEqual([OTHERS])
    expect(runs?.metadata.labels).toMatchObject({ 'example.com/mine': 'yes', [QUEUE_NAME]: 'team-a' })
  }

  it('asks what becomes of those who wait, and changes nothing before it knows', async () => {
    await populate('start')
    const asked = await everything(plane)
    const { code, stderr } = await uninstall()
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('4 pods and 2 of Jobs and JobSets wait'),
    })
    const { stdout } = await uninstall('--dry-run', '--start-waiting', '-o', 'json')
    const report = JSON.parse(stdout) as UninstallReport
    expect(report).toMatchObject({ dryRun: true, choice: 'start', waiting: { pods: 4, jobs: 2 } })
    expect(report.phases.find(({ phase }) => phase === 'RemoveNamespace')).toMatchObject({ objects: 1 })
    expect(await everything(plane)).toEqual(asked)
  })

  it('starts what waits, leaves what is others’, and leaves no object behind', async () => {
    const { code, stdout, stderr } = await uninstall('--start-waiting')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Muster leaves https://') })
    const page = readFileSync(PAGE, 'utf8')
    expect(page.split('$ muster uninstall --start-waiting\n')[1]?.split('```')[0]).toBe(stdout)
    await unmarked('start')
    await eventually('all that waited runs', async () => {
      const all = await pods('start')
      for (const name of ['waits', 'gated-0', 'gated-1']) expect(byName(all, name)?.status?.phase).toBe('Running')
      expect(byName(all, 'guarded')?.spec.schedulingGates).toEqual([{ name: OTHERS }])
      expect(await suspended('start')).toEqual(['held'])
      return true
    })
    const groups = await items<PodGroup>('podgroups.scheduling.k8s.io', 'start')
    const large = byName(groups, podGroupNameFor('start', 'large'))
    expect(large?.spec.schedulingPolicy.gang?.minCount).toBe(1)
    expect(large?.metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      'Pod large-0',
      'Pod large-1',
    ])
    await plane.kubectl(['label', 'node', 'node-0', 'room=later'])
    await eventually('one of them finds room, and waits for nobody', async () => {
      const all = (await pods('start')).filter(({ metadata }) => metadata.name?.startsWith('large-'))
      return all.filter(({ status }) => status?.phase === 'Running').length === 1
    })
    const again = await uninstall()
    expect(again).toMatchObject({ code: 0, stdout: 'Nothing of Muster is left.\n' })
    await nothingLeft('start')
  })

  it('goes on where it was killed, and deletes what waits if that is wanted', async () => {
    await populate('delete')
    for (const said of [/webhook configurations/, /scheduling objects/, /rid of gate/]) {
      await musterCommand(plane, ['uninstall', '--delete-waiting'], { killWhen: said })
    }
    const { code, stdout } = await uninstall('--delete-waiting', '-o', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ left: [], choice: 'delete' })
    await unmarked('delete')
    await eventually('those who waited are gone, and nobody else is', async () => {
      const names = (await pods('delete')).flatMap(({ metadata }) =>
        metadata.ownerReferences === undefined ? [metadata.name] : [],
      )
      expect(names.sort()).toEqual(['large-0', 'large-1', 'running-0', 'running-1', 'runs'])
      expect((await items('jobs', 'delete')).map(({ metadata }) => metadata.name).sort()).toEqual([
        ...['gang', 'held', 'running'],
      ])
      return true
    })
    await nothingLeft('delete')
  })

  it('keeps what waits behind its gate, from where somebody starts it one by one', async () => {
    await populate('keep')
    const { code, stdout } = await uninstall('--keep-waiting')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('kept waiting') })
    await unmarked('keep')
    const gated = (await pods('keep')).filter(pod => isGated(pod))
    expect(gated.map(({ metadata }) => metadata.name).sort()).toEqual(['gated-0', 'gated-1', 'guarded', 'waits'])
    expect((await suspended('keep')).sort()).toEqual(['held', 'set-all-0', 'waiting'])
    const lift = JSON.stringify({ spec: { schedulingGates: [{ $patch: 'delete', name: ADMISSION_GATE }] } })
    for (const name of ['waits', 'gated-0', 'gated-1']) {
      await plane.kubectl(['patch', 'pod', name, '-n', 'keep', '-p', lift])
    }
    await plane.kubectl(['patch', 'job', 'waiting', '-n', 'keep', '-p', '{"spec": {"suspend": false}}'])
    await eventually('they run', async () => {
      const all = await pods('keep')
      for (const name of ['waits', 'gated-0', 'gated-1']) expect(byName(all, name)?.status?.phase).toBe('Running')
      expect(
        all.some(({ metadata, status }) => metadata.name?.startsWith('waiting-') && status?.phase === 'Running'),
      ).toBe(true)
      return true
    })
    await nothingLeft('keep')
  })
})
