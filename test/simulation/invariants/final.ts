import type { QueueConfiguration } from '../../../src/config/configuration.ts'
import { KUEUE_KINDS } from '../../../src/kube/vocabulary/kueue.ts'
import { GROUP_SERVING, MANAGED } from '../../../src/kube/vocabulary/names.ts'
import type { OwnerReference, Pod, StringMap } from '../../../src/kube/vocabulary/objects.ts'

import { EVENTS, JOB_SETS, JOBS, NAMESPACES, PODS } from '../../../src/kube/vocabulary/resources.ts'
import type { QueuedWorkload } from '../../../src/workload/queued-workload.ts'

import { REASONS } from '../../../src/workload/reasons.ts'
import {
  asWorkload,
  conditionOf,
  declaredSize,
  exceeds,
  foreignFinalizers,
  groupOf,
  hasOurFinalizer,
  holdsQuota,
  isCovered,
  isDeleting,
  isGated,
  isOver,
  limitsOf,
  mayRun,
  OUR_FINALIZERS,
  phaseOf,
  plus,
  podUsage,
  queueOf,
  roleOf,
  takesPlace,
  type Usage,
  workloadUsage,
} from '../facts.ts'
import type { ModelServer } from '../model/server.ts'
import { unfinishedJobs, unfinishedSets } from './jobs.ts'
import { unlinked } from './kai.ts'
import { comesBefore, inTheWay, waits } from './order.ts'
import { ungrouped } from './pod-groups.ts'
import { creatorOf, mayDismiss, type TrueUnit, unitsOf } from './units.ts'

/** I4: what is left undone although nothing stands in its way. Empty when everything has come to rest as it should. */
export function unfinished(server: ModelServer, queues: readonly QueueConfiguration[]): readonly string[] {
  const units = unitsOf(server)
  return [
    ...units.flatMap(unit => [
      ...leftPods(unit),
      ...undecided(unit),
      ...unmoved(unit),
      ...misplaced(unit),
      ...unreturned(unit),
      ...unlifted(unit, server),
      ...unended(unit),
      ...untold(unit, server),
    ]),
    ...leftWorkloads(server, units),
    ...unadmitted(server, queues),
    ...unfinishedJobs(server),
    ...unfinishedSets(server),
    ...unlinked(server),
    ...ungrouped(server),
    ...server
      .all(NAMESPACES)
      .filter(namespace => isDeleting(namespace) && !isHeldByOthers(server, namespace.metadata.name))
      .map(({ metadata }) => `namespace ${metadata.name} cannot go`),
  ]
}

function isHeldByOthers(server: ModelServer, namespace: string | undefined): boolean {
  return server
    .all(PODS)
    .some(pod => pod.metadata.namespace === namespace && foreignFinalizers(pod, MANAGED).length > 0)
}

const label = ({ metadata: { namespace, name } }: Pod | QueuedWorkload): string => `${namespace}/${name}`

/** A deleted pod that holds no node is gone, whatever its group, its queue or its namespace say. */
function leftPods({ pods, workload }: TrueUnit): readonly string[] {
  const stuck = pods.filter(pod => {
    if (!isDeleting(pod) || foreignFinalizers(pod, MANAGED).length > 0) return false
    if (mayRun(pod)) return false
    const counted = workload === undefined || conditionOf(workload, 'Finished') === 'True'
    return phaseOf(pod) !== 'Succeeded' || counted
  })
  return stuck.map(pod => `deleted pod ${label(pod)} is still there`)
}

/** A unit that is complete and agrees with itself has a Workload. */
function undecided({ name, pods, workload }: TrueUnit): readonly string[] {
  const alive = pods.filter(takesPlace)
  const waiting = alive.filter(pod => isGated(pod) && !isDeleting(pod))
  const [first] = waiting
  if (workload !== undefined || first === undefined) return []
  if (groupOf(first) === undefined) return [`pod ${label(first)} waits and has no Workload`]
  if (alive.some(one => alive.some(other => roleOf(one) === roleOf(other) && !asksTheSame(one, other)))) return []
  const sizes = new Set(alive.map(declaredSize))
  const queues = new Set(alive.map(queueOf))
  const size = declaredSize(first)
  if (sizes.size !== 1 || queues.size !== 1 || size === undefined || alive.length < size) return []
  return [`group ${name} is complete and has no Workload`]
}

