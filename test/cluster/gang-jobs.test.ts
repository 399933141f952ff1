import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GROUPED, QUEUE_NAME, SCHEDULING } from '../../src/kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { ensurePrograms } from './programs/build.ts'
import { type ControlPlane, startControlPlane } from './support/control-plane.ts'
import { list } from './support/manifests.ts'
import { Muster } from './support/muster.ts'
import { eventually } from './support/wait.ts'

interface Job extends KubeObject {
  readonly spec: {
    readonly suspend?: boolean
    readonly scheduling?: unknown
    readonly template: { readonly spec: { readonly schedulingGroup?: { readonly podGroupName: string } } }
  }
  readonly status: { readonly succeeded?: number; readonly conditions?: { type: string; status: string }[] }
}
interface Placed extends KubeObject {
  readonly spec: {
    readonly schedulingPolicy?: { readonly gang?: { readonly minCount: number } }
    readonly podGroupTemplates?: { readonly schedulingPolicy: { readonly gang?: { readonly minCount: number } } }[]
  }
  readonly status?: { readonly conditions?: { type: string; status: string; reason: string }[] }
}

const GANG = { schedulingPolicy: { gang: {} } }
const TEXT = JSON.stringify(GANG)
/** A node has 64 CPUs: seven of these fit, and only on nodes with room. */
const NINE_CPUS = '9'
const SLOW = { timeoutMs: 90_000 }

interface JobOptions {
  readonly name: string
  readonly annotations?: object
  readonly labels?: object
  readonly scheduling?: object
  readonly size?: number
  readonly cpu?: string
  readonly roomy?: boolean
  readonly outcome?: 'succeed'
}

const jobSpec = ({ scheduling, size = 8, cpu = NINE_CPUS, roomy = false, outcome }: Omit<JobOptions, 'name'>) => ({
  ...{ parallelism: size, completions: size, completionMode: 'Indexed', backoffLimit: 20 },
  ...(scheduling && { scheduling }),
  template: {
    metadata: { annotations: { ...(outcome && { 'muster.dev/test-outcome': outcome }) } },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      ...(!roomy && { nodeSelector: { room: 'yes' } }),
      containers: [{ name: 'main', image: 'registry.example/none:1', resources: { requests: { cpu } } }],
    },
  },
})

const jobOf = (namespace: string, options: JobOptions) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: options.name, namespace, annotations: options.annotations ?? {}, labels: options.labels ?? {} },
  spec: jobSpec(options),
})

