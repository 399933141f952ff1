import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../src/kube/client/client.ts'
import { ADMISSION_GATE } from '../src/kube/vocabulary/names.ts'
import type { Pod } from '../src/kube/vocabulary/objects.ts'
import { PODS } from '../src/kube/vocabulary/resources.ts'
import { isGated, queuedPod } from '../test/cluster/support/manifests.ts'
import { quantile } from './load.ts'
import { createPods, deletePods, inParallel, liftRaw, plainPod, RAW_GATE, untilRunning, watchUntil } from './pods.ts'

/** Who lets pods start: the API server itself, whoever made them by a bare patch, or who stands behind a queue. */
export type Way = 'plain' | 'raw' | 'queued'

export interface Load {
  readonly name: string
  readonly pods: number
  /** All of them start, or none. */
  readonly group: boolean
  /** Pods that ran before and are cleaned up meanwhile. */
  readonly earlier: number
}

/** Seconds since the first create began, and milliseconds of a create as the client sees it. */
export interface Timing {
  readonly created: number
  readonly lifted: number
  readonly bound: number
  readonly createP50: number
  readonly createP99: number
}

export const QUEUE = 'team-a'
/** Where the pods of the load are, and where those are that ran before. */
export const NAMESPACES = { load: 'bench', earlier: 'earlier' } as const

/** Whoever takes longer for one load will not come to its end. */
const LIMIT_SECONDS = 240

/** Leaves its pods behind. */
export async function run(api: KubeClient, way: Way, load: Load): Promise<Timing> {
  await createPods(api, load.earlier, index => podOf(way, NAMESPACES.earlier, `early-${index}`))
  await untilRunning(api, NAMESPACES.earlier, load.earlier)
  const cleanup = deletePods(api, NAMESPACES.earlier)
  const timing = await measure(api, way, load)
  await cleanup
  return timing
}

async function measure(api: KubeClient, way: Way, { pods, group }: Load): Promise<Timing> {
  const namespace = NAMESPACES.load
  const name = (index: number) => `pod-${index}`
  const latencies: number[] = []
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const seen = untilStarted(api, way, pods, seconds)
  await inParallel(pods, async index => {
    const before = performance.now()
    const pod = podOf(way, namespace, name(index), group ? pods : undefined)
    await api.create<Pod>(PODS, pod, { timeoutMs: 60_000 })
    latencies.push(performance.now() - before)
    if (way === 'raw' && !group) await liftRaw(api, namespace, name(index))
  })
  const created = seconds()
  if (way === 'raw' && group) await inParallel(pods, index => liftRaw(api, namespace, name(index)))
  const sorted = Float64Array.from(latencies).sort()
  return { created, ...(await seen), createP50: quantile(sorted, 0.5), createP99: quantile(sorted, 0.99) }
}

function podOf(way: Way, namespace: string, name: string, count?: number): Pod {
  if (way === 'queued')
    return queuedPod({ namespace, name, queue: QUEUE, ...(count && { group: 'gang', count }) }) as Pod
  return plainPod(namespace, name, way === 'raw' && namespace === NAMESPACES.load ? [RAW_GATE] : [])
}

/**
 * When somebody who watches has seen the last of them without its gate, and the last of them on a node. It resolves when
 * all of them run: until then the control plane is at work for them.
 */
async function untilStarted(
  api: KubeClient,
  way: Way,
  count: number,
  seconds: () => number,
): Promise<{ readonly lifted: number; readonly bound: number }> {
  const gate = way === 'raw' ? RAW_GATE : ADMISSION_GATE
  const [free, placed, running] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const times = { lifted: 0, bound: 0 }
  const seen = watchUntil(api, NAMESPACES.load, pod => {
    const { uid = '' } = pod.metadata
    if (!isGated(pod, gate)) free.add(uid)
    if (pod.spec.nodeName) placed.add(uid)
    if (pod.status?.phase === 'Running') running.add(uid)
    if (times.lifted === 0 && free.size >= count) times.lifted = seconds()
    if (times.bound === 0 && placed.size >= count) times.bound = seconds()
    return running.size >= count
  })
  const late = sleep(LIMIT_SECONDS * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`only ${free.size} of ${count} pods were lifted, ${placed.size} bound and ${running.size} running`)
  })
  await Promise.race([seen, late])
  return times
}
