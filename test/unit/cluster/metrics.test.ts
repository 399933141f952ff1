import { expect, it } from 'vitest'
import { controllerMetrics } from '../../../src/cluster/metrics.ts'
import { WorkQueue } from '../../../src/kube/cache/work-queue.ts'
import { createMetrics } from '../../../src/server/metrics.ts'
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
  expect((await metrics.registry.metrics()).split('\n').filter(line => line.startsWith('muster_events_total'))).toEqual(
    ['muster_events_total{result="sent"} 2', 'muster_events_total{result="dropped"} 1'],
  )
})
