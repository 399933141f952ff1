import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { SchedulingWatch } from '../../../src/cluster/scheduling-watch.ts'
import { DEFAULT_CONFIGURATION } from '../../../src/config/configuration.ts'
import { ApiError } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { NOTHING_SERVED, type ServedScheduling } from '../../../src/kube/vocabulary/served-scheduling.ts'
import { ManualClock } from '../../support/manual-clock.ts'

/** An API server of which only discovery is asked. */
function server() {
  const serves: Record<string, readonly string[]> = {}
  const asked: string[] = []
  let down = false
  const role = { metadata: {}, rules: [{ apiGroups: ['scheduling.k8s.io'], resources: ['podgroups'] }] }
  return {
    serves,
    asked,
    fail: (now: boolean) => {
      down = now
    },
    api: {
      discover: async (path: readonly string[]): Promise<unknown> => {
        asked.push(path.join('/'))
        if (down) throw new ApiError(503, 'ServiceUnavailable', 'down')
        if (path.length === 0) {
          const names = Map.groupBy(Object.keys(serves), key => key.split('/')[0] ?? '')
          return {
            groups: [...names].map(([name, keys]) => ({
              name,
              versions: keys.map(key => ({ version: key.split('/')[1] })),
            })),
          }
        }
        return { resources: (serves[path.join('/')] ?? []).map(name => ({ name })) }
      },
      get: async <T extends KubeObject>(): Promise<T> => {
        asked.push('role')
        return role as KubeObject as T
      },
    },
  }
}

function watching(backend: typeof DEFAULT_CONFIGURATION.coScheduling.backend) {
  const cluster = server()
  const clock = new ManualClock()
  const counted: ServedScheduling[] = []
  const watch = new SchedulingWatch({
    api: cluster.api,
    clock,
    log: pino({ level: 'silent' }),
    config: { ...DEFAULT_CONFIGURATION.coScheduling, backend },
    count: served => counted.push(served),
  })
  return { ...cluster, clock, counted, watch }
}

const settle = () => new Promise(resolve => setImmediate(resolve))

describe('the watch of what is served', () => {
  it('asks once where there is nothing, and is ready', async () => {
    const { watch, asked } = watching('auto')
    await watch.ask()
    expect(asked).toEqual([''])
    expect(watch.served).toEqual(NOTHING_SERVED)
    expect(watch.readiness()).toEqual({ name: 'co-scheduling', ok: true, reason: 'nothing' })
  })

  it('is not ready for a backend that is named and not there, and recovers when it comes', async () => {
    const { watch, serves, clock, counted } = watching('kubernetes')
    await watch.ask()
    expect(watch.readiness()).toMatchObject({ ok: false, reason: expect.stringContaining('GenericWorkload') })
    let changes = 0
    watch.onChange(() => {
      changes += 1
    })
    watch.start()
    serves['scheduling.k8s.io/v1beta1'] = ['workloads', 'podgroups']
    await clock.advance(30_000)
    await settle()
    expect(watch.readiness()).toMatchObject({ ok: true, reason: expect.stringContaining('v1beta1 with PodGroups') })
    expect(counted.at(-1)).toMatchObject({ kubernetes: { podGroups: true }, jobController: true })
    await clock.advance(30_000)
    await settle()
    expect(changes).toBe(1)
    watch.stop()
  })

  it('keeps what it knows while the API server does not answer', async () => {
    const { watch, serves, clock, fail } = watching('auto')
    serves['scheduling.run.ai/v2alpha2'] = ['podgroups']
    await watch.ask()
    watch.start()
    fail(true)
    await clock.advance(30_000)
    await settle()
    expect(watch.served.kai).toBe(true)
    fail(false)
    delete serves['scheduling.run.ai/v2alpha2']
    await clock.advance(30_000)
    await settle()
    expect(watch.served.kai).toBe(false)
    watch.stop()
  })
})
