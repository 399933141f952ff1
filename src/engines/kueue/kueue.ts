import { isDeepStrictEqual } from 'node:util'
import {
  IS_GROUP_WORKLOAD,
  KUEUE_KINDS,
  KUEUE_RESOURCE_IN_USE,
  type KueueVersion,
} from '../../kube/vocabulary/kueue.ts'
import { RESOURCE_IN_USE, SLICE_CONSTRAINTS, SLICE_SIZE, SLICE_TOPOLOGY } from '../../kube/vocabulary/names.ts'
import type { Engine } from '../../reconciler/engine.ts'
import { type Action, targetOf } from '../../workload/actions.ts'
import type { WorkloadPlan } from '../../workload/compose.ts'
import { creatorOf, prebuiltWorkloadOf, priorityClassOf } from '../../workload/pod-facts.ts'
import { type ConditionChange, condition, isTrue, withConditions } from '../../workload/queued-workload.ts'
import { hasSliceLayers } from '../../workload/topology.ts'
import { WORKLOADS as BUILTIN_WORKLOADS } from '../builtin/workloads.ts'
import { abandonBy, byConditions } from '../conditions.ts'
import { KueueSettings } from './background.ts'
import type { KueueStatus, KueueWorkload } from './objects.ts'
import { placementBy } from './placement.ts'
import { givenBack } from './requeue.ts'
import { deactivationOf, stateOf } from './state.ts'
import { composeFor, isForGroup, isOurs, shapeOf, termsOf, workloadForCache } from './workloads.ts'

export interface KueueSetup {
  /** Kueue's own pod integration is on: what has no stamp of ours is Kueue's. */
  readonly gatesPods?: boolean
  /** Kueue takes admissions back whose pods do not get ready, so it has to be told when they are. */
  readonly waitsForPodsReady?: boolean
}

/**
 * Kueue as the engine: it queues, admits and evicts, and Muster does for pods what Kueue's own pod integration, which
 * is switched off then, would do. Everything that the two have to say to each other stands in Kueue's Workloads.
 *
 * Each write of a status has the resource version on which it was decided, and changes only what it says: Kueue applies
 * its own fields by force, and never meets one that we would have to keep.
 */
export function kueueEngine(version: KueueVersion, setup: KueueSetup = {}): Engine {
  const kinds = KUEUE_KINDS[version]
  const { workloads } = kinds
  const settings = new KueueSettings()
  const common = byConditions({ workloads, finalizer: KUEUE_RESOURCE_IN_USE })
  const abandon = abandonBy(common)
  const setStatus = (workload: KueueWorkload, status: KueueStatus): readonly Action[] => {
    const { resourceVersion = '' } = workload.metadata
    return [{ kind: 'SetStatus', resource: workloads, workload: targetOf(workload), resourceVersion, status }]
  }
  return {
    ...common,
    name: 'kueue',
    // Jobs and whatever else Kueue has an integration for stay Kueue's.
    holds: ['pod'],
    background: settings.watches(kinds),
    admitsWhole: true,
    shapeOf,
    // By which Kueue's own pod integration knows its pods again, should it be switched on once more.
    wholeTemplates: true,
    superseded: { workloads: BUILTIN_WORKLOADS, finalizer: RESOURCE_IN_USE },
    ...(setup.gatesPods && { owns: pod => creatorOf(pod) !== undefined }),
    ...(setup.waitsForPodsReady && {
      reportReady: (workload, ready, now) => {
        const conditions = withConditions(workload, readiness(workload, ready), now)
        return conditions === undefined ? [] : setStatus(workload, { conditions })
      },
    }),
    stopReason: stopReasonOf,
    prebuiltOf: prebuiltWorkloadOf,
    obstacle: plan => notPrebuilt(plan) ?? unknownClass(plan, settings) ?? sliceLayers(plan),
    compose: composeFor(version, settings),
    forCache: workloadForCache,
    isForGroup,
    read: stateOf,
    placement: placementBy(settings),
    // Kueue says itself that a Workload is evicted, also when it is switched off.
    evict: () => [],
    abandon: (workload, now, end) => (isOurs(workload) ? abandon(workload, now, end) : []),
    requeue: (workload, why, now, missing = { places: 0, note: '' }, succeeded = new Map()) => {
      const status = givenBack(version, workload, why, now, missing)
      if (status === undefined) return []
      const reclaimablePods = isForGroup(workload) ? doneIn(workload, succeeded) : []
      const isSame = isDeepStrictEqual(reclaimablePods, workload.status?.reclaimablePods ?? [])
      return setStatus(workload, { ...status, ...(!isSame && { reclaimablePods }) })
    },
    follow: (workload, first) => {
      if (isTrue(workload, 'QuotaReserved')) return []
      const { resourceVersion = '' } = workload.metadata
      const change = termsOf(version, workload, first, settings)
      const target = { resource: workloads, workload: targetOf(workload), resourceVersion }
      if (Object.keys(change).length === 0) return []
      return [{ kind: 'SetQueue', ...target, queueName: workload.spec.queueName, ...change }]
    },
    reclaim: (workload, succeeded) => {
      const wanted = isForGroup(workload) ? reclaimable(workload, succeeded) : []
      return isDeepStrictEqual(wanted, workload.status?.reclaimablePods ?? [])
        ? []
        : setStatus(workload, { reclaimablePods: wanted })
    },
    lent: ({ status }, succeeded) =>
      new Map(
        (status?.reclaimablePods ?? []).flatMap(({ name, count }) => {
          const lent = count - (succeeded.get(name) ?? 0)
          return lent > 0 ? [[name, lent]] : []
        }),
      ),
  }
}

