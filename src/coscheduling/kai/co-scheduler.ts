import { KAI_NODE_POOL, KAI_POD_GROUPS } from '../../kube/vocabulary/kai.ts'
import { POD_GROUP_OF } from '../../kube/vocabulary/names.ts'
import type { KubeObject, Pod } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import {
  type Admission,
  type CoScheduler,
  GO,
  objectKey,
  type Preparation,
  type SchedulingKind,
  type SchedulingRecords,
} from '../../reconciler/co-scheduler.ts'
import { type Standing, tell } from '../../reconciler/decision.ts'
import type { Action } from '../../workload/actions.ts'
import { placedIn } from '../../workload/placement.ts'
import { isTerminal, kaiLinkOf, podGroupMarkOf } from '../../workload/pod-facts.ts'
import { replacementsIn } from '../kubernetes/gangs.ts'
import { METADATA, withController } from '../kubernetes/kinds.ts'
import { describeOwner, isLeaving, isOurs } from '../kubernetes/objects.ts'
import { heldByScheduler, inFewWords, isUnplaced } from '../waiting.ts'
import { baseOf, defaultPriority, podLabel, preemptibilityOf, queueOf } from './base.ts'
import type { KaiPodGroup } from './objects.ts'

const KNOWN: Outline = {
  metadata: METADATA,
  spec: fields('minMember'),
  status: { schedulingConditions: fields('type', 'status', 'message') },
}

const KINDS: readonly SchedulingKind[] = [{ resource: KAI_POD_GROUPS, outline: KNOWN, forCache: podGroupForCache }]

/** Of what KAI has said of a group in each of its node pools the last word is kept. */
function podGroupForCache(group: KaiPodGroup): KaiPodGroup {
  const held = group.status?.schedulingConditions?.findLast(({ type }) => type === 'UnschedulableOnNodePool')
  return {
    ...withController(group),
    status: held ? { schedulingConditions: [{ ...held, message: inFewWords(held.message ?? '') }] } : {},
  }
}

/**
 * Groups in queues whose pods KAI places. The webhook has linked their pods when they were created; here the PodGroup is
 * made that they are linked to, before the first gate falls. Pods that name a group of Kubernetes are not asked about:
 * they have a gate of their own for that.
 */
export const kaiCoScheduler: CoScheduler = {
  kinds: KINDS,
  objectsOf: pod => {
    const link = podGroupMarkOf(pod) === 'group' ? kaiLinkOf(pod) : undefined
    // KAI tells PodGroups apart by their names alone: one of the name in another namespace concerns the pod, too.
    return link === undefined ? [] : [objectKey(KAI_POD_GROUPS, '', link)]
  },
  prepare: (admission, known) => {
    // Where KAI is gone its PodGroups cannot be made, and nobody waits for one.
    if (!known.served.kai || admission.unit.kind !== 'group') return GO
    const gangs = gangsOf(admission)
    return gangs.length === 0 ? GO : prepareGangs(admission, gangs, known)
  },
}

interface Gang {
  readonly link: string
  readonly members: readonly Pod[]
  readonly waiting: readonly Pod[]
}

/** By the link, if it is the one that Muster gives such a pod: nobody else's PodGroup is made. */
function gangsOf({ unit, seating }: Admission): readonly Gang[] {
  const waiting = new Set(seating.lift.map(({ pod }) => pod))
  const seated = [...seating.taken, ...waiting].filter(pod => podGroupMarkOf(pod) === 'group')
  const linked = seated.filter(pod => kaiLinkOf(pod) !== undefined && kaiLinkOf(pod) === placedIn(pod, unit.namespace))
  return [...Map.groupBy(linked, pod => kaiLinkOf(pod) ?? '')].map(([link, members]) => ({
    ...{ link, members },
    waiting: members.filter(pod => waiting.has(pod)),
  }))
}

interface Need {
  readonly action?: Action
  readonly problem?: string
}

/** A group starts with all its pods or with none, so all of them wait for each of its PodGroups. */
function prepareGangs(admission: Admission, gangs: readonly Gang[], known: SchedulingRecords): Preparation {
  const needs = gangs.flatMap(gang => needOf(admission, gang, known) ?? [])
  const waiting = admission.seating.lift.map(({ pod }) => pod)
  const [problem] = needs.flatMap(({ problem }) => problem ?? [])
  return {
    actions: needs.flatMap(({ action }) => action ?? []),
    held: new Set(needs.length > 0 ? waiting : []),
    standings:
      problem === undefined
        ? gangs.flatMap(gang => schedulerSays(admission, gang, known))
        : tell(waiting, 'LiftBlocked', problem),
    remarks: [],
  }
}

