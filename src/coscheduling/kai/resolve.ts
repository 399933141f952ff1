import { KAI_POD_GROUPS } from '../../kube/vocabulary/kai.ts'
import { POD_GROUP_OF } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { type GroupReference, sayReference } from '../../workload/group-reference.ts'
import { baseOf } from './base.ts'
import { bounded } from './cache-contents.ts'
import { identityOf, type Naming, nameConflict, podGroupName } from './naming.ts'
import type { KaiPodGroup, KaiTopology, Owner, Policy, SchedulingPodGroup, SchedulingWorkload } from './objects.ts'
import { ownerOf } from './objects.ts'
import { type Authority, metadataOf, type Problem, schedulingOf } from './overlay.ts'
import { topOwnerRecord } from './record.ts'

/** What the translation asks of the cluster. */
export interface KaiWorld {
  readonly naming: Naming
  /** In which scheduling.k8s.io is served, for references to its objects. */
  readonly apiVersion: string
  workload(namespace: string, name: string): SchedulingWorkload | undefined
  podGroup(namespace: string, name: string): SchedulingPodGroup | undefined
  /** KAI's PodGroups of a name, in whatever namespace. */
  kaiPodGroups(name: string): readonly KaiPodGroup[]
  topologies(): Iterable<KaiTopology>
  /** Undefined: there is no such class. */
  priorityClass(name: string): { readonly globalDefault: boolean } | undefined
}

export interface Member {
  readonly pod: Pod
  /** The objects above it, the nearest first. */
  readonly owners: readonly Owner[]
}

/** A group is held as a whole: nothing of it is created, and its pods keep their gates. */
export type Resolution =
  | { readonly kind: 'held'; readonly note: string }
  | { readonly kind: 'grouped'; readonly wanted: KaiPodGroup; readonly warnings: readonly string[] }

const held = (note: string): Resolution => ({ kind: 'held', note })

/**
 * The PodGroup of KAI for all pods that name the same group. `eldest` is its oldest living member: whatever the owners
 * of the others say, the group takes after one, and after the same one on every pass.
 */
export function resolve(reference: GroupReference, namespace: string, eldest: Member, world: KaiWorld): Resolution {
  const found = authorityOf(reference, namespace, world)
  if ('problem' in found) return held(found.problem)
  const { authority, object, warnings } = found

  const name = podGroupName(namespace, reference, world.naming)
  const conflict = nameConflict(namespace, reference, name, world.kaiPodGroups(name))
  if (conflict !== undefined) return held(conflict)

  const base = baseOf(eldest.pod, eldest.owners)
  const classes = { exists: (name: string) => world.priorityClass(name) !== undefined }
  const scheduling = schedulingOf(base, authority, classes, world.topologies())
  if ('problem' in scheduling) return held(scheduling.problem)

  // A group that dies with one of its members would take the others' place away: a pod owns none.
  const owner = [base.top.effective, base.top.skipped].find(each => each !== undefined && each.kind !== 'Pod') ?? object
  const { apiVersion, kind, uid } = owner
  const { labels, annotations } = metadataOf(base, authority, topOwnerRecord(owner))
  const wanted: KaiPodGroup = {
    apiVersion: `${KAI_POD_GROUPS.group}/${KAI_POD_GROUPS.version}`,
    kind: KAI_POD_GROUPS.kind,
    metadata: {
      name,
      namespace,
      // No more than is known of it afterwards, or it would be written again and again.
      labels: bounded(labels),
      annotations: bounded({ ...annotations, [POD_GROUP_OF]: identityOf(namespace, reference) }),
      ownerReferences: [{ apiVersion, kind, name: owner.name, uid }],
    },
    spec: { minMember: authority.minMember, ...scheduling },
  }
  return { kind: 'grouped', wanted, warnings }
}

interface Found {
  readonly authority: Authority
  /** What owns the PodGroup of pods that nothing else owns. */
  readonly object: Owner
  readonly warnings: readonly string[]
}

function authorityOf(reference: GroupReference, namespace: string, world: KaiWorld): Found | Problem {
  return reference.kind === 'workload'
    ? ofWorkload(reference, namespace, world)
    : ofPodGroup(reference, namespace, world)
}

