import { isDeepStrictEqual } from 'node:util'
import {
  IS_GROUP_WORKLOAD,
  KUEUE_GROUP,
  KUEUE_KINDS,
  KUEUE_RESOURCE_IN_USE,
  type KueueVersion,
} from '../../kube/vocabulary/kueue.ts'
import { ADMISSION_GATED_BY, JOB_UID } from '../../kube/vocabulary/names.ts'
import type { Pod, PodSpec, StringMap } from '../../kube/vocabulary/objects.ts'
import { parseInt32 } from '../../validation/numbers.ts'
import { askedOf, keptOf } from '../../workload/asked.ts'
import type { WorkloadPlan } from '../../workload/compose.ts'
import { admissionGatedBy, maxExecTimeOf, nameOf, priorityClassOf, uidOf } from '../../workload/pod-facts.ts'
import { type PodSet, type QueuedWorkload, WORKLOAD_GROUP, WORKLOAD_POD } from '../../workload/queued-workload.ts'
import { topologyRequestOf } from '../../workload/topology.ts'
import type { KueueSettings } from './background.ts'
import type { FlavoredSpec, KueuePodSet, KueueSpec, KueueWorkload } from './objects.ts'

/** The Workload of a unit, as Kueue's own pod integration would make it: the same names, marks and words. */
export function composeFor(
  version: KueueVersion,
  settings: Pick<KueueSettings, 'priorityOf'>,
): (plan: WorkloadPlan) => KueueWorkload {
  const { workloads } = KUEUE_KINDS[version]
  return plan => {
    const { name, namespace, queueName, podSets, ownerReferences, first } = plan
    return {
      apiVersion: `${workloads.group}/${workloads.version}`,
      kind: workloads.kind,
      metadata: {
        name,
        namespace,
        ...marksFor(plan),
        finalizers: [KUEUE_RESOURCE_IN_USE],
        ownerReferences,
      },
      spec: {
        queueName,
        podSets: podSets.map(podSet => placedBy(podSet, plan)),
        ...priorityIn(version, plan, settings),
        ...(first && timeLimitOf(first)),
      },
    }
  }
}

function placedBy(podSet: PodSet, { models }: WorkloadPlan): KueuePodSet {
  const model = models?.get(podSet.name)
  const topologyRequest = model && topologyRequestOf(model)
  return { ...podSet, ...(topologyRequest && { topologyRequest }) }
}

/** By which Kueue, and whoever looks, knows for whom it is. */
function marksFor({ kind, name, first }: WorkloadPlan): {
  readonly labels?: StringMap
  readonly annotations: StringMap
} {
  if (kind === 'group') return { annotations: { [IS_GROUP_WORKLOAD]: 'true', [WORKLOAD_GROUP]: name } }
  const [pod, uid] = first === undefined ? ['', ''] : [nameOf(first), uidOf(first)]
  return { labels: { [JOB_UID]: uid }, annotations: { [WORKLOAD_POD]: pod } }
}

/** What is not a number has no effect in Kueue either; the webhook refuses it. */
function timeLimitOf(pod: Pod): Pick<KueueSpec, 'maximumExecutionTimeSeconds'> {
  const limit = maxExecTimeOf(pod)
  const parsed = limit === undefined ? undefined : parseInt32(limit)
  return parsed !== undefined && 'value' in parsed && parsed.value > 0
    ? { maximumExecutionTimeSeconds: parsed.value }
    : {}
}

type Priority = Pick<KueueSpec, 'priority' | 'priorityClassRef' | 'priorityClassName' | 'priorityClassSource'>

/** The class that the pods name for their Workload, else the one that Kubernetes gave the pods their priority by. */
function priorityIn(
  version: KueueVersion,
  { first, priority }: Pick<WorkloadPlan, 'first' | 'priority'>,
  settings: Pick<KueueSettings, 'priorityOf'>,
): Priority {
  const ofWorkload = first === undefined ? '' : priorityClassOf(first)
  const value = ofWorkload === '' ? undefined : settings.priorityOf(ofWorkload)
  if (value !== undefined) {
    const named = classRef(version, KUEUE_GROUP, 'WorkloadPriorityClass', ofWorkload)
    return { priority: value, ...named }
  }
  const ofPod = first?.spec.priorityClassName
  return { priority, ...(ofPod && classRef(version, 'scheduling.k8s.io', 'PriorityClass', ofPod)) }
}

function classRef(version: KueueVersion, group: string, kind: string, name: string): Priority {
  if (version === 'v1beta2') return { priorityClassRef: { group, kind, name } }
  return { priorityClassName: name, priorityClassSource: `${group}/${kind.toLowerCase()}` }
}

