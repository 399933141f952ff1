import {
  ApiError,
  type CallOptions,
  type KubeApi,
  type ObjectList,
  type ObjectRef,
  type Resource,
} from '../../src/kube/vocabulary/api.ts'
import type { Clock } from '../../src/kube/vocabulary/clock.ts'
import type { KubeObject } from '../../src/kube/vocabulary/objects.ts'

/** Objects with resource versions and nothing else, for code that needs no watch. */
export class MemoryApi implements KubeApi {
  readonly objects = new Map<string, KubeObject>()
  readonly calls: { readonly verb: string; readonly name: string }[] = []
  /** Runs before each call; throw or wait in it to make the call fail or hang. */
  before: (verb: string, name: string, options: CallOptions | undefined) => Promise<void> = async () => {}
  #version = 0

  async get<T extends KubeObject>(_resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T> {
    await this.#enter('get', ref.name, options)
    return this.#existing(ref.name) as T
  }

  async create<T extends KubeObject>(_resource: Resource, object: T, options?: CallOptions): Promise<T> {
    const name = object.metadata.name ?? ''
    await this.#enter('create', name, options)
    if (this.objects.has(name)) throw new ApiError(409, 'AlreadyExists', `${name} already exists`)
    return this.#store(object)
  }

  async replace<T extends KubeObject>(_: Resource, ref: ObjectRef, object: T, options?: CallOptions): Promise<T> {
    await this.#enter('replace', ref.name, options)
    const known = this.#existing(ref.name)
    if (known.metadata.resourceVersion !== object.metadata.resourceVersion) {
      throw new ApiError(409, 'Conflict', `${ref.name} has been modified`)
    }
    return this.#store(object)
  }

  list<T extends KubeObject>(): Promise<ObjectList<T>> {
    throw new Error('not in this fake')
  }

  patch<T extends KubeObject>(): Promise<T> {
    throw new Error('not in this fake')
  }

  delete(): Promise<void> {
    throw new Error('not in this fake')
  }

  watch(): AsyncIterable<never> {
    throw new Error('not in this fake')
  }

  async #enter(verb: string, name: string, options: CallOptions | undefined): Promise<void> {
    this.calls.push({ verb, name })
    await this.before(verb, name, options)
  }

  #existing(name: string): KubeObject {
    const known = this.objects.get(name)
    if (!known) throw new ApiError(404, 'NotFound', `${name} not found`)
    return known
  }

  #store<T extends KubeObject>(object: T): T {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }
    this.objects.set(object.metadata.name ?? '', stored)
    return stored
  }
}

/** A call that is never answered: it ends when its time is up or the caller gives up. */
export function hang(clock: Clock, options: CallOptions | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const { signal, timeoutMs = 15_000 } = options ?? {}
    const fail = () => {
      cancel()
      reject(new Error('no answer'))
    }
    const cancel = clock.after(timeoutMs, fail)
    if (signal?.aborted) fail()
    signal?.addEventListener('abort', fail)
  })
}
