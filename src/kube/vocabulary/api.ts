import type { KubeObject } from './objects.ts'
import type { Outline } from './outline.ts'

/** A REST resource. `group` is '' for the core group. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

export interface ObjectRef {
  readonly namespace?: string
  readonly name: string
  readonly subresource?: string
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Ask for PartialObjectMetadata: labels and owners without specs. */
  readonly metadataOnly?: boolean
  /** What is read of each object. The rest need not be in the answer, and of large objects it is not. */
  readonly outline?: Outline
}

export interface WatchOptions extends ListOptions {
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
}

export interface ObjectList<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly T[]
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: Status }

export interface Status {
  readonly kind?: string
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: StatusDetails
}

export interface StatusDetails {
  readonly retryAfterSeconds?: number | undefined
  readonly causes?: readonly StatusCause[]
}

/** What a refusal is about, for programs: its message is for people, and the next version words it differently. */
export interface StatusCause {
  readonly reason?: string
  readonly field?: string
  readonly message?: string
}

export interface Patch {
  readonly type: 'strategic' | 'merge' | 'json' | 'apply'
  readonly body: unknown
  readonly fieldManager?: string
  readonly force?: boolean
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** As for lists: what is read of the answer. */
  readonly metadataOnly?: boolean
  readonly outline?: Outline
  /** For a deletion: what becomes of what it owns. Some kinds leave it behind unless they are told not to. */
  readonly propagation?: 'Background'
}

/**
 * The API server as the rest of Muster sees it: raw JSON in and out, errors as `ApiError`.
 * The real one is `kube/client/client.ts`; the simulator brings its own.
 */
export interface KubeApi {
  get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T>
  list<T extends KubeObject>(resource: Resource, query: ListOptions, options?: CallOptions): Promise<ObjectList<T>>
  create<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T>
  /** PUT: fails with 409 unless the resourceVersion in `object` is current. */
  replace<T extends KubeObject>(resource: Resource, ref: ObjectRef, object: T, options?: CallOptions): Promise<T>
  patch<T extends KubeObject>(resource: Resource, ref: ObjectRef, patch: Patch, options?: CallOptions): Promise<T>
  delete(resource: Resource, ref: ObjectRef, preconditions: { uid?: string }, options?: CallOptions): Promise<void>
  /** Ends when the server ends the stream; throws `ApiError` or a network error otherwise. */
  watch<T extends KubeObject>(
    resource: Resource,
    query: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>
}

/** What the API server says of itself: its groups, or, of a group and version, the resources. */
export interface Discovery {
  discover(path: readonly string[], options?: CallOptions): Promise<unknown>
}

/** An answer of the API server that is not success. Network errors are other errors. */
export class ApiError extends Error {
  readonly status: number
  readonly reason: string
  readonly retryAfterSeconds: number | undefined
  readonly causes: readonly StatusCause[]

  constructor(status: number, reason: string, message: string, details: StatusDetails = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.reason = reason
    this.retryAfterSeconds = details.retryAfterSeconds
    this.causes = details.causes ?? []
  }
}

/** The server said something that the protocol does not allow: what it sent so far cannot be trusted to be complete. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ProtocolError'
  }
}

/** An answer that would take more memory than an answer may. */
export class TooLargeError extends Error {
  constructor(limit: number) {
    super(`the API server's answer is larger than ${limit} bytes`)
    this.name = 'TooLargeError'
  }
}

/** A watch on which nothing came, not even a bookmark, for longer than a living server keeps quiet. */
export class SilenceError extends Error {
  constructor(silenceMs: number) {
    super(`the watch was silent for ${silenceMs / 1000} s: the connection is taken for dead`)
    this.name = 'SilenceError'
  }
}
