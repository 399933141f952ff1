import type { KubeObject } from '../vocabulary/objects.ts'
import { compareVersions } from '../vocabulary/versions.ts'

export interface Change<T> {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly object: T
  readonly previous?: T
}

export type IndexFunction<T> = (object: T) => readonly string[]

export interface StoreOptions<T> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /** Whether the watch would show this object. Decides about offers only; the server filters everything else. */
  readonly accepts: (object: T) => boolean
  readonly onChange: (change: Change<T>) => void
  readonly onIndexError: (index: string, error: unknown) => void
}

/** Objects handled between two chances for the event loop to do something else. */
const BATCH = 500

/**
 * What the API server has told us, by name, plus what our own writes returned before the watch showed it.
 * Names are reused and streams lag, so every decision compares uid first and resourceVersion second.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #options: StoreOptions<T>
  readonly #objects = new Map<string, T>()
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>()
  /** Uids that a write of ours has ended, until the watch confirms it: what the watch still shows of them is history. */
  readonly #gone = new Set<string>()
  /** Uids that a write of ours has taken out of the selector, and the version at which it did. */
  readonly #left = new Map<string, string>()
  #version: string | undefined

  constructor(options: StoreOptions<T>) {
    this.#options = options
    for (const name of Object.keys(options.indexes ?? {})) this.#indexes.set(name, new Map())
  }

  /** The newest resourceVersion that a list, an event or a bookmark has shown. Offers do not move it. */
  get version(): string | undefined {
    return this.#version
  }

  get size(): number {
    return this.#objects.size
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(`${namespace ?? ''}/${name}`)
  }

  values(): IterableIterator<T> {
    return this.#objects.values()
  }

  byIndex(index: string, value: string): readonly T[] {
    const entries = this.#indexes.get(index)
    if (!entries) throw new TypeError(`informer: there is no index ${JSON.stringify(index)}`)
    return Array.from(entries.get(value)?.values() ?? [])
  }

  /** The one that is here, if it is the same: so a list of everything does not double what is held. */
  orStored(object: T): T {
    const stored = this.#objects.get(keyOf(object))
    return stored && sameUid(stored, object) && versionOf(stored) === versionOf(object) ? stored : object
  }

  /** ADDED or MODIFIED of a watch. */
  upsert(object: T): void {
    this.advance(object.metadata.resourceVersion)
    if (this.#isHistory(object)) return
    const stored = this.#objects.get(keyOf(object))
    if (stored && isNewer(stored, object)) return
    if (stored && sameUid(stored, object) && !isNewer(object, stored)) return
    this.#put(object)
  }

  /** DELETED of a watch: the object is gone, or no longer matches the selector of the watch. */
  remove(object: T): void {
    this.advance(object.metadata.resourceVersion)
    if (!this.#isHistory(object) && object.metadata.uid) this.#left.delete(object.metadata.uid)
    if (object.metadata.uid) this.#gone.delete(object.metadata.uid)
    const stored = this.#objects.get(keyOf(object))
    if (!stored || isNewer(stored, object)) return
    // With another uid the stored one is an even older holder of the name, so it is gone too.
    this.#drop(stored, sameUid(stored, object) ? object : stored)
  }

  advance(version: string | undefined): void {
    if (version && compareVersions(version, this.#version) > 0) this.#version = version
  }

  /**
   * Takes the object that a write returned, so that the next decision is never older than our own last write.
   * An object that is not here is taken only if it is newer than all the watch has shown: otherwise the watch has
   * passed it, and it was deleted since.
   */
  offer(object: T): boolean {
    const { uid, name, resourceVersion } = object.metadata
    if (!uid || !name || !resourceVersion || this.#isHistory(object)) return false
    const stored = this.#objects.get(keyOf(object))
    const known = stored !== undefined && sameUid(stored, object)
    if (isGone(object)) {
      if (!known) {
        // The watch has yet to come so far: what it will show of it is history by then, and ends with its deletion.
        if (this.#isAhead(resourceVersion) && this.#options.accepts(object)) this.#gone.add(uid)
        return false
      }
      // The answer to the write that removes the last finalizer carries the version from before the deletion,
      // so versions say nothing here; but a uid that is gone never comes back.
      this.#gone.add(uid)
      this.#drop(stored, object)
      return true
    }
    const newer = stored ? isNewer(object, stored) : this.#isAhead(resourceVersion)
    if (!newer) return false
    if (this.#options.accepts(object)) {
      this.#left.delete(uid)
      this.#put(object)
      return true
    }
    if (!known) return false
    this.#left.set(uid, resourceVersion)
    this.#drop(stored, object)
    return true
  }

  #isAhead(version: string): boolean {
    return compareVersions(version, this.#version) > 0
  }

  /** Before a list is asked for: what our writes have ended by now cannot be in its answer. */
  beginReplace(): void {
    this.#gone.clear()
    this.#left.clear()
  }

  /**
   * Makes the store equal to a consistent list, one batch per step. Objects newer than the list came from offers
   * while it was under way; they stay, because the watch that follows will show them. Only a list that is older than
   * what we had already seen (etcd restored from a backup) overrules everything.
   */
  *replace(items: ReadonlyMap<string, T>, version: string): Generator<undefined, void> {
    const rewound = compareVersions(version, this.#version) < 0
    this.#version = version
    let count = 0
    for (const [key, item] of items) {
      if (++count % BATCH === 0) yield
      const stored = this.#objects.get(key)
      if (stored && sameUid(stored, item) && versionOf(stored) === versionOf(item)) continue
      if (!rewound && (this.#isHistory(item) || (stored && isNewer(stored, item)))) continue
      this.#put(item)
    }
    for (const [key, stored] of this.#objects) {
      if (++count % BATCH === 0) yield
      if (items.has(key)) continue
      if (rewound || compareVersions(versionOf(stored), version) <= 0) this.#drop(stored, stored)
    }
  }

  #isHistory(object: T): boolean {
    const { uid, resourceVersion } = object.metadata
    if (uid === undefined) return false
    const left = this.#left.get(uid)
    return this.#gone.has(uid) || (left !== undefined && compareVersions(resourceVersion, left) < 0)
  }

  #put(object: T): void {
    const key = keyOf(object)
    let previous = this.#objects.get(key)
    if (previous && !sameUid(previous, object)) {
      this.#drop(previous, previous)
      previous = undefined
    }
    if (previous) this.#unindex(key, previous)
    this.#objects.set(key, object)
    for (const [name, entries] of this.#indexes) {
      for (const value of this.#indexValues(name, object)) {
        const bucket = entries.get(value)
        if (bucket) bucket.set(key, object)
        else entries.set(value, new Map([[key, object]]))
      }
    }
    this.#options.onChange(previous ? { type: 'updated', object, previous } : { type: 'added', object })
  }

  #drop(stored: T, last: T): void {
    const key = keyOf(stored)
    this.#unindex(key, stored)
    this.#objects.delete(key)
    this.#options.onChange({ type: 'deleted', object: last, previous: stored })
  }

  #unindex(key: string, object: T): void {
    for (const [name, entries] of this.#indexes) {
      for (const value of this.#indexValues(name, object)) {
        const bucket = entries.get(value)
        bucket?.delete(key)
        if (bucket?.size === 0) entries.delete(value)
      }
    }
  }

  /** An object that an index function cannot digest stays reachable by name; it must not end the informer. */
  #indexValues(name: string, object: T): readonly string[] {
    try {
      return this.#options.indexes?.[name]?.(object) ?? []
    } catch (error) {
      this.#options.onIndexError(name, error)
      return []
    }
  }
}

export function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`
}

function versionOf(object: KubeObject): string | undefined {
  return object.metadata.resourceVersion
}

function sameUid(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid
}

function isNewer(a: KubeObject, b: KubeObject): boolean {
  return compareVersions(versionOf(a), versionOf(b)) > 0
}

/** A pod that is being deleted lives on for its grace period even without finalizers. */
function isGone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  return Boolean(deletionTimestamp) && !finalizers?.length && !deletionGracePeriodSeconds
}
