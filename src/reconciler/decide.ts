import { controllerOf, type Pod } from '../kube/vocabulary/objects.ts'
import { type Action, type Model, targetOf } from '../workload/actions.ts'
import {
  type Composition,
  composeSingle,
  MAX_WORKLOAD_BYTES,
  newestVersion,
  ownerReference,
  type WorkloadPlan,
} from '../workload/compose.ts'
import { singlePodWorkloadName } from '../workload/names.ts'
import * as is from '../workload/pod-facts.ts'
import type { QueuedWorkload } from '../workload/queued-workload.ts'
import { admitted, FAILED_TO_START, vacancyOf } from './admitted.ts'
import { adopt } from './adoption.ts'
import { NOBODY, type Placement } from './co-scheduler.ts'
import { composeAmong } from './compose-among.ts'
import { type Decision, type Standing, tell } from './decision.ts'
import type { AdmissionState, Engine, Told, Vacancy } from './engine.ts'
import { outcomeOf } from './finishing.ts'
import { isForsaken, workloadsOf } from './forsaken.ts'
import { turnAt } from './latecomers.ts'
import { beginAnew, spareIn } from './lent.ts'
import { type Seating, seat } from './lifting.ts'
import { dismiss } from './surplus.ts'
import { hasOnePlace, type Unit } from './unit.ts'

/**
 * What to do for one unit, from nothing but the objects as they are now: after a restart, or on another replica,
 * the same objects give the same actions. Deletions are served first and depend on nothing that follows.
 */
export function decide(unit: Unit, engine: Engine, now: string, placement: Placement = NOBODY): Decision {
  const abandoned = isAbandoned(unit)
  const { leaving = [], staying = [] } = Object.groupBy(unit.pods, pod =>
    (abandoned && is.isGivenUp(pod)) || is.mayLeave(pod) ? 'leaving' : 'staying',
  )
  const deletedOrphans = unit.orphans.filter(orphan => orphan.metadata.deletionTimestamp != null)
  const rest = { ...unit, pods: staying }
  const forsaken = workloadsOf(rest).filter(workload => isForsaken(rest, workload, engine))
  const releases = [
    ...leaving.filter(is.hasOurFinalizer).map(removeFinalizer),
    ...deletedOrphans.flatMap(orphan => letGo(orphan, engine, now)),
    ...forsaken.flatMap(workload => engine.abandon?.(workload, now) ?? []),
  ]
  const decided = forsaken.some(workload => workload === unit.workload)
    ? NOTHING
    : decideFor(rest, engine, now, placement)
  const { actions, standings, remarks = [] } = leaving.some(hasUsedItsPlace) ? withoutLifts(decided) : decided
  const outside = passOver(unit)
  return {
    actions: [...releases, ...outside.actions, ...actions],
    standings: [...outside.standings, ...standings],
    ...(remarks.length > 0 && { remarks }),
  }
}

/**
 * Pods that have our marks and are not ours to queue. Where another program writes the same marks they are its pods,
 * and nothing of them is touched. Those that we stamped were gated before their namespace was left out: they are told,
 * and our finalizer never keeps them.
 */
function passOver({ outside, namespace }: Unit): Decision {
  const stamped = outside.filter(pod => is.creatorOf(pod) !== undefined && is.hasOurFinalizer(pod))
  const note =
    `Muster does not queue the pods of namespace ${namespace} (integrations.podOptions.namespaceSelector), ` +
    'and had made no Workload for this one: delete it and create it anew'
  return {
    actions: stamped.filter(pod => is.isDeleting(pod) || is.isTerminal(pod)).map(removeFinalizer),
    standings: tell(stamped.filter(is.isWaiting), 'LiftBlocked', note),
  }
}

/**
 * Nobody wants anything of the unit any more. Who has no place in it has no say in that either: a stranger's pod behind
 * the gate must not keep what its group has done from going.
 */
