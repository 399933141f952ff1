import { parse } from 'node:querystring'
import type { Clock } from '../kube/vocabulary/clock.ts'

/** What a webhook gets when its configuration says nothing. */
const DEFAULT_TIMEOUT_MS = 10_000
/** The API accepts no larger timeoutSeconds. */
const MAX_TIMEOUT_MS = 30_000

/**
 * How long a review may take. The API server sends the time that is left as `?timeout=3s`; a tenth of it, 50 to
 * 500 ms, is kept back so that the answer arrives before the API server gives up. What is malformed is ignored.
 */
export function budgetMs(timeout: unknown): number {
  const total = Math.min(parseTimeout(timeout) ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)
  return total - Math.min(Math.max(total / 10, 50), 500, total / 2)
}

/** What the URL of a review says: how long it may take. */
export type ReviewQuery = { readonly budgetMs: number }

/** API servers send the same few timeouts again and again. */
const MAX_KNOWN_QUERIES = 64

export function createQueryReader(): (query: string) => ReviewQuery {
  const known = new Map<string, ReviewQuery>()
  return query => {
    const read = known.get(query)
    if (read !== undefined) return read
    const fresh = { budgetMs: budgetMs(parse(query).timeout) }
    if (known.size < MAX_KNOWN_QUERIES && query.length < 100) known.set(query, fresh)
    return fresh
  }
}

/** Go's duration format, as far as `timeoutSeconds` can produce it. */
function parseTimeout(timeout: unknown): number | undefined {
  if (typeof timeout !== 'string') return undefined
  const match = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s)$/.exec(timeout)
  if (match === null) return undefined
  const ms = Number(match[1]) * (match[2] === 's' ? 1000 : 1)
  return ms > 0 ? ms : undefined
}

export class BudgetExceeded extends Error {
  constructor(budget: number) {
    super(`the review took longer than its budget of ${Math.round(budget)} ms`)
    this.name = 'BudgetExceeded'
  }
}

/** Settles like `work`, or rejects when the time runs out first; then the signal tells `work` to stop. */
export async function within<T>(
  clock: Clock,
  remainingMs: number,
  error: BudgetExceeded,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController()
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(Math.max(remainingMs, 0), () => {
    late.reject(error)
    abort.abort(error)
  })
  try {
    return await Promise.race([work(abort.signal), late.promise])
  } finally {
    cancel()
  }
}
