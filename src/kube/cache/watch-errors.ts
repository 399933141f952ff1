import { ApiError, ProtocolError, SilenceError, type Status } from '../vocabulary/api.ts'

/** Answers that mean "not in this way": the server has no streaming lists, or does not let us use them. */
const STREAMING_REFUSED: ReadonlySet<number> = new Set([400, 403, 404, 405, 415, 422])

/** An ERROR event inside a stream whose HTTP status was 200. */
export class StreamError extends ApiError {}

export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && !(error instanceof StreamError) && STREAMING_REFUSED.has(error.status)
}

export function streamError(status: Status | undefined): StreamError {
  const reason = status?.reason ?? 'Unknown'
  const gone = status?.code === 410 || reason === 'Expired' || reason === 'Gone'
  const message = status?.message ?? 'the watch reported an error without a message'
  return new StreamError(gone ? 410 : (status?.code ?? 500), reason, message, status?.details)
}

/** A short word for a metric label: bounded in number, unlike messages. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `http ${error.status}`
  if (error instanceof SilenceError) return 'silence'
  return error instanceof ProtocolError ? 'protocol error' : 'network error'
}
