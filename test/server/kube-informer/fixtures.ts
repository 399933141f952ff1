import { afterEach, beforeEach } from 'vitest'
import { Informer, type InformerOptions } from '../../../src/kube/cache/informer.ts'
import { createKubeClient, type KubeClient } from '../../../src/kube/client/client.ts'
import { type Clock, systemClock } from '../../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { eventually } from '../../support/eventually.ts'
import { FakeApiServer, type Script, sendStatus } from '../../support/fake-api-server.ts'
import { impatientClock } from '../../support/impatient-clock.ts'
import { recordingLog } from '../../support/logs.ts'
import { nobody } from '../../support/observers.ts'

export const PATH = '/api/v1/pods'
export const pod = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  metadata: { namespace: 'team', name, labels },
})

export let server: FakeApiServer
export let client: KubeClient
const informers: Informer<KubeObject>[] = []

const clientWith = (clock: Clock): KubeClient =>
  createKubeClient({ credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) }, clock })

/** The time of the connections is the test's from here on. */
export async function reconnect(clock: Clock): Promise<void> {
  await client.close()
  client = clientWith(clock)
}

export function createInformer(options: Partial<InformerOptions<KubeObject>> = {}) {
  const changes: string[] = []
  const relists: string[] = []
  const restarts: string[] = []
  const failures: string[] = []
  const log = recordingLog()
  const informer = new Informer<KubeObject>({
    api: client,
    resource: PODS,
    clock: impatientClock(100),
    random: () => 0.5,
    log,
    observer: {
      ...nobody,
      relisted: (_resource, reason) => relists.push(reason),
      restarted: (_resource, reason) => restarts.push(reason),
      failed: () => failures.push('failed'),
    },
    ...options,
  })
  informer.subscribe(({ type, object }) => changes.push(`${type} ${object.metadata.uid}`))
  informers.push(informer)
  return { informer, changes, relists, restarts, failures, log }
}

export async function started(options: Partial<InformerOptions<KubeObject>> = {}) {
  const all = createInformer(options)
  all.informer.start()
  await all.informer.whenSynced()
  return all
}

const state = (objects: Iterable<KubeObject>) =>
  Array.from(objects, ({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()

export async function converged(informer: Informer<KubeObject>): Promise<void> {
  const same = () => JSON.stringify(state(informer.values())) === JSON.stringify(state(server.objects(PATH)))
  await eventually(`the store equals the server: ${state(server.objects(PATH))}`, same)
}

export const isWatch = (query: URLSearchParams) => query.get('watch') === 'true' && !query.has('sendInitialEvents')
/** Answers the next request of a kind with a status. */
export const refuse =
  (kind: (query: URLSearchParams) => boolean, status: number, headers = {}): Script =>
  (request, response) => {
    if (!kind(request.query)) return false
    sendStatus(response, status, 'Refused', headers)
    return true
  }

/** For each test of the file a server with three pods, and no informer that outlives it. */
export function useServer(): void {
  beforeEach(async () => {
    server = await FakeApiServer.start()
    client = clientWith(systemClock)
    for (const name of ['a', 'b', 'c']) server.put(PATH, pod(name))
  })

  afterEach(async () => {
    await Promise.all(informers.splice(0).map(informer => informer.stop()))
    await client.close()
    await server.stop()
  })
}
