import { hash } from 'node:crypto'
import { TOPOLOGY_GATE } from '../kube/vocabulary/kueue.ts'
import { ADMISSION_GATE, GROUP_SETS, MANAGED, ROLE_HASH } from '../kube/vocabulary/names.ts'
import type { Pod, PodSpec, Requests } from '../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../kube/vocabulary/outline.ts'
import { DEFAULT_SCHEDULER } from '../kube/vocabulary/served-scheduling.ts'
import { askedOf, keptOf } from '../workload/asked.ts'
import { groupRoleOf, MEMBER_MARKS } from '../workload/group.ts'
import { parseGroupSets } from '../workload/group-sets.ts'
import { type LimitRange, MAX_DEFAULTS } from '../workload/jobs/pod-defaults.ts'
import { hasStopped, saysItIsOver } from '../workload/pod-end.ts'
import {
  foreignGates,
  hasOurFinalizer,
  isGated,
  isReady,
  type Mark,
  POD_MARKS,
  roleHashOf,
} from '../workload/pod-facts.ts'
import { requestsOf } from '../workload/requests.ts'
import { roleHash } from '../workload/role-hash.ts'
import { TOPOLOGY_MARKS } from '../workload/topology.ts'

/** The marks of a pod that decisions read. A mark that is not here is on no pod in the cache. */
const MARKS: readonly Mark[] = [...POD_MARKS, ...MEMBER_MARKS, ...TOPOLOGY_MARKS]

const keysIn = (place: Mark['in']): readonly string[] => MARKS.flatMap(mark => (mark.in === place ? [mark.key] : []))
const CONTAINER = { ...fields('name', 'restartPolicy', 'ports'), resources: fields('requests', 'limits') }

/** Whether it runs or has ended; how is its own affair. */
const CONTAINER_STATUS = { state: { running: fields('startedAt'), terminated: fields('exitCode') } }

