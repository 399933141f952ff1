import type { IncomingMessage } from 'node:http'
import {
  ApiError,
  type CallOptions,
  type Discovery,
  type KubeApi,
  type ObjectList,
  type Patch,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../vocabulary/api.ts'
import { sleep } from '../vocabulary/backoff.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { KubeObject } from '../vocabulary/objects.ts'
import { describeCall, orAborted, parseObject, toApiError } from './answers.ts'
import type { Credentials } from './credentials.ts'
import { eventReading, JsonText, listReading, objectReading, type Reading } from './json-text.ts'
import { collectionPath, discoveryPath, listQuery, objectPath, patchQuery } from './paths.ts'
import { type HttpRequest, readBody, Transport } from './transport.ts'
import { readEvents } from './watch-stream.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

/** One HTTP exchange, for metrics. `error`: there was no answer. */
export interface CallReport {
  readonly verb: Verb
  readonly resource: string
  readonly status: number | 'error'
  /** By the server's own clock, if there was an answer. */
  readonly date?: string
}

export interface KubeClientOptions {
  readonly credentials: Credentials
  readonly clock: Clock
  readonly onCall?: (report: CallReport) => void
}

export interface KubeClient extends KubeApi, Discovery {
  /** What the API server says of its own version. */
  version(): Promise<unknown>
  /** Breaks off what is under way and closes every connection. */
  close(): Promise<void>
}

interface Call {
  readonly verb: Verb
  readonly resource: Resource
  readonly method: string
  readonly path: string
  readonly accept?: string
  readonly contentType?: string
  readonly body?: unknown
  readonly repeatable?: boolean
  readonly reading?: Reading
}

/** By which discovery is counted among the calls. */
const DISCOVERY: Resource = { group: '', version: '', plural: 'apis', kind: 'APIGroup', namespaced: false }

const CALL_TIMEOUT_MS = 15_000
/** A watch answers its head at once; only its events take time. */
const WATCH_OPEN_TIMEOUT_MS = 30_000
const WATCH_SILENCE_MS = 90_000
/** As for one event of a watch. What is more is a list, and comes in smaller pages. */
const MAX_BODY_BYTES = 32 * 1024 * 1024
const MAX_WAITS = 3
const JSON_TYPE = 'application/json'
const PATCH_TYPES: Readonly<Record<Patch['type'], string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
}

