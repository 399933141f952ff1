import pino from 'pino'
import { expect, it } from 'vitest'
import { assembleController } from '../../../src/cluster/controller.ts'
import { builtinEngine } from '../../../src/engines/builtin/builtin.ts'
import type { KubeApi } from '../../../src/kube/vocabulary/api.ts'
import { NOTHING_SERVED } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { ManualClock, settle } from '../../support/manual-clock.ts'
import { nobody } from '../../support/observers.ts'

/** An API server that never answers: a call ends when its caller gives it up. */
function silentApi(): KubeApi {
  const givenUp = (...args: readonly unknown[]): Promise<never> =>
    new Promise((_, reject) => {
      const last = args.at(-1)
      const signal = last instanceof AbortSignal ? last : (last as { signal?: AbortSignal } | undefined)?.signal
      signal?.addEventListener('abort', () => reject(new Error('given up')))
    })
  const watch = async function* (...args: readonly unknown[]) {
    yield await givenUp(...args)
  }
  return { get: givenUp, list: givenUp, create: givenUp, replace: givenUp, watch } as unknown as KubeApi
}

it('hears of nothing any more when it has stopped, so that nothing keeps what it has read', async () => {
  const open = new Set<string>()
  const subscribed = (to: string) => () => {
    const name = `${to} ${open.size}`
    open.add(name)
    return () => {
      open.delete(name)
    }
  }
  const controller = assembleController({
    ...{ api: silentApi(), clock: new ManualClock(), random: () => 0.5, log: pino({ level: 'silent' }) },
    ...{ observer: nobody, engine: builtinEngine([]), schedulers: [], identity: 'one' },
    scope: { whenKnown: async () => {}, selects: () => true, onChange: subscribed('scope') },
    scheduling: { served: NOTHING_SERVED, onChange: subscribed('scheduling') },
    kai: { naming: 'plain', enabled: false },
    metrics: {
      ...{ reconciled: () => {}, acted: () => {}, lifted: () => {}, waiting: () => {} },
      ...{ leading: () => {}, told: () => {} },
      queue: { depth: () => {}, add: () => {}, retry: () => {}, latency: () => {} },
    },
  })
  controller.start()
  await settle()
  expect(open.size).toBe(3)
  await controller.stop()
  expect([...open]).toEqual([])
})
