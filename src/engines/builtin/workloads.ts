import type { Resource } from '../../kube/vocabulary/api.ts'
import { IS_GROUP_WORKLOAD } from '../../kube/vocabulary/kueue.ts'
import { JOB_UID, RESOURCE_IN_USE } from '../../kube/vocabulary/names.ts'
import type { StringMap } from '../../kube/vocabulary/objects.ts'
import { askedOf, keptOf } from '../../workload/asked.ts'
import type { WorkloadPlan } from '../../workload/compose.ts'
import {
  jobUidOf,
  type PodSet,
  type QueuedWorkload,
  WORKLOAD_JOB,
  WORKLOAD_POD,
} from '../../workload/queued-workload.ts'

/** The built-in engine's own kind, from manifests/base/crd.yaml. */
export const WORKLOADS: Resource = {
  group: 'muster.dev',
  version: 'v1alpha1',
  plural: 'workloads',
  kind: 'Workload',
  namespaced: true,
}
/** Where in its queue the Workload stands: the resource version at which it was complete, or came over from another. */
export const QUEUE_ORDER = 'muster.dev/queue-order'

export function composeWorkload(plan: WorkloadPlan, mayVanish = false): QueuedWorkload {
  const { kind, name, namespace, queueName, podSets, priority, ownerReferences, completeAt } = plan
  return {
    apiVersion: `${WORKLOADS.group}/${WORKLOADS.version}`,
    kind: WORKLOADS.kind,
    metadata: {
      name,
      namespace,
      ...labelsFor(plan),
      annotations: { [QUEUE_ORDER]: completeAt, ...markFor(plan) },
      ...(!mayVanish && { finalizers: [RESOURCE_IN_USE] }),
      ownerReferences,
    },
    spec: { queueName, podSets: kind === 'job' ? podSets : podSets.map(asked), priority },
  }
}

/** Nothing else of a pod decides about its turn. */
const asked = (podSet: PodSet): PodSet => ({ ...podSet, template: { spec: askedOf(podSet.template.spec) } })

/** By which it is known for whom it is when the garbage collector has struck its owner off. */
function markFor({ kind, job, ownerReferences }: WorkloadPlan): StringMap {
  if (kind === 'group') return { [IS_GROUP_WORKLOAD]: 'true' }
  const name = ownerReferences[0]?.name ?? ''
  return job === undefined ? { [WORKLOAD_POD]: name } : { [WORKLOAD_JOB]: `${job.framework}:${name}` }
}

const labelsFor = ({ job }: WorkloadPlan): { labels?: StringMap } =>
  job === undefined ? {} : { labels: { [JOB_UID]: job.uid } }

export const isForJob = ({ metadata }: QueuedWorkload): boolean => metadata.annotations?.[WORKLOAD_JOB] !== undefined

export function isForGroup({ metadata }: QueuedWorkload): boolean {
  return metadata.annotations?.[IS_GROUP_WORKLOAD] === 'true'
}

/** Of the templates only what their pods ask for and what a stopped Job gets back, and of the marks only ours: others may hang on as much as they like. */
export function workloadForCache(workload: QueuedWorkload): QueuedWorkload {
  const podSets = workload.spec.podSets.map(podSet => ({
    ...podSet,
    template: { spec: keptOf(podSet.template?.spec ?? {}) },
  }))
  const { labels: _, annotations, ...metadata } = workload.metadata
  const job = jobUidOf(workload)
  return {
    ...workload,
    metadata: {
      ...metadata,
      ...(job !== '' && { labels: { [JOB_UID]: job } }),
      ...(annotations && { annotations: ourMarks(annotations) }),
    },
    spec: { ...workload.spec, podSets },
  }
}

const MARKS: ReadonlySet<string> = new Set([QUEUE_ORDER, IS_GROUP_WORKLOAD, WORKLOAD_POD, WORKLOAD_JOB])

const ourMarks = (annotations: StringMap): StringMap =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => MARKS.has(key)))
