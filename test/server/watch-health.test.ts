import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cacheObserver } from '../../src/cluster/metrics.ts'
import { WatchMonitor } from '../../src/cluster/watch-monitor.ts'
import { Informer } from '../../src/kube/cache/informer.ts'
import { OptionalInformer } from '../../src/kube/cache/optional-informer.ts'
import { createKubeClient, type KubeClient } from '../../src/kube/client/client.ts'
import type { KubeApi } from '../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'
import { LOCAL_QUEUES, NAMESPACES, PODS } from '../../src/kube/vocabulary/resources.ts'
import { buildHealthApp } from '../../src/server/health-app.ts'
import { createMetrics } from '../../src/server/metrics.ts'
import { eventually } from '../support/eventually.ts'
import { FakeApiServer, type Script, type SeenRequest, sendStatus } from '../support/fake-api-server.ts'
import { recordingLog } from '../support/logs.ts'
import { ManualClock } from '../support/manual-clock.ts'

const isWatch = ({ query }: SeenRequest) => query.get('watch') === 'true'
const isDirect = ({ path }: SeenRequest) => path === '/api/v1/namespaces/muster-system'

/**
 * Caches on real sockets and a clock of our own: a second passes when all that the last one set in motion has come to
 * rest, so that a slow machine never looks like a slow server.
 */
class Replica {
  readonly clock = new ManualClock()
  readonly metrics = createMetrics({ version: 'test', processMetrics: false })
  readonly monitor: WatchMonitor
  readonly #client: KubeClient
  readonly #api: KubeApi
  readonly #server: FakeApiServer
  readonly #silent: ReadonlySet<ServerResponse>
  readonly #caches: { stop(): Promise<void> }[] = []
  readonly #health
  #calls = 0
  #watches = 0

