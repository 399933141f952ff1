import { expect, it } from 'vitest'
import { cacheObserver, controllerMetrics } from '../../../src/cluster/metrics.ts'
import { WorkQueue } from '../../../src/kube/cache/work-queue.ts'
import { PODS } from '../../../src/kube/vocabulary/resources.ts'
import { createMetrics, webhookRecorder } from '../../../src/server/metrics.ts'
import { recordingLog } from '../../support/logs.ts'
import { ManualClock } from '../../support/manual-clock.ts'

it('the queue of the reconciler is seen in the metrics', async () => {
  const metrics = createMetrics({ version: 'test', processMetrics: false })
  const clock = new ManualClock()
  const { queue: counts } = controllerMetrics(metrics)
  const queue = new WorkQueue({ clock, random: () => 0, log: recordingLog(), metrics: counts })
  for (const key of ['a', 'b', 'c', 'c']) queue.add(key)
  const read = async () => {
    const text = await metrics.registry.metrics()
    return text
      .split('\n')
      .filter(line => /^muster_workqueue_(depth|adds|retries|queue_duration_seconds_sum)/.test(line))
  }
  expect(await read()).toEqual([
    'muster_workqueue_depth 3',
    'muster_workqueue_adds_total 3',
    'muster_workqueue_retries_total 0',
    'muster_workqueue_queue_duration_seconds_sum 0',
  ])
  await clock.advance(2_000)
  let attempts = 0
  queue.start(1, async () => (++attempts === 1 ? 'retry' : 'done'))
  await clock.advance(1_000)
  expect(await read()).toEqual([
    'muster_workqueue_depth 0',
    'muster_workqueue_adds_total 4',
    'muster_workqueue_retries_total 1',
    'muster_workqueue_queue_duration_seconds_sum 6',
  ])
})

it('what becomes of Events is seen in the metrics', async () => {
  const metrics = createMetrics({ version: 'test', processMetrics: false })
  const { told } = controllerMetrics(metrics)
  for (const outcome of ['sent', 'dropped', 'sent'] as const) told(outcome)
  const lines = (await metrics.registry.metrics()).split('\n').filter(line => line.startsWith('muster_events_total'))
  expect(lines.filter(line => !line.endsWith(' 0'))).toEqual([
    'muster_events_total{result="sent"} 2',
    'muster_events_total{result="dropped"} 1',
  ])
})

it('what somebody is woken for is counted from 0, or its first time would be no increase', async () => {
  const metrics = createMetrics({ version: 'test', processMetrics: false })
  webhookRecorder(metrics, 'pods')
  const observer = cacheObserver(metrics, { watch: () => {}, unwatch: () => {} })
  observer.started({ resource: PODS, synced: false, lastProgressAt: 0 })
  const text = await metrics.registry.metrics()
  for (const series of [
    'muster_webhook_errors_total{webhook="pods",cause="handler"}',
    'muster_webhook_errors_total{webhook="pods",cause="timeout"}',
    'muster_webhook_cuts_total{reason="connections"}',
    'muster_webhook_cuts_total{reason="bytes"}',
    'muster_configuration_changes_total{result="partly"}',
    'muster_configuration_changes_total{result="refused"}',
    'muster_events_total{result="dropped"}',
    'muster_events_total{result="failed"}',
    'muster_tls_swap_failures_total',
    'muster_cache_errors_total{resource="pods"}',
    'muster_watch_restarts_total{resource="pods",reason="silence"}',
  ]) {
    expect(text).toContain(`\n${series} 0\n`)
  }
})
