import type { IncomingMessage } from 'node:http'
import { PREFIX } from './oversized.ts'

/**
 * Two objects of the 3 MiB that the API server accepts, and one for the rest: controller-runtime's derivation.
 * A smaller limit refuses updates that are legal.
 */
export const BODY_LIMIT = 7 * 1024 * 1024

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** `drained`: the client was able to send all of it, so the connection can live on. */
  | { readonly kind: 'oversized'; readonly prefix: Buffer; readonly drained: boolean }
  /** The client left in the middle; there is nobody to answer to. */
  | { readonly kind: 'cut' }

/**
 * Reads a request body and calls back once. One that is too large is not cut off in the middle, because the client
 * would see a broken pipe instead of our explanation: the rest is read and thrown away, up to four times the limit.
 * A callback and not a promise: this runs once per review.
 */
export function readBody(request: IncomingMessage, limit: number, done: (body: Body) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  let prefix: Buffer | undefined
  let settled = false

  const settle = (body: Body) => {
    if (settled) return
    settled = true
    done(body)
  }
  const cut = () => settle({ kind: 'cut' })

  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (prefix === undefined) {
      chunks.push(chunk)
      if (size <= limit) return
      prefix = prefixOf(chunks)
      chunks.length = 0
    }
    if (size > 4 * limit) settle({ kind: 'oversized', prefix, drained: false })
  })
  request.on('end', () => {
    if (prefix !== undefined) settle({ kind: 'oversized', prefix, drained: true })
    else settle({ kind: 'whole', bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size) })
  })
  request.on('error', cut)
  request.on('close', cut)
}

function prefixOf(chunks: readonly Buffer[]): Buffer {
  const parts: Buffer[] = []
  let size = 0
  for (const chunk of chunks) {
    if (size >= PREFIX) break
    parts.push(chunk.subarray(0, PREFIX - size))
    size += chunk.length
  }
  return Buffer.concat(parts)
}
