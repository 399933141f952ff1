import type { KubeObject, OwnerReference } from '../../kube/vocabulary/objects.ts'
import type { DisruptionMode } from '../../validation/jobs/scheduling-model.ts'
import { compositeTemplates } from './groups.ts'
import {
  type CompositePodGroup,
  type PodGroup,
  type PodGroupTemplate,
  SCHEDULING_BETA,
  type SchedulingObject,
  type SchedulingWorkload,
} from './objects.ts'

export const KUBERNETES_VERSIONS = ['1.36', '1.37'] as const
export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number]

/** The API of 1.36, which 1.37 no longer serves. */
const SCHEDULING_1_36 = 'scheduling.k8s.io/v1alpha2'

interface VersionedObjects {
  readonly objects: readonly KubeObject[]
  /** What the version has no words for, in sentences for a person. */
  readonly lost: readonly string[]
}

/** What an API server serves: since 1.37 groups of groups are a feature of their own, which most have not switched on. */
export interface ServedVersion {
  readonly version: KubernetesVersion
  readonly composites: boolean
}

/** The objects as an API server takes them. */
export function asServed(
  objects: readonly SchedulingObject[],
  { version, composites }: ServedVersion,
): readonly KubeObject[] {
  if (version === '1.37' && !composites) return flat(objects)
  return inVersion(objects, version).objects
}

/** What is lost where no groups of groups are served, in sentences for a person. */
export function lostWithoutComposites(
  objects: readonly SchedulingObject[],
  { version, composites }: ServedVersion,
): readonly string[] {
  if (version === '1.37' && composites) return []
  return objects.flatMap(object => (isWorkload(object) ? lostGroups(object, 'this API server') : []))
}

/** The leaves of a tree side by side: what an object asks for is kept, what groups of them ask for is not. */
function flat(objects: readonly SchedulingObject[]): readonly SchedulingObject[] {
  return objects.flatMap((object): readonly SchedulingObject[] => {
    if (isCompositePodGroup(object)) return []
    if (isWorkload(object)) return [{ ...object, spec: flatSpec(object) }]
    const { parentCompositePodGroupName: _parent, ...spec } = (object as PodGroup).spec
    return [{ ...(object as PodGroup), spec }]
  })
}

function flatSpec(workload: SchedulingWorkload): SchedulingWorkload['spec'] {
  const { controllerRef, podGroupTemplates = [] } = workload.spec
  const nested = compositeTemplates(workload).flatMap(template => template.podGroupTemplates ?? [])
  return {
    ...(controllerRef === undefined ? {} : { controllerRef }),
    podGroupTemplates: [...podGroupTemplates, ...nested],
  }
}

/** The objects as a version of Kubernetes takes them. */
export function inVersion(objects: readonly SchedulingObject[], version: KubernetesVersion): VersionedObjects {
  if (version === '1.37') return { objects, lost: [] }
  return {
    objects: objects.flatMap(object => (isCompositePodGroup(object) ? [] : [in136(object)])),
    lost: objects.flatMap(object => (isWorkload(object) ? lostGroups(object, 'Kubernetes 1.36') : [])),
  }
}

const isWorkload = (object: SchedulingObject): object is SchedulingWorkload => object.kind === 'Workload'
const isCompositePodGroup = (object: SchedulingObject): object is CompositePodGroup =>
  object.kind === 'CompositePodGroup'

function in136(object: Exclude<SchedulingObject, CompositePodGroup>): KubeObject {
  const { ownerReferences } = object.metadata
  const metadata = {
    ...object.metadata,
    ...(ownerReferences ? { ownerReferences: ownerReferences.map(ownerIn136) } : {}),
  }
  const spec = isWorkload(object) ? workloadSpec(object) : podGroupSpec(object as PodGroup)
  return structuredClone({ apiVersion: SCHEDULING_1_36, kind: object.kind, metadata, spec })
}

function ownerIn136(owner: OwnerReference): OwnerReference {
  return owner.apiVersion === SCHEDULING_BETA ? { ...owner, apiVersion: SCHEDULING_1_36 } : owner
}

/** 1.36 knows no groups of groups. */
function workloadSpec(workload: SchedulingWorkload): object {
  const { podGroupTemplates = [], ...spec } = flatSpec(workload)
  return { ...spec, podGroupTemplates: podGroupTemplates.map(withMode) }
}

function podGroupSpec({ spec }: PodGroup): object {
  const { workloadRef, parentCompositePodGroupName: _parent, ...rest } = spec
  const { workloadName, templateName } = workloadRef
  return {
    podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName: templateName } },
    ...withMode(rest),
  }
}

function withMode<T extends Pick<PodGroupTemplate, 'disruptionMode'>>(group: T): object {
  const { disruptionMode, ...rest } = group
  const mode = modeIn136(disruptionMode)
  return mode === undefined ? rest : { ...rest, disruptionMode: mode }
}

/** A word in 1.36, an object with one member since. */
function modeIn136(mode: DisruptionMode | undefined): 'Pod' | 'PodGroup' | undefined {
  if (mode?.all !== undefined) return 'PodGroup'
  return mode?.single === undefined ? undefined : 'Pod'
}

function lostGroups(workload: SchedulingWorkload, who: string): readonly string[] {
  return compositeTemplates(workload).map(({ name, schedulingPolicy, schedulingConstraints, disruptionMode }) => {
    const lost = [
      ...('gang' in schedulingPolicy ? [`its gang of ${counted(schedulingPolicy.gang.minGroupCount)}`] : []),
      ...(schedulingConstraints === undefined ? [] : ['its topology']),
      ...(disruptionMode === undefined ? [] : ['its disruption mode']),
    ]
    const what = lost.length === 0 ? '' : `, so ${lost.join(' and ')} cannot be asked for`
    return `${who} has no groups of groups: ${JSON.stringify(name)} is left out${what}`
  })
}

const counted = (groups: number): string => (groups === 1 ? '1 group' : `${groups} groups`)
