import type { Resource } from '../../kube/vocabulary/api.ts'
import { controllerOf, type KubeObject } from '../../kube/vocabulary/objects.ts'
import type { PodGroupVersion } from '../../kube/vocabulary/resources.ts'
import type { ServedScheduling } from '../../kube/vocabulary/served-scheduling.ts'
import { describe } from '../../validation/field-error.ts'
import { type Action, type Owner, targetOf } from '../../workload/actions.ts'
import { droppedFrom } from '../../workload/builder/dropped.ts'
import { workloadName } from '../../workload/builder/names.ts'
import type { SchedulingWorkload } from '../../workload/builder/objects.ts'
import { asServed, type KubernetesVersion, lostWithoutComposites } from '../../workload/builder/versions.ts'
import { type GroupedKind, type GroupedObject, sourceIn } from '../../workload/grouped/grouped-object.ts'
import { minCountChanges } from '../../workload/grouped/maker.ts'
import type { Parent } from '../../workload/grouped/objects.ts'
import { hasSameController } from '../ensure.ts'
import { changedMinimum, specOf } from './minimum.ts'
import { schedulingResource } from './resources.ts'

/** A Job or JobSet that Muster groups, with all that is known of the scheduler's objects around it. */
export interface GroupedUnit {
  readonly kind: GroupedKind
  readonly object: GroupedObject | undefined
  readonly served: ServedScheduling
  find(resource: Resource, name: string): KubeObject | undefined
  /** The scheduler's Workloads in its namespace that are for this parent. */
  workloadsFor(parent: Parent): readonly SchedulingWorkload[]
}

/**
 * The Events of the Job controller of Kubernetes 1.37, by which people know what has become of a block; and one more for
 * what the API server has stored without.
 */
export type GroupedReason =
  | 'WorkloadCreated'
  | 'PodGroupCreated'
  | 'FailedWorkloadCompilation'
  | 'FailedWorkloadCreate'
  | 'SchedulingDropped'

export interface Told {
  readonly type: 'Normal' | 'Warning'
  readonly reason: GroupedReason
  readonly note: string
}

/** One write, and what is to be told when it is done. */
export interface Step {
  readonly action: Extract<Action, { readonly kind: 'EnsureObject' }>
  readonly news?: Told
}

export interface GroupedDecision {
  readonly steps: readonly Step[]
  readonly told: readonly Told[]
}

const NOTHING: GroupedDecision = { steps: [], told: [] }

const RELEASES: Readonly<Record<PodGroupVersion, KubernetesVersion>> = { v1beta1: '1.37', v1alpha2: '1.36' }

/**
 * The Workload first, then the groups, then their sizes. The pods name their group already and the scheduler holds them
 * until it is there, so nothing has to wait here; and whoever finds a step undone does it.
 */
export function decideGrouped(unit: GroupedUnit): GroupedDecision {
  const { kind, object, served } = unit
  const version = versionIn(served)
  if (object === undefined || version === undefined || object.metadata.deletionTimestamp != null) return NOTHING
  if (object.ended) return NOTHING
  // The size of a gang is fixed there when it is made: it is made when it is known with how many pods it starts.
  if (object.suspended && !minCountChanges(served)) return NOTHING
  if (object.excess !== undefined) return { steps: [], told: [failed(unit, 'Compilation', object.excess)] }
  const wanted = kind.objectsOf(sourceIn(object), {
    workloadUid: ownWorkloadUid(unit),
    workloadsFor: unit.workloadsFor,
  })
  if ('errors' in wanted) {
    const why = wanted.errors.map(error => `${error.field}: ${describe(error)}`).join('; ')
    return { steps: [], told: [failed(unit, 'Compilation', why)] }
  }
  if ('waits' in wanted) return { steps: [], told: [failed(unit, 'Compilation', wanted.waits)] }
  const target = { version: RELEASES[version], composites: served.kubernetes?.composites === true }
  const objects = asServed(wanted.objects, target)
  const due = stepsFor(unit, objects, version)
  const isNew = due.some(({ step }) => step?.news?.reason === 'WorkloadCreated')
  const lost = isNew ? lostWithoutComposites(wanted.objects, target) : []
  return {
    steps: due.flatMap(({ step }) => step ?? []),
    told: [
      ...due.flatMap(({ refused }) => refused ?? []),
      ...lost.map(note => failed(unit, 'Compilation', note)),
      ...due.flatMap(({ dropped = [] }) => dropped.map(warning)),
    ],
  }
}

