import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { KubeApi } from '../../../src/kube/vocabulary/api.ts'
import { JOBS } from '../../../src/kube/vocabulary/resources.ts'
import { Lanes } from '../../../src/reconciler/lanes.ts'
import { Performer } from '../../../src/reconciler/performer.ts'
import type { Action } from '../../../src/workload/actions.ts'

const target = { namespace: 'ml', name: 'train', uid: 'u1' }
const patch = { type: 'merge', body: { metadata: {}, spec: {} } } as const
const giveBack: Action = { kind: 'PatchJob', resource: JOBS, job: target, patch }
const wait = (asOf = '100/200'): Action => ({
  ...{ kind: 'UnlessPodsLeft', namespace: 'ml', labelSelector: 'uid=u1', asOf },
  actions: [giveBack],
})

/** A performer, a clock to turn and the pods that are there. */
function stage() {
  const state = { now: 0, pods: 0, looks: 0, writes: 0 }
  const api = {
    list: () => {
      state.looks++
      return Promise.resolve({ metadata: {}, items: Array.from({ length: state.pods }, () => ({})) })
    },
    patch: () => {
      state.writes++
      return Promise.resolve({ metadata: target })
    },
  } as unknown as KubeApi
  const performer = () =>
    new Performer({
      ...{
        api,
        log: pino({ enabled: false }),
        lanes: new Lanes(),
        writeBack: () => {},
        leads: () => true,
        tell: () => {},
      },
      clock: { now: () => state.now, monotonic: () => state.now, after: () => () => {} },
      metrics: { acted: () => {}, lifted: () => {} },
    })
  return { state, performer }
}

describe('quota that a stopped or deleted Job held', () => {
  it('is given back when no pod has been there for a while, not at the first look', async () => {
    const { state, performer } = stage()
    const own = performer()
    expect(await own.performAll([wait()], 1)).toBe('later')
    state.now = 1500
    expect(await own.performAll([wait()], 1)).toBe('later')
    expect(state).toMatchObject({ looks: 1, writes: 0 })
    state.now = 3000
    expect(await own.performAll([wait()], 1)).toBe('settled')
    expect(state).toMatchObject({ looks: 2, writes: 1 })
  })

  it('stays while a pod is there that its controller made after the first look, and a while longer', async () => {
    const { state, performer } = stage()
    const own = performer()
    await own.performAll([wait()], 1)
    Object.assign(state, { now: 3000, pods: 1 })
    expect(await own.performAll([wait()], 1)).toBe('later')
    Object.assign(state, { now: 9000, pods: 0 })
    expect(await own.performAll([wait()], 1)).toBe('later')
    expect(state.writes).toBe(0)
    state.now = 12_000
    expect(await own.performAll([wait()], 1)).toBe('settled')
    expect(state.writes).toBe(1)
  })

  it('is counted anew when something has happened to the Job or its Workload', async () => {
    const { state, performer } = stage()
    const own = performer()
    await own.performAll([wait('100/200')], 1)
    state.now = 3000
    expect(await own.performAll([wait('101/200')], 1)).toBe('later')
    expect(state.writes).toBe(0)
  })

  it('is never given back earlier by a process that comes after', async () => {
    const { state, performer } = stage()
    await performer().performAll([wait()], 1)
    state.now = 3000
    expect(await performer().performAll([wait()], 1)).toBe('later')
    expect(state.writes).toBe(0)
  })
})