/** 1.35. What it does not say in fields, which is nearly all, its labels and annotations may say. */
function ofWorkload(
  reference: Extract<GroupReference, { kind: 'workload' }>,
  namespace: string,
  world: KaiWorld,
): Found | Problem {
  const workload = world.workload(namespace, reference.workload)
  if (workload === undefined) return { problem: `Workload "${reference.workload}" does not exist` }
  const group = workload.spec?.podGroups?.find(({ name }) => name === reference.podGroup)
  if (group === undefined) {
    return { problem: `Workload "${reference.workload}" has no podGroup "${reference.podGroup}"` }
  }
  const minMember = minMemberOf(group.policy, reference)
  if (typeof minMember !== 'number') return minMember
  const object = ownerOf(workload, world.apiVersion, 'Workload')
  return {
    authority: { ...metadataFrom([object]), minMember, priorities: [], topologyKey: undefined },
    object,
    warnings: [],
  }
}

/** From 1.36 on. Its Workload may be there or not: only its metadata and its template's priority are asked for. */
function ofPodGroup(
  reference: Extract<GroupReference, { kind: 'podGroup' }>,
  namespace: string,
  world: KaiWorld,
): Found | Problem {
  const group = world.podGroup(namespace, reference.podGroup)
  if (group === undefined) return { problem: `PodGroup "${reference.podGroup}" does not exist` }
  const { spec = {} } = group
  if (spec.parentCompositePodGroupName) {
    const parent = spec.parentCompositePodGroupName
    return { problem: `PodGroup "${reference.podGroup}" is part of CompositePodGroup "${parent}": unsupported by KAI` }
  }
  const minMember = minMemberOf(spec.schedulingPolicy, reference)
  if (typeof minMember !== 'number') return minMember
  const source = workloadOf(group)
  const workload = source === undefined ? undefined : world.workload(namespace, source.workload)
  const template = workload?.spec?.podGroupTemplates?.find(({ name }) => name === source?.template)
  const object = ownerOf(group, world.apiVersion, 'PodGroup')
  const above = workload === undefined ? [] : [ownerOf(workload, world.apiVersion, 'Workload')]
  return {
    authority: {
      ...metadataFrom([object, ...above]),
      minMember,
      priorities: [template?.priorityClassName, chosenPriority(spec.priorityClassName, world)],
      topologyKey: spec.schedulingConstraints?.topology?.[0]?.key || undefined,
    },
    object,
    warnings: ignoredFields(group),
  }
}

/** Which Workload a PodGroup was made from, as 1.37 and 1.36 say it. */
export function workloadOf({ spec }: SchedulingPodGroup): { workload: string; template: string } | undefined {
  const { workloadName, templateName } = spec?.workloadRef ?? {}
  if (workloadName) return { workload: workloadName, template: templateName ?? '' }
  const old = spec?.podGroupTemplateRef?.workload
  return old?.workloadName ? { workload: old.workloadName, template: old.podGroupTemplateName ?? '' } : undefined
}

/** The API server writes the default of the cluster into PodGroups that name none: then nobody has chosen it. */
function chosenPriority(name: string | undefined, world: KaiWorld): string | undefined {
  return name === undefined || world.priorityClass(name)?.globalDefault ? undefined : name
}

function minMemberOf(policy: Policy | null | undefined, reference: GroupReference): number | Problem {
  const { basic, gang } = policy ?? {}
  const isGang = gang !== undefined && gang !== null
  const isBasic = basic !== undefined && basic !== null
  if (isGang === isBasic) {
    return { problem: `the policy of ${sayReference(reference)} is neither basic nor gang, or both` }
  }
  if (!isGang) return 1
  const { minCount } = gang
  if (typeof minCount === 'number' && Number.isSafeInteger(minCount) && minCount > 0) return minCount
  return { problem: `the gang of ${sayReference(reference)} has no minCount` }
}

const metadataFrom = (objects: readonly Owner[]): Pick<Authority, 'labels' | 'annotations'> => ({
  labels: objects.map(({ labels }) => labels),
  annotations: objects.map(({ annotations }) => annotations),
})

/** What the API server sets by itself (`single`, `Pod`) is nobody's wish. */
function ignoredFields({ spec }: SchedulingPodGroup): readonly string[] {
  const disruption = JSON.stringify(spec?.disruptionMode ?? null)
  return [
    ...((spec?.resourceClaims?.length ?? 0) > 0 ? ['KAI knows no resourceClaims of a PodGroup: they are ignored'] : []),
    ...(/all|PodGroup/.test(disruption) ? ['KAI knows no disruptionMode of a PodGroup: it is ignored'] : []),
  ]
}
