import type { WriteStream } from 'node:tty'

const LINE_INTERVAL_MS = 30_000

/** Tells a person, or the log of a machine, that something long is still going on. */
export interface Progress {
  /** What is being done now; replaces what was shown before. */
  show(text: string): void
  /** A line that stays. */
  line(text: string): void
  stop(): void
}

/** On a terminal one line that is rewritten each second; elsewhere a line at each change and each 30 s. */
export function startProgress(stream: WriteStream | NodeJS.WritableStream): Progress {
  const rewrites = 'isTTY' in stream && stream.isTTY
  const started = Date.now()
  let shown = ''
  const draw = () => {
    if (shown === '') return
    const text = `${shown}, ${formatDuration(Date.now() - started)} elapsed`
    stream.write(rewrites ? `\r\u001b[K${text.slice(0, (stream as WriteStream).columns - 1)}` : `${text}\n`)
  }
  const clear = () => {
    if (rewrites) stream.write('\r\u001b[K')
  }
  const timer = setInterval(draw, rewrites ? 1_000 : LINE_INTERVAL_MS)
  return {
    show(text) {
      if (text === shown) return
      shown = text
      draw()
    },
    line(text) {
      clear()
      stream.write(`${text}\n`)
    },
    stop() {
      clearInterval(timer)
      clear()
    },
  }
}

export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
