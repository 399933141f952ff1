import { KAI_POD_GROUP, KAI_SUBGROUP } from '../../kube/vocabulary/kai.ts'
import { controllerOf, type OwnerReference, type Pod } from '../../kube/vocabulary/objects.ts'
import { type Target, targetOf } from '../../workload/actions.ts'
import type { GroupReference } from '../../workload/group-reference.ts'
import { saysItIsOver } from '../../workload/pod-end.ts'
import { awaitsPodGroup, byAge, isDeleting, podGroupMarkOf } from '../../workload/pod-facts.ts'
import { isOptedOut } from './base.ts'
import { type Change, changeOf } from './difference.ts'
import type { KaiPodGroup } from './objects.ts'
import { type Lookup, ownersOf, referenceKey } from './owners.ts'
import { type KaiWorld, type Member, resolve } from './resolve.ts'

/** All pods of a namespace that name one group. */
export interface KaiUnit {
  readonly namespace: string
  readonly reference: GroupReference
  readonly pods: readonly Pod[]
}

/** As it was looked at: a link that arrives a second time must not reach a pod that was left to KAI meanwhile. */
export interface Looked extends Target {
  readonly resourceVersion: string
}

/** What has to be written, as data. Each is safe to do twice, and safe under two leaders. */
export type KaiAction =
  | { readonly kind: 'CreatePodGroup'; readonly wanted: KaiPodGroup }
  | { readonly kind: 'PatchPodGroup'; readonly known: KaiPodGroup; readonly change: Change }
  /** Says to which PodGroup the pod belongs, and lifts our gate, in one write: without the one it never has the other. */
  | { readonly kind: 'LinkPod'; readonly pod: Looked; readonly podGroup: string }
  /** Leaves the pod to KAI's own pod-grouper, without a mark of ours. */
  | { readonly kind: 'LeavePod'; readonly pod: Looked; readonly unlinks: boolean }

export interface Held {
  readonly pod: Pod
  readonly note: string
}

/**
 * `asks`: which owners have to be looked up before anything can be said. `ground` has to be done, and to have succeeded,
 * before `pods`: a pod never points to a PodGroup that is not there.
 */
export interface KaiDecision {
  readonly asks: readonly OwnerReference[]
  readonly ground: readonly KaiAction[]
  readonly pods: readonly KaiAction[]
  readonly held: readonly Held[]
  readonly warnings: readonly string[]
}

/** Each of them is looked up, again and again: a JobSet of so many Jobs is a large one. */
const MOST_OWNERS = 1000

const NOTHING: KaiDecision = { asks: [], ground: [], pods: [], held: [], warnings: [] }

export function decideGroup({ namespace, reference, pods }: KaiUnit, find: Lookup, world: KaiWorld): KaiDecision {
  const asks: OwnerReference[] = []
  const held: Held[] = []
  const writes: KaiAction[] = []
  const members: Member[] = []
  const live = pods.filter(isLive).sort(byAge)
  const owned = distinct(
    live.flatMap(({ metadata: { ownerReferences } }) => controllerOf(ownerReferences) ?? ownerReferences?.[0] ?? []),
  )
  if (owned.length > MOST_OWNERS) {
    const note = `its group has pods of ${owned.length} owners, and ${MOST_OWNERS} are looked up: make it of fewer`
    return { ...NOTHING, held: live.filter(awaitsPodGroup).map(pod => ({ pod, note })) }
  }
  for (const pod of live) {
    const chain = ownersOf(pod, find)
    if (chain.kind === 'asks') asks.push(chain.reference)
    else if (chain.kind === 'broken') held.push({ pod, note: chain.problem })
    else if (isOptedOut(pod, chain.owners)) writes.push(...leave(pod))
    else members.push({ pod, owners: chain.owners })
  }
  if (asks.length > 0) return { ...NOTHING, asks: distinct(asks) }
  const [eldest] = members
  if (eldest === undefined) return { ...NOTHING, pods: writes, held }

  const resolution = resolve(reference, namespace, eldest, world)
  if (resolution.kind === 'held') {
    const waiting = members.filter(({ pod }) => awaitsPodGroup(pod)).map(({ pod }) => ({ pod, note: resolution.note }))
    return { ...NOTHING, pods: writes, held: [...held, ...waiting] }
  }
  const { wanted, warnings } = resolution
  const name = wanted.metadata.name ?? ''
  const known = world.kaiPodGroups(name).find(({ metadata }) => metadata.namespace === namespace)
  if (known !== undefined && isDeleting(known)) return { ...NOTHING, pods: writes, held }

  const kept = known === undefined ? false : keepsOwner(known, wanted, find)
  if (typeof kept !== 'boolean') return { ...NOTHING, asks: [kept.asks] }
  return {
    ...NOTHING,
    ground: written(known, wanted, kept),
    pods: [...writes, ...members.flatMap(({ pod }) => link(pod, name))],
    held,
    warnings,
  }
}

function written(known: KaiPodGroup | undefined, wanted: KaiPodGroup, keeps: boolean): readonly KaiAction[] {
  if (known === undefined) return [{ kind: 'CreatePodGroup', wanted }]
  const change = changeOf(known, wanted, keeps)
  return change === undefined ? [] : [{ kind: 'PatchPodGroup', known, change }]
}

/** Several owners may share a group: it stays with the first as long as that one lives, or it would go to and fro. */
function keepsOwner(known: KaiPodGroup, wanted: KaiPodGroup, find: Lookup): boolean | { asks: OwnerReference } {
  const [owner] = known.metadata.ownerReferences ?? []
  if (owner === undefined || owner.uid === wanted.metadata.ownerReferences?.[0]?.uid) return false
  const found = find(owner)
  if (found === undefined) return { asks: owner }
  return found !== 'absent' && (found === 'unreadable' || found.uid === owner.uid)
}

const isLive = (pod: Pod): boolean => !isDeleting(pod) && !saysItIsOver(pod)

/** What runs is counted where it is: a pod with a node is never moved to another group. */
function link(pod: Pod, podGroup: string): readonly KaiAction[] {
  const linked = pod.metadata.annotations?.[KAI_POD_GROUP]
  const isPlaced = Boolean(pod.spec.nodeName)
  const isRight = linked === podGroup && pod.metadata.labels?.[KAI_SUBGROUP] === undefined && !awaitsPodGroup(pod)
  if (isRight || (isPlaced && linked !== undefined)) return []
  return [{ kind: 'LinkPod', pod: lookedAt(pod), podGroup }]
}

/** A pod without owners that has a link is nobody's business but its own, so ours must not stay behind. */
export function leave(pod: Pod): readonly KaiAction[] {
  if (pod.spec.nodeName || podGroupMarkOf(pod) === undefined) return []
  return [{ kind: 'LeavePod', pod: lookedAt(pod), unlinks: !awaitsPodGroup(pod) }]
}

const lookedAt = (pod: Pod): Looked => ({
  ...targetOf(pod),
  resourceVersion: pod.metadata.resourceVersion ?? '',
})

function distinct(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return [...new Map(references.map(reference => [referenceKey(reference), reference])).values()]
}
