import type { OwnerReference, Pod } from '../kube/vocabulary/objects.ts'
import { type Action, targetOf } from '../workload/actions.ts'
import { composeGroup, composeSingle, ownerReference } from '../workload/compose.ts'
import { singlePodWorkloadName } from '../workload/names.ts'
import {
  type ConditionChange,
  condition,
  IS_GROUP_WORKLOAD,
  isAdmitted,
  isTrue,
  notWaiting,
  type QueuedWorkload,
  RESOURCE_IN_USE,
} from '../workload/queued-workload.ts'
import { REASONS } from '../workload/reasons.ts'
import { admitted, FAILED_TO_START, tooMany, WRONG_SHAPE } from './admitted.ts'
import { type Decision, setConditions, tell } from './decision.ts'
import { outcomeOf } from './finishing.ts'
import { seat } from './lifting.ts'
import * as is from './pod-state.ts'
import type { Unit } from './unit.ts'

/**
 * What to do for one unit, from nothing but the objects as they are now: after a restart, or on another replica,
 * the same objects give the same actions. Deletions are served first and depend on nothing that follows.
 */
export function decide(unit: Unit, now: string): Decision {
  const abandoned = unit.pods.every(is.isGivenUp)
  const { leaving = [], staying = [] } = Object.groupBy(unit.pods, pod =>
    abandoned || is.mayLeave(pod) ? 'leaving' : 'staying',
  )
  const deletedOrphans = unit.orphans.filter(orphan => orphan.metadata.deletionTimestamp != null)
  const releases = [...leaving.filter(is.hasFinalizer).map(removeFinalizer), ...deletedOrphans.flatMap(release)]
  const rest = decideFor({ ...unit, pods: staying }, now)
  return { actions: [...releases, ...rest.actions], standings: rest.standings }
}

function decideFor(unit: Unit, now: string): Decision {
  const { workload } = unit
  if (workload === undefined) return withoutWorkload(unit)
  if (unit.kind === 'group' && workload.metadata.annotations?.[IS_GROUP_WORKLOAD] !== 'true') {
    const note = `the name ${unit.name} belongs to a Workload that is no group's; give the group another name`
    return { actions: [], standings: tell(unit.pods.filter(is.isGated), 'InvalidGroup', note) }
  }
  if (workload.metadata.deletionTimestamp != null) return workloadDeleted(unit, workload)
  if (isTrue(workload, 'Finished')) return finished(unit, workload)
  const outcome = outcomeOf(unit, workload)
  if (outcome !== undefined) {
    const change: ConditionChange = { type: 'Finished', status: 'True', ...outcome }
    return { actions: setConditions(workload, [change], now, notWaiting(workload)), standings: [] }
  }
  const adoption = adopt(unit, workload)
  if (adoption.length > 0) return { actions: adoption, standings: [] }
  if (isTrue(workload, 'Evicted') || workload.spec.active === false) return evicted(unit, workload, now)
  return isAdmitted(workload) ? admitted(unit, workload, now) : waiting(unit, workload)
}

/** No Workload yet: make one if the unit is complete. Terminal pods without a Workload have nothing to wait for. */
function withoutWorkload(unit: Unit): Decision {
  const releases = unit.pods.filter(pod => is.isTerminal(pod) && is.hasFinalizer(pod)).map(removeFinalizer)
  if (unit.pods.every(is.isTerminal)) return { actions: releases, standings: [] }
  if (unit.kind === 'single') {
    const [pod] = unit.pods
    if (pod === undefined || is.isDeleting(pod)) return { actions: [], standings: [] }
    const workload = composeSingle(singlePodWorkloadName(is.nameOf(pod), is.uidOf(pod)), pod)
    return { actions: [{ kind: 'CreateWorkload', workload }], standings: [] }
  }
  const members = unit.pods.filter(is.takesPlace)
  const composition = composeGroup(unit.name, members)
  if ('workload' in composition) {
    return { actions: [...releases, { kind: 'CreateWorkload', workload: composition.workload }], standings: [] }
  }
  return { actions: releases, standings: tell(members.filter(is.isGated), composition.reason, composition.note) }
}

/** An administrator deleted the Workload: what runs on its admission stops, and only then is its usage given back. */
function workloadDeleted(unit: Unit, workload: QueuedWorkload): Decision {
  const running = unit.pods.filter(is.mayRun)
  if (isTrue(workload, 'QuotaReserved') && running.length > 0)
    return evict(running, `Workload ${workload.metadata.name} was deleted`)
  return { actions: release(workload), standings: [] }
}

function evict(pods: readonly Pod[], note: string): Decision {
  const stop = pods.filter(pod => !is.isDeleting(pod))
  return {
    actions: stop.map(pod => ({ kind: 'DeletePod', pod: targetOf(pod) })),
    standings: tell(stop, 'Evicted', note),
  }
}

function finished(unit: Unit, workload: QueuedWorkload): Decision {
  const late = unit.pods.filter(is.isWaiting)
  // Latecomers keep their finalizer: when the old pods are deleted, and the Workload with them, they begin a new group.
  const done = unit.pods.filter(pod => !late.includes(pod))
  const note = `Workload ${workload.metadata.name} has finished and takes no more pods: delete this pod, or use another group name`
  const end = condition(workload, 'Finished')
  return {
    actions: [...done.filter(is.hasFinalizer).map(removeFinalizer), ...release(workload)],
    standings: end?.reason === FAILED_TO_START ? tell(late, 'LiftBlocked', end.message) : tell(late, 'Finished', note),
  }
}