const asksTheSame = (one: Pod, other: Pod): boolean => podUsage(one.spec).milliCpu === podUsage(other.spec).milliCpu

/** A unit that waits does so in the queue that its pods name. */
function unmoved({ name, pods, workload }: TrueUnit): readonly string[] {
  if (workload === undefined || !waits(workload)) return []
  const queues = new Set(pods.filter(pod => isGated(pod) && !isDeleting(pod)).map(queueOf))
  const [queue] = queues
  if (queues.size !== 1 || queue === workload.spec.queueName) return []
  return [`unit ${name} asks for queue ${queue} and waits in ${workload.spec.queueName}`]
}

const BUILTIN = 'muster.dev/v1alpha1'

/** Where a unit waits, the built-in engine's Workload says; one that waits no longer says nothing. */
function misplaced({ name, workload }: TrueUnit): readonly string[] {
  if (workload === undefined || isDeleting(workload) || workload.apiVersion !== BUILTIN) return []
  const said = workload.status?.waiting?.queueName
  const queue = waits(workload) ? workload.spec.queueName : undefined
  return said === queue ? [] : [`the Workload of unit ${name} says that it waits in ${said}, and it waits in ${queue}`]
}

/** Who was switched on again waits again. A watch that died without a word may tell of it only when it is given up. */
function unreturned({ name, workload }: TrueUnit): readonly string[] {
  if (workload === undefined || isDeleting(workload) || workload.apiVersion !== BUILTIN) return []
  const isOut = conditionOf(workload, 'Evicted') === 'True' && conditionOf(workload, 'Finished') !== 'True'
  return isOut && workload.spec.active !== false ? [`unit ${name} may wait again, and does not`] : []
}

/** No silent stall: whoever waits has an Event, or its Workload a condition, with one of the reasons. */
function untold({ pods, workload }: TrueUnit, server: ModelServer): readonly string[] {
  const said = workload?.status?.conditions?.some(({ reason }) => REASONS.some(known => known === reason)) ?? false
  if (said) return []
  const told = new Set(server.all(EVENTS).map(event => (event as { regarding?: { uid?: string } }).regarding?.uid))
  return pods
    .filter(pod => isGated(pod) && !isDeleting(pod) && !isOver(pod) && !told.has(pod.metadata.uid))
    .map(pod => `${label(pod)} waits and nobody says why`)
}

/** In an admitted unit nobody waits for a place that is free, and nobody who can be sent away is kept waiting. */
function unlifted({ pods, workload }: TrueUnit, server: ModelServer): readonly string[] {
  if (workload === undefined || !mayStart(workload)) return []
  return workload.spec.podSets.flatMap(podSet => {
    const players = pods.filter(pod => groupOf(pod) === undefined || roleOf(pod) === podSet.name)
    const taken = players.filter(pod => !isGated(pod) && takesPlace(pod)).length
    const waiting = players.filter(
      pod =>
        isGated(pod) &&
        !isDeleting(pod) &&
        !isOver(pod) &&
        !contradicts(pod, workload, server) &&
        isCovered(pod, podSet),
    )
    const names = (pods: readonly Pod[]) => pods.map(label).join(', ')
    if (taken < podSet.count) return waiting.length === 0 ? [] : [`${names(waiting)} could be lifted`]
    const creators = new Set(players.filter(pod => !isGated(pod) && takesPlace(pod)).map(creatorOf))
    // Where two have made them nobody can tell whose is one too many.
    const surplus = creators.size > 1 ? [] : waiting.filter(pod => mayDismiss(pod, workload, creators))
    return surplus.length === 0 ? [] : [`${names(surplus)} beyond the count of ${podSet.name} still there`]
  })
}

/** The pod names a place that is not that of its admission: it can never be lifted, and is told so. */
function contradicts(pod: Pod, workload: QueuedWorkload, server: ModelServer): boolean {
  const places = workload.status?.admission?.podSetAssignments ?? []
  return places.some(place =>
    [place.nodeSelector ?? {}, ...flavorLabels(place, server)].some(labels =>
      Object.entries(labels).some(([key, value]) => (pod.spec.nodeSelector?.[key] ?? value) !== value),
    ),
  )
}

/** Where Kueue's flavors are. */
function flavorLabels(place: object, server: ModelServer): readonly StringMap[] {
  const { flavors = {} } = place as { readonly flavors?: StringMap }
  return Object.values(flavors).flatMap(name => {
    const flavor = server.find(KUEUE_KINDS.v1beta2.flavors, undefined, name)
    return [(flavor?.spec as { readonly nodeLabels?: StringMap } | undefined)?.nodeLabels ?? {}]
  })
}

