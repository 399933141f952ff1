import { writeFileSync } from 'node:fs'
import type { Configuration } from '../../../src/config/configuration.ts'
import { FifoQueues } from '../../../src/engines/builtin/fifo.ts'
import type { KubeObject, Pod } from '../../../src/kube/vocabulary/objects.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'
import { FakeApiServer } from '../../support/fake-api-server.ts'
import { managedPod, type PodOptions } from '../../support/pods.ts'
import { workloadOf } from '../../support/workloads.ts'

const QUEUES: Configuration['queues'] = [
  { name: 'research', limits: { cpu: 256, memory: '1Ti', 'nvidia.com/gpu': 16 } },
  { name: 'team-a', limits: { cpu: 96, memory: '384Gi' } },
  { name: 'team-b', limits: { cpu: 64, pods: 40 } },
  { name: 'nightly', limits: { pods: 40 } },
  { name: 'small', limits: { cpu: 2 } },
]

const MINUTE = 60_000
const stamp = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')

type Asks = Readonly<Record<string, string>>
const asking = (pod: Pod, requests: Asks): Pod => ({
  ...pod,
  spec: { ...pod.spec, containers: [{ name: 'main', resources: { requests } }] },
})

/** A cluster on loopback that serves lists and watches, with as many pods as a test wants. */
export class Cluster {
  readonly server: FakeApiServer
  readonly #fifo = new FifoQueues(QUEUES)
  readonly #units = new Map<string, { readonly workload: QueuedWorkload; readonly pods: readonly Pod[] }>()
  /** Those whose objects are not what the server has. */
  readonly #unpublished = new Set<string>()
  #version = 1000

  private constructor(server: FakeApiServer) {
    this.server = server
    server.selective = true
  }

  static async start(options: { readonly tls?: boolean } = {}): Promise<Cluster> {
    const cluster = new Cluster(await FakeApiServer.start(options))
    for (const kind of ['/apis', '/api/v1/pods', WORKLOADS, EVENTS, '/api/v1/namespaces']) cluster.#empty(kind)
    const config = `apiVersion: config.muster.dev/v1alpha1\nkind: Configuration\nqueues: ${JSON.stringify(QUEUES)}\n`
    cluster.#put('/api/v1', 'configmaps', {
      metadata: { namespace: 'muster-system', name: 'muster' },
      ...({ data: { 'config.yaml': config } } as object),
    })
    return cluster
  }

  /** For `--kubeconfig`. */
  kubeconfig(file: string): string {
    const { ca, url } = this.server
    const trust = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
      clusters: [{ name: 'test', cluster: { server: url.origin, ...trust } }],
      users: [{ name: 'test', user: { token: 'x' } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'ml' } }],
    }
    writeFileSync(file, JSON.stringify(config))
    return file
  }

  /** Pods with their Workload, which waits or runs as the engine decides. */
  add(options: PodOptions & { readonly namespace?: string }, asks: Asks, times: Times = {}): QueuedWorkload {
    const { namespace = 'ml', count = 1, group } = options
    const created = times.created ?? Date.now() - MINUTE
    const pods = Array.from({ length: group === undefined ? 1 : count }, (_, index) => {
      const name = group === undefined ? (options.name ?? 'pod') : `${group}-${index}`
      const pod = managedPod({
        ...options,
        name,
        uid: `uid-${namespace}-${name}`,
        created: stamp(created),
        version: `${++this.#version}`,
      })
      return asking({ ...pod, metadata: { ...pod.metadata, namespace } }, asks)
    })
    const made = workloadOf(pods)
    const workload = {
      ...made,
      metadata: {
        ...made.metadata,
        uid: `${made.metadata.uid}-${namespace}`,
        creationTimestamp: stamp(created),
        resourceVersion: `${this.#version}`,
      },
    }
    this.#units.set(keyOf(workload), { workload, pods })
    this.#unpublished.add(keyOf(workload))
    this.#fifo.observe(workload, false)
    return workload
  }

  /** A pod without a Workload: its group is not complete. */
  addPod(options: PodOptions): void {
    this.#put('/api/v1', 'pods', managedPod({ ...options, version: `${++this.#version}` }))
  }

  /** Lets the engine decide about a queue, writes what it decides, and lifts. */
  decide(queue: string, at = Date.now()): void {
    for (const action of this.#fifo.decide(queue, stamp(at))) {
      if (action.kind !== 'SetStatus') continue
      const key = `${action.workload.namespace}/${action.workload.name}`
      const unit = this.#units.get(key)
      if (unit === undefined) continue
      const { waiting, ...status } = { ...unit.workload.status, ...action.status }
      const workload = { ...unit.workload, status: { ...status, ...(waiting && { waiting }) } }
      this.#units.set(key, { ...unit, workload })
      this.#unpublished.add(key)
      this.#fifo.observe(workload, false)
    }
    for (const key of this.#unpublished) {
      const unit = this.#units.get(key)
      if (unit !== undefined) this.#publish(unit)
    }
    this.#unpublished.clear()
  }

  /** It has come to its end, and is deleted. */
  finish(workload: QueuedWorkload): void {
    const unit = this.#units.get(keyOf(workload))
    if (unit === undefined) return
    this.#units.delete(keyOf(workload))
    this.#fifo.observe(unit.workload, true)
    for (const pod of unit.pods) this.#remove('/api/v1', 'pods', pod)
    this.#remove('/apis/muster.dev/v1alpha1', 'workloads', unit.workload)
  }

  tell(about: Pod['metadata'], reason: string, note: string, at: number, type = 'Normal'): void {
    const { namespace = '', name = '', uid = '' } = about
    this.#put('/apis/events.k8s.io/v1', 'events', {
      metadata: {
        namespace,
        name: `${name}.${reason.toLowerCase()}.${this.server.version}`,
        creationTimestamp: stamp(at),
      },
      ...({
        ...{ reason, note, type, eventTime: new Date(at).toISOString().replace('Z', '000Z') },
        ...{ reportingController: 'muster.dev/reconciler', regarding: { kind: 'Pod', namespace, name, uid } },
      } as object),
    })
  }

  /** One that has what others of the queue wait for. */
  holderOf(queue: string): QueuedWorkload {
    const [entry] = this.#fifo.view(queue).holding
    if (entry === undefined) throw new Error(`nobody holds ${queue}`)
    return entry.workload
  }

  podsOf(workload: QueuedWorkload): readonly Pod[] {
    return this.#units.get(keyOf(workload))?.pods ?? []
  }

  put(group: string, plural: string, object: KubeObject): void {
    this.#put(group, plural, object)
  }

  #publish({ workload, pods }: { readonly workload: QueuedWorkload; readonly pods: readonly Pod[] }): void {
    const isAdmitted = workload.status?.admission !== undefined && workload.status.admission !== null
    this.#put('/apis/muster.dev/v1alpha1', 'workloads', workload)
    for (const [index, pod] of pods.entries()) {
      const running = { schedulingGates: [], nodeName: `node-${(index % 8) + 1}` }
      const status = { phase: 'Running', containerStatuses: [{ name: 'main', state: { running: {} } }] }
      this.#put(
        '/api/v1',
        'pods',
        (isAdmitted ? { ...pod, spec: { ...pod.spec, ...running }, status } : pod) as KubeObject,
      )
    }
  }

  /** In the list of all, and in that of its namespace: one object is asked for by its namespace. */
  #put(group: string, plural: string, object: KubeObject): void {
    const { namespace } = object.metadata
    this.server.put(`${group}/${plural}`, object)
    if (namespace !== undefined && namespace !== 'batch')
      this.server.put(`${group}/namespaces/${namespace}/${plural}`, object)
  }

  #remove(group: string, plural: string, { metadata: { namespace = '', name = '' } }: KubeObject): void {
    this.server.remove(`${group}/${plural}`, namespace, name)
    this.server.remove(`${group}/namespaces/${namespace}/${plural}`, namespace, name)
  }

  #empty(collection: string): void {
    this.server.put(collection, { metadata: { namespace: 'none', name: 'none' } })
    this.server.remove(collection, 'none', 'none')
  }
}

