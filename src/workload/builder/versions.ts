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

/** The objects as a version of Kubernetes takes them. */
export function inVersion(objects: readonly SchedulingObject[], version: KubernetesVersion): VersionedObjects {
  if (version === '1.37') return { objects, lost: [] }
  return {
    objects: objects.flatMap(object => (isCompositePodGroup(object) ? [] : [in136(object)])),
    lost: objects.flatMap(object => (isWorkload(object) ? lostGroups(object) : [])),
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

/** 1.36 knows no groups of groups: their leaves stand side by side. */
function workloadSpec(workload: SchedulingWorkload): object {
  const { controllerRef, podGroupTemplates = [] } = workload.spec
  const nested = compositeTemplates(workload).flatMap(template => template.podGroupTemplates ?? [])
  return {
    ...(controllerRef === undefined ? {} : { controllerRef }),
    podGroupTemplates: [...podGroupTemplates, ...nested].map(withMode),
  }
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

function lostGroups(workload: SchedulingWorkload): readonly string[] {
  return compositeTemplates(workload).map(({ name, schedulingPolicy, schedulingConstraints, disruptionMode }) => {
    const lost = [
      ...('gang' in schedulingPolicy ? [`its gang of ${counted(schedulingPolicy.gang.minGroupCount)}`] : []),
      ...(schedulingConstraints === undefined ? [] : ['its topology']),
      ...(disruptionMode === undefined ? [] : ['its disruption mode']),
    ]
    const what = lost.length === 0 ? '' : `, so ${lost.join(' and ')} cannot be asked for`
    return `Kubernetes 1.36 has no groups of groups: ${JSON.stringify(name)} is left out${what}`
  })
}

const counted = (groups: number): string => (groups === 1 ? '1 group' : `${groups} groups`)
