import { Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { LatencyHistogram } from '../../../src/server/histogram.ts'

const NAME = 'muster_test_seconds'
const HELP = 'A test.\nWith a second line.'
const BUCKETS = [0.001, 0.01, 0.1, 1]

describe('the histogram of review times', () => {
  it('says what the one of prom-client says', async () => {
    const [ours, theirs] = [new Registry(), new Registry()]
    const mine = new LatencyHistogram({ name: NAME, help: HELP, label: 'webhook', buckets: BUCKETS, registry: ours })
    const other = new Histogram({
      name: NAME,
      help: HELP,
      labelNames: ['webhook'],
      buckets: BUCKETS,
      registers: [theirs],
    })
    for (const webhook of ['mutate-pods', 'odd "name"\\']) {
      other.zero({ webhook })
      const observe = mine.series(webhook)
      expect(await ours.metrics()).toBe(await theirs.metrics())
      for (const seconds of [0, 0.001, 0.0010001, 0.05, 1, 1.5, 300]) {
        observe(seconds)
        other.observe({ webhook }, seconds)
      }
    }
    expect(await ours.metrics()).toBe(await theirs.metrics())
    expect(await ours.getMetricsAsJSON()).toHaveLength(1)
    ours.resetMetrics()
    expect(await ours.metrics()).toContain(`${NAME}_count{webhook="mutate-pods"} 0`)
  })
})
