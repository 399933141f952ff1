import { afterEach, beforeEach } from 'vitest'
import { createKubeClient, type KubeClient, type KubeClientOptions } from '../../../src/kube/client/client.ts'
import type { Credentials } from '../../../src/kube/client/credentials.ts'
import type { WatchEvent } from '../../../src/kube/vocabulary/api.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { FakeApiServer, type Script } from '../../support/fake-api-server.ts'

export const TEAM_PODS = '/api/v1/namespaces/team/pods'
export const pod = (name: string): KubeObject => ({ metadata: { namespace: 'team', name } })

export let server: FakeApiServer
const clients: KubeClient[] = []

export function connect(options: Partial<KubeClientOptions> = {}): KubeClient {
  const anonymous: Credentials = { server: server.url, access: async () => ({ headers: {}, tls: {} }) }
  const client = createKubeClient({ credentials: anonymous, clock: systemClock, ...options })
  clients.push(client)
  return client
}

/** The next request of that method is answered by breaking the connection. */
export const breakNext =
  (method: string): Script =>
  (request, response) => {
    if (request.method !== method) return false
    response.socket?.destroy()
    return true
  }

export async function collect(
  client: KubeClient,
  signal = new AbortController().signal,
  events: WatchEvent<KubeObject>[] = [],
): Promise<WatchEvent<KubeObject>[]> {
  for await (const event of client.watch(PODS, { namespace: 'team' }, signal)) events.push(event)
  return events
}

/** A server of its own for each test of the file, and no client that outlives it. */
export function useServer(): void {
  beforeEach(async () => {
    server = await FakeApiServer.start()
  })

  afterEach(async () => {
    await Promise.all(clients.splice(0).map(client => client.close()))
    await server.stop()
  })
}
