import { describe, expect, it } from 'vitest'
import { createKubeClient } from '../../../src/kube/client/client.ts'
import { systemClock } from '../../../src/kube/vocabulary/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { client, createInformer, PATH, pod, refuse, server, useServer } from './fixtures.ts'

useServer()

describe('stop', () => {
  const kinds = () => process.getActiveResourcesInfo().filter(kind => /Timeout|TCP|Immediate/.test(kind))

  it('leaves no timer, socket or watch, whenever it comes', async () => {
    server.streamingLists = false
    for (let index = 0; index < 600; index++) server.put(PATH, pod(`pod-${index}`))
    await client.close()
    await eventually('the server is alone', () => server.sockets.size === 0)
    const baseline = kinds().length
    for (let steps = 0; steps < 60; steps++) {
      server.streamingLists = steps % 2 === 0
      if (steps % 3 === 0) server.scripts.push(refuse(() => true, 503))
      const api = createKubeClient({
        credentials: { server: server.url, access: async () => ({ headers: {}, tls: {} }) },
        clock: systemClock,
      })
      const clock = new ManualClock()
      const { informer } = createInformer({ api, clock })
      informer.start()
      const waiting = informer.whenSynced().catch(() => 'stopped')
      for (let step = 0; step < steps; step++) await clock.advance(step % 5 === 4 ? 2_000 : 0)
      await informer.stop()
      expect(clock.pending).toBe(0)
      await waiting
      await api.close()
      server.scripts.length = 0
      const left = () => server.sockets.size + server.watches.size + Math.max(0, kinds().length - baseline)
      await eventually(`nothing is left after stop at step ${steps}`, () => left() === 0)
      const { length } = server.requests
      await new Promise(resolve => setImmediate(resolve))
      expect(server.requests).toHaveLength(length)
    }
  })

  it('during a backoff ends it at once', async () => {
    const clock = new ManualClock()
    server.scripts.push(refuse(() => true, 500))
    const { informer, restarts } = createInformer({ clock })
    informer.start()
    await eventually('the list has failed', () => restarts.length === 1)
    await eventually('it waits', () => clock.pending === 1)
    await informer.stop()
    expect(clock.pending).toBe(0)
    expect(server.requests).toHaveLength(1)
  })

  it('rejects who still waits for the first sync, and is final', async () => {
    server.scripts.push(() => true)
    const { informer } = createInformer()
    informer.start()
    const waiting = expect(informer.whenSynced()).rejects.toThrow('stopped before its first sync')
    await informer.stop()
    await waiting
    await expect(informer.whenSynced()).rejects.toThrow('stopped before its first sync')
    expect(() => informer.start()).toThrow('cannot start again')
  })
})
