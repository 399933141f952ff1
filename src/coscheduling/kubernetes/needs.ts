import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import {
  COMPOSITE_POD_GROUPS,
  POD_GROUPS,
  type PodGroupVersion,
  SCHEDULING_WORKLOADS,
} from '../../kube/vocabulary/resources.ts'
import type { Admission, SchedulingRecords } from '../../reconciler/co-scheduler.ts'
import type { Action } from '../../workload/actions.ts'
import type { CompositePodGroupTemplate } from '../../workload/builder/objects.ts'
import { type Gang, type Gangs, schedulingWorkloadName } from './gangs.ts'
import { type KnownPodGroup, minCountOf } from './kinds.ts'
import {
  compositeName,
  describeOwner,
  isLeaving,
  isMadeFor,
  isOurs,
  joins,
  rootIn,
  wantedComposite,
  wantedPodGroup,
  wantedWorkload,
} from './objects.ts'

/** What one PodGroup needs: something written first, or somebody's attention, or nothing. */
export interface Need {
  readonly action?: Action
  /** Why those who wait for it cannot be lifted. */
  readonly problem?: string
}

/** The Workload first: 1.36 takes no PodGroup without it. Then what is above the PodGroups. */
export function needsOf(
  admission: Admission,
  found: Gangs,
  active: readonly Gang[],
  known: SchedulingRecords,
  version: PodGroupVersion,
): readonly Need[] {
  const { namespace } = admission.unit
  const resource = SCHEDULING_WORKLOADS[version]
  const workload = known.find(resource, namespace, schedulingWorkloadName(admission))
  const composites = known.served.kubernetes?.composites === true
  if (workload === undefined) {
    const wanted = wantedWorkload(admission, found, { version, composites })
    return [{ action: { kind: 'EnsureObject', resource, wanted } }]
  }
  if (!isOurs(workload, admission)) return [{ problem: taken(workload, 'Workload') }]
  if (isLeaving(workload, admission)) return [{ problem: leaving(workload, 'Workload') }]
  const tree: Tree = { workload, root: composites ? rootIn(workload) : undefined, gangs: found.gangs }
  const above = composites ? compositeNeed(admission, active, tree, known, version) : undefined
  if (above !== undefined) return [above]
  return active.flatMap(gang => needOf(admission, gang, tree, known, version) ?? [])
}

/** A Workload that is there, and how the PodGroups of the unit hang together in it. */
interface Tree {
  readonly workload: KubeObject
  /** The group of groups in it, where these are served. */
  readonly root: CompositePodGroupTemplate | undefined
  readonly gangs: readonly Gang[]
}

/**
 * A PodGroup that names a group of groups which is not there is placed no more than one that is missing itself. One that
 * is left from an earlier group of the name may be under one that the Workload of today does not know.
 */
function compositeNeed(
  admission: Admission,
  active: readonly Gang[],
  { root, gangs }: Tree,
  known: SchedulingRecords,
  version: PodGroupVersion,
): Need | undefined {
  const { namespace } = admission.unit
  const lowest = active.find(gang => {
    const podGroup: KnownPodGroup | undefined = known.find(POD_GROUPS[version], namespace, gang.podGroup)
    if (podGroup === undefined) return root !== undefined && joins(gang, gangs, root)
    return podGroup.spec?.parentCompositePodGroupName !== undefined
  })
  if (lowest === undefined) return undefined
  const resource = COMPOSITE_POD_GROUPS
  const composite = known.find(resource, namespace, compositeName(schedulingWorkloadName(admission)))
  if (composite === undefined) {
    return { action: { kind: 'EnsureObject', resource, wanted: wantedComposite(admission, root, lowest) } }
  }
  if (!isOurs(composite, admission)) return { problem: taken(composite, 'CompositePodGroup') }
  return isLeaving(composite, admission) ? { problem: leaving(composite, 'CompositePodGroup') } : undefined
}

function needOf(
  admission: Admission,
  gang: Gang,
  { workload, root, gangs }: Tree,
  known: SchedulingRecords,
  version: PodGroupVersion,
): Need | undefined {
  const resource = POD_GROUPS[version]
  const podGroup: KnownPodGroup | undefined = known.find(resource, admission.unit.namespace, gang.podGroup)
  if (podGroup === undefined) {
    const above = root !== undefined && joins(gang, gangs, root) ? root : undefined
    const wanted = wantedPodGroup(admission, gang, { workload, root: above, version })
    return { action: { kind: 'EnsureObject', resource, wanted } }
  }
  if (!isOurs(podGroup, admission)) return { problem: taken(podGroup, 'PodGroup') }
  const is = minCountOf(podGroup)
  if (is === undefined) {
    // How it is placed was settled when it was made: a driver that has gone meanwhile announces nothing any more.
    const settled = gang.minCount === undefined || isMadeFor(podGroup, admission) || wasMadeForSome(podGroup, gang)
    return settled ? undefined : { problem: ofAnotherKind(podGroup) }
  }
  // A gang of one is placed as it comes.
  const wanted = gang.minCount ?? 1
  if (is === wanted) return undefined
  if (version === 'v1beta1') {
    return { action: { kind: 'EnsureObject', resource, known: podGroup, wanted: withMinCount(podGroup, wanted) } }
  }
  return is > wanted ? { problem: cannotShrink(podGroup, is, wanted) } : undefined
}

/** Also when their Workload has been made anew: who was there before the PodGroup is no later group of the name. */
function wasMadeForSome({ metadata: { creationTimestamp } }: KubeObject, { waiting, unplaced }: Gang): boolean {
  const made = creationTimestamp ?? ''
  return [...waiting, ...unplaced].some(({ metadata }) => (metadata.creationTimestamp ?? '') < made)
}

const withMinCount = ({ metadata }: KubeObject, minCount: number): KubeObject & { readonly spec: object } => ({
  metadata,
  spec: { schedulingPolicy: { gang: { minCount } } },
})

const taken = (object: KubeObject, kind: string): string =>
  `${kind} ${object.metadata.name}, by which the group would be placed, ${describeOwner(object)} and is not Muster's: ` +
  'delete it, or give the group another name'

const leaving = ({ metadata }: KubeObject, kind: string): string =>
  `${kind} ${metadata.name} is left from an earlier group of this name, or is being deleted: the group is placed when ` +
  'it is gone and has been made anew'

const ofAnotherKind = ({ metadata }: KubeObject): string =>
  `PodGroup ${metadata.name} is left from an earlier group of this name that was placed in another way, and stays as ` +
  'long as pods name it: give the group another name'

const cannotShrink = ({ metadata }: KubeObject, is: number, wanted: number): string =>
  `PodGroup ${metadata.name} wants ${is} pods, of which ${wanted} are left since others have succeeded, and Kubernetes ` +
  '1.36 does not let it want fewer: delete the group and create what is left to do under another name'