/** Questions that the tests ask of a plane. */
function askerOf(plane: () => ControlPlane) {
  const items = async <T>(kind: string, namespace: string, ...more: string[]) =>
    (await plane().kubectl.json<{ items: T[] }>(['get', kind, '-n', namespace, ...more])).items
  return {
    create: (...objects: object[]) => plane().kubectl(['create', '-f', '-'], { stdin: list(objects) }),
    patch: (kind: string, namespace: string, name: string, body: object) =>
      plane().kubectl(['patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(body)]),
    job: (namespace: string, name: string) => plane().kubectl.json<Job>(['get', 'job', name, '-n', namespace]),
    jobs: (namespace: string) => items<Job>('jobs', namespace),
    workloads: (namespace: string) => items<Placed>('workloads.scheduling.k8s.io', namespace),
    podGroups: (namespace: string) => items<Placed>('podgroups.scheduling.k8s.io', namespace),
    inQueue: (namespace: string) => items<KubeObject>('workloads.muster.dev', namespace),
    pods: (namespace: string) => items<Pod>('pods', namespace),
    events: async (namespace: string, name: string) =>
      (
        await items<{ reason: string; reportingComponent?: string }>(
          ...(['events', namespace, '--field-selector', `involvedObject.name=${name}`] as const),
        )
      ).map(({ reason }) => reason),
    removed: (namespace: string) =>
      plane().kubectl(['delete', 'namespace', namespace, '--timeout=90s'], { timeoutMs: 100_000 }),
  }
}

const bound = (pods: readonly Pod[]) => pods.filter(({ spec }) => spec.nodeName !== undefined).length
const running = (pods: readonly Pod[]) => pods.filter(({ status }) => status?.phase === 'Running').length
const unschedulable = (pods: readonly Pod[]) =>
  pods.filter(({ status }) => status?.conditions?.some(({ reason }) => reason === 'Unschedulable')).length
const minCounts = (workloads: readonly Placed[], groups: readonly Placed[]) => [
  ...workloads.map(({ spec }) => spec.podGroupTemplates?.[0]?.schedulingPolicy.gang?.minCount),
  ...groups.map(({ spec }) => spec.schedulingPolicy?.gang?.minCount),
]

describe.each(['all', 'generic'] as const)('gangs of Jobs on a real control plane, gates: %s', featureGates => {
  let plane: ControlPlane
  let muster: Muster
  const ask = askerOf(() => plane)

  beforeAll(async () => {
    plane = await startControlPlane({ name: `gang-jobs-${featureGates}`, featureGates })
    muster = await Muster.install(plane, { queues: [{ name: 'eight', limits: { pods: 8 } }] })
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  const room = (nodes: number) =>
    Promise.all(
      [0, 1].map(index =>
        plane.kubectl(['label', 'node', `node-${index}`, `room${index < nodes ? '=yes' : '-'}`, '--overwrite']),
      ),
    )

  /** Whoever made them: one Workload, one PodGroup, of this Job, and its pods name that one. */
  const onlyObjects = async (namespace: string, name: string) => {
    const { metadata } = await ask.job(namespace, name)
    return await eventually(`${name} has one Workload and one PodGroup`, async () => {
      const [workloads, groups] = [await ask.workloads(namespace), await ask.podGroups(namespace)]
      const isOwn = ({ metadata: { ownerReferences } }: Placed) =>
        ownerReferences?.some(({ uid, controller }) => uid === metadata.uid && controller === true)
      expect([workloads.filter(isOwn).length, groups.filter(isOwn).length]).toEqual([1, 1])
      return { workload: workloads.filter(isOwn), group: groups.filter(isOwn) }
    })
  }

  const placedWhole = async (namespace: string, name: string, size = 8) => {
    const { workload, group } = await onlyObjects(namespace, name)
    expect(minCounts(workload, group)).toEqual([size, size])
    await eventually(`${name} does not fit, and the scheduler says so`, async () => {
      const [found] = await ask.podGroups(namespace)
      expect(found?.status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'Unschedulable' })
      return true
    })
    const pods = await ask.pods(namespace)
    expect([pods.length, bound(pods)]).toEqual([size, 0])
    expect(new Set(pods.map(({ spec }) => spec.schedulingGroup?.podGroupName))).toEqual(
      new Set([group[0]?.metadata.name]),
    )
    await room(2)
    await eventually(`all of ${name} run`, async () => running(await ask.pods(namespace)) === size, SLOW)
    // Whatever ran meanwhile has made no second one.
    await onlyObjects(namespace, name)
    await room(1)
  }

  it('places a Job with the annotation whole, and takes everything away with it', { timeout: 240_000 }, async () => {
    await room(1)
    await plane.createNamespace('annotated')
    await ask.create(jobOf('annotated', { name: 'train', annotations: { [SCHEDULING]: TEXT } }))
    await placedWhole('annotated', 'train')
    const { metadata, spec } = await ask.job('annotated', 'train')
    expect(metadata.labels?.[GROUPED]).toBe('true')
    expect((await ask.podGroups('annotated')).map(({ metadata: { name } }) => name)).toEqual([
      spec.template.spec.schedulingGroup?.podGroupName,
    ])
    await eventually('its Events tell of both', async () => {
      const reasons = await ask.events('annotated', 'train')
      expect(reasons).toEqual(expect.arrayContaining(['WorkloadCreated', 'PodGroupCreated']))
      return true
    })
    await plane.kubectl(['delete', 'job', 'train', '-n', 'annotated'])
    await eventually('nothing is left', async () => {
      const left = [...(await ask.workloads('annotated')), ...(await ask.podGroups('annotated'))]
      return left.length === 0 && (await ask.pods('annotated')).length === 0
    })
    await ask.removed('annotated')
  })

  it('places a Job with the field whole, whoever makes its objects', { timeout: 240_000 }, async () => {
    await room(1)
    await plane.createNamespace('field')
    await ask.create(jobOf('field', { name: 'train', scheduling: GANG }))
    await placedWhole('field', 'train')
    const { metadata, spec } = await ask.job('field', 'train')
    const isMusters = featureGates === 'generic'
    expect(metadata.labels?.[GROUPED]).toBe(isMusters ? 'true' : undefined)
    expect(metadata.annotations?.[SCHEDULING]).toBe(isMusters ? TEXT : undefined)
    expect(spec.scheduling === undefined).toBe(isMusters)
    await ask.removed('field')
  })

  it('places the Jobs of a CronJob whole, whose block Kubernetes ignores', { timeout: 240_000 }, async () => {
    await room(1)
    await plane.createNamespace('cron')
    await ask.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'nightly', namespace: 'cron' },
      spec: {
        schedule: '* * * * *',
        concurrencyPolicy: 'Forbid',
        jobTemplate: { spec: jobSpec({ scheduling: GANG }) },
      },
    })
    const name = await eventually(
      'the CronJob has made a Job',
      async () => (await ask.jobs('cron'))[0]?.metadata.name,
      SLOW,
    )
    await plane.kubectl(['patch', 'cronjob', 'nightly', '-n', 'cron', '-p', '{"spec":{"suspend":true}}'])
    await placedWhole('cron', name ?? '')
    await ask.removed('cron')
  })

  it('keeps the objects of a Job that waits in a queue, runs, and waits again', { timeout: 400_000 }, async () => {
    await room(2)
    await plane.createNamespace('queued')
    const labels = { [QUEUE_NAME]: 'eight' }
    const annotations = { [SCHEDULING]: TEXT }
    const options = { annotations, labels }
    await ask.create(jobOf('queued', { ...options, name: 'first' }))
    await eventually('the first runs', async () => running(await ask.pods('queued')) === 8, SLOW)
    await ask.create(jobOf('queued', { ...options, name: 'second' }))
    const before = await onlyObjects('queued', 'second')
    expect((await ask.job('queued', 'second')).spec.suspend).toBe(true)
    await plane.kubectl(['delete', 'job', 'first', '-n', 'queued'])
    await eventually(
      'the second runs',
      async () => {
        const pods = await ask.pods('queued')
        return running(pods) === 8 && pods.every(({ metadata }) => metadata.name?.startsWith('second-'))
      },
      SLOW,
    )
    const after = await onlyObjects('queued', 'second')
    expect(after.group[0]?.metadata.uid).toBe(before.group[0]?.metadata.uid)
    await ask.patch('job', 'queued', 'second', { spec: { suspend: true } })
    await eventually('it has stopped', async () => (await ask.pods('queued')).length === 0, SLOW)
    await ask.patch('job', 'queued', 'second', { spec: { suspend: false } })
    await eventually('it runs again', async () => running(await ask.pods('queued')) === 8, SLOW)
    expect((await onlyObjects('queued', 'second')).group[0]?.metadata.uid).toBe(before.group[0]?.metadata.uid)

    const { metadata } = await ask.job('queued', 'second')
    const [inQueue] = (await ask.inQueue('queued')).filter(({ metadata: { ownerReferences } }) =>
      ownerReferences?.some(({ uid }) => uid === metadata.uid),
    )
    const setActive = (active: boolean) =>
      ask.patch('workloads.muster.dev', 'queued', inQueue?.metadata.name ?? '', { spec: { active } })
    await setActive(false)
    await eventually('it is evicted', async () => (await ask.pods('queued')).length === 0, SLOW)
    await room(1)
    await setActive(true)
    await eventually(
      'the scheduler has refused each of its pods',
      async () => {
        const pods = await ask.pods('queued')
        expect([pods.length, bound(pods), unschedulable(pods)]).toEqual([8, 0, 8])
        return true
      },
      SLOW,
    )
    await room(2)
    await eventually('it is placed whole again', async () => running(await ask.pods('queued')) === 8, SLOW)
    const uids = ({ workload, group }: typeof before) => [...workload, ...group].map(({ metadata: { uid } }) => uid)
    expect(uids(await onlyObjects('queued', 'second'))).toEqual(uids(before))
    await ask.removed('queued')
  })

  it('follows the size of a gang, and lets one start that has lost a pod', { timeout: 240_000 }, async () => {
    await room(2)
    await plane.createNamespace('sizes')
    await ask.create(jobOf('sizes', { name: 'train', size: 4, cpu: '1', annotations: { [SCHEDULING]: TEXT } }))
    await eventually('it runs', async () => running(await ask.pods('sizes')) === 4, SLOW)
    const smaller = JSON.stringify({ schedulingPolicy: { gang: { minCount: 3 } } })
    await ask.patch('job', 'sizes', 'train', { metadata: { annotations: { [SCHEDULING]: smaller } } })
    const sizes = async () => minCounts(await ask.workloads('sizes'), await ask.podGroups('sizes'))
    await eventually('both have the new size', async () => {
      expect(await sizes()).toEqual([3, 3])
      return true
    })
    const [one, ...others] = (await ask.pods('sizes')).map(({ metadata }) => metadata.name ?? '')
    await plane.kubectl(['annotate', 'pods', ...others, '-n', 'sizes', 'muster.dev/test-outcome=succeed'])
    await eventually('three have succeeded', async () => (await ask.job('sizes', 'train')).status.succeeded === 3, SLOW)
    await plane.kubectl(['delete', 'pod', one ?? '', '-n', 'sizes'])
    await eventually(
      'the fourth runs again',
      async () => {
        const pods = await ask.pods('sizes')
        return pods.some(({ metadata, status }) => metadata.name !== one && status?.phase === 'Running')
      },
      SLOW,
    )
    expect(await sizes()).toEqual([1, 1])
    await ask.removed('sizes')
  })

  it('makes the objects again that somebody deletes, also after a kill', { timeout: 240_000 }, async () => {
    await room(1)
    await plane.createNamespace('again')
    await ask.create(jobOf('again', { name: 'train', annotations: { [SCHEDULING]: TEXT } }))
    await onlyObjects('again', 'train')
    await muster.kill()
    await plane.kubectl([
      'delete',
      'workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io',
      '--all',
      '-n',
      'again',
      '--wait=false',
    ])
    await muster.start()
    await eventually(
      'the Workload is back',
      async () => {
        const workloads = await ask.workloads('again')
        return workloads.length === 1 && workloads[0]?.metadata.deletionTimestamp == null
      },
      SLOW,
    )
    await ask.removed('again')
  })
})

