import type { IncomingMessage } from 'node:http'
import { GrowingBuffer } from '../kube/client/growing-buffer.ts'
import type { Hold, InFlight } from './in-flight.ts'
import { PREFIX } from './oversized.ts'

/**
 * Two objects of the 3 MiB that the API server accepts, and one for the rest: controller-runtime's derivation.
 * A smaller limit refuses updates that are legal.
 */
export const BODY_LIMIT = 7 * 1024 * 1024

export type Body =
  /** `release` when it is not held any more. */
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly release: () => void }
  /** `drained`: the client was able to send all of it, so the connection can live on. */
  | { readonly kind: 'oversized'; readonly prefix: Buffer; readonly drained: boolean }
  /** The client left in the middle; there is nobody to answer to. */
  | { readonly kind: 'cut' }
  /** Too much is arriving at once, and this has been arriving for the longest. */
  | { readonly kind: 'crowded'; readonly prefix: Buffer }

/**
 * Reads a request body and calls back once. One that is too large is not cut off in the middle, because the client
 * would see a broken pipe instead of our explanation: the rest is read and thrown away, up to four times the limit.
 * A callback and not a promise: this runs once per review.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  inFlight: InFlight,
  done: (body: Body) => void,
): void {
  /** Nearly always the whole body. Only what has a second chunk is held, and counted. */
  let first: Buffer | undefined
  let rest: GrowingBuffer | undefined
  let hold: Hold | undefined
  let size = 0
  let prefix: Buffer | undefined
  let settled = false

  const settle = (body: Body) => {
    if (settled) return
    settled = true
    rest = undefined
    if (body.kind === 'whole') hold?.arrived()
    else hold?.release()
    done(body)
  }
  const cut = () => settle({ kind: 'cut' })

  request.on('data', (chunk: Buffer) => {
    if (settled) return
    size += chunk.length
    if (size > limit) {
      prefix ??= prefixOf(first, rest, chunk)
      rest = undefined
      hold?.release()
      if (size > 4 * limit) settle({ kind: 'oversized', prefix, drained: false })
    } else if (first === undefined) first = chunk
    else {
      hold ??= inFlight.hold(() => settle({ kind: 'crowded', prefix: prefixOf(first, rest, NOTHING) }))
      const more = rest === undefined ? size : chunk.length
      rest ??= beginning(first)
      rest.append(chunk)
      hold.grow(more)
    }
  })
  request.on('end', () => {
    if (prefix !== undefined) settle({ kind: 'oversized', prefix, drained: true })
    else settle({ kind: 'whole', bytes: rest?.bytes ?? first ?? NOTHING, release: hold?.release ?? nothing })
  })
  request.on('error', cut)
  request.on('close', cut)
}

const NOTHING = Buffer.alloc(0)
const nothing = () => {}

function beginning(first: Buffer): GrowingBuffer {
  const buffer = new GrowingBuffer()
  buffer.append(first)
  return buffer
}

function prefixOf(first: Buffer | undefined, rest: GrowingBuffer | undefined, last: Buffer): Buffer {
  const before = rest?.bytes ?? first ?? NOTHING
  return Buffer.concat([before.subarray(0, PREFIX), last.subarray(0, Math.max(0, PREFIX - before.length))])
}