function isAbandoned(unit: Unit): boolean {
  if (unit.pods.every(is.isGivenUp)) return true
  if (unit.workload === undefined || unit.kind === 'single' || !unit.pods.some(is.isGivenUp)) return false
  const { excess, misfits } = seat(unit, unit.workload)
  const placeless = new Set([...excess, ...misfits.map(({ pod }) => pod)])
  return unit.pods.every(pod => is.isGivenUp(pod) || placeless.has(pod))
}

const NOTHING: Decision = { actions: [], standings: [] }

const hasUsedItsPlace = (pod: Pod): boolean => is.isSucceeded(pod) && !is.isGated(pod)

/** Who has done his work has used his place up until he is gone: whoever waits for it is looked at then. */
const withoutLifts = ({ actions, standings, ...rest }: Decision): Decision => ({
  ...rest,
  actions: actions.filter(({ kind }) => kind !== 'LiftGate'),
  standings: standings.filter(({ reason }) => reason !== 'Lifting'),
})

function decideFor(unit: Unit, engine: Engine, now: string, placement: Placement): Decision {
  const { workload } = unit
  if (workload === undefined) return withoutWorkload(unit, engine)
  if (unit.kind === 'group' && !engine.isForGroup(workload)) {
    return { actions: [], standings: tell(unit.pods.filter(is.isGated), 'InvalidGroup', nameIsTaken(unit)) }
  }
  if (workload.metadata.deletionTimestamp != null) return workloadDeleted(unit, workload, engine, now)
  const state = engine.read(workload)
  if (state.kind === 'finished') return finished(unit, workload, state, engine)
  const seating = seat(unit, workload)
  const expected = seating.lift.map(({ pod }) => pod)
  const outcome = outcomeOf(unit, workload, expected)
  if (outcome !== undefined) return { actions: engine.finish(workload, outcome, now), standings: [] }
  const anew = state.kind === 'admitted' ? beginAnew(unit, workload, seating, engine, now) : []
  if (anew.length > 0) return { actions: anew, standings: [] }
  const adoption = adopt(unit, workload, seating, engine)
  if (adoption.length > 0) return { actions: adoption, standings: [] }
  if (state.kind === 'evicted') return evicted(unit, workload, state, seating, engine, now)
  if (state.kind === 'admitted') return admitted(unit, workload, state, seating, engine, now, placement)
  return waiting(unit, workload, state, seating, engine, now)
}

type In<Kind extends AdmissionState['kind']> = Extract<AdmissionState, { readonly kind: Kind }>

const nameIsTaken = ({ name }: Unit): string =>
  `the name ${name} belongs to a Workload that is no group's; give the group another name`

/** No Workload yet: make one if the unit is complete. What has run to its end without one has nothing to wait for. */
function withoutWorkload(unit: Unit, engine: Engine): Decision {
  const ended = unit.pods.filter(pod => is.isTerminal(pod) && !is.isGated(pod))
  const releases = ended.filter(is.hasOurFinalizer).map(removeFinalizer)
  if (unit.pods.every(is.isTerminal)) return { actions: releases, standings: [] }
  if (unit.kind === 'single') {
    const [pod] = unit.pods
    if (pod === undefined || is.isDeleting(pod)) return { actions: [], standings: [] }
    if (unit.prebuilt !== undefined) return takePrebuilt(unit.prebuilt, pod, engine)
    const composition = composeSingle(singlePodWorkloadName(is.nameOf(pod), is.uidOf(pod)), pod)
    return create(composition, unit.pods, engine, unit.turn)
  }
  if (unit.namesake !== undefined) {
    return { actions: releases, standings: tell(unit.pods.filter(is.isGated), 'InvalidGroup', nameIsTaken(unit)) }
  }
  const { composition, members, strangers } = composeAmong(unit.name, unit.pods.filter(is.takesPlace))
  const { actions, standings } = create(composition, members, engine, unit.turn)
  return { actions: [...releases, ...actions], standings: [...standings, ...strangers] }
}

