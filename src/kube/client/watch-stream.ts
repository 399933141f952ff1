import type { IncomingMessage } from 'node:http'
import { ProtocolError, SilenceError, TooLargeError, type WatchEvent } from '../vocabulary/api.ts'
import type { Clock } from '../vocabulary/clock.ts'
import { isObject } from '../vocabulary/fields.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { JsonText, type Reading } from './json-text.ts'

/** An object is at most a few megabytes in etcd; a line beyond this is not one. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEWLINE = 0x0a
const EVENT_TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'])

/**
 * The events of a watch response. Bookmarks come about once a minute, so a stream that is silent for longer than
 * `silenceMs` is a connection whose other end is gone without having said so.
 */
export async function* readEvents<T extends KubeObject>(
  response: IncomingMessage,
  clock: Clock,
  silenceMs: number,
  reading?: Reading,
): AsyncGenerator<WatchEvent<T>, void> {
  const chunks = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let line = new JsonText(MAX_LINE_BYTES, reading)
  try {
    for (;;) {
      // The time in which our own consumer is busy does not count as silence of the server.
      const chunk = await nextWithin(response, chunks, clock, silenceMs)
      if (chunk === undefined) break
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        line.push(chunk.subarray(start, end))
        const event = parseEvent<T>(line.finish())
        line = new JsonText(MAX_LINE_BYTES, reading)
        start = end + 1
        if (event) yield event
      }
      if (start < chunk.length) line.push(chunk.subarray(start))
    }
    if (line.length > 0) throw new ProtocolError('the watch ended in the middle of an event')
  } catch (error) {
    throw error instanceof TooLargeError ? new ProtocolError(`a watch event: ${error.message}`) : error
  } finally {
    response.destroy()
  }
}

async function nextWithin(
  response: IncomingMessage,
  chunks: AsyncIterator<Buffer>,
  clock: Clock,
  silenceMs: number,
): Promise<Buffer | undefined> {
  const cancel = clock.after(silenceMs, () => response.destroy(new SilenceError(silenceMs)))
  try {
    const { value, done } = await chunks.next()
    return done ? undefined : value
  } finally {
    cancel()
  }
}

function parseEvent<T>(line: Buffer): WatchEvent<T> | undefined {
  if (line.length === 0) return undefined
  let event: unknown
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch (error) {
    throw new ProtocolError(`a line of the watch cannot be read: ${(error as Error).message}`)
  }
  if (!isObject(event) || !EVENT_TYPES.has(event.type)) {
    throw new ProtocolError('a line of the watch is not a watch event')
  }
  return event as unknown as WatchEvent<T>
}
