import { setTimeout as sleep } from 'node:timers/promises'
import { createKubeClient, type KubeClient } from '../src/kube/client/client.ts'
import { kubeconfigCredentials } from '../src/kube/client/credentials.ts'
import { systemClock } from '../src/kube/vocabulary/clock.ts'
import { ADMISSION_GATE } from '../src/kube/vocabulary/names.ts'
import type { Pod } from '../src/kube/vocabulary/objects.ts'
import { PODS } from '../src/kube/vocabulary/resources.ts'
import type { ControlPlane } from '../test/cluster/support/control-plane.ts'
import { isGated, queuedPod } from '../test/cluster/support/manifests.ts'

/** As many connections as Muster has. */
export const PARALLEL = 16
/** Nobody's: whoever made the pod takes it away again. */
export const RAW_GATE = 'example.com/raw'

/** The administrator's. */
export async function clientOf({ kubeconfig: file }: ControlPlane): Promise<KubeClient> {
  const credentials = await kubeconfigCredentials({ file, clock: systemClock })
  return createKubeClient({ credentials, clock: systemClock })
}

/**
 * A bare loop that does nothing but remove a gate: nobody can lift faster than this. Its pods ask for no queue. The
 * finish is the same as for Muster: somebody who watches has seen them all.
 */
export async function rawLiftSeconds(api: KubeClient, namespace: string, count: number): Promise<number> {
  await createPods(api, count, index => plainPod(namespace, `raw-${index}`, [RAW_GATE]))
  const lifted = untilLifted(api, namespace, count, () => true, RAW_GATE)
  const started = performance.now()
  await inParallel(count, index => liftRaw(api, namespace, `raw-${index}`))
  await lifted
  const seconds = (performance.now() - started) / 1000
  await deletePods(api, namespace)
  return seconds
}

/** Last create to last lift of a group of this size. */
export async function groupSeconds(api: KubeClient, namespace: string, group: string, count: number): Promise<number> {
  const lifted = untilLifted(api, namespace, count, pod => pod.startsWith(`${group}-`))
  await createPods(api, count, index => queuedPod({ namespace, name: `${group}-${index}`, group, count }))
  const created = performance.now()
  await lifted
  return (performance.now() - created) / 1000
}

/** Asks for no queue. */
export function plainPod(namespace: string, name: string, gates: readonly string[] = []): Pod {
  const pod = queuedPod({ namespace, name, gates }) as Pod
  return { ...pod, metadata: { ...pod.metadata, labels: {} } }
}

export async function liftRaw(api: KubeClient, namespace: string, name: string): Promise<void> {
  const body = { spec: { schedulingGates: [{ $patch: 'delete', name: RAW_GATE }] } }
  await api.patch(PODS, { namespace, name }, { type: 'strategic', body })
}

/** Watches, as a user's `kubectl get -w` would: the lift counts when others can see it. */
export async function untilLifted(
  api: KubeClient,
  namespace: string,
  count: number,
  ours: (name: string) => boolean,
  by: string = ADMISSION_GATE,
): Promise<void> {
  const lifted = new Set<string>()
  await watchUntil(api, namespace, pod => {
    if (ours(pod.metadata.name ?? '') && !isGated(pod, by)) lifted.add(pod.metadata.uid ?? '')
    return lifted.size >= count
  })
}

/** Shows every state of every pod, until that is enough. */
export async function watchUntil(api: KubeClient, namespace: string, enough: (pod: Pod) => boolean): Promise<void> {
  const stop = new AbortController()
  // The API server closes the watch of a reader that is too slow for it; the next one begins with all that is there.
  for (let tries = 0; tries < 20; tries++) {
    for await (const { type, object } of api.watch<Pod>(PODS, { namespace }, stop.signal)) {
      if ((type === 'ADDED' || type === 'MODIFIED') && enough(object)) return stop.abort()
    }
  }
  throw new Error(`the watch of the pods in ${namespace} ended too often`)
}

export async function untilRunning(api: KubeClient, namespace: string, count: number): Promise<void> {
  for (;;) {
    const { items } = await api.list<Pod>(PODS, { namespace })
    if (items.filter(pod => pod.status?.phase === 'Running').length >= count) return
    await sleep(500)
  }
}

export async function createPods(api: KubeClient, count: number, pod: (index: number) => object): Promise<void> {
  await inParallel(count, index => api.create<Pod>(PODS, pod(index) as Pod, { timeoutMs: 60_000 }))
}

/** Until they are gone: pods that run get their grace period. */
export async function deletePods(api: KubeClient, namespace: string): Promise<void> {
  const { items } = await api.list<Pod>(PODS, { namespace })
  await inParallel(items.length, async index => {
    const name = items[index]?.metadata.name ?? ''
    await api.delete(PODS, { namespace, name }, {}).catch(() => undefined)
  })
  for (;;) {
    const rest = await api.list<Pod>(PODS, { namespace, limit: 1 })
    if (rest.items.length === 0) return
    await sleep(200)
  }
}

export async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}
