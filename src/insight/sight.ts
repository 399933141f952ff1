import { listAll } from '../kube/cache/list-all.ts'
import {
  ApiError,
  type Discovery,
  type KubeApi,
  type ListOptions,
  type ObjectRef,
  type Resource,
} from '../kube/vocabulary/api.ts'
import type { Clock } from '../kube/vocabulary/clock.ts'
import type { Log } from '../kube/vocabulary/log.ts'
import type { KubeObject } from '../kube/vocabulary/objects.ts'

/** Whatever is said of a cluster here is read with these, and nothing is written. */
export type ReadOnlyApi = Pick<KubeApi, 'get' | 'list'> & Discovery

export type Seen<T> = T | 'absent' | 'denied'

/** A person waits for the answer: fewer and larger pages than a cache reads. Where an outline is read, less is held. */
const PAGE = 5_000
const OUTLINED_PAGE = 1_000

/**
 * The cluster as the caller's rights show it. What they do not show is written down, so that it can be said, and nothing
 * fails for it; a cluster that does not answer fails everything.
 */
export class Sight {
  readonly api: ReadOnlyApi
  readonly clock: Clock
  readonly #unseen = new Set<string>()
  readonly #unserved = new Set<string>()

  constructor(api: ReadOnlyApi, clock: Clock) {
    this.api = api
    this.clock = clock
  }

  /** What may not be read, and by which right it might. */
  get unseen(): readonly string[] {
    return [...this.#unseen]
  }

  /** What was listed and is no kind of this cluster. */
  isUnserved(resource: Resource): boolean {
    return this.#unserved.has(nameOf(resource))
  }

  note(what: string): void {
    this.#unseen.add(what)
  }

  async get<T extends KubeObject>(resource: Resource, ref: ObjectRef): Promise<Seen<T>> {
    const found = await this.#ask(this.api.get<T>(resource, ref))
    if (found === 'denied') this.note(`${resource.kind} ${pathOf(ref)} (needs get on ${nameOf(resource)})`)
    return found
  }

  /** Of everything, or of a namespace. A kind that is not served has no objects. */
  async list<T extends KubeObject>(
    resource: Resource,
    query: ListOptions,
    prepare: (object: T) => T = object => object,
  ): Promise<readonly T[] | 'denied'> {
    const deps = { api: this.api, resource, query, prepare, clock: this.clock, onProgress: () => {} }
    const listed = await this.#ask(listAll<T>(deps, new AbortController().signal, query.outline ? OUTLINED_PAGE : PAGE))
    if (listed === 'denied') {
      const where = query.namespace === undefined ? ' of all namespaces' : ` of namespace ${query.namespace}`
      this.note(`${plural(resource.kind)}${resource.namespaced ? where : ''} (needs list on ${nameOf(resource)})`)
      return 'denied'
    }
    if (listed === 'absent') this.#unserved.add(nameOf(resource))
    return listed === 'absent' || listed === undefined ? [] : [...listed.items.values()]
  }

  /** The first so many, for who shows no more: a tenant may have made any number. */
  async first<T extends KubeObject>(resource: Resource, query: ListOptions, most: number): Promise<readonly T[]> {
    const page = await this.#ask(this.api.list<T>(resource, { ...query, limit: most }))
    if (page === 'denied')
      this.note(`${plural(resource.kind)} of namespace ${query.namespace} (needs list on ${nameOf(resource)})`)
    return typeof page === 'string' ? [] : page.items
  }

  async #ask<T>(answer: Promise<T>): Promise<Seen<T>> {
    try {
      return await answer
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return 'absent'
      if (error instanceof ApiError && error.status === 403) return 'denied'
      throw error
    }
  }
}

/** Nobody at a terminal has to read what goes on behind the answer. */
export const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** As people write it: NetworkPolicies, Ingresses. */
const plural = (kind: string): string =>
  /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}${kind.endsWith('s') ? 'es' : 's'}`

/** As RBAC writes it. */
export const nameOf = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`)

const pathOf = ({ namespace, name }: ObjectRef): string => (namespace === undefined ? name : `${namespace}/${name}`)
