import type { OwnerReference } from '../../kube/vocabulary/objects.ts'
import { podGroupName } from './names.ts'
import {
  type CompositePodGroup,
  type CompositePodGroupTemplate,
  type NamedMeta,
  type PodGroup,
  type PodGroupTemplate,
  SCHEDULING_ALPHA,
  SCHEDULING_BETA,
  type SchedulingWorkload,
  type WorkloadSpec,
} from './objects.ts'

interface GroupOptions {
  readonly name: string
  readonly owners?: readonly OwnerReference[]
  /** The group of groups that this one belongs to. */
  readonly parent?: string
}

/**
 * The running counterpart of a template. Everything is copied: whoever changes the group later, as the Job controller
 * does with `minCount`, does not change the template.
 */
export function podGroupFrom(
  workload: SchedulingWorkload,
  template: PodGroupTemplate,
  options: GroupOptions,
): PodGroup {
  const { schedulingPolicy, resourceClaims } = template
  const isPresent = resourceClaims !== undefined && resourceClaims.length > 0
  return structuredClone({
    apiVersion: SCHEDULING_BETA,
    kind: 'PodGroup',
    metadata: metadataFor(workload, options),
    spec: {
      ...reference(workload, template.name, options.parent),
      schedulingPolicy,
      ...wishes(template),
      ...(isPresent ? { resourceClaims } : {}),
    },
  })
}

export function compositePodGroupFrom(
  workload: SchedulingWorkload,
  template: CompositePodGroupTemplate,
  options: GroupOptions,
): CompositePodGroup {
  return structuredClone({
    apiVersion: SCHEDULING_ALPHA,
    kind: 'CompositePodGroup',
    metadata: metadataFor(workload, options),
    spec: {
      ...reference(workload, template.name, options.parent),
      schedulingPolicy: template.schedulingPolicy,
      ...wishes(template),
    },
  })
}

/** What a group and a group of groups may ask for alike, as far as the template does. */
function wishes<T extends PodGroupTemplate | CompositePodGroupTemplate>(template: T) {
  const { schedulingConstraints, disruptionMode, priorityClassName, priority } = template
  return {
    ...(schedulingConstraints === undefined ? {} : { schedulingConstraints }),
    ...(disruptionMode === undefined ? {} : { disruptionMode }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    ...(priority === undefined ? {} : { priority }),
  }
}

function metadataFor({ metadata: { namespace } }: SchedulingWorkload, { name, owners = [] }: GroupOptions): NamedMeta {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(owners.length === 0 ? {} : { ownerReferences: owners }),
  }
}

function reference(workload: SchedulingWorkload, templateName: string, parent: string | undefined) {
  return {
    ...(parent === undefined ? {} : { parentCompositePodGroupName: parent }),
    workloadRef: { workloadName: workload.metadata.name, templateName },
  }
}

/** A group from each template of a Workload, parents before their children, for a root that keeps all groups itself. */
export function groupsOf(
  workload: SchedulingWorkload,
  owners: readonly OwnerReference[],
): readonly (PodGroup | CompositePodGroup)[] {
  const optionsOf = (template: { readonly name: string }, parent?: string): GroupOptions => ({
    name: podGroupName(workload.metadata.name, template.name),
    owners,
    ...(parent === undefined ? {} : { parent }),
  })
  const below = (templates: WorkloadSpec, parent?: string): readonly (PodGroup | CompositePodGroup)[] => [
    ...(templates.podGroupTemplates ?? []).map(each => podGroupFrom(workload, each, optionsOf(each, parent))),
    ...(templates.compositePodGroupTemplates ?? []).flatMap(each => {
      const options = optionsOf(each, parent)
      return [compositePodGroupFrom(workload, each, options), ...below(each, options.name)]
    }),
  ]
  return below(workload.spec)
}

/** Every group of groups of a Workload, parents before their children. */
export function compositeTemplates(workload: SchedulingWorkload): readonly CompositePodGroupTemplate[] {
  const walk = (templates: readonly CompositePodGroupTemplate[]): readonly CompositePodGroupTemplate[] =>
    templates.flatMap(template => [template, ...walk(template.compositePodGroupTemplates ?? [])])
  return walk(workload.spec.compositePodGroupTemplates ?? [])
}