/** What was made ahead becomes the pod's when it has one place, for one pod, and nobody else has it. */
function takePrebuilt(prebuilt: QueuedWorkload, pod: Pod, engine: Engine): Decision {
  const { name, deletionTimestamp, ownerReferences } = prebuilt.metadata
  const problem =
    (deletionTimestamp != null && 'is being deleted') ||
    (controllerOf(ownerReferences) && 'belongs to another') ||
    ((engine.isForGroup(prebuilt) || !hasOnePlace(prebuilt)) && 'is not for one pod')
  if (problem) {
    const note = `prebuilt Workload ${name} ${problem}: name one that has a single podSet with count 1, and no controller`
    return { actions: [], standings: tell([pod], 'InvalidGroup', note) }
  }
  return { actions: engine.adopt(prebuilt, [...(ownerReferences ?? []), ownerReference(pod, 'single')]), standings: [] }
}

function create(composition: Composition, members: readonly Pod[], engine: Engine, turn?: string): Decision {
  const gated = members.filter(is.isGated)
  if (!('plan' in composition)) return { actions: [], standings: tell(gated, composition.reason, composition.note) }
  const plan = { ...composition.plan, completeAt: turnAt(composition.plan.completeAt, turn) }
  const obstacle = engine.obstacle?.(plan)
  if (obstacle !== undefined) return { actions: [], standings: tell(gated, 'InvalidGroup', obstacle) }
  const wanted = engine.compose(plan)
  const size = Buffer.byteLength(JSON.stringify(wanted))
  if (size > MAX_WORKLOAD_BYTES) {
    const note = `its Workload would have ${size} bytes, at most ${MAX_WORKLOAD_BYTES} are possible: make the group smaller`
    return { actions: [], standings: tell(gated, 'InvalidGroup', note) }
  }
  const models = engine.wholeTemplates ? { models: modelsOf(plan) } : {}
  return { actions: [{ kind: 'EnsureObject', resource: engine.workloads, wanted, ...models }], standings: [] }
}

const modelsOf = ({ models = new Map() }: WorkloadPlan): readonly Model[] =>
  [...models].map(([podSet, pod]) => ({ podSet, pod: targetOf(pod) }))

/** An administrator deleted the Workload: what runs on its admission stops, and only then is its usage given back. */
function workloadDeleted(unit: Unit, workload: QueuedWorkload, engine: Engine, now: string): Decision {
  const running = unit.pods.filter(is.mayRun)
  if (engine.holdsQuota(workload) && running.length > 0)
    return stop(running, `Workload ${workload.metadata.name} was deleted`, workload, engine, now)
  return { actions: letGo(workload, engine, now), standings: [] }
}

/** Somebody else's finalizer may keep it for long, and it must not keep its quota for as long. */
function letGo(workload: QueuedWorkload, engine: Engine, now: string): readonly Action[] {
  const ended = isKeptByOthers(workload) ? engine.finish(workload, WAS_DELETED, now) : []
  return ended.length > 0 ? ended : engine.release(workload)
}

const WAS_DELETED = { reason: 'Deleted', message: 'it was deleted, and its pods have stopped' }

const isKeptByOthers = ({ metadata }: QueuedWorkload): boolean => (metadata.finalizers?.length ?? 0) > 1

function stop(pods: readonly Pod[], note: string, workload: QueuedWorkload, engine: Engine, now: string): Decision {
  const running = pods.filter(pod => !is.isDeleting(pod))
  const reason = engine.stopReason?.(workload)
  const because = reason === undefined ? {} : { because: { reason, message: note, at: now } }
  return {
    actions: running.map(pod => ({ kind: 'DeletePod', pod: targetOf(pod), ...because })),
    standings: tell(running, 'Evicted', note),
  }
}

function finished(unit: Unit, workload: QueuedWorkload, end: In<'finished'>, engine: Engine): Decision {
  const late = unit.pods.filter(is.isWaiting)
  // Latecomers keep their finalizer: when the old pods are deleted, and the Workload with them, they begin a new group.
  const done = unit.pods.filter(pod => !is.isWaiting(pod))
  const note = `Workload ${workload.metadata.name} has finished and takes no more pods: delete this pod, or use another group name`
  return {
    actions: [...done.filter(is.hasOurFinalizer).map(removeFinalizer), ...engine.release(workload)],
    standings: end.reason === FAILED_TO_START ? tell(late, 'LiftBlocked', end.message) : tell(late, 'Finished', note),
  }
}