/** Who names a Workload that others make is not given another one, for which he would be charged again. */
function notPrebuilt({ kind, first }: WorkloadPlan): string | undefined {
  const name = first && prebuiltWorkloadOf(first)
  if (!name) return undefined
  const shape = kind === 'group' ? `the annotation ${IS_GROUP_WORKLOAD}: "true"` : 'a single podSet with count 1'
  return `prebuilt Workload ${name} does not exist: create it, with ${shape}`
}

function unknownClass({ first }: WorkloadPlan, settings: KueueSettings): string | undefined {
  const name = first === undefined ? '' : priorityClassOf(first)
  if (name === '' || settings.priorityOf(name) !== undefined) return undefined
  return `WorkloadPriorityClass ${name} does not exist: create it, or take the label kueue.x-k8s.io/priority-class away`
}

/** Else the pods would be placed by less than they ask for. */
function sliceLayers({ models }: WorkloadPlan): string | undefined {
  if (![...(models?.values() ?? [])].some(hasSliceLayers)) return undefined
  return `Muster does not hand ${SLICE_CONSTRAINTS} on to Kueue: ask for one layer, by ${SLICE_TOPOLOGY} and ${SLICE_SIZE}`
}

/** As Kueue's own integrations call it. */
function stopReasonOf(workload: KueueWorkload): string {
  if (workload.metadata.deletionTimestamp != null) return 'WorkloadDeleted'
  const evicted = condition(workload, 'Evicted')
  if (evicted?.status === 'True') return `WorkloadEvictedDueTo${evicted.reason}`
  if (workload.spec.active !== false) return 'NotAdmitted'
  const cause = deactivationOf(workload)?.reason
  return `WorkloadEvictedDueToDeactivated${cause === undefined ? '' : `DueTo${cause}`}`
}

/**
 * That they have never been ready nobody has to write: Kueue takes it for true. Unlike in Kueue, who has done his work
 * is not missed: a group that ends unevenly does not lose its admission for it.
 */
function readiness(workload: KueueWorkload, ready: boolean): readonly ConditionChange[] {
  const known = condition(workload, 'PodsReady')
  const wasReady = known?.status === 'True'
  if (ready === wasReady) return []
  if (!ready) return [{ type: 'PodsReady', status: 'False', reason: 'WaitForRecovery', message: NOT_READY }]
  const reason = known?.reason === 'WaitForRecovery' ? 'Recovered' : 'Started'
  return [{ type: 'PodsReady', status: 'True', reason, message: 'all pods are ready, or have done their work' }]
}

const NOT_READY = 'not all pods are ready any more'

type Reclaimable = NonNullable<KueueStatus['reclaimablePods']>

/** Never less than before as long as quota is reserved, which Kueue refuses then: it has given it to others. */
function reclaimable(workload: KueueWorkload, succeeded: ReadonlyMap<string, number>): Reclaimable {
  if (!isTrue(workload, 'QuotaReserved')) return doneIn(workload, succeeded)
  const before = new Map((workload.status?.reclaimablePods ?? []).map(({ name, count }) => [name, count]))
  const done = workload.spec.podSets.map(
    ({ name }) => [name, Math.max(succeeded.get(name) ?? 0, before.get(name) ?? 0)] as const,
  )
  return doneIn(workload, new Map(done))
}

/** No more than there are places. */
const doneIn = ({ spec }: KueueWorkload, succeeded: ReadonlyMap<string, number>): Reclaimable =>
  spec.podSets.flatMap(({ name, count }) => {
    const done = Math.min(count, succeeded.get(name) ?? 0)
    return done > 0 ? [{ name, count: done }] : []
  })