describe('a gang of a Job where nothing places it', () => {
  let plane: ControlPlane
  let muster: Muster
  const ask = askerOf(() => plane)

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'gang-jobs-none', featureGates: 'none' })
    muster = await Muster.install(plane)
  })

  afterAll(async () => {
    await muster?.stop()
    await plane?.stop()
  })

  it('is told so, and starts as any other', { timeout: 120_000 }, async () => {
    await plane.createNamespace('plain')
    const options = { name: 'train', cpu: '1', roomy: true, annotations: { [SCHEDULING]: TEXT } }
    const { stderr } = await ask.create(jobOf('plain', options))
    expect(stderr).toContain('nothing will act on it: the API server serves no PodGroups')
    const { metadata, spec } = await ask.job('plain', 'train')
    expect([metadata.labels?.[GROUPED], spec.template.spec.schedulingGroup]).toEqual([undefined, undefined])
    await eventually('it runs', async () => running(await ask.pods('plain')) === 8, SLOW)
    expect((await muster.health('/metrics')).body).toContain('muster_co_scheduling_served{backend="kubernetes"} 0')
  })

  it('keeps Muster from being ready, if that is what it is configured for', { timeout: 120_000 }, async () => {
    await muster.stop()
    muster = await Muster.install(plane, { coScheduling: { backend: 'kubernetes' } }, { awaitReady: false })
    await eventually('it says what is missing', async () => {
      const { status, body } = await muster.health('/readyz')
      return status === 503 && /\[-\]co-scheduling: .*GenericWorkload/.test(body)
    })
  })

  it('cannot be that of WorkloadWithJob without GenericWorkload: no API server starts so', async () => {
    const { 'kube-apiserver': program } = await ensurePrograms(['kube-apiserver'])
    const { stderr } = spawnSync(program, ['--feature-gates=WorkloadWithJob=true'], { encoding: 'utf8' })
    expect(stderr).toContain('WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]')
  })
})