/** Not admitted: gated pods are told why, and those that are too many for the group already now that they are. */
function waiting(
  unit: Unit,
  workload: QueuedWorkload,
  { told }: In<'waiting'>,
  seating: Seating,
  engine: Engine,
  now: string,
): Decision {
  const { queueName } = workload.spec
  const elsewhere = engine.holdsQuota(workload)
    ? []
    : unit.pods.filter(pod => is.isWaiting(pod) && is.queueOf(pod) !== queueName)
  const wanted = commonQueue(unit, elsewhere)
  if (wanted !== undefined) return { actions: engine.moveTo(workload, wanted, newestVersion(elsewhere)), standings: [] }
  const surplus = dismiss(unit, workload, seating)
  const settled = new Set([...elsewhere, ...seating.excess, ...seating.misfits.map(({ pod }) => pod)])
  const gated = unit.pods.filter(pod => is.isWaiting(pod) && !settled.has(pod))
  const [first] = unit.pods
  const followed = first === undefined ? [] : (engine.follow?.(workload, first) ?? [])
  if (followed.length > 0) return { actions: followed, standings: [] }
  const awaited = engine.admitsWhole ? engine.awaitReplacements(workload, vacancyOf(seating), now) : []
  // Who had done his work in an admission that was taken back may be gone, and another be there to do it again.
  const done =
    awaited.length > 0 || engine.holdsQuota(workload) ? [] : engine.reclaim?.(workload, spareIn(unit, workload))
  return {
    actions: [...surplus.actions, ...awaited, ...(done ?? [])],
    standings: [
      ...(told === undefined ? [] : toldTo(gated, told)),
      ...tell(elsewhere, 'InvalidGroup', wrongQueue(queueName)),
      ...surplus.standings,
      ...seating.misfits,
    ],
  }
}

const toldTo = (pods: readonly Pod[], { reason, message, since, steady }: Told): readonly Standing[] =>
  tell(pods, reason, message, since).map(standing => (steady === undefined ? standing : { ...standing, steady }))

/** Who waits may change the queue: by the label of the pod, and in a group by the labels of all its pods. */
function commonQueue(unit: Unit, elsewhere: readonly Pod[]): string | undefined {
  const [first] = elsewhere
  if (first === undefined || elsewhere.length < unit.pods.filter(is.isWaiting).length) return undefined
  const wanted = is.queueOf(first)
  return elsewhere.every(pod => is.queueOf(pod) === wanted) ? wanted : undefined
}

const wrongQueue = (queue: string): string =>
  `its group waits in queue "${queue}": give all pods of the group the same queue, or this one its old queue`

/**
 * Admission taken back, by an administrator (`active: false`) or by whoever set the condition. First the pods stop,
 * then the quota is given back; a Workload that is still active then waits in its old place for another admission.
 */
function evicted(
  unit: Unit,
  workload: QueuedWorkload,
  { why, inactive }: In<'evicted'>,
  seating: Seating,
  engine: Engine,
  now: string,
): Decision {
  const running = unit.pods.filter(is.mayRun)
  const gated = unit.pods.filter(is.isWaiting)
  const standings = tell([...running.filter(pod => !is.isDeleting(pod)), ...gated], 'Evicted', why)
  if (running.length > 0) {
    const { actions } = stop(running, why, workload, engine, now)
    return { actions: [...engine.evict(workload, why, now), ...actions], standings }
  }
  const missing = unit.kind === 'single' && unit.pods.length === 0 ? POD_GONE : vacancyOf(seating)
  const back = engine.requeue(workload, why, now, missing, spareIn(unit, workload))
  return { actions: back, standings: inactive ? standings : [] }
}

/** Its Workload goes with it, and is not to be admitted once more on its way. */
const POD_GONE: Vacancy = { places: 1, note: 'its pod is gone' }

function removeFinalizer(pod: Pod): Action {
  return { kind: 'RemoveFinalizer', pod: targetOf(pod) }
}
