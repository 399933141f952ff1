/** What was measured of one server, one number per round. */
export interface Figures {
  readonly name: string
  /** Reviews per second. */
  readonly rate: number[]
  /** Milliseconds. */
  readonly p99: number[]
  /** Microseconds of the server's CPU per review: what the rate would show on a machine that does nothing else. */
  readonly cpu: number[]
}

const COLUMNS = ['reviews/s', 'p99 ms', 'cpu us', 'rate ratio', 'p99 ratio', 'cpu ratio'] as const

/** Medians over the rounds, and ratios to the first row. */
export function printTable(rows: readonly Figures[], base: Figures): void {
  process.stdout.write(`${'server'.padEnd(14)}${COLUMNS.map(column => column.padStart(12)).join('')}\n`)
  for (const { name, rate, p99, cpu } of rows) {
    const cells = [
      median(rate).toFixed(0),
      median(p99).toFixed(2),
      shown(median(cpu), 0),
      ratio(rate, base.rate).toFixed(2),
      ratio(p99, base.p99).toFixed(2),
      shown(ratio(cpu, base.cpu), 2),
    ]
    process.stdout.write(`${name.padEnd(14)}${cells.map(cell => cell.padStart(12)).join('')}\n`)
  }
  process.stdout.write('\n')
}

const shown = (value: number, digits: number): string => (Number.isNaN(value) ? '-' : value.toFixed(digits))

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}

/** Round by round, then the median: what disturbed one round disturbed its neighbours too. */
export function ratio(ours: readonly number[], base: readonly number[]): number {
  return median(ours.map((value, index) => value / (base[index] ?? Number.NaN)))
}
