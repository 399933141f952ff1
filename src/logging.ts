import { type DestinationStream, type Logger, pino } from 'pino'

export interface LogOptions {
  readonly level?: string
  /** Standard error by default: standard output belongs to what a command prints. */
  readonly destination?: DestinationStream
}

/** JSON lines with readable times and levels. */
export function createLogger(options: LogOptions = {}): Logger {
  return pino(
    {
      level: options.level ?? 'info',
      base: null,
      timestamp: isoTimestamps(),
      formatters: { level: label => ({ level: label }) },
    },
    options.destination ?? logDestination(2),
  )
}

/**
 * A file (path or descriptor) that lines are written to in batches, so that a log line costs a review no system call
 * of its own. No line waits longer than a quarter of a second, and pino flushes the rest when the process exits.
 */
export function logDestination(file: number | string): DestinationStream {
  return pino.destination({ dest: file, sync: false, minLength: 15 * 1024, periodicFlush: 250 })
}

/** ISO times at the price of epoch times: only the milliseconds are written anew within one second. */
function isoTimestamps(): () => string {
  let second = -1
  let prefix = ''
  return () => {
    const now = Date.now()
    const milliseconds = now % 1000
    if (now - milliseconds !== second) {
      second = now - milliseconds
      prefix = `,"time":"${new Date(second).toISOString().slice(0, -4)}`
    }
    return `${prefix}${String(milliseconds).padStart(3, '0')}Z"`
  }
}