/** Not admitted: gated pods are told why, and those that are too many for the group are sent away already now. */
function waiting(unit: Unit, workload: QueuedWorkload): Decision {
  const moved = moveQueue(unit, workload)
  if (moved !== undefined) return moved
  const { excess, unknownRole } = seat(unit, workload)
  const settled = new Set([...excess, ...unknownRole])
  const gated = unit.pods.filter(pod => is.isWaiting(pod) && !settled.has(pod))
  const reserved = condition(workload, 'QuotaReserved')
  const reason = REASONS.find(known => known === reserved?.reason) ?? 'WaitingForAdmission'
  return {
    actions: excess.map(pod => ({ kind: 'DeletePod', pod: targetOf(pod) })),
    standings: [
      ...(reserved === undefined ? [] : tell(gated, reason, reserved.message, reserved.lastTransitionTime)),
      ...tell(excess, 'ExcessPod', tooMany(unit)),
      ...tell(unknownRole, 'InvalidGroup', WRONG_SHAPE),
    ],
  }
}

/** Who waits may change the queue: by the label of the pod, and in a group by the labels of all its pods. */
function moveQueue(unit: Unit, workload: QueuedWorkload): Decision | undefined {
  const { queueName } = workload.spec
  const gated = unit.pods.filter(is.isWaiting)
  const others = gated.filter(pod => is.queueOf(pod) !== queueName)
  const [first] = others
  if (first === undefined || isTrue(workload, 'QuotaReserved')) return undefined
  const wanted = is.queueOf(first)
  if (others.length === gated.length && others.every(pod => is.queueOf(pod) === wanted)) {
    const resourceVersion = workload.metadata.resourceVersion ?? ''
    const action = { kind: 'SetQueue', workload: targetOf(workload), resourceVersion, queueName: wanted } as const
    return { actions: [action], standings: [] }
  }
  const note = `its group waits in queue "${queueName}": give all pods of the group the same queue, or this one its old queue`
  return { actions: [], standings: tell(others, 'InvalidGroup', note) }
}

/**
 * Admission taken back, by an administrator (`active: false`) or by whoever set the condition. First the pods stop,
 * then the quota is given back; a Workload that is still active then waits in its old place for another admission.
 */
function evicted(unit: Unit, workload: QueuedWorkload, now: string): Decision {
  const off = workload.spec.active === false
  const why = off
    ? `Workload ${workload.metadata.name} was deactivated`
    : (condition(workload, 'Evicted')?.message ?? '')
  const running = unit.pods.filter(is.mayRun)
  const gated = unit.pods.filter(is.isWaiting)
  const standings = tell([...running.filter(pod => !is.isDeleting(pod)), ...gated], 'Evicted', why)
  const told: readonly ConditionChange[] = off
    ? [{ type: 'Evicted', status: 'True', reason: 'Deactivated', message: why }]
    : []
  if (running.length > 0) {
    const { actions } = evict(running, why)
    return { actions: [...setConditions(workload, told, now), ...actions], standings }
  }
  const released: readonly ConditionChange[] = [
    ...told,
    ...withdrawn(workload, 'QuotaReserved', why),
    ...withdrawn(workload, 'Admitted', why),
    ...(off ? [] : [{ type: 'Evicted', status: 'False', reason: 'Requeued', message: `waits again; ${why}` } as const]),
  ]
  const ended = { admission: null, ...notWaiting(workload) }
  return { actions: setConditions(workload, released, now, ended), standings: off ? standings : [] }
}

function withdrawn(
  workload: QueuedWorkload,
  type: 'QuotaReserved' | 'Admitted',
  message: string,
): readonly ConditionChange[] {
  return isTrue(workload, type) ? [{ type, status: 'False', reason: 'Evicted', message }] : []
}

/** A pod that came later owns the Workload as well: else the garbage collector takes it when the first ones go. */
function adopt(unit: Unit, workload: QueuedWorkload): readonly Action[] {
  if (unit.kind === 'single') return []
  const owners: readonly OwnerReference[] = workload.metadata.ownerReferences ?? []
  const known = new Set(owners.map(owner => owner.uid))
  const missing = unit.pods.filter(pod => !known.has(is.uidOf(pod)) && is.takesPlace(pod))
  if (missing.length === 0) return []
  const ownerReferences = [...owners, ...missing.map(pod => ownerReference(pod, false))]
  const resourceVersion = workload.metadata.resourceVersion ?? ''
  return [{ kind: 'AddOwners', workload: targetOf(workload), resourceVersion, ownerReferences }]
}

function release(workload: QueuedWorkload): readonly Action[] {
  const finalizerIndex = workload.metadata.finalizers?.indexOf(RESOURCE_IN_USE) ?? -1
  return finalizerIndex < 0 ? [] : [{ kind: 'ReleaseWorkload', workload: targetOf(workload), finalizerIndex }]
}

function removeFinalizer(pod: Pod): Action {
  return { kind: 'RemoveFinalizer', pod: targetOf(pod) }
}
