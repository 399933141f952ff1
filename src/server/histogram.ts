import type { Registry } from 'prom-client'

interface Series {
  readonly value: string
  readonly counts: number[]
  count: number
  sum: number
}

/** Counts one number per review. */
export type Observe = (seconds: number) => void

/**
 * A histogram with one label whose values are known beforehand. prom-client's own validates and hashes the labels of
 * every observation, its children too, and that showed in the throughput of reviews. Here an observation is a few
 * additions, and a scrape does the rest; what it reads is what prom-client's histogram would say.
 */
export class LatencyHistogram {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly labelNames: readonly [string]
  readonly #bounds: readonly number[]
  readonly #series: Series[] = []

  constructor(options: {
    readonly name: string
    readonly help: string
    readonly label: string
    readonly buckets: readonly number[]
    readonly registry: Registry
  }) {
    this.name = options.name
    this.help = options.help
    this.labelNames = [options.label]
    this.#bounds = options.buckets
    // The registry asks a metric for its name and its values, whatever else its type promises.
    options.registry.registerMetric(this as unknown as Parameters<Registry['registerMetric']>[0])
  }

  /** The series of one label value. It exists from here on, with 0. */
  series(value: string): Observe {
    const bounds = this.#bounds
    const series: Series = { value, counts: bounds.map(() => 0), count: 0, sum: 0 }
    this.#series.push(series)
    const { counts } = series
    return seconds => {
      series.count++
      series.sum += seconds
      for (let index = 0; index < bounds.length; index++) {
        if (seconds <= (bounds[index] as number)) {
          counts[index] = (counts[index] as number) + 1
          return
        }
      }
    }
  }

  async get(): Promise<object> {
    return {
      name: this.name,
      help: this.help,
      type: this.type,
      aggregator: this.aggregator,
      values: this.#series.flatMap(series => this.#valuesOf(series)),
    }
  }

  reset(): void {
    for (const series of this.#series) {
      series.counts.fill(0)
      series.count = 0
      series.sum = 0
    }
  }

  #valuesOf({ value, counts, count, sum }: Series): readonly object[] {
    const own = { [this.labelNames[0]]: value }
    const bucket = `${this.name}_bucket`
    let below = 0
    const buckets = this.#bounds.map((le, index) => {
      below += counts[index] ?? 0
      return { metricName: bucket, labels: { le, ...own }, value: below }
    })
    return [
      ...buckets,
      { metricName: bucket, labels: { le: '+Inf', ...own }, value: count },
      { metricName: `${this.name}_sum`, labels: own, value: sum },
      { metricName: `${this.name}_count`, labels: own, value: count },
    ]
  }
}
