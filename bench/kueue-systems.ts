import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../src/kube/client/client.ts'
import type { ControlPlane } from '../test/cluster/support/control-plane.ts'
import { Kueue } from '../test/cluster/support/kueue.ts'
import { clusterQueue, localQueue, resourceFlavor } from '../test/cluster/support/kueue-objects.ts'
import { list } from '../test/cluster/support/manifests.ts'
import { Muster } from '../test/cluster/support/muster.ts'
import { NODE_FLAGS } from '../test/support/installed.ts'
import { NAMESPACES, QUEUE, run, type Way } from './kueue-loads.ts'
import { load, quantile } from './load.ts'
import { deletePods } from './pods.ts'
import { sampleReview } from './review.ts'

const ROOT = new URL('..', import.meta.url).pathname
/** Where the pod of the sample review is. */
const REVIEWED = 'ml-research'
const CONNECTIONS = 8
const PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const

export interface System {
  readonly name: string
  readonly way: Way
  readonly engine?: 'builtin' | 'kueue'
  /** Whether Kueue runs, and whether it queues pods itself. */
  readonly kueue?: 'engine' | 'alone'
}

/** In the order in which they are shown. */
export const SYSTEMS: readonly System[] = [
  { name: 'plain pods', way: 'plain' },
  { name: 'raw patches', way: 'raw' },
  { name: 'Muster', way: 'queued', engine: 'builtin' },
  { name: 'Muster + Kueue', way: 'queued', engine: 'kueue', kueue: 'engine' },
  { name: 'Kueue', way: 'queued', kueue: 'alone' },
]

export interface Reviews {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
}

/** One control plane, on which one system after the other is at work and leaves nothing behind. */
export class Arena {
  readonly #plane: ControlPlane
  readonly #api: KubeClient
  readonly #kueue: Kueue
  #muster: Muster | undefined

  private constructor(plane: ControlPlane, api: KubeClient, kueue: Kueue) {
    this.#plane = plane
    this.#api = api
    this.#kueue = kueue
  }

  static async open(plane: ControlPlane, api: KubeClient): Promise<Arena> {
    const namespaces = Object.values(NAMESPACES)
    for (const namespace of [...namespaces, REVIEWED]) await plane.createNamespace(namespace)
    const kueue = await Kueue.install(plane)
    await kueue.start({ pods: true })
    // More than anybody asks for: what is measured is the way through a queue, not the wait in it.
    const queue = clusterQueue({ name: QUEUE, flavors: [{ name: 'any', quota: { cpu: 100_000 } }] })
    const objects = [resourceFlavor('any'), queue, ...namespaces.map(namespace => localQueue(namespace, QUEUE))]
    await plane.kubectl(['create', '-f', '-'], { stdin: list(objects) })
    await kueue.withdraw()
    return new Arena(plane, api, kueue)
  }

  /** Whoever is measured first is not the first whom the control plane sees. */
  async warmUp(): Promise<void> {
    await run(this.#api, 'plain', { name: 'warm-up', pods: 200, group: false, earlier: 0 })
    await this.clear({ name: 'warm-up', way: 'plain' })
  }

  async enter({ engine, kueue }: System): Promise<void> {
    if (kueue !== undefined) {
      const pods = kueue === 'alone'
      await this.#kueue.register({ pods })
      await this.#kueue.start({ pods })
    }
    if (engine === undefined) return
    // As it is installed: compiled, under the limit of its manifests, with as much in its log as it says by itself.
    const options = { logLevel: 'info', program: join(ROOT, 'dist/main.js'), nodeFlags: NODE_FLAGS }
    this.#muster = await Muster.install(this.#plane, { engine }, options)
  }

  async leave({ kueue }: System): Promise<void> {
    await this.#muster?.withdraw(this.#plane)
    this.#muster = undefined
    if (kueue !== undefined) await this.#kueue.withdraw()
  }

  /** Nothing of the last load goes on while the next one is measured. */
  async clear({ engine, kueue }: System): Promise<void> {
    const workloads = kueue === undefined ? 'workloads.muster.dev' : 'workloads.kueue.x-k8s.io'
    for (const namespace of Object.values(NAMESPACES)) {
      // Alone, Kueue waits for successors of the pods of a group as long as the Workload of it is there.
      if (kueue === 'alone') await this.#kubectl(['delete', workloads, '--all', '--wait=false', '-n', namespace])
      await this.#deleteAtOnce(namespace)
      if (engine === undefined && kueue === undefined) continue
      while ((await this.#kubectl(['get', workloads, '-o', 'name', '-n', namespace])) !== '') await sleep(500)
    }
    await sleep(2_000)
  }

  /** All that run with one call, and without their grace period: nothing of this is measured. */
  async #deleteAtOnce(namespace: string): Promise<void> {
    await this.#kubectl(['delete', '--raw', `/api/v1/namespaces/${namespace}/pods?gracePeriodSeconds=0`])
    await deletePods(this.#api, namespace)
  }

  async close(): Promise<void> {
    await this.#muster?.stop()
    await this.#kueue.close()
  }

  get processes(): { readonly muster: number; readonly kueue: number; readonly apiServer: number } {
    return {
      muster: this.#muster?.pid ?? 0,
      kueue: this.#kueue.pid,
      apiServer: this.#plane.pidOf('kube-apiserver'),
    }
  }

  /** Of all that is at work here. */
  get pids(): readonly number[] {
    return [...PLANE.map(program => this.#plane.pidOf(program)), this.#muster?.pid ?? 0, this.#kueue.pid]
  }

  /** Of the webhook that gates pods, asked by nobody else meanwhile. */
  async reviews({ kueue }: System, seconds: number): Promise<Reviews> {
    const alone = kueue === 'alone'
    const configuration = alone ? 'kueue-mutating-webhook-configuration' : 'muster'
    const path = alone ? '/mutate--v1-pod' : '/mutate/pods'
    const port = alone ? this.#kueue.port : (this.#muster?.port ?? 0)
    const target = { port, path, ca: await this.#caBundle(configuration), ...(alone && { servername: Kueue.hostname }) }
    const body = sampleReview({ owner: 'Run' })
    await load(target, body, CONNECTIONS, 1000)
    const { requests, seconds: spent, latencies } = await load(target, body, CONNECTIONS, seconds * 1000)
    return { perSecond: requests / spent, p99: quantile(latencies, 0.99) }
  }

  async #caBundle(configuration: string): Promise<string> {
    const path = '-o=jsonpath={.webhooks[0].clientConfig.caBundle}'
    const bundle = await this.#kubectl(['get', 'mutatingwebhookconfiguration', configuration, path])
    return Buffer.from(bundle, 'base64').toString()
  }

  async #kubectl(args: readonly string[]): Promise<string> {
    return (await this.#plane.kubectl(args, { timeoutMs: 300_000 })).stdout
  }
}