/** What is read of a pod: by the function below, and by the hash of its shape. What is not here comes from no server. */
export const POD_OUTLINE: Outline = {
  metadata: {
    ...fields('name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'finalizers'),
    ...fields('deletionTimestamp', 'deletionGracePeriodSeconds'),
    labels: fields(...keysIn('labels')),
    annotations: fields(...keysIn('annotations'), GROUP_SETS),
  },
  spec: {
    ...fields('schedulingGates', 'nodeName', 'priority', 'nodeSelector', 'tolerations', 'overhead'),
    ...fields('affinity', 'topologySpreadConstraints', 'resourceClaims', 'runtimeClassName'),
    ...fields('schedulerName', 'priorityClassName'),
    schedulingGroup: fields('podGroupName'),
    containers: CONTAINER,
    initContainers: CONTAINER,
    resources: fields('requests', 'limits'),
  },
  status: {
    ...fields('phase', 'reason', 'message'),
    conditions: fields('type', 'status', 'reason'),
    containerStatuses: CONTAINER_STATUS,
    initContainerStatuses: CONTAINER_STATUS,
    ephemeralContainerStatuses: CONTAINER_STATUS,
  },
}

/**
 * How many characters of what it asks for are kept of a pod. A pod with twenty containers stays below; whoever writes
 * more is told so, because what nobody keeps nobody can count.
 */
const MAX_ASKS = 4096
const MAX_RESOURCES = 32
/** No mark with a meaning is longer: names of objects have at most 253 characters. */
const MAX_MARK = 253
const MAX_MESSAGE = 1024
/** The longest that means anything is Succeeded. */
const MAX_PHASE = 32
/** That there is an announcement, and that nobody can read it. */
const UNREADABLE = ''
/** Foreign gates are named in an Event, for which a few are enough. */
const MAX_FOREIGN_GATES = 8

/**
 * What the cache keeps of a pod: the marks that decisions read and what the pod asks for, never the spec. A tenant
 * decides what is in a pod and how many there are, so what is kept of one is bounded whatever it holds, to about 6 KB.
 */
export function podForCache(pod: Pod, shapeOf?: (spec: PodSpec) => PodSpec): Pod {
  const { nodeName, priority } = pod.spec
  const placement = placementOf(pod)
  const sets = announcedBy(pod, shapeOf ?? askedOf)
  const asks = JSON.stringify((shapeOf ?? keptOf)(pod.spec))
  const kept = asks.length + (sets?.length ?? 0)
  const requests: Requests = kept > MAX_ASKS ? { problem: UNREADABLE } : requestsOf(pod)
  const excess = excessOf(pod, kept, requests)
  return {
    metadata: { ...identityOf(pod), ...marksOf(pod, excess === undefined ? sets : sets && UNREADABLE) },
    spec: {
      ...gatesOf(pod),
      ...(nodeName !== undefined && { nodeName }),
      ...(priority != null && { priority }),
      ...placement,
    },
    ...(excess === undefined ? { asks, requests } : { excess, requests: { problem: excess } }),
    status: statusOf(pod),
  }
}

function excessOf(pod: Pod, kept: number, requests: Requests): string | undefined {
  const { name } = pod.metadata
  // A status asks for nothing. What is missing of it proves no end, and that is all.
  const omitted = pod.omitted?.filter(path => !path.startsWith('status.')) ?? []
  if (omitted.length > 0) {
    return `pod ${name} has more in ${omitted.join(', ')} than is read of a pod: create it with less of that`
  }
  if (kept > MAX_ASKS) {
    return (
      `what pod ${name} asks for (requests of its containers, node selector, tolerations, announced sets) takes ` +
      `${kept} characters to write down, and at most ${MAX_ASKS} are kept: create it with fewer of them`
    )
  }
  if ('problem' in requests || requests.amounts.size <= MAX_RESOURCES) return undefined
  return `pod ${name} asks for ${requests.amounts.size} resources, and at most ${MAX_RESOURCES} are counted: create it with fewer`
}

function identityOf(pod: Pod): Pod['metadata'] {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = pod.metadata
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  return {
    ...{ name, namespace, uid, resourceVersion, creationTimestamp },
    ...(deletionTimestamp != null && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds != null && { deletionGracePeriodSeconds }),
    ...finalizersOf(pod),
  }
}

/** Whether ours is there, and whether another holds the pod when ours is gone. Of too many, ours may be one. */
function finalizersOf(pod: Pod): Pick<Pod['metadata'], 'finalizers'> {
  if (pod.omitted?.includes('metadata.finalizers')) return { finalizers: [MANAGED, 'many-more'] }
  const { finalizers } = pod.metadata
  if (!finalizers) return {}
  const other = finalizers.find(finalizer => finalizer !== MANAGED)
  return { finalizers: [...(hasOurFinalizer(pod) ? [MANAGED] : []), ...(other === undefined ? [] : [other])] }
}

function marksOf(pod: Pod, sets: string | undefined): Pick<Pod['metadata'], 'labels' | 'annotations'> {
  const marks = { labels: {} as Record<string, string>, annotations: {} as Record<string, string> }
  for (const mark of MARKS) {
    const value = mark.of(pod)
    if (typeof value === 'string') marks[mark.in][mark.key] = short(value)
  }
  // The webhook stamps it. Where it was away, the shape is here only now.
  if (roleHashOf(pod) === undefined) marks.annotations[ROLE_HASH] = roleHash(pod.spec)
  if (sets !== undefined) marks.annotations[GROUP_SETS] = sets
  return marks
}

/** What is longer than any mark can be keeps being the same as its equals and different from all others. */
const short = (mark: string): string => (mark.length > MAX_MARK ? `sha256:${hash('sha256', mark)}` : mark)

/** What it announces, reduced to what admission reads of it. What cannot be read stays unreadable, and that is all. */
function announcedBy(pod: Pod, shapeOf: (spec: PodSpec) => PodSpec): string | undefined {
  const text = pod.metadata.annotations?.[GROUP_SETS]
  if (text === undefined) return undefined
  const { sets, errors } = parseGroupSets(text, groupRoleOf(pod))
  if (errors.length > 0) return UNREADABLE
  return JSON.stringify(
    sets.map(({ template, ...set }) => ({
      ...set,
      ...(template && { template: { spec: shapeOf(template.spec ?? {}) } }),
    })),
  )
}

/** Gates can only become fewer: a pod with too many to be read has never been lifted. */
function gatesOf(pod: Pod): Pick<Pod['spec'], 'schedulingGates'> {
  if (pod.omitted?.includes('spec.schedulingGates')) return { schedulingGates: [{ name: ADMISSION_GATE }] }
  if (!pod.spec.schedulingGates) return {}
  // Behind this one Kueue places the pod, or it falls with ours: who looks for it must find it among however many.
  const { placing = [], others = [] } = Object.groupBy(foreignGates(pod), gate =>
    gate === TOPOLOGY_GATE ? 'placing' : 'others',
  )
  const foreign = [...placing, ...others].slice(0, MAX_FOREIGN_GATES)
  return { schedulingGates: [...(isGated(pod) ? [ADMISSION_GATE] : []), ...foreign].map(name => ({ name })) }
}

/** By whom it is placed, and with whom. The API server lets none of these be longer than a name. */
function placementOf({ spec }: Pod): Pick<Pod['spec'], 'schedulerName' | 'schedulingGroup' | 'priorityClassName'> {
  const podGroupName = spec.schedulingGroup?.podGroupName
  const { schedulerName, priorityClassName } = spec
  return {
    ...(schedulerName !== undefined && schedulerName !== DEFAULT_SCHEDULER && { schedulerName }),
    ...(priorityClassName && { priorityClassName }),
    ...(podGroupName && { schedulingGroup: { podGroupName } }),
  }
}

function statusOf(pod: Pod): Pod['status'] {
  const { phase, message } = pod.status ?? {}
  return {
    ...(phase !== undefined && { phase: copied(phase.slice(0, MAX_PHASE)) }),
    ...(saysItIsOver(pod) && { stopped: hasStopped(pod) }),
    ...(isReady(pod) && { ready: true }),
    ...(message !== undefined && { message: copied(message.slice(0, MAX_MESSAGE)) }),
  }
}

/** V8 keeps the whole of a text for as long as a part that was cut out of it lives. */
const copied = (text: string): string => Buffer.from(text).toString()

export const LIMIT_RANGE_OUTLINE: Outline = {
  metadata: fields('name', 'namespace', 'uid', 'resourceVersion'),
  spec: { limits: fields('type', 'defaultRequest') },
}

export const RUNTIME_CLASS_OUTLINE: Outline = {
  metadata: fields('name', 'uid', 'resourceVersion'),
  overhead: fields('podFixed'),
}

/** Only what is said of containers. What is left out would be asked for all the same: that there is more, is kept. */
export function limitRangeForCache({ metadata, spec, omitted }: LimitRange): LimitRange {
  const ofContainers = (spec?.limits ?? []).filter(({ type }) => type === 'Container')
  const excess =
    omitted !== undefined ||
    ofContainers.some(({ defaultRequest }) => Object.keys(defaultRequest ?? {}).length > MAX_DEFAULTS)
  if (excess) return { metadata, excess }
  const limits = ofContainers.map(({ type, defaultRequest }) => ({
    type: String(type),
    defaultRequest: defaultRequest ?? {},
  }))
  return { metadata, spec: { limits } }
}
