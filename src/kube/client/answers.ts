import type { IncomingMessage } from 'node:http'
import { ApiError, ProtocolError, type Status, type StatusCause } from '../vocabulary/api.ts'
import { isObject } from '../vocabulary/fields.ts'

interface CallName {
  readonly method: string
  readonly path: string
}

/** For messages: without the query, which can be long and is of no help. */
export function describeCall(call: CallName): string {
  return `${call.method} ${call.path.replace(/\?.*/, '')}`
}

export function parseObject<T>(call: CallName, text: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ProtocolError(`${describeCall(call)}: the answer is not JSON: ${(error as Error).message}`)
  }
  if (isObject(value)) return value as T
  throw new ProtocolError(`${describeCall(call)}: the answer is not an object`)
}

export function toApiError(call: CallName, response: IncomingMessage, text: string): ApiError {
  const { statusCode = 0, headers } = response
  const status = parseStatus(text)
  const message = status?.message || `${describeCall(call)}: HTTP ${statusCode} ${text.slice(0, 200).trim()}`.trim()
  const header = headers['retry-after']
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : status?.details?.retryAfterSeconds
  const retryAfterSeconds = typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
  const details = { retryAfterSeconds, causes: causesOf(status) }
  return new ApiError(statusCode, status?.reason || String(statusCode), message, details)
}

function isStatus(value: unknown): value is Status {
  return isObject(value) && value.kind === 'Status'
}

/** Admission webhooks of others write them, too, and may send anything. */
function causesOf(status: Status | undefined): readonly StatusCause[] {
  const causes: unknown = status?.details?.causes
  return Array.isArray(causes) ? causes.filter(isObject) : []
}

/** Proxies in front of the API server answer errors in HTML or plain text. */
function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isStatus(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A plugin that hangs must not outlive the deadline of the call that waits for it. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
