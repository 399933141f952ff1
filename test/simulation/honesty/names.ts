import { isDeepStrictEqual } from 'node:util'
import type { ApiError } from '../../../src/kube/vocabulary/api.ts'
import type { OwnerReference } from '../../../src/kube/vocabulary/objects.ts'
import type { Stored } from '../model/server.ts'
import { IMAGE, QUEUE, TOLERATIONS } from './objects.ts'

/** Less than any step of a chapter shortens a deletion by. */
const BETWEEN_STEPS_S = 4

/**
 * Puts answers into words that mean the same on every server: uids by identity, resource versions by where they were
 * seen before or whether they are newer than all that was, times by how far they moved besides the time between the steps.
 */
export class Names {
  readonly #uids = new Map<string, string>()
  /** Of each object, the versions that were shown and the step that showed each first. */
  readonly #versions = new Map<string, Map<string, string>>()
  readonly #deletedAt = new Map<string, { readonly seconds: number; readonly grace: number }>()
  #newest = 0

  object(object: Stored, step: string): object {
    const { metadata, spec, status } = object
    const { uid = '', resourceVersion = '', deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata
    return withoutEmpty({
      kind: object.kind,
      name: metadata.name,
      uid: this.#uid(uid),
      version: this.#version(uid, resourceVersion, step),
      labels: object.kind === 'Job' ? ownLabels(metadata.labels) : metadata.labels,
      annotations: metadata.annotations,
      finalizers: metadata.finalizers,
      owners: metadata.ownerReferences?.map(owner => this.#owner(owner)),
      deletion:
        deletionTimestamp == null ? undefined : { moved: this.#moved(uid, deletionTimestamp, grace ?? 0), grace },
      spec: specOf(object.kind, spec as Fields),
      status: statusOf(object.kind, (status ?? {}) as Fields),
    })
  }

  /** Of a list or a bookmark: other people's writes move it on, so only its order tells anything. */
  moment(version: string | undefined): string {
    if (version === undefined) return 'none'
    return Number(version) >= this.#newest ? 'not older than any object' : 'older than an object'
  }

  #uid(uid: string): string {
    const known = this.#uids.get(uid) ?? `u${this.#uids.size + 1}`
    this.#uids.set(uid, known)
    return known
  }

  #version(uid: string, version: string, step: string): string {
    const seen = this.#versions.get(uid) ?? new Map<string, string>()
    this.#versions.set(uid, seen)
    const known = seen.get(version)
    if (known !== undefined) return `as in "${known}"`
    const newest = Math.max(0, ...[...seen.keys()].map(Number))
    seen.set(version, step)
    this.#newest = Math.max(this.#newest, Number(version))
    return Number(version) > newest ? 'new' : 'older than the newest'
  }

  #owner({ name, kind, uid, controller }: OwnerReference): object {
    return withoutEmpty({ kind, name, uid: this.#uid(uid), controller })
  }

  /** A real server has asked its clock again: what passed between two steps is none of its answer. */
  #moved(uid: string, timestamp: string, grace: number): number {
    const seconds = Date.parse(timestamp) / 1000
    const first = this.#deletedAt.get(uid) ?? { seconds, grace }
    this.#deletedAt.set(uid, first)
    const [moved, asked] = [seconds - first.seconds, grace - first.grace]
    return moved >= asked && moved - asked <= BETWEEN_STEPS_S ? asked : moved
  }
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The prose of a refusal is the server's own; what a program may go by is not. Of several causes only the first: the
 * model looks no further.
 */
export function refusal({ status, reason, causes: [cause] }: ApiError): object {
  return { refused: status, reason, ...(cause && { cause: { reason: cause.reason, field: cause.field } }) }
}

function specOf(kind: string | undefined, spec: Fields): object | undefined {
  if (kind === 'Pod') return podSpec(spec)
  if (kind === 'Job') return jobSpec(spec)
  return kind === 'Workload' ? workloadSpec(spec) : spec
}

/** What every pod of the script begins with is left out. */
function podSpec(spec: Fields): object {
  const { schedulingGates, nodeSelector, tolerations, nodeName, activeDeadlineSeconds, hostname, containers } = spec
  const gates = (schedulingGates as { name: string }[] | undefined)?.map(gate => gate.name)
  const images = (containers as { image: string }[]).map(({ image }) => image)
  return {
    gates,
    nodeSelector,
    tolerations: isDeepStrictEqual(tolerations, TOLERATIONS) ? undefined : (tolerations ?? 'none'),
    nodeName,
    activeDeadlineSeconds,
    hostname,
    images: isDeepStrictEqual(images, [IMAGE]) ? undefined : images,
  }
}

/** Without those that carry the uid and the name of the Job: the uid is another on every server. */
function ownLabels(labels: Fields | null | undefined): object {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !/(controller-uid|job-name)$/.test(key)))
}

/** Of the template what may change and what may not. */
function jobSpec({ parallelism, completions, suspend, completionMode, backoffLimit, template }: Fields): object {
  const { metadata, spec } = template as { metadata?: { labels?: Fields; annotations?: Fields }; spec: Fields }
  const { nodeSelector, tolerations, schedulingGates, containers } = spec
  const shown = (containers as Fields[]).map(({ image, resources }) => withoutEmpty({ image, resources }))
  const marks = { labels: ownLabels(metadata?.labels), annotations: metadata?.annotations }
  const pod = { ...marks, nodeSelector, tolerations, schedulingGates, containers: shown }
  return { parallelism, completions, suspend, completionMode, backoffLimit, template: withoutEmpty(pod) }
}

function workloadSpec({ podSets, ...spec }: Fields): object | undefined {
  const sets = (podSets as { name: string; count: number }[]).map(({ name, count }) => `${name}: ${count}`)
  const seen = { ...spec, podSets: sets }
  return isDeepStrictEqual(seen, { active: true, queueName: QUEUE, podSets: ['main: 1'] }) ? undefined : seen
}

function statusOf(kind: string | undefined, status: Fields): object {
  if (kind === 'Pod') return podStatus(status)
  return kind === 'Job' ? jobStatus(status) : status
}

/** A count of nothing and no count are the same. */
function jobStatus({ conditions, startTime, ...counts }: Fields): object {
  const said = (conditions as { type: string; status: string }[] | undefined)?.map(({ type, status }) => ({
    type,
    status,
  }))
  const some = Object.entries(counts).filter(([, count]) => typeof count === 'number' && count > 0)
  return { startTime: startTime == null ? undefined : 'set', conditions: said, ...Object.fromEntries(some) }
}

/** Beside the phase, only conditions of the script's own: the others are a kubelet's and a scheduler's business. */
function podStatus({ phase = 'none', conditions }: Fields): object {
  const own = (conditions as { type: string; status: string }[] | undefined)
    ?.filter(({ type }) => type.startsWith('example.com/'))
    .map(({ type, status }) => ({ type, status }))
  return { phase: phase === 'Pending' ? undefined : phase, conditions: own }
}

/** To the API server an empty list or map and none are the same. */
function withoutEmpty(value: object): object {
  const kept = Object.entries(value).flatMap(([key, item]) => {
    if (item === undefined || item === null) return []
    if (typeof item !== 'object') return [[key, item]]
    const inner = Array.isArray(item) ? item : withoutEmpty(item)
    return Object.keys(inner).length === 0 ? [] : [[key, inner]]
  })
  return Object.fromEntries(kept)
}
