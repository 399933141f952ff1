import {
  ApiError,
  type KubeApi,
  type ListOptions,
  type ObjectList,
  type Resource,
  TooLargeError,
} from '../vocabulary/api.ts'
import { sleep } from '../vocabulary/backoff.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { keyOf } from './store.ts'

export interface ListDeps<T extends KubeObject> {
  readonly api: Pick<KubeApi, 'list'>
  readonly resource: Resource
  readonly query: ListOptions
  readonly prepare: (object: T) => T
  readonly clock: Clock
  readonly onProgress: () => void
}

export interface Listed<T> {
  readonly items: ReadonlyMap<string, T>
  readonly version: string | undefined
}

const PAGE = 500

/** Everything there is, page by page. Undefined: broken off. */
export async function listAll<T extends KubeObject>(
  deps: ListDeps<T>,
  signal: AbortSignal,
  most = PAGE,
): Promise<Listed<T> | undefined> {
  const items = new Map<string, T>()
  let next: string | undefined
  let limit = most
  while (!signal.aborted) {
    const page = await readPage(deps, { ...(limit && { limit }), ...(next && { continue: next }) }, signal)
    if (page === 'expired') return listAll(deps, signal, NO_PAGES)
    deps.onProgress()
    if (page === 'too large') {
      limit = Math.ceil(limit / 4)
      continue
    }
    for (const item of page.items) {
      const object = deps.prepare(item)
      items.set(keyOf(object), object)
    }
    next = page.metadata.continue || undefined
    if (next === undefined) return { items, version: page.metadata.resourceVersion }
    // Large objects stand together, as whoever made them did: behind them pages may be longer again.
    limit = limit && Math.min(2 * limit, most)
    await sleep(deps.clock, 0, signal)
  }
  return undefined
}

/** Of pages without a limit there is one. */
const NO_PAGES = 0

/**
 * A list slower than the server's memory of history loses its place; like client-go, ask for all at once then. A page
 * that is too large to be held has too many objects, unless it is one: objects are as large as tenants make them.
 */
async function readPage<T extends KubeObject>(
  { api, resource, query }: ListDeps<T>,
  part: ListOptions,
  signal: AbortSignal,
): Promise<ObjectList<T> | 'expired' | 'too large'> {
  try {
    return await api.list<T>(resource, { ...query, ...part }, { signal })
  } catch (error) {
    if (part.continue !== undefined && error instanceof ApiError && error.status === 410) return 'expired'
    if ((part.limit ?? 0) > 1 && error instanceof TooLargeError) return 'too large'
    throw error
  }
}
