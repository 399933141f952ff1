import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { KAI_NODE_POOL, KAI_QUEUE, KAI_TOP_OWNER } from '../../kube/vocabulary/kai.ts'
import type { OwnerReference, StringMap } from '../../kube/vocabulary/objects.ts'
import type { KaiPodGroup, KaiPodGroupSpec } from './objects.ts'

/** What a merge patch has to say so that `known` is as `wanted`. */
export interface Change {
  readonly metadata?: {
    readonly labels?: StringMap
    readonly annotations?: StringMap
    readonly ownerReferences?: readonly OwnerReference[]
  }
  readonly spec?: Readonly<Record<string, unknown>>
}

/** The queue is settled when the group is made, and so are the pool of nodes and what KAI's scheduler keeps there. */
const OURS: readonly (keyof KaiPodGroupSpec)[] = [
  'minMember',
  'priorityClassName',
  'preemptibility',
  'topologyConstraint',
  'subGroups',
]

/**
 * KAI's own way to bring a PodGroup up to date: labels and annotations are added and overwritten, never taken away;
 * fields are replaced, but for those that were settled at its creation. Undefined: nothing is to be written.
 */
export function changeOf(known: KaiPodGroup, wanted: KaiPodGroup, keepsOwner: boolean): Change | undefined {
  const labels = newKeys(known.metadata.labels, settled(known, wanted.metadata.labels ?? {}))
  const { [KAI_TOP_OWNER]: record, ...marks } = wanted.metadata.annotations ?? {}
  // The note says whose it is: it changes together with the owner.
  const noted = keepsOwner || record === undefined ? marks : { ...marks, [KAI_TOP_OWNER]: record }
  const annotations = newKeys(known.metadata.annotations, noted)
  const owners = wanted.metadata.ownerReferences ?? []
  const owner = keepsOwner || isDeepStrictEqual(ownersOf(known), ownersOf(wanted)) ? undefined : owners
  const metadata = {
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(owner !== undefined && { ownerReferences: owner }),
  }
  const spec = changedFields(known.spec ?? {}, wanted.spec ?? {})
  if (Object.keys(metadata).length === 0 && spec === undefined) return undefined
  return { ...(Object.keys(metadata).length > 0 && { metadata }), ...(spec !== undefined && { spec }) }
}

function settled({ metadata: { labels } }: KaiPodGroup, wanted: StringMap): StringMap {
  const { [KAI_NODE_POOL]: _, ...rest } = wanted
  if (labels?.[KAI_QUEUE] === undefined) return rest
  const { [KAI_QUEUE]: __, ...others } = rest
  return others
}

function newKeys(known: StringMap | null | undefined, wanted: StringMap): StringMap | undefined {
  const news = Object.entries(wanted).filter(([key, value]) => !known || known[key] !== value)
  return news.length === 0 ? undefined : Object.fromEntries(news)
}

const ownersOf = ({ metadata }: KaiPodGroup) =>
  (metadata.ownerReferences ?? []).map(({ apiVersion, kind, name, uid }) => ({ apiVersion, kind, name, uid }))

function changedFields(known: KaiPodGroupSpec, wanted: KaiPodGroupSpec): Change['spec'] | undefined {
  const changes = OURS.filter(field => !isSame(known[field], wanted[field])).map(field => [
    field,
    mergeOf(known[field], wanted[field]),
  ])
  if (isEmpty(known.queue) && !isEmpty(wanted.queue)) changes.push(['queue', wanted.queue])
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

/** In a merge patch null takes away, and what is not mentioned within an object stays. */
function mergeOf(known: unknown, wanted: unknown): unknown {
  if (isEmpty(wanted)) return null
  if (!isObject(known) || !isObject(wanted)) return wanted
  const gone = Object.keys(known).filter(key => !Object.hasOwn(wanted, key))
  return { ...wanted, ...Object.fromEntries(gone.map(key => [key, null])) }
}

/** Go writes an empty struct as `{}` and an empty list as `[]`, or leaves them out: they all say the same. */
function isSame(known: unknown, wanted: unknown): boolean {
  if (isEmpty(known) || isEmpty(wanted)) return isEmpty(known) && isEmpty(wanted)
  return isDeepStrictEqual(known, wanted)
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.values(value).every(isEmpty)
  return value === undefined || value === null || value === ''
}
