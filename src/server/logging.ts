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

const BATCH_LENGTH = 15 * 1024
const BATCH_MS = 250

/**
 * A file descriptor that lines are written to in batches, so that a log line costs a review no system call
 * of its own. No line waits longer than a quarter of a second, and the rest is written when the process exits.
 *
 * sonic-boom has batches of its own, but measures and thereby copies the whole batch anew for every line of text.
 */
export function logDestination(descriptor: number): DestinationStream {
  const stream = pino.destination({ dest: descriptor, sync: false })
  let lines: string[] = []
  let length = 0
  let timer: NodeJS.Timeout | undefined

  const write = () => {
    clearTimeout(timer)
    timer = undefined
    if (lines.length > 0) stream.write(lines.join(''))
    lines = []
    length = 0
  }
  // Before sonic-boom's own listener, which ends the stream.
  process.prependListener('beforeExit', write)
  process.on('exit', () => {
    write()
    stream.flushSync()
  })
  return {
    write: line => {
      lines.push(line)
      length += line.length
      if (length >= BATCH_LENGTH) write()
      else timer ??= setTimeout(write, BATCH_MS).unref()
    },
  }
}

const INFO = 30

/** What pino builds a line from. It publishes the symbols under which a logger has these, but no types. */
interface LineParts {
  readonly beginning: (fixed: object, time: string) => string
  readonly time: () => string
  readonly stream: DestinationStream
}

function linePartsOf(log: Logger): LineParts {
  const { asJsonSym, streamSym, timeSym } = pino.symbols
  const parts = log as unknown as Readonly<Record<symbol, unknown>>
  const asJson = parts[asJsonSym] as (fields: object, message: undefined, level: number, time: string) => string
  return {
    beginning: (fixed, time) => asJson.call(log, fixed, undefined, INFO, time),
    time: parts[timeSym] as () => string,
    stream: parts[streamSym] as DestinationStream,
  }
}

/**
 * A writer of info lines that are alike: `fixed` is written into the beginning of the line once, and each call adds
 * the rest as JSON without its opening brace. The line is the one that `log.info` would write, to the same place and
 * under the same level, without asking anew for every field what pino's options say about it.
 */
export function lineWriter(log: Logger, fixed: Readonly<Record<string, string>>): (rest: () => string) => void {
  const { beginning, time, stream } = linePartsOf(log)
  const mark = '\u0000'
  const [head = '', tail = ''] = beginning(fixed, mark).split(mark)
  const start = tail.slice(0, tail.lastIndexOf('}'))
  return rest => {
    if (log.levelVal <= INFO) stream.write(`${head}${time()}${start},${rest()}\n`)
  }
}

/** ISO times at the price of epoch times: only the milliseconds are written anew within one second. */
function isoTimestamps(): () => string {
  const endings = Array.from({ length: 1000 }, (_, milliseconds) => `${String(milliseconds).padStart(3, '0')}Z"`)
  let second = -1
  let prefix = ''
  return () => {
    const now = Date.now()
    const milliseconds = now % 1000
    if (now - milliseconds !== second) {
      second = now - milliseconds
      prefix = `,"time":"${new Date(second).toISOString().slice(0, -4)}`
    }
    return prefix + endings[milliseconds]
  }
}