  constructor(server: FakeApiServer, silent: ReadonlySet<ServerResponse>) {
    this.#server = server
    this.#silent = silent
    const credentials = { server: server.url, access: async () => ({ headers: {}, tls: {} }) }
    this.#client = createKubeClient({ credentials, clock: this.clock })
    this.#api = this.#counted(this.#client)
    this.monitor = new WatchMonitor({ api: this.#api, clock: this.clock, log: recordingLog() })
    const alive = () => [this.monitor.liveness()]
    this.#health = buildHealthApp({ ready: () => [], alive, metrics: this.metrics }, { draining: false })
    this.monitor.start()
  }

  async watch(): Promise<void> {
    const informers = [PODS, NAMESPACES].map(resource => new Informer<KubeObject>({ ...this.#ports(), resource }))
    this.#caches.push(...informers)
    for (const informer of informers) informer.start()
    await Promise.all(informers.map(informer => informer.whenSynced()))
  }

  watchMaybe(): void {
    const informer = new OptionalInformer<KubeObject>({ ...this.#ports(), resource: LOCAL_QUEUES })
    this.#caches.push(informer)
    informer.start()
  }

  /** Asks /healthz after every second, and returns the statuses that came. */
  async pass(seconds: number): Promise<readonly number[]> {
    const statuses = new Set<number>()
    for (let second = 0; second < seconds; second++) {
      await this.clock.advance(1_000)
      await eventually('everything on the wire has come to rest', () => this.#atRest())
      statuses.add((await this.healthz()).status)
    }
    return [...statuses]
  }

  async healthz(): Promise<{ readonly status: number; readonly text: string }> {
    const { statusCode, body } = await this.#health.inject('/healthz')
    return { status: statusCode, text: body }
  }

  async stop(): Promise<void> {
    this.monitor.stop()
    await Promise.all(this.#caches.map(cache => cache.stop()))
    await this.#client.close()
    await this.#health.close()
  }

  #ports() {
    const observer = cacheObserver(this.metrics, this.monitor)
    return { api: this.#api, clock: this.clock, random: () => 0.5, log: recordingLog(), observer }
  }

  #atRest(): boolean {
    return this.#calls === 0 && this.#watches === this.#server.watches.size + this.#silent.size
  }

  #counted(api: KubeApi): KubeApi {
    const counted = async <R>(call: Promise<R>): Promise<R> => {
      this.#calls++
      try {
        return await call
      } finally {
        this.#calls--
      }
    }
    const replica = this
    return {
      ...api,
      get: (...call) => counted(api.get(...call)),
      list: (...call) => counted(api.list(...call)),
      watch: async function* (...call) {
        replica.#watches++
        try {
          yield* api.watch(...call)
        } finally {
          replica.#watches--
        }
      },
    }
  }
}

let server: FakeApiServer
let replica: Replica
const silent = new Set<ServerResponse>()

/** Answers every request of a kind, until the scripts are cleared. */
function always(kind: (request: SeenRequest) => boolean, answer: (response: ServerResponse) => void): void {
  const script: Script = (request, response) => {
    if (!kind(request)) return false
    server.scripts.push(script)
    answer(response)
    return true
  }
  server.scripts.push(script)
}

/** Accepts a watch and never sends anything on it. */
function keepSilent(response: ServerResponse): void {
  silent.add(response)
  response.once('close', () => silent.delete(response))
  if (!response.headersSent) response.writeHead(200).flushHeaders()
}

/** From now on no watch says anything, those that are open included. */
function silence(): void {
  for (const { response } of server.watches) keepSilent(response)
  server.watches.clear()
  always(isWatch, keepSilent)
}

beforeEach(async () => {
  server = await FakeApiServer.start()
  server.put('/api/v1/namespaces', { metadata: { name: 'muster-system' } })
  server.put('/api/v1/pods', { metadata: { namespace: 'team', name: 'a' } })
  replica = new Replica(server, silent)
})

afterEach(async () => {
  await replica.stop()
  await server.stop()
  silent.clear()
})

describe('/healthz', () => {
  it('fails when all watches are silent for three minutes although the API server answers, until they speak', async () => {
    await replica.watch()
    silence()
    expect(await replica.pass(179)).toEqual([200])
    expect(await replica.pass(1)).toEqual([503])
    expect((await replica.healthz()).text).toBe(
      '[-]watches: nothing was heard for 180 s on any watch (namespaces, pods), although the API server answers direct requests\n',
    )
    // By then new connections and a new list have been tried, in vain.
    expect(server.requests.filter(({ query }) => query.has('sendInitialEvents'))).toHaveLength(4)
    expect(server.requests.filter(isDirect)).toHaveLength(16)
    server.scripts.length = 0
    await replica.pass(95)
    expect(await replica.pass(240)).toEqual([200])
    const restarts = await replica.metrics.watchRestarts.get()
    expect(restarts.values).toContainEqual({
      labels: { resource: 'pods', reason: 'silence' },
      value: expect.any(Number),
    })
  })

  it('holds while one of the watches speaks', async () => {
    await replica.watch()
    always(request => isWatch(request) && request.path.endsWith('/pods'), keepSilent)
    for (const watch of [...server.watches].filter(({ collection }) => collection.endsWith('/pods'))) {
      server.watches.delete(watch)
      keepSilent(watch.response)
    }
    for (let minute = 0; minute < 8; minute++) {
      expect(await replica.pass(60)).toEqual([200])
      server.bookmark()
    }
  })

  it('holds on a server that has no bookmarks to send and no news', async () => {
    await replica.watch()
    expect(await replica.pass(600)).toEqual([200])
    expect(server.requests.filter(isDirect).length).toBeGreaterThan(0)
  })

  it.each([
    ['that breaks every connection', (response: ServerResponse) => void response.socket?.destroy()],
    ['that refuses every request', (response: ServerResponse) => sendStatus(response, 503, 'ServiceUnavailable')],
  ])('holds in an outage %s, and after it while the watches return', async (_, answer) => {
    await replica.watch()
    always(() => true, answer)
    server.resetConnections()
    expect(await replica.pass(600)).toEqual([200])
    server.scripts.length = 0
    // Up to 45 s until the next attempt, 90 s of silence, and then the new list without another long wait.
    expect(await replica.pass(140)).toEqual([200])
    const relists = await replica.metrics.relists.get()
    expect(relists.values).toContainEqual({ labels: { resource: 'pods', reason: 'silence' }, value: 1 })
    expect(await replica.pass(260)).toEqual([200])
  })

  it.each([
    ['refuses', (response: ServerResponse) => sendStatus(response, 403, 'Forbidden')],
    ['ends at once', (response: ServerResponse) => void response.writeHead(200).end()],
  ])('holds when the server %s every watch: it is heard, and a new process would hear no more', async (_, answer) => {
    await replica.watch()
    always(({ query }) => query.has('watch'), answer)
    always(
      ({ query }) => query.has('limit'),
      response => response.socket?.destroy(),
    )
    server.resetConnections()
    expect(await replica.pass(600)).toEqual([200])
    expect(server.requests.filter(isWatch).length).toBeGreaterThan(10)
  })

  it('says in an outage what it sees', async () => {
    await replica.watch()
    always(
      () => true,
      response => response.socket?.destroy(),
    )
    server.resetConnections()
    await replica.pass(200)
    expect((await replica.healthz()).text).toBe(
      '[+]watches ok: nothing was heard for 200 s on any watch, and the API server does not answer either\n',
    )
  })

  it('does not wait for watches of a kind that is not installed', async () => {
    replica.watchMaybe()
    expect(await replica.pass(300)).toEqual([200])
    expect(server.requests.filter(isDirect)).toEqual([])
  })
})
