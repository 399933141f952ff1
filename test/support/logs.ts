import type { Log } from '../../src/kube/vocabulary/log.ts'

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

/** A log that a test can read. */
export function recordingLog(): Log & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = []
  const write = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields, message })
  }
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
