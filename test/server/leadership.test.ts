import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { builtinEngine } from '../../src/engines/builtin/builtin.ts'
import { createKubeClient, type KubeClient } from '../../src/kube/client/client.ts'
import { EventRecorder } from '../../src/kube/coordination/events.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import { Lanes } from '../../src/reconciler/lanes.ts'
import { Reconciler } from '../../src/reconciler/loop.ts'
import { eventually } from '../support/eventually.ts'
import { FakeApiServer } from '../support/fake-api-server.ts'
import { EVERYWHERE, NOTHING_TO_PLACE_BY } from '../support/namespaces.ts'
import { nobody } from '../support/observers.ts'
import { managedPod } from '../support/pods.ts'

const PODS = '/api/v1/pods'

let server: FakeApiServer
let client: KubeClient
let reconciler: Reconciler
let depth = 0
let added = 0
/** Lets the first of the waiting writes through. */
let openTheLane: () => void

beforeEach(async () => {
  added = 0
  server = await FakeApiServer.start()
  client = createKubeClient({
    credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) },
    clock: systemClock,
  })
  const lanes = new Lanes(1)
  void lanes.run(
    0,
    () =>
      new Promise<void>(resolve => {
        openTheLane = resolve
      }),
  )
  const log = pino({ level: 'silent' })
  const ports = { api: client, clock: systemClock, random: Math.random, log, observer: nobody }
  reconciler = new Reconciler({
    ...ports,
    engine: builtinEngine([]),
    scope: EVERYWHERE,
    schedulers: [],
    scheduling: NOTHING_TO_PLACE_BY,
    events: new EventRecorder({ ...ports, instance: 'test', turn: call => call(), onOutcome: () => {} }),
    lanes,
    metrics: {
      reconciled: () => {},
      acted: () => {},
      lifted: () => {},
      waiting: () => {},
      queue: {
        depth: keys => {
          depth = keys
        },
        add: () => {
          added++
        },
        retry: () => {},
        latency: () => {},
      },
    },
    wrote: () => {},
    isLeader: () => true,
  })
})

afterEach(async () => {
  openTheLane()
  await reconciler.stop()
  await client.close()
  await server.stop()
})

const creations = () => server.requests.filter(({ method }) => method === 'POST').length

describe('a write that waits for its turn', () => {
  it('is done', async () => {
    server.put(PODS, managedPod())
    await reconciler.start()
    await reconciler.resync()
    openTheLane()
    await eventually('the Workload is created', () => creations() === 1)
  })

  it('is not done when the leadership that decided it is over, though it has come back', async () => {
    server.put(PODS, managedPod())
    await reconciler.start()
    await reconciler.resync()
    await eventually('the write waits', () => depth === 0)
    reconciler.pause()
    // Whoever led meanwhile has made the Workload, and the pod has gone with it.
    server.remove(PODS, 'ml', 'train')
    await reconciler.resync()
    openTheLane()
    await reconciler.stop()
    expect(creations()).toBe(0)
  })
})

describe('a LimitRange', () => {
  it('has nobody looked at before there is a leader, who looks at everybody, and then no pods', async () => {
    for (const name of ['a', 'b', 'c']) server.put(PODS, managedPod({ name }))
    // What is in no list is taken for a kind that is not installed.
    server.put('/api/v1/limitranges', { metadata: { namespace: 'ml', name: 'first' } })
    await reconciler.start()
    await eventually('all have been seen', () => added === 3 && depth === 0)
    for (const name of ['one', 'two']) {
      server.put('/api/v1/limitranges', { metadata: { namespace: 'ml', name } })
      // Long enough for its watch to tell of it.
      await new Promise(resolve => setTimeout(resolve, 300))
      expect(added).toBe(3)
      if (name === 'one') await reconciler.resync()
      await eventually('all have been looked at', () => depth === 0)
      added = 3
    }
  })
})