export const isForGroup = ({ metadata }: QueuedWorkload): boolean =>
  metadata.annotations?.[IS_GROUP_WORKLOAD] === 'true'

/** Others make Workloads for pods, too, ahead of them: those are not ours to end. */
export const isOurs = ({ metadata: { annotations } }: QueuedWorkload): boolean =>
  annotations?.[WORKLOAD_POD] !== undefined || annotations?.[WORKLOAD_GROUP] !== undefined

/**
 * Whether it is for a pod, or may become so, as one that was made ahead and has no owner yet: Kueue has Workloads of
 * Jobs and of others, which are none of our business.
 */
export function isForPods(workload: QueuedWorkload): boolean {
  const { annotations, ownerReferences } = workload.metadata
  if (isForGroup(workload) || annotations?.[WORKLOAD_POD] !== undefined) return true
  if (!ownerReferences?.length) return true
  return ownerReferences.some(({ kind, apiVersion }) => kind === 'Pod' && apiVersion === 'v1')
}

/**
 * What a Workload that waits lacks of what its pods say by now: another class, or one consent less. What the class is
 * worth is Kueue's to follow, and an administrator may give a Workload another priority than its class has: both stay.
 */
export function termsOf(
  version: KueueVersion,
  workload: KueueWorkload,
  first: Pod,
  settings: Pick<KueueSettings, 'priorityOf'>,
): { readonly annotations?: StringMap; readonly terms?: Priority } {
  const gates = admissionGatedBy(first)
  const isGiven = isLess(gates, workload.metadata.annotations?.[ADMISSION_GATED_BY] ?? '')
  const value = settings.priorityOf(priorityClassOf(first))
  const terms = value === undefined ? {} : priorityIn(version, { first, priority: 0 }, settings)
  const isChanged = value !== undefined && !isDeepStrictEqual(classIn(terms), classIn(workload.spec))
  return { ...(isGiven && { annotations: { [ADMISSION_GATED_BY]: gates } }), ...(isChanged && { terms }) }
}

/** Of those before, some are missing. A list that is longer than a mark may be is known by its hash, and stays until it is gone. */
function isLess(gates: string, before: string): boolean {
  const known = entriesOf(before)
  const left = entriesOf(gates)
  return left.length < known.length && left.every(gate => known.includes(gate))
}

const entriesOf = (list: string): readonly string[] =>
  list
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')

/** What the cache keeps of a pod's spec: what Kueue charges for, and what it chooses a flavor by. */
export function shapeOf(spec: PodSpec): PodSpec {
  const { affinity, runtimeClassName, resourceClaims } = spec as FlavoredSpec
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const kept: FlavoredSpec = {
    ...keptOf(spec),
    ...(required != null && {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    }),
    ...(runtimeClassName && { runtimeClassName }),
    ...(resourceClaims?.length && { resourceClaims }),
  }
  return kept
}

const priorityOf = (spec: KueueSpec): Priority => ({
  ...(spec.priority !== undefined && { priority: spec.priority }),
  ...classIn(spec),
})

const classIn = ({ priorityClassRef, priorityClassName, priorityClassSource }: Priority): Priority => ({
  ...(priorityClassRef && { priorityClassRef }),
  ...(priorityClassName && { priorityClassName }),
  ...(priorityClassSource && { priorityClassSource }),
})

const MARKS: ReadonlySet<string> = new Set([IS_GROUP_WORKLOAD, WORKLOAD_POD, WORKLOAD_GROUP, ADMISSION_GATED_BY])

/** Of the templates what is charged for the pods. Of what is for others, that it is there: its name is taken. */
export function workloadForCache(workload: KueueWorkload): KueueWorkload {
  const { apiVersion, kind, metadata, spec, status } = workload
  const { labels: _, annotations, ...identity } = metadata
  const marks = Object.entries(annotations ?? {}).filter(([key]) => MARKS.has(key))
  const known = { ...identity, ...(marks.length > 0 && { annotations: Object.fromEntries(marks) }) }
  const { queueName = '', podSets, active } = spec
  const base = { ...(apiVersion && { apiVersion }), ...(kind && { kind }), metadata: known }
  if (!isForPods(workload)) return { ...base, spec: { queueName, podSets: [] } }
  return {
    ...base,
    spec: {
      queueName,
      ...(active !== undefined && { active }),
      ...priorityOf(spec),
      podSets: podSets.map(({ name, count = 1, template, topologyRequest }) => ({
        name,
        count,
        template: { spec: askedOf(template?.spec ?? {}) },
        ...(topologyRequest && { topologyRequest }),
      })),
    },
    ...(status && { status }),
  }
}
