import { ApiError, type ObjectRef, type Patch, type Resource } from '../../../src/kube/api.ts'
import type { KubeObject } from '../../../src/kube/objects.ts'
import { NAMESPACES, PODS } from '../../../src/kube/resources.ts'
import { equal, jsonPatch, mergePatch, strategicPatch } from './patches.ts'
import { podUpdateProblem } from './pod-rules.ts'

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

const DEFAULT_GRACE = 30
/** The server's clock when virtual time begins. */
const EPOCH = Date.UTC(2026, 10, 16, 10)

/**
 * What a Kubernetes API server promises about writes: one order of resource versions, optimistic concurrency,
 * preconditions, finalizers, grace periods, status apart from spec. Reads and watches are `watch.ts`.
 */
export class ModelServer {
  readonly #now: () => number
  readonly #admission: Admission
  readonly #tables = new Map<string, Map<string, Stored>>()
  readonly #listeners: ((change: Change) => void)[] = []
  #version = 1000
  #uids = 0

  constructor(now: () => number, admission: Admission) {
    this.#now = now
    this.#admission = admission
  }

  get version(): number {
    return this.#version
  }

  /** Wall clock of the server, without fractions of a second, as Kubernetes writes it. */
  timestamp(laterSeconds = 0): string {
    return new Date(EPOCH + this.#now() + laterSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
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
    if (found === undefined) throw new ApiError(404, 'NotFound', `${resource.plural} "${ref.name}" not found`)
    return found
  }

  create(resource: Resource, object: Stored, who: string): Stored {
    const { namespace, name } = object.metadata
    if (!name) throw new ApiError(422, 'Invalid', 'metadata.name: Required value')
    if (resource.namespaced) this.#checkNamespace(namespace ?? '', resource)
    const { status: _, ...withoutStatus } = object
    const call = { resource, operation: 'CREATE' as const, oldObject: undefined, subresource: undefined, who }
    const admitted = this.#admission({ ...call, object: withoutStatus })
    const key = `${namespace ?? ''}/${name}`
    if (this.#table(resource).has(key)) {
      throw new ApiError(409, 'AlreadyExists', `${resource.plural} "${name}" already exists`)
    }
    const metadata = {
      ...admitted.metadata,
      uid: `uid-${++this.#uids}`,
      creationTimestamp: this.timestamp(),
    }
    const status = resource === PODS ? { status: { phase: 'Pending' } } : {}
    return this.#write(resource, 'created', undefined, { ...admitted, metadata, ...status }, who)
  }

  /** PUT: the resourceVersion must be the current one, if there is one. */
  replace(resource: Resource, ref: ObjectRef, object: Stored, who: string): Stored {
    const before = this.get(resource, ref)
    const { uid, resourceVersion } = object.metadata
    if (uid !== undefined && uid !== before.metadata.uid) {
      throw new ApiError(409, 'Conflict', `Precondition failed: UID in precondition: ${uid}, in object meta: other`)
    }
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) throw conflict(ref)
    return this.#update(resource, before, object, ref.subresource, who)
  }

  patch(resource: Resource, ref: ObjectRef, patch: Patch, who: string): Stored {
    const before = this.get(resource, ref)
    const wanted = apply(before, patch)
    const { uid, resourceVersion } = wanted.metadata
    if (resourceVersion !== before.metadata.resourceVersion) throw conflict(ref)
    if (uid !== before.metadata.uid) {
      const message = `${resource.kind} "${ref.name}" is invalid: metadata.uid: Invalid value: "${uid}": field is immutable`
      throw new ApiError(422, 'Invalid', message)
    }
    return this.#update(resource, before, wanted, ref.subresource, who)
  }