function versionIn({ kubernetes }: ServedScheduling): PodGroupVersion | undefined {
  if (kubernetes?.podGroups !== true || kubernetes.version === 'v1alpha1') return undefined
  return kubernetes.version
}

/** Who has a Workload of his own gets his groups when it is there, and as it is to be. */
function stepsFor(unit: GroupedUnit, objects: readonly KubeObject[], version: PodGroupVersion): readonly Due[] {
  const all = objects.map(object => stepFor(unit, object, version))
  const [first] = all
  const isDue = first?.step !== undefined || first?.refused !== undefined
  return isDue && objects[0]?.kind === 'Workload' ? [first] : all
}

interface Due {
  readonly step?: Step
  readonly refused?: Told
  /** What was asked for in a PodGroup and is not in it. */
  readonly dropped?: readonly string[]
}

const warning = (note: string): Told => ({ type: 'Warning', reason: 'SchedulingDropped', note })

function stepFor(unit: GroupedUnit, wanted: KubeObject, version: PodGroupVersion): Due {
  const { kind = '', metadata } = wanted
  const resource = schedulingResource(version, kind)
  const known = unit.find(resource, metadata.name ?? '')
  if (known === undefined) {
    return {
      step: {
        action: { kind: 'EnsureObject', resource, wanted, ...ownerOf(unit) },
        news: created(unit, kind, metadata.name ?? ''),
      },
    }
  }
  // It was deleted, and comes back when it is gone: until then its name is taken.
  if (known.metadata.deletionTimestamp != null) return {}
  if (!hasSameController(known, wanted)) return { refused: failed(unit, 'Create', ownerNote(kind, known)) }
  const dropped = kind === 'PodGroup' ? droppedFrom(metadata.name ?? '', specOf(wanted), specOf(known)) : []
  const change = minCountChanges(unit.served) ? changedMinimum(known, wanted, unit.object) : undefined
  if (change === undefined) return { dropped }
  return { step: { action: { kind: 'EnsureObject', resource, wanted: change, known } }, dropped }
}

const ownerOf = ({ kind: { resource }, object }: GroupedUnit): { readonly madeFor?: Owner } =>
  object === undefined ? {} : { madeFor: { resource, object: targetOf(object) } }

/** Groups name their Workload as an owner, and for that it has to be there. */
function ownWorkloadUid({ object, served, find }: GroupedUnit): string | undefined {
  const version = versionIn(served)
  if (version === undefined || object === undefined) return undefined
  const { name = '', uid = '' } = object.metadata
  const known = find(schedulingResource(version, 'Workload'), workloadName(name, uid))
  if (known === undefined || controllerOf(known.metadata.ownerReferences)?.uid !== uid) return undefined
  return known.metadata.uid
}

function ownerNote(kind: string, { metadata }: KubeObject): string {
  const owner = controllerOf(metadata.ownerReferences)
  const whose = owner === undefined ? 'is somebody else’s' : `belongs to ${owner.kind} ${owner.name}`
  return `${kind} ${metadata.name} exists and ${whose}: its pods wait until that one is gone`
}

const what = ({ kind, object }: GroupedUnit): string => `${kind.resource.kind} ${object?.metadata.name}`

const created = (unit: GroupedUnit, kind: string, name: string): Told => ({
  type: 'Normal',
  reason: kind === 'Workload' ? 'WorkloadCreated' : 'PodGroupCreated',
  note: `Created ${kind} ${name} for ${what(unit)}`,
})

/** As the Job controller words it. */
export function failed(unit: GroupedUnit, step: 'Compilation' | 'Create', why: string): Told {
  const verb = step === 'Compilation' ? 'compile' : 'create'
  return {
    type: 'Warning',
    reason: `FailedWorkload${step}`,
    note: `Failed to ${verb} Workload for ${what(unit)}: ${why}`,
  }
}
