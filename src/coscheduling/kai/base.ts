import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import {
  KAI_DEFAULT_QUEUE,
  KAI_IGNORE,
  KAI_NODE_POOL,
  KAI_POD_GROUP,
  KAI_PREEMPTIBILITY,
  KAI_PRIORITY,
  KAI_PROJECT,
  KAI_QUEUE,
  KAI_USER,
  KAI_WRITTEN,
  RAY_PRIORITY,
} from '../../kube/vocabulary/kai.ts'
import type { Pod, StringMap } from '../../kube/vocabulary/objects.ts'
import { type Owner, ownerOf } from './objects.ts'
import { ownerKind, type TopOwner, topOwnerOf } from './owners.ts'

/** What a PodGroup takes from the pod and the objects above it: KAI's rules, as its pod-grouper has them by default. */
export interface Base {
  /** The nearest first; a pod without owners is its own. */
  readonly owners: readonly Owner[]
  readonly top: TopOwner
  /** Of the highest owner that counts, with what was above it and passed over. */
  readonly labels: StringMap
  readonly annotations: StringMap
  readonly pod: Pod
}

export function baseOf(pod: Pod, owners: readonly Owner[]): Base {
  const itself = ownerOf(pod, 'v1', 'Pod')
  const top = topOwnerOf(owners)
  const owner = top.effective ?? itself
  const inherited = (field: 'labels' | 'annotations') => ({ ...top.skipped?.[field], ...owner[field] })
  return {
    owners: owners.length > 0 ? owners : [itself],
    top,
    labels: inherited('labels'),
    annotations: inherited('annotations'),
    pod,
  }
}

export const podLabel = ({ pod }: Base, key: string): string => pod.metadata.labels?.[key] ?? ''

/** Exactly `"true"`, on the pod or on what stands above it. */
export function isOptedOut(pod: Pod, owners: readonly Owner[]): boolean {
  const { effective, skipped } = topOwnerOf(owners)
  const all = [pod.metadata.annotations, effective?.annotations, skipped?.annotations]
  return all.some(annotations => annotations?.[KAI_IGNORE] === 'true')
}

/** The first of these that has the label and says something with it. An empty value says nothing. */
export function firstOf(maps: readonly (StringMap | null | undefined)[], key: string): string | undefined {
  return maps.map(map => map?.[key]).find(value => value !== undefined && value !== '')
}

/** `above`: labels of what wins over the owner. */
export function queueOf(base: Base, above: readonly StringMap[]): string {
  const maps = [...above, base.labels, base.pod.metadata.labels]
  const queue = firstOf(maps, KAI_QUEUE)
  if (queue !== undefined) return queue
  const project = firstOf(maps, KAI_PROJECT)
  if (project === undefined) return KAI_DEFAULT_QUEUE
  const pool = podLabel(base, KAI_NODE_POOL)
  return pool === '' ? project : `${project}-${pool}`
}

/**
 * What would be the priority without a Workload, in the order of preference. Each owner is asked together with the pod
 * and names one class, so what the pod says counts before the owners above the nearest.
 */
export function priorities(base: Base): readonly (string | undefined)[] {
  const { pod, owners, labels } = base
  const ofPod = pod.metadata.labels?.[KAI_PRIORITY] ?? pod.spec.priorityClassName
  return [
    ...(isRay(base) ? [labels[RAY_PRIORITY]] : []),
    ...owners.map(owner => owner.labels[KAI_PRIORITY] ?? ofPod),
    // A highest owner that was passed over leaves its label to the one below it.
    labels[KAI_PRIORITY],
  ]
}

const INFERENCE: ReadonlySet<string> = new Set([
  'apps/Deployment',
  'serving.knative.dev/Service',
  'egx.nvidia.io/SPOTRequest',
])
const BUILD: ReadonlySet<string> = new Set(['kubeflow.org/Notebook'])

const isRay = ({ top }: Base): boolean =>
  top.effective !== undefined && parseApiVersion(top.effective.apiVersion).group === 'ray.io'

/** Nobody asks whether there is such a class: KAI ships these. */
export function defaultPriority({ top }: Base): string {
  const kind = top.effective === undefined ? '' : ownerKind(top.effective)
  if (INFERENCE.has(kind)) return 'inference'
  return BUILD.has(kind) ? 'build' : 'train'
}

const PREEMPTIBILITIES: readonly string[] = ['preemptible', 'non-preemptible']

export const isPreemptibility = (value: string | undefined): value is string =>
  value !== undefined && PREEMPTIBILITIES.includes(value)

/** Undefined: by its priority. An empty label says that on purpose, and nobody further up is asked. */
export function preemptibilityOf({ owners, labels, pod }: Base): string | undefined {
  const said = [...owners.map(owner => owner.labels), labels, pod.metadata.labels]
    .map(map => map?.[KAI_PREEMPTIBILITY])
    .find(value => value === '' || isPreemptibility(value))
  return said === '' ? undefined : said
}

/** Not the PodGroup's: they speak of another object, or are written by others. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  KAI_IGNORE,
  KAI_POD_GROUP,
  ...KAI_WRITTEN,
])

/** Muster's own marks are believed, so nobody else's copy of one may get there. */
export function copied(...maps: readonly (StringMap | null | undefined)[]): StringMap {
  const kept = maps.flatMap(map => Object.entries(map ?? {}))
  return Object.fromEntries(kept.filter(([key]) => !NOT_COPIED.has(key) && !key.startsWith('muster.dev/')))
}

export function baseLabels(base: Base): StringMap {
  const user = podLabel(base, KAI_USER)
  return copied(user === '' ? {} : { [KAI_USER]: user }, base.labels)
}

export function baseAnnotations({ pod, annotations }: Base): StringMap {
  const user = pod.metadata.annotations?.[KAI_USER]
  return copied(user === undefined ? {} : { [KAI_USER]: user }, annotations)
}
