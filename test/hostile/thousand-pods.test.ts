import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { residentMb } from '../../bench/processes.ts'
import { createKubeClient, type KubeClient } from '../../src/kube/client/client.ts'
import { kubeconfigCredentials } from '../../src/kube/client/credentials.ts'
import { ApiError } from '../../src/kube/vocabulary/api.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import type { Pod } from '../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../src/kube/vocabulary/resources.ts'
import { isGated } from '../../src/workload/pod-facts.ts'
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts'
import { hostilePod, queuedPod } from '../cluster/support/manifests.ts'
import { Muster } from '../cluster/support/muster.ts'
import { eventually } from '../cluster/support/wait.ts'
import { MEMORY_LIMIT_MB, NODE_FLAGS } from '../support/installed.ts'

const NAMESPACE = 'hostile'
const COUNT = Number(process.env.MUSTER_HOSTILE_PODS ?? 1000)
const AT_ONCE = 2
/** The API server sends seven megabytes of each pod, and the two replicas and it share the machine. */
const READY_MS = 30_000 + COUNT * 400

let plane: ControlPlane
let api: KubeClient
let replicas: readonly Muster[] = []

beforeAll(async () => {
  plane = await startControlPlane({ name: 'hostile', featureGates: 'none' })
  await plane.createNamespace(NAMESPACE)
  const config = { queues: [{ name: 'closed', limits: { pods: 0 } }] }
  const first = await Muster.install(plane, config, { logLevel: 'info', nodeFlags: NODE_FLAGS, readyMs: READY_MS })
  replicas = [first, await first.another(plane.folder)]
  api = createKubeClient({
    credentials: await kubeconfigCredentials({ file: plane.kubeconfig, clock: systemClock }),
    clock: systemClock,
  })
})

afterAll(async () => {
  await api?.close()
  for (const replica of replicas) await replica.kill()
  await plane?.stop()
})

/** The largest amount of memory that was seen of a replica. */
let most = 0

async function areWell(): Promise<void> {
  for (const replica of replicas) {
    most = Math.max(most, residentMb(replica.pid))
    expect((await replica.health('/healthz')).status).toBe(200)
  }
}

/** As a tenant would: a review of seven megabytes may take longer than the API server waits for it. */
async function createPatiently(pod: Pod): Promise<void> {
  await eventually(
    `${pod.metadata.name} is created`,
    async () => {
      try {
        return await api.create(PODS, pod, { timeoutMs: 60_000 })
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return true
        throw error
      }
    },
    { timeoutMs: 120_000, intervalMs: 500 },
  )
}

describe(`${COUNT} waiting pods, each as large as etcd takes it`, () => {
  it('are created, and no replica falls', async () => {
    let next = 0
    const create = async (): Promise<void> => {
      for (let index = next++; index < COUNT; index = next++) {
        await createPatiently(hostilePod({ namespace: NAMESPACE, name: `hostile-${index}`, queue: 'closed' }))
        if (index % 50 === 0) await areWell()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, create))
    await areWell()
  })

  it('keep nobody from starting who may', async () => {
    await api.create(PODS, queuedPod({ namespace: NAMESPACE, name: 'honest' }) as Pod)
    await eventually(
      'the honest pod is lifted',
      async () => !isGated(await api.get<Pod>(PODS, { namespace: NAMESPACE, name: 'honest' })),
      { timeoutMs: 60_000 },
    )
  })

  it('are read by replicas that begin anew', async () => {
    for (const replica of replicas) {
      await replica.kill()
      await replica.start()
      await areWell()
    }
    await sleep(30_000)
    await areWell()
    process.stdout.write(`most memory of a replica: ${most.toFixed(0)} MB of ${MEMORY_LIMIT_MB}\n`)
    expect(most).toBeLessThan(MEMORY_LIMIT_MB)
  })
})