/**
 * The API server over node:https: raw JSON in and out, so that fields newer than this code survive a round trip.
 * Reads that the server turns away with a Retry-After are repeated here; what to do about a refused write only the
 * caller knows.
 */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { credentials, clock, onCall } = options
  const transport = new Transport(credentials)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()

  /** Aborts on the caller's signal, on close, and after `timeoutMs`, with a reason that says which. */
  function limit(call: Call, timeoutMs: number, signal: AbortSignal | undefined) {
    const controller = new AbortController()
    const abort = () => controller.abort(signal?.aborted ? signal.reason : new Error('the API client is closed'))
    const sources = [closing.signal, ...(signal ? [signal] : [])]
    for (const source of sources) {
      if (source.aborted) abort()
      source.addEventListener('abort', abort)
    }
    const cancel = clock.after(timeoutMs, () =>
      controller.abort(new Error(`${describeCall(call)}: no answer within ${timeoutMs / 1000} s`)),
    )
    const lift = () => {
      cancel()
      for (const source of sources) source.removeEventListener('abort', abort)
    }
    return { signal: controller.signal, met: cancel, lift }
  }

  /** One exchange with credentials; on 401 once more with credentials read afresh, because tokens rotate. */
  async function exchange(call: Call, pool: HttpRequest['pool'], signal: AbortSignal): Promise<IncomingMessage> {
    for (const refresh of [false, true]) {
      const report = (status: CallReport['status'], date?: string) =>
        onCall?.({ verb: call.verb, resource: call.resource.plural, status, ...(date !== undefined && { date }) })
      try {
        const access = await orAborted(credentials.access(refresh), signal)
        const response = await transport.send(toRequest(call, pool, signal), access)
        report(response.statusCode ?? 'error', response.headers.date)
        if (response.statusCode !== 401 || refresh) return response
        response.resume()
      } catch (error) {
        report('error')
        throw signal.aborted ? signal.reason : error
      }
    }
    throw new Error('unreachable: the second answer is always returned')
  }

  function toRequest(call: Call, pool: HttpRequest['pool'], signal: AbortSignal): HttpRequest {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    return {
      method: call.method,
      path: call.path,
      headers: {
        accept: call.accept ?? JSON_TYPE,
        'user-agent': 'muster',
        ...(body !== undefined && {
          'content-type': call.contentType ?? JSON_TYPE,
          'content-length': String(Buffer.byteLength(body)),
        }),
      },
      ...(body !== undefined && { body }),
      signal,
      pool,
      repeatable: call.repeatable ?? true,
    }
  }

  async function answer<T>(call: Call, signal: AbortSignal): Promise<T> {
    for (let waits = 0; ; waits++) {
      const response = await exchange(call, 'calls', signal)
      const { statusCode = 0 } = response
      const done = statusCode >= 200 && statusCode < 300
      const text = await readBody(response, new JsonText(MAX_BODY_BYTES, done ? call.reading : undefined))
      if (done) return parseObject<T>(call, text)
      const error = toApiError(call, response, text)
      const asksToWait = (statusCode === 429 || statusCode === 503) && error.retryAfterSeconds !== undefined
      if (call.method !== 'GET' || !asksToWait || waits >= MAX_WAITS) throw error
      // If the wait outlasts the deadline, the caller learns what the server said, not that time ran out.
      await sleep(clock, (error.retryAfterSeconds ?? 0) * 1000, signal)
      if (signal.aborted) throw closing.signal.aborted ? signal.reason : error
    }
  }

  async function perform<T>(call: Call, callOptions: CallOptions = {}): Promise<T> {
    const { signal, lift } = limit(call, callOptions.timeoutMs ?? CALL_TIMEOUT_MS, callOptions.signal)
    const pending = answer<T>(call, signal).catch(error => {
      throw signal.aborted && !(error instanceof ApiError) ? signal.reason : error
    })
    const settled = pending.then(lift, lift)
    underWay.add(settled)
    try {
      return await pending
    } finally {
      underWay.delete(settled)
    }
  }

  async function* watch<T extends KubeObject>(
    resource: Resource,
    query: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void> {
    const path = collectionPath(resource, query.namespace) + listQuery(query, true)
    const accept = query.metadataOnly ? partial('PartialObjectMetadata') : JSON_TYPE
    const call: Call = { verb: 'watch', resource, method: 'GET', path, accept }
    const limits = limit(call, WATCH_OPEN_TIMEOUT_MS, signal)
    try {
      const response = await exchange(call, 'watches', limits.signal)
      if (response.statusCode !== 200)
        throw toApiError(call, response, await readBody(response, new JsonText(MAX_BODY_BYTES)))
      limits.met()
      yield* readEvents<T>(response, clock, WATCH_SILENCE_MS, query.outline && eventReading(query.outline))
    } catch (error) {
      throw limits.signal.aborted ? limits.signal.reason : error
    } finally {
      limits.lift()
    }
  }

  return {
    get: async (resource, ref, callOptions) =>
      perform(
        { verb: 'get', resource, method: 'GET', path: objectPath(resource, ref), ...read(callOptions) },
        callOptions,
      ),
    list: async <T extends KubeObject>(
      resource: Resource,
      query: WatchOptions,
      callOptions?: CallOptions,
    ): Promise<ObjectList<T>> => {
      const path = collectionPath(resource, query.namespace) + listQuery(query, false)
      const accept = query.metadataOnly ? partial('PartialObjectMetadataList') : JSON_TYPE
      const call: Call = { verb: 'list', resource, method: 'GET', path, accept }
      const reading = query.outline && { reading: listReading(query.outline) }
      const list = await perform<ObjectList<T>>({ ...call, ...reading }, callOptions)
      // Go writes an empty list as null in some old types.
      return { metadata: list.metadata ?? {}, items: list.items ?? [] }
    },
    create: async (resource, object, callOptions) => {
      const { namespace, name, generateName } = object.metadata ?? {}
      if (resource.namespaced && namespace === undefined) {
        throw new TypeError(`${resource.kind} ${name ?? generateName}: a namespace is needed`)
      }
      const path = collectionPath(resource, namespace)
      // With a name of the server's choice, doing it twice would make two objects.
      const repeatable = name !== undefined || generateName === undefined
      return perform({ verb: 'create', resource, method: 'POST', path, body: object, repeatable }, callOptions)
    },
    replace: async (resource, ref, object, callOptions) =>
      perform({ verb: 'update', resource, method: 'PUT', path: objectPath(resource, ref), body: object }, callOptions),
    patch: async (resource, ref, patch, callOptions) => {
      const path = objectPath(resource, ref) + patchQuery(patch)
      const contentType = PATCH_TYPES[patch.type]
      const call: Call = { verb: 'patch', resource, method: 'PATCH', path, contentType, body: patch.body }
      return perform({ ...call, ...read(callOptions) }, callOptions)
    },
    delete: async (resource, ref, preconditions, callOptions) => {
      const { propagation: propagationPolicy } = callOptions ?? {}
      const body = {
        ...{ apiVersion: 'v1', kind: 'DeleteOptions', preconditions },
        ...(propagationPolicy && { propagationPolicy }),
      }
      await perform({ verb: 'delete', resource, method: 'DELETE', path: objectPath(resource, ref), body }, callOptions)
    },
    watch,
    discover: async (path, callOptions) =>
      perform({ verb: 'get', resource: DISCOVERY, method: 'GET', path: discoveryPath(path) }, callOptions),
    version: async () => perform({ verb: 'get', resource: DISCOVERY, method: 'GET', path: '/version' }),
    close: async () => {
      closing.abort()
      transport.destroy()
      await Promise.all(underWay)
    },
  }
}

/** What the caller reads of the object that is the answer. */
function read({ metadataOnly, outline }: CallOptions = {}): Pick<Call, 'accept' | 'reading'> {
  return {
    ...(metadataOnly && { accept: partial('PartialObjectMetadata') }),
    ...(outline && { reading: objectReading(outline) }),
  }
}

function partial(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}