  remove(resource: Resource, ref: ObjectRef, options: DeleteOptions, who: string): void {
    const before = this.get(resource, ref)
    const { uid, finalizers, deletionTimestamp, deletionGracePeriodSeconds } = before.metadata
    if (options.uid !== undefined && options.uid !== uid) {
      throw new ApiError(409, 'Conflict', `Precondition failed: UID in precondition: ${options.uid}, in object: ${uid}`)
    }
    const grace = resource === PODS ? graceOf(before, options.graceSeconds) : 0
    const deleting = deletionTimestamp != null
    if (grace === 0 && !finalizers?.length) {
      this.#write(resource, 'deleted', before, before, who)
      return
    }
    if (deleting && grace >= (deletionGracePeriodSeconds ?? 0)) return
    const marks = { deletionTimestamp: this.timestamp(grace), deletionGracePeriodSeconds: grace }
    this.#write(resource, 'updated', before, { ...before, metadata: { ...before.metadata, ...marks } }, who)
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

  #update(resource: Resource, before: Stored, wanted: Stored, subresource: string | undefined, who: string): Stored {
    const object = subresource === 'status' ? { ...before, status: wanted.status } : withStatusOf(before, wanted)
    const kept = keepServerFields(before, object)
    const problem = metadataProblem(before, kept) ?? (resource === PODS ? podUpdateProblem(before, kept) : undefined)
    if (problem !== undefined)
      throw new ApiError(422, 'Invalid', `${resource.kind} "${before.metadata.name}" is invalid: ${problem}`)
    const after = this.#admission({
      resource,
      operation: 'UPDATE',
      object: kept,
      oldObject: before,
      subresource,
      who,
    })
    if (equal(before, after)) return before
    if (after.metadata.deletionTimestamp != null && isLetGo(after)) {
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
    if (found === undefined) throw new ApiError(404, 'NotFound', `namespaces "${namespace}" not found`)
    if (found.metadata.deletionTimestamp == null) return
    const message = `${resource.plural} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`
    throw new ApiError(403, 'Forbidden', message)
  }

  #table(resource: Resource): Map<string, Stored> {
    const known = this.#tables.get(resource.plural)
    if (known !== undefined) return known
    const table = new Map<string, Stored>()
    this.#tables.set(resource.plural, table)
    return table
  }
}

function apply(before: Stored, { type, body }: Patch): Stored {
  if (type === 'strategic') return strategicPatch(before, body) as Stored
  if (type === 'merge') return mergePatch(before, body) as Stored
  if (type === 'json') return jsonPatch(before, body) as Stored
  throw new ApiError(415, 'UnsupportedMediaType', `the model takes no ${type} patches`)
}

/** A pod that is on no node, or has ended, needs no time to stop. */
function graceOf(pod: Stored, asked: number | undefined): number {
  const { nodeName } = pod.spec as { nodeName?: string }
  const phase = (pod.status as { phase?: string } | undefined)?.phase
  if (!nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
  return asked ?? pod.metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE
}

function withStatusOf(before: Stored, wanted: Stored): Stored {
  const { status: _, ...rest } = wanted
  return before.status === undefined ? rest : { ...rest, status: before.status }
}

function keepServerFields(before: Stored, object: Stored): Stored {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } =
    before.metadata
  const own = { name, namespace, uid, resourceVersion, creationTimestamp }
  const marks = deletionTimestamp == null ? {} : { deletionTimestamp, deletionGracePeriodSeconds }
  const metadata: Record<string, unknown> = { ...object.metadata, ...own, ...marks }
  if (namespace === undefined) delete metadata.namespace
  const { finalizers } = object.metadata
  if (finalizers && finalizers.length === 0) delete metadata.finalizers
  return { ...object, metadata }
}

function metadataProblem(before: Stored, after: Stored): string | undefined {
  if (before.metadata.deletionTimestamp == null) return undefined
  const added = after.metadata.finalizers?.filter(name => !before.metadata.finalizers?.includes(name)) ?? []
  return added.length === 0
    ? undefined
    : `metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${added}`
}

function isLetGo({ metadata }: Stored): boolean {
  return !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds
}

function conflict(ref: ObjectRef): ApiError {
  const message = `Operation cannot be fulfilled on "${ref.name}": the object has been modified; please apply your changes to the latest version and try again`
  return new ApiError(409, 'Conflict', message)
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
