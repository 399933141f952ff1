import {
  ApiError,
  type CallOptions,
  type KubeApi,
  type ListOptions,
  type ObjectList,
  type ObjectRef,
  type Patch,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { LEASES } from '../../../src/kube/vocabulary/resources.ts'
import { forbidden } from '../../../src/validation/field-error.ts'
import { invalid } from '../model/refusals.ts'
import type { ModelServer } from '../model/server.ts'
import { EXPIRED, type WatchHub } from '../model/watch.ts'
import type { Agenda, Owner } from '../time/agenda.ts'
import type { Link } from './link.ts'
import { Stream } from './stream.ts'
import { isWrite, type Request, type Wire } from './wire.ts'

export interface ChannelOptions {
  readonly agenda: Agenda
  readonly owner: Owner
  readonly link: Link
  readonly server: ModelServer
  readonly hub: WatchHub
  readonly wire: Wire
  readonly who: string
}

const CALL_TIMEOUT_MS = 15_000
const OPEN_TIMEOUT_MS = 30_000
const BOOKMARK_MS = 60_000
/** A client that sends again does so while it still waits for the answer. */
const RESEND_MS = 2500

/** The API server as one replica reaches it: everything arrives late, twice, or not at all, as the link says. */
export class Channel implements KubeApi {
  readonly #options: ChannelOptions
  readonly #streams = new Set<Stream>()

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get streams(): ReadonlySet<Stream> {
    return this.#streams
  }

  get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T> {
    const { server } = this.#options
    return this.#call(request('get', resource, ref, undefined), options, () => server.get(resource, ref) as T)
  }

  list<T extends KubeObject>(resource: Resource, query: ListOptions, options?: CallOptions): Promise<ObjectList<T>> {
    const { hub, link } = this.#options
    const paged = query.limit === undefined ? query : { ...query, limit: Math.min(query.limit, link.pageLimit) }
    return this.#call(
      request('list', resource, { name: '' }, undefined),
      options,
      () => hub.list(resource, paged) as ObjectList<KubeObject> as ObjectList<T>,
    )
  }

  create<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T> {
    const { server, who } = this.#options
    const { name = '', namespace } = object.metadata
    const sent = request('create', resource, { name, ...(namespace !== undefined && { namespace }) }, object)
    return this.#call(sent, options, () => server.create(resource, object, who) as KubeObject as T)
  }

  replace<T extends KubeObject>(resource: Resource, ref: ObjectRef, object: T, options?: CallOptions): Promise<T> {
    const { server, who } = this.#options
    const sent = request('replace', resource, ref, object)
    return this.#call(sent, options, () => server.replace(resource, ref, object, who) as KubeObject as T)
  }

  patch<T extends KubeObject>(resource: Resource, ref: ObjectRef, patch: Patch, options?: CallOptions): Promise<T> {
    const { server, who } = this.#options
    const sent = request('patch', resource, ref, patch.body)
    return this.#call(sent, options, () => server.patch(resource, ref, patch, who) as KubeObject as T)
  }

  delete(resource: Resource, ref: ObjectRef, preconditions: { uid?: string }, options?: CallOptions): Promise<void> {
    const { server, who } = this.#options
    const sent = request('delete', resource, ref, preconditions)
    return this.#call(sent, options, () => server.remove(resource, ref, preconditions, who))
  }

  watch<T extends KubeObject>(
    resource: Resource,
    query: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>> {
    const open = this.#open(resource, query, signal)
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => (await open).next() as Promise<IteratorResult<WatchEvent<T>>>,
        return: async () => (await open).return() as Promise<IteratorResult<WatchEvent<T>>>,
      }),
    }
  }

  #call<T>(sent: Request, options: CallOptions = {}, execute: () => T): Promise<T> {
    const { agenda, owner, link, wire } = this.#options
    const { signal, timeoutMs = CALL_TIMEOUT_MS } = options
    return new Promise((resolve, reject) => {
      if (!owner.alive) return
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const answered = wire.sending(sent)
      if (!owner.alive) return
      const settle = (finish: () => void) => {
        cancel()
        signal?.removeEventListener('abort', abort)
        finish()
      }
      const abort = () => settle(() => reject(signal?.reason))
      const late = () =>
        new Error(`${sent.verb} ${sent.resource.plural} ${sent.name}: no answer within ${timeoutMs / 1000} s`)
      const cancel = agenda.after(timeoutMs, () => settle(() => reject(late())), owner)
      signal?.addEventListener('abort', abort)
      const answer = (finish: () => void) => agenda.after(link.latency(), () => settle(finish), owner)
      const error = this.#injected(sent)
      if (error !== undefined) {
        answered({ error })
        answer(() => reject(error))
        return
      }
      const fate = this.#fate()
      if (fate === 'lost') return
      agenda.after(link.latency(), () => {
        const outcome = attempt(execute)
        answered('error' in outcome ? { error: outcome.error } : {})
        if (fate === 'resent') agenda.after(Math.min(link.latency() * 20, RESEND_MS), () => attempt(execute))
        if (fate === 'unanswered' || link.down) return
        answer(() => {
          if ('error' in outcome) reject(outcome.error)
          else {
            this.#learn(sent, outcome.value)
            resolve(outcome.value)
          }
        })
      })
    })
  }

  #learn(sent: Request, value: unknown): void {
    if (sent.verb === 'list' || sent.verb === 'delete') return
    this.#options.wire.received(sent.resource, value as KubeObject)
    if (isWrite(sent)) this.#options.wire.answered(sent, value as KubeObject)
  }

  #injected(sent: Request): ApiError | undefined {
    const { errors, dice } = this.#options.link
    if (!this.#options.link.holds(errors.until) || !dice.chance(errors.rate)) return undefined
    const conflict = errors.status === 409 && (sent.verb !== 'patch' || sent.resource === LEASES)
    const status = conflict ? 500 : errors.status
    const details = { retryAfterSeconds: errors.retryAfter || undefined }
    return new ApiError(status, String(status), `injected ${status}`, details)
  }

  #fate(): 'lost' | 'unanswered' | 'resent' | 'fine' {
    const { link } = this.#options
    const { dice, loss, resend } = link
    if (link.down) return 'lost'
    if (link.holds(loss.until)) {
      if (dice.chance(loss.before)) return 'lost'
      if (dice.chance(loss.after)) return 'unanswered'
    }
    return link.holds(resend.until) && dice.chance(resend.rate) ? 'resent' : 'fine'
  }

  #open(resource: Resource, query: WatchOptions, signal: AbortSignal): Promise<Stream> {
    const { agenda, owner, link } = this.#options
    return new Promise((resolve, reject) => {
      let over = signal.aborted
      const settle = (finish: () => void) => {
        over = true
        cancel()
        signal.removeEventListener('abort', abort)
        finish()
      }
      const abort = () => settle(() => reject(signal.reason))
      if (over) {
        reject(signal.reason)
        return
      }
      const cancel = agenda.after(OPEN_TIMEOUT_MS, () => settle(() => reject(new Error('watch: no answer'))), owner)
      signal.addEventListener('abort', abort)
      if (link.down) return
      const error = this.#injected(request('watch', resource, { name: '' }, undefined))
      agenda.after(
        link.latency() * 2,
        () => {
          if (link.down || over) return
          const opened = error ?? this.#subscribe(resource, query, signal)
          if (opened instanceof ApiError) settle(() => reject(opened))
          else settle(() => resolve(opened))
        },
        owner,
      )
    })
  }

  #subscribe(resource: Resource, query: WatchOptions, signal: AbortSignal): Stream | ApiError {
    const { agenda, owner, link, hub, wire } = this.#options
    if (query.sendInitialEvents && !link.streaming)
      return noInitialEvents('sendInitialEvents', 'is forbidden for watch')
    if (query.sendInitialEvents && query.resourceVersionMatch !== 'NotOlderThan') {
      return noInitialEvents('resourceVersionMatch', 'must be NotOlderThan for sendInitialEvents')
    }
    let close = () => {}
    // What a streaming list brings counts as seen when the list is complete: until then a reader holds it back.
    let staged: KubeObject[] | undefined = query.sendInitialEvents ? [] : undefined
    const stream: Stream = new Stream({
      resource,
      agenda,
      owner,
      link,
      onDelivery: event => {
        if (event.type === 'ERROR') return
        if (event.type !== 'BOOKMARK' && staged === undefined) wire.received(resource, event.object)
        else if (event.type !== 'BOOKMARK') staged?.push(event.object)
        else if (event.object.metadata.annotations !== undefined) {
          for (const object of staged ?? []) wire.received(resource, object)
          staged = undefined
        }
      },
      onClosed: () => {
        close()
        this.#streams.delete(stream)
      },
    })
    const opening = hub.open(stream, query)
    if (opening.kind === 'expired') {
      if (link.expiredAs === 'http') return new ApiError(410, 'Expired', EXPIRED.message ?? '')
      if (link.expiredAs === 'stream') stream.event({ type: 'ERROR', object: EXPIRED })
      stream.end()
      return stream
    }
    close = opening.close
    this.#streams.add(stream)
    signal.addEventListener('abort', () => stream.abort(signal.reason as Error))
    const end = agenda.now + (query.timeoutSeconds ?? 600) * 1000
    const mark = () => {
      if (!this.#streams.has(stream)) return
      if (agenda.now >= end) stream.end()
      else {
        stream.event(hub.bookmark())
        agenda.after(BOOKMARK_MS, mark)
      }
    }
    agenda.after(BOOKMARK_MS * link.dice.next(), mark)
    return stream
  }
}

function request(verb: Request['verb'], resource: Resource, ref: ObjectRef, body: unknown): Request {
  return { verb, resource, name: ref.name, namespace: ref.namespace, subresource: ref.subresource, body }
}

function noInitialEvents(field: string, why: string): ApiError {
  return invalid({ kind: 'ListOptions.meta.k8s.io' }, '', forbidden(field, `${field} ${why}`))
}

function attempt<T>(execute: () => T): { readonly value: T } | { readonly error: ApiError } {
  try {
    return { value: execute() }
  } catch (error) {
    if (error instanceof ApiError) return { error }
    throw error
  }
}