const WORKLOADS = '/apis/muster.dev/v1alpha1/workloads'
const EVENTS = '/apis/events.k8s.io/v1/events'

interface Times {
  readonly created?: number
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

/** An afternoon of a busy cluster: who came, who runs, who waits, and so many pods of the night besides. */
export function busyAfternoon(cluster: Cluster, mass: number): void {
  const now = Date.now()
  const came = (minutes: number) => ({ created: now - minutes * MINUTE })
  for (let index = 0; index < 26; index++) {
    const at = now - (58 - 2.1 * index) * MINUTE
    const queue = ['team-a', 'team-b', 'research'][index % 3] ?? 'team-a'
    const asks: Asks =
      queue === 'research' ? { cpu: '16', memory: '96Gi', 'nvidia.com/gpu': '1' } : { cpu: '8', memory: '24Gi' }
    cluster.add({ name: `${['etl', 'serve', 'tune'][index % 3]}-${index + 100}`, queue }, asks, {
      created: at - (index % 7) * 41_000,
    })
    cluster.decide(queue, at)
  }
  for (let index = 0; index < 40; index++) {
    const at = now - (55 - 1.3 * index + (index % 5)) * MINUTE
    cluster.add(
      { name: `dusk-${index}`, queue: 'nightly', namespace: 'batch' },
      { cpu: '1' },
      { created: at - (index % 4) * 65_000 },
    )
    cluster.decide('nightly', at)
  }
  const train = cluster.add(
    { group: 'llm-train', count: 16, queue: 'research' },
    { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '1' },
    came(23),
  )
  cluster.decide('research', now - 22 * MINUTE)
  cluster.add({ name: 'eval-7', queue: 'research' }, { cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' }, came(19))
  cluster.add({ group: 'sweep', count: 4, queue: 'team-a' }, { cpu: '16', memory: '32Gi' }, came(12))
  for (let index = 0; index < 9; index++) {
    cluster.add({ name: `report-${index + 1}`, queue: 'team-a' }, { cpu: '4', memory: '8Gi' }, came(10 - index))
    cluster.decide('team-a', now - (10 - index) * MINUTE)
  }
  cluster.add({ name: 'huge', queue: 'small' }, { cpu: '64' }, came(47))
  for (let index = 0; index < 3; index++) {
    cluster.addPod({
      name: `ring-${index}`,
      group: 'ring',
      count: 4,
      queue: 'team-b',
      created: stamp(now - 6 * MINUTE),
      cpu: '2',
    })
  }
  for (let index = 0; index < mass; index++) {
    cluster.add(
      { name: `night-${String(index).padStart(5, '0')}`, queue: 'nightly', namespace: 'batch' },
      { cpu: '1' },
      { created: now - 30 * MINUTE + index * 100 },
    )
  }
  for (const queue of ['research', 'team-a', 'small', 'nightly']) cluster.decide(queue, now - 5 * MINUTE)
  const [pod] = cluster.podsOf(train)
  if (pod === undefined) throw new Error('a group without pods')
  cluster.tell(pod.metadata, 'WaitingForPods', 'group llm-train has 1 of 16 pods', now - 23 * MINUTE)
  cluster.tell(
    pod.metadata,
    'OverQueueLimits',
    'first in queue research; asks for 16 nvidia.com/gpu, 8 of 16 free',
    now - 5 * MINUTE,
  )
}
