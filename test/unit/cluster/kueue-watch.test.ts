import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { KueueWatch } from '../../../src/cluster/kueue-watch.ts'
import { ApiError, type Resource } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { managedPod } from '../../support/pods.ts'

/** An API server that serves Kueue's Workloads in some versions, or not at all. */
function watching(...versions: readonly string[]) {
  const serves = { versions, workloads: true, config: undefined as string | undefined, webhooks: [] as object[] }
  const clock = new ManualClock()
  const watch = new KueueWatch({
    api: {
      discover: async path =>
        path.length === 0
          ? { groups: [{ name: 'kueue.x-k8s.io', versions: serves.versions.map(version => ({ version })) }] }
          : { resources: serves.workloads ? [{ name: 'workloads' }] : [] },
      get: async <T extends KubeObject>(resource: Resource): Promise<T> => {
        const found =
          resource.kind === 'ConfigMap'
            ? serves.config && { metadata: {}, data: { 'controller_manager_config.yaml': serves.config } }
            : { metadata: {}, webhooks: serves.webhooks }
        if (found) return found as KubeObject as T
        throw new ApiError(404, 'NotFound', 'not there')
      },
    },
    clock,
    log: pino({ level: 'silent' }),
  })
  const changes: (string | undefined)[] = []
  watch.onChange(() => changes.push(watch.engine?.workloads.version))
  return { watch, serves, clock, changes }
}

const settle = () => new Promise(resolve => setImmediate(resolve))

describe('the watch for Kueue', () => {
  it.each([
    [['v1beta1', 'v1beta2'], 'v1beta2'],
    [['v1beta1'], 'v1beta1'],
  ])('of %j takes %s', async (versions, expected) => {
    const { watch } = watching(...versions)
    await watch.ask()
    expect(watch.engine?.workloads.version).toBe(expected)
    expect(watch.readiness()).toEqual([{ name: 'kueue', ok: true, reason: `Workloads of version ${expected}` }])
  })

  it('is not ready without Kueue, and has an engine when it is installed', async () => {
    const { watch, serves, clock, changes } = watching()
    await watch.ask()
    expect(watch.engine).toBeUndefined()
    expect(watch.readiness()).toMatchObject([{ ok: false, reason: expect.stringContaining('install Kueue') }])
    watch.start()
    serves.versions = ['v1beta2']
    serves.workloads = false
    await clock.advance(5000)
    await settle()
    expect(watch.engine).toBeUndefined()
    serves.workloads = true
    await clock.advance(5000)
    await settle()
    expect(changes).toEqual(['v1beta2'])
    watch.stop()
  })

  it('stays with a version as long as it is served', async () => {
    const { watch, serves, changes } = watching('v1beta1')
    await watch.ask()
    const { engine } = watch
    serves.versions = ['v1beta2', 'v1beta1']
    await watch.ask()
    expect(watch.engine).toBe(engine)
    serves.versions = ['v1beta2']
    await watch.ask()
    serves.versions = []
    await watch.ask()
    expect(changes).toEqual(['v1beta1', 'v1beta2', undefined])
  })

  it.each([
    ['pod', 'integrations: {frameworks: [batch/job, pod]}'],
    ['statefulset', 'integrations: {frameworks: [batch/job, statefulset]}'],
  ])('G13: is not ready as long as Kueue gates pods itself, by %s', async (name, config) => {
    const { watch, serves, changes } = watching('v1beta2')
    serves.config = config
    await watch.ask()
    expect(watch.readiness()).toMatchObject([{ ok: false, reason: expect.stringContaining(`has ${name})`) }])
    expect(watch.engine?.owns?.(managedPod())).toBe(false)
    expect(watch.engine?.owns?.(managedPod({ annotations: { 'muster.dev/creator': 'abc' } }))).toBe(true)
    serves.config = 'integrations: {frameworks: [batch/job]}'
    await watch.ask()
    expect(watch.readiness()).toMatchObject([{ ok: true }])
    expect(watch.engine?.owns).toBeUndefined()
    expect(changes).toHaveLength(2)
  })

  it('goes by the webhooks where it cannot see how Kueue was started', async () => {
    const { watch, serves } = watching('v1beta2')
    serves.webhooks = [{ name: 'mpod.kb.io', rules: [{ resources: ['pods'] }], failurePolicy: 'Fail' }]
    await watch.ask()
    expect(watch.readiness()).toMatchObject([{ ok: false, reason: expect.stringContaining('mpod.kb.io') }])
    serves.webhooks = [{ name: 'mpod.kb.io', rules: [{ resources: ['pods'] }], failurePolicy: 'Ignore' }]
    await watch.ask()
    expect(watch.readiness()).toMatchObject([{ ok: true }])
  })

  it.each([
    ['waitForPodsReady: {timeout: 5m}', true],
    ['waitForPodsReady: {enable: true}', true],
    ['waitForPodsReady: {enable: false}', false],
    ['manageJobsWithoutQueueName: false', false],
    ['{ this is not YAML', false],
  ])('tells Kueue of ready pods if it waits for them: %s', async (config, expected) => {
    const { watch, serves } = watching('v1beta2')
    serves.config = config
    await watch.ask()
    expect(watch.engine?.reportReady !== undefined).toBe(expected)
  })
})
