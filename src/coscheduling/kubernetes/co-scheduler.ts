import type { Pod } from '../../kube/vocabulary/objects.ts'
import {
  COMPOSITE_POD_GROUPS,
  POD_GROUPS,
  type PodGroupVersion,
  SCHEDULING_WORKLOADS,
} from '../../kube/vocabulary/resources.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import {
  type Admission,
  type CoScheduler,
  GO,
  objectKey,
  type Preparation,
  type SchedulingRecords,
} from '../../reconciler/co-scheduler.ts'
import { type Remark, referenceTo, type Standing, tell } from '../../reconciler/decision.ts'
import { droppedFrom } from '../../workload/builder/dropped.ts'
import { groupNameOf, groupRoleOf } from '../../workload/group.ts'
import { isOurPodGroupName, podGroupNameFor, podGroupOf } from '../../workload/placement.ts'
import { heldByScheduler } from '../waiting.ts'
import { type Gang, type Gangs, gangsOf } from './gangs.ts'
import { heldBecause, KINDS, type KnownPodGroup } from './kinds.ts'
import { needsOf } from './needs.ts'
import { compositeName } from './objects.ts'

/**
 * kube-scheduler places by PodGroups (KEP-5832). It goes by what the pods name, whatever is configured now: who was
 * given the name of a PodGroup cannot start without it, and is not left alone when the backend is switched off.
 */
export const kubernetesCoScheduler: CoScheduler = {
  kinds: KINDS,
  objectsOf: pod => {
    const podGroup = podGroupOf(pod)
    if (podGroup === undefined) return []
    const { namespace = '' } = pod.metadata
    const group = isOurPodGroupName(podGroup) ? groupNameOf(pod) : undefined
    if (group === undefined) return [objectKey(POD_GROUPS.v1beta1, namespace, podGroup)]
    const workload = podGroupNameFor(namespace, group)
    return [
      objectKey(POD_GROUPS.v1beta1, namespace, podGroup),
      objectKey(SCHEDULING_WORKLOADS.v1beta1, namespace, workload),
      // Only who has a role has a driver, or is one.
      ...(groupRoleOf(pod) === undefined ? [] : [objectKey(COMPOSITE_POD_GROUPS, namespace, compositeName(workload))]),
    ]
  },
  prepare: (admission, known) => {
    const version = podGroupVersion(known.served)
    // Where no PodGroups are served, no scheduler waits for one.
    if (version === undefined || admission.unit.kind !== 'group') return GO
    return prepareGangs(admission, gangsOf(admission), known, version)
  },
}

function podGroupVersion({ kubernetes }: ServedScheduling): PodGroupVersion | undefined {
  if (!kubernetes?.podGroups || kubernetes.version === 'v1alpha1') return undefined
  return kubernetes.version
}

function prepareGangs(
  admission: Admission,
  found: Gangs,
  known: SchedulingRecords,
  version: PodGroupVersion,
): Preparation {
  const { gangs, nameless, misplaced } = found
  const { lift } = admission.seating
  const active = gangs.filter(({ waiting, unplaced }) => waiting.length + unplaced.length > 0)
  const needs = active.length === 0 ? [] : needsOf(admission, found, active, known, version)
  const problems = needs.flatMap(({ problem }) => problem ?? [])
  const everybody = lift.map(({ pod }) => pod)
  const wrong = new Set(misplaced.map(({ pod }) => pod))
  return {
    actions: needs.flatMap(({ action }) => action ?? []),
    // All of them, those without a name too: a group starts with all its pods or with none.
    held: needs.length > 0 ? new Set(everybody) : wrong,
    standings: [
      ...misplaced,
      ...problems.slice(0, 1).flatMap(note =>
        tell(
          everybody.filter(pod => !wrong.has(pod)),
          'LiftBlocked',
          note,
        ),
      ),
      ...active.flatMap(gang => schedulerSays(admission, gang, known, version)),
    ],
    remarks: [
      ...notPlacedTogether(nameless, lift),
      ...active.flatMap(gang => dropped(admission, gang, known, version)),
    ],
  }
}

function schedulerSays(
  { unit }: Admission,
  { podGroup, waiting, unplaced }: Gang,
  known: SchedulingRecords,
  version: PodGroupVersion,
): readonly Standing[] {
  if (waiting.length > 0) return []
  const found = known.find(POD_GROUPS[version], unit.namespace, podGroup)
  return heldByScheduler(unplaced, podGroup, found && heldBecause(found))
}

function notPlacedTogether(nameless: readonly Pod[], lift: Admission['seating']['lift']): readonly Remark[] {
  const waiting = new Set(lift.map(({ pod }) => pod))
  const note =
    'the pod names no PodGroup, because it was created before there were any, and is placed by itself; the others of ' +
    'its group are placed together'
  return nameless
    .filter(pod => waiting.has(pod))
    .map(pod => ({ regarding: referenceTo(pod), type: 'Warning', reason: 'NotPlacedTogether', note }))
}

/** On the Workload in the queue, once for the group. What is placed under a group of groups has the topology of that. */
function dropped(
  { unit, workload, workloads }: Admission,
  { podGroup, terms: { topology } }: Gang,
  known: SchedulingRecords,
  version: PodGroupVersion,
): readonly Remark[] {
  const found: KnownPodGroup | undefined = known.find(POD_GROUPS[version], unit.namespace, podGroup)
  if (topology === undefined || found === undefined) return []
  if (found.spec?.parentCompositePodGroupName !== undefined) return []
  const { group, version: of, kind } = workloads
  const { name = '', uid = '' } = workload.metadata
  const regarding = { apiVersion: `${group}/${of}`, kind, namespace: unit.namespace, name, uid }
  const wanted = { schedulingConstraints: { topology: [{ key: topology }] } }
  return droppedFrom(podGroup, wanted, found.spec).map(note => ({
    regarding,
    type: 'Warning',
    reason: 'SchedulingDropped',
    note,
  }))
}
