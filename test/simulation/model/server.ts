import { WORKLOADS } from '../../../src/engines/builtin/workloads.ts'
import { ApiError, type ObjectRef, type Patch, type Resource } from '../../../src/kube/vocabulary/api.ts'
import type { KubeObject } from '../../../src/kube/vocabulary/objects.ts'
import { LEASES, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import { deletionMarks, isLetGo, wallClock } from './deletions.ts'
import { metadataProblem, newborn } from './metadata-rules.ts'
import { equal } from './patches.ts'
import * as refuse from './refusals.ts'
import {
  begun,
  checkPatchType,
  checkPlace,
  checkVersion,
  completed,
  defaulted,
  patched,
  prepared,
  updateProblem,
} from './updates.ts'

export interface Stored extends KubeObject {
  readonly spec?: unknown
  readonly status?: unknown
}

/** One write that changed something. Nothing changes in any other way. */
export interface Change {
  readonly version: number
  readonly resource: Resource
  readonly type: 'created' | 'updated' | 'deleted'
  readonly before: Stored | undefined
  /** Of a deletion: the object as it was last. */
  readonly after: Stored
  readonly who: string
}

export interface AdmissionCall {
  readonly resource: Resource
  readonly operation: 'CREATE' | 'UPDATE'
  readonly object: Stored
  readonly oldObject: Stored | undefined
  readonly subresource: string | undefined
  readonly who: string
}

/** Returns the object as the mutators leave it; throws `ApiError` to refuse. */
export type Admission = (call: AdmissionCall) => Stored

export interface DeleteOptions {
  readonly uid?: string
  readonly graceSeconds?: number
}

/** The server's clock when virtual time begins. */
const EPOCH = Date.UTC(2026, 10, 16, 10)

/**
 * What a Kubernetes API server promises about writes: one order of resource versions, optimistic concurrency,
 * preconditions, finalizers, grace periods, status apart from spec. Reads and watches are `watch.ts`.
 */
export class ModelServer {
  /** The kind of Workload that the engine of this cluster has. */
  readonly workloads: Resource
  readonly #now: () => number
  readonly #admission: Admission
  readonly #tables = new Map<string, Map<string, Stored>>()
  readonly #listeners: ((change: Change) => void)[] = []
  #version = 1000
  #uids = 0

  constructor(now: () => number, admission: Admission, workloads: Resource = WORKLOADS) {
    this.workloads = workloads
    this.#now = now
    this.#admission = admission
  }

  get version(): number {
    return this.#version
  }

  /** Wall clock of the server, without fractions of a second, as Kubernetes writes it. */
  timestamp(laterSeconds = 0): string {
    return wallClock(EPOCH + this.#now() + laterSeconds * 1000)
  }

  /** Listeners hear of a write before its answer is on the way. */
  subscribe(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  find(resource: Resource, namespace: string | undefined, name: string): Stored | undefined {
    return this.#table(resource).get(`${namespace ?? ''}/${name}`)
  }

  all(resource: Resource): readonly Stored[] {
    return [...this.#table(resource).values()]
  }

  get(resource: Resource, ref: ObjectRef): Stored {
    const found = this.find(resource, ref.namespace, ref.name)
    if (found === undefined) throw refuse.notFound(resource, ref.name)
    return found
  }

  create(resource: Resource, object: Stored, who: string): Stored {
    const { namespace, name = '', resourceVersion } = object.metadata
    if (resource.namespaced) this.#checkNamespace(namespace ?? '', resource)
    const { status: _, ...withoutStatus } = object
    const call = { resource, operation: 'CREATE' as const, oldObject: undefined, subresource: undefined, who }
    const admitted = this.#admission({ ...call, object: defaulted(resource, withoutStatus) })
    const born = completed(resource, { ...admitted, metadata: newborn(admitted.metadata) })
    const problem = metadataProblem(resource, undefined, born)
    if (problem !== undefined) throw refuse.invalid(resource, name, problem)
    if (resourceVersion) throw refuse.versionOnCreate()
    if (this.find(resource, namespace, name) !== undefined) throw refuse.alreadyExists(resource, name)
    const metadata = { ...born.metadata, uid: `uid-${++this.#uids}`, creationTimestamp: this.timestamp() }
    return this.#write(resource, 'created', undefined, begun(resource, { ...born, metadata }), who)
  }

  /** PUT: the resourceVersion must be the current one, if there is one. */
  replace(resource: Resource, ref: ObjectRef, object: Stored, who: string): Stored {
    checkPlace(ref, object)
    const { uid } = object.metadata
    const before = this.find(resource, ref.namespace, ref.name)
    if (before !== undefined) {
      if (uid && uid !== before.metadata.uid) throw refuse.otherUid(uid, before.metadata.uid)
      return this.#update(resource, before, object, ref, who)
    }
    // A PUT creates a Lease, unless its uid says that it means one that was there.
    if (resource !== LEASES) throw refuse.notFound(resource, ref.name)
    if (uid) throw refuse.otherUid(uid, undefined)
    const { resourceVersion: _, ...metadata } = object.metadata
    return this.create(resource, { ...object, metadata }, who)
  }

  patch(resource: Resource, ref: ObjectRef, patch: Patch, who: string): Stored {
    checkPatchType(resource, patch)
    const before = this.get(resource, ref)
    const wanted = patched(before, patch)
    checkPlace(ref, wanted)
    return this.#update(resource, before, wanted, ref, who)
  }

  remove(resource: Resource, ref: ObjectRef, options: DeleteOptions, who: string): void {
    const before = this.get(resource, ref)
    const { uid } = before.metadata
    if (options.uid !== undefined && options.uid !== uid) throw refuse.otherUid(options.uid, uid)
    const marks = deletionMarks(resource, before, options.graceSeconds, EPOCH + this.#now())
    const wanted = { ...before, metadata: { ...before.metadata, ...marks } }
    const marked = equal(before, wanted) ? before : this.#write(resource, 'updated', before, wanted, who)
    if (marks === undefined || isLetGo(marked)) this.#write(resource, 'deleted', marked, marked, who)
  }

  /** The scheduler's Binding. */
  bind(ref: ObjectRef, nodeName: string): void {
    const before = this.get(PODS, ref)
    const spec = before.spec as { nodeName?: string; schedulingGates?: readonly unknown[] }
    if (before.metadata.deletionTimestamp != null || spec.schedulingGates?.length || spec.nodeName) {
      throw new ApiError(409, 'Conflict', `pod ${ref.name} is being deleted, gated or assigned already`)
    }
    this.#write(PODS, 'updated', before, { ...before, spec: { ...spec, nodeName } }, 'system:kube-scheduler')
  }

  #update(resource: Resource, before: Stored, wanted: Stored, ref: ObjectRef, who: string): Stored {
    checkVersion(resource, before, wanted, ref)
    const { subresource } = ref
    const object = prepared(resource, before, wanted, subresource)
    const problem = updateProblem(resource, before, object)
    if (problem !== undefined) throw refuse.invalid(resource, ref.name, problem)
    const after = this.#admission({ resource, operation: 'UPDATE', object, oldObject: before, subresource, who })
    if (equal(before, after)) return before
    if (isLetGo(after)) {
      // etcd deletes what it has: watchers see the object as it was before this write, and the answer its old version.
      this.#write(resource, 'deleted', before, before, who)
      return freeze(after)
    }
    return this.#write(resource, 'updated', before, after, who)
  }

  #write(resource: Resource, type: Change['type'], before: Stored | undefined, object: Stored, who: string): Stored {
    const version = ++this.#version
    const metadata = { ...object.metadata, resourceVersion: String(version) }
    const after = freeze({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...object, metadata })
    const table = this.#table(resource)
    const key = `${metadata.namespace ?? ''}/${metadata.name}`
    if (type === 'deleted') table.delete(key)
    else table.set(key, after)
    for (const listener of this.#listeners) listener({ version, resource, type, before, after, who })
    return after
  }

  #checkNamespace(namespace: string, resource: Resource): void {
    const found = this.find(NAMESPACES, '', namespace)
    if (found === undefined) throw refuse.notFound(NAMESPACES, namespace)
    if (found.metadata.deletionTimestamp != null) throw refuse.terminating(resource, namespace)
  }

  #table(resource: Resource): Map<string, Stored> {
    const kind = `${resource.group}/${resource.plural}`
    const known = this.#tables.get(kind)
    if (known !== undefined) return known
    const table = new Map<string, Stored>()
    this.#tables.set(kind, table)
    return table
  }
}

function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}

/** Everybody gets the same object; whoever writes to it must fail, not mislead the others. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const child of Object.values(value)) freeze(child)
  return Object.freeze(value)
}