function needOf(admission: Admission, gang: Gang, known: SchedulingRecords): Need | undefined {
  const resource = KAI_POD_GROUPS
  const group: KaiPodGroup | undefined = known.find(resource, admission.unit.namespace, gang.link)
  const namesake = known.named(resource, gang.link).find(other => other.metadata.namespace !== admission.unit.namespace)
  if (namesake !== undefined) return { problem: namesakeNote(namesake) }
  if (group === undefined) {
    // Who has started is not stopped for it, and who has ended needs none.
    const wanted = gang.members.every(isTerminal) ? undefined : wantedGroup(admission, gang)
    return wanted && { action: { kind: 'EnsureObject', resource, wanted } }
  }
  if (!isOurs(group, admission)) {
    const whose = `${describeOwner(group)} and is not Muster's`
    return { problem: `KAI PodGroup ${gang.link}, by which the group would be placed, ${whose}: delete it` }
  }
  // Until it is gone its name is taken, and then it is made anew.
  if (isLeaving(group, admission)) return {}
  const minMember = sizeOf(admission, gang, group.spec?.minMember)
  if (minMember === undefined || minMember === group.spec?.minMember) return undefined
  const wanted: KaiPodGroup = { metadata: group.metadata, spec: { minMember } }
  return { action: { kind: 'EnsureObject', resource, known: group, wanted } }
}

/**
 * KAI never takes back what it has said of a group, and says nothing more from when one of it is placed: then its last
 * word is about another time.
 */
function schedulerSays({ unit }: Admission, gang: Gang, known: SchedulingRecords): readonly Standing[] {
  const { link, members, waiting } = gang
  if (waiting.length > 0 || members.some(pod => pod.spec.nodeName && !isTerminal(pod))) return []
  const group: KaiPodGroup | undefined = known.find(KAI_POD_GROUPS, unit.namespace, link)
  const [held] = group?.status?.schedulingConditions ?? []
  return heldByScheduler(members.filter(isUnplaced), link, held?.status === 'True' ? held.message : undefined)
}

const namesakeNote = ({ metadata: { name, namespace } }: KubeObject): string =>
  `KAI tells PodGroups apart by their names alone, and there is a KAI PodGroup ${name} in namespace ${namespace}, which ` +
  'would be taken for that of the group: delete that one'

/**
 * All of them, to start together. From when one is placed the number only falls: KAI evicts a gang that is smaller than
 * it wants to be, be it that it waits for a replacement.
 */
function sizeOf(admission: Admission, { members }: Gang, now: number | undefined): number | undefined {
  const living = members.filter(pod => !isTerminal(pod))
  if (living.length === 0) return undefined
  if (living.some(pod => pod.spec.nodeName)) return Math.min(living.length, now ?? living.length)
  return living.length + replacementsIn(admission)
}

function wantedGroup(admission: Admission, gang: Gang): KaiPodGroup {
  const { unit, workload, workloads } = admission
  const { name = '', uid = '' } = workload.metadata
  const [first] = gang.members
  if (first === undefined) throw new Error('a gang has members')
  const base = baseOf(first, [])
  const pool = podLabel(base, KAI_NODE_POOL)
  const preemptibility = preemptibilityOf(base)
  return {
    apiVersion: `${KAI_POD_GROUPS.group}/${KAI_POD_GROUPS.version}`,
    kind: KAI_POD_GROUPS.kind,
    metadata: {
      name: gang.link,
      namespace: unit.namespace,
      ...(pool !== '' && { labels: { [KAI_NODE_POOL]: pool } }),
      annotations: { [POD_GROUP_OF]: JSON.stringify([unit.namespace, gang.link]) },
      ownerReferences: [
        { apiVersion: `${workloads.group}/${workloads.version}`, kind: workloads.kind, name, uid, controller: true },
      ],
    },
    spec: {
      minMember: sizeOf(admission, gang, undefined) ?? 1,
      queue: queueOf(base, []),
      // The API server has looked it up when the pod was created.
      priorityClassName: first.spec.priorityClassName || defaultPriority(base),
      ...(preemptibility !== undefined && { preemptibility }),
    },
  }
}