function mayStart(workload: QueuedWorkload): boolean {
  if (isDeleting(workload) || workload.spec.active === false) return false
  return (
    conditionOf(workload, 'Admitted') === 'True' &&
    !['Evicted', 'Finished'].some(type => conditionOf(workload, type) === 'True')
  )
}

/** What has ended is called finished, and gives back what it held. */
function unended({ name, pods, workload }: TrueUnit): readonly string[] {
  if (workload === undefined || isDeleting(workload)) {
    const kept = pods.filter(pod => hasOurFinalizer(pod) && !isGated(pod) && pods.every(isOver))
    return workload === undefined ? kept.map(pod => `${label(pod)} has ended and keeps our finalizer`) : []
  }
  if (conditionOf(workload, 'Finished') === 'True') {
    const ended = pods.filter(pod => !isGated(pod) || isDeleting(pod))
    return ended.filter(hasOurFinalizer).map(pod => `unit ${name} has finished and ${label(pod)} keeps our finalizer`)
  }
  const total = workload.spec.podSets.reduce((sum, { count }) => sum + count, 0)
  const single = pods.length === 1 && pods.every(pod => groupOf(pod) === undefined)
  const succeeded = pods.filter(pod => phaseOf(pod) === 'Succeeded').length
  // A deleted pod that others hold back is gone for us, however it ended.
  const serves = pods.some(pod => !isGated(pod) && pod.metadata.annotations?.[GROUP_SERVING] === 'true')
  const over = single ? pods.every(pod => isOver(pod) && hasOurFinalizer(pod)) : succeeded >= total && !serves
  return over ? [`unit ${name} has ended and its Workload is not finished`] : []
}

function leftWorkloads(server: ModelServer, units: readonly TrueUnit[]): readonly string[] {
  const alive = new Set(units.map(({ workload }) => workload?.metadata.uid))
  const running = new Set(units.filter(({ pods }) => pods.some(mayRun)).map(({ workload }) => workload?.metadata.uid))
  return server.all(server.workloads).flatMap(object => {
    const workload = asWorkload(object)
    const { uid } = object.metadata
    if (object.metadata.finalizers?.some(item => !OUR_FINALIZERS.has(item))) return []
    if (!alive.has(uid)) {
      const owned = object.metadata.ownerReferences?.some(owner => hasOwner(server, object.metadata.namespace, owner))
      return owned ? [] : [`Workload ${label(workload)} has no pods and is still there`]
    }
    if (running.has(uid)) return []
    if (isDeleting(object)) return [`deleted Workload ${label(workload)} is still there`]
    const revoked = workload.spec.active === false || conditionOf(workload, 'Evicted') === 'True'
    return revoked && holdsQuota(workload) ? [`${label(workload)} was stopped and still holds its quota`] : []
  })
}

function hasOwner(server: ModelServer, namespace: string | undefined, { kind, name, uid }: OwnerReference): boolean {
  const resource = [JOBS, JOB_SETS].find(known => known.kind === kind) ?? PODS
  const owner = server.find(resource, namespace, name)
  return owner?.metadata.uid === uid
}

/** The first in a queue is admitted as soon as it fits; what could never fit holds up nobody. */
function unadmitted(server: ModelServer, queues: readonly QueueConfiguration[]): readonly string[] {
  const workloads = server.all(server.workloads).map(asWorkload)
  const names = new Set(workloads.map(({ spec }) => spec.queueName))
  return [...names].flatMap(queue => {
    const own = workloads.filter(({ spec }) => spec.queueName === queue)
    const first = own
      .filter(workload => inTheWay(workload, queues))
      .reduce<QueuedWorkload | undefined>(
        (head, next) => (head === undefined || comesBefore(next, head) ? next : head),
        undefined,
      )
    if (first === undefined) return []
    const used = own.filter(holdsQuota).reduce<Usage>((sum, next) => plus(sum, workloadUsage(next)), NOTHING)
    const limits = limitsOf(queues.find(({ name }) => name === queue)?.limits ?? {})
    if (exceeds(plus(used, workloadUsage(first)), limits)) return []
    return [`${label(first)} is first in queue ${queue}, fits, and is not admitted`]
  })
}

const NOTHING: Usage = { pods: 0, milliCpu: 0 }
