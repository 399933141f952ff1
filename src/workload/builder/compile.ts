import type { DisruptionMode, PodGroupPolicy, SchedulingConstraints } from '../../validation/jobs/scheduling-model.ts'
import { isComposite, type SchedulingConfig, type WorkloadItem } from './item.ts'
import { claimOf, resolveConfig } from './merge.ts'
import type {
  CompositeGroupPolicy,
  CompositePodGroupTemplate,
  GroupPolicy,
  PodGroupTemplate,
  WorkloadSpec,
} from './objects.ts'

/** Thrown and caught inside of the builder only: a template deep in a tree has nowhere else to put it. */
export class CompileError extends Error {
  override readonly name = 'CompileError'
}

/** The templates of a tree whose shape is known to be right. */
export function compileTree(root: WorkloadItem): WorkloadSpec {
  return isComposite(root)
    ? { compositePodGroupTemplates: [compositeTemplate(root)] }
    : { podGroupTemplates: [groupTemplate(root)] }
}

function groupTemplate(item: WorkloadItem): PodGroupTemplate {
  const config = resolveConfig(item)
  const claims = config.resourceClaims ?? []
  return {
    name: item.name,
    schedulingPolicy: groupPolicy(config.policy),
    ...common(config),
    ...(claims.length === 0 ? {} : { resourceClaims: claims.map(claimOf) }),
  }
}

function compositeTemplate(item: WorkloadItem): CompositePodGroupTemplate {
  const config = resolveConfig(item)
  const children = item.children ?? []
  const groups = children.filter(child => !isComposite(child)).map(groupTemplate)
  const composites = children.filter(isComposite).map(compositeTemplate)
  return {
    name: item.name,
    schedulingPolicy: compositePolicy(config.policy),
    ...common(config),
    ...(groups.length === 0 ? {} : { podGroupTemplates: groups }),
    ...(composites.length === 0 ? {} : { compositePodGroupTemplates: composites }),
  }
}

/** The size of a gang is only required to be there. Whether it is a sensible number is for validation to say. */
function groupPolicy(policy: PodGroupPolicy | undefined): GroupPolicy {
  if (policy?.gang === undefined) return { basic: {} }
  const { minCount } = policy.gang
  if (minCount === undefined) throw new CompileError('gang scheduling requires minCount to be set after resolution')
  return { gang: { minCount } }
}

function compositePolicy(policy: PodGroupPolicy | undefined): CompositeGroupPolicy {
  if (policy?.gang === undefined) return { basic: {} }
  const { minCount } = policy.gang
  if (minCount === undefined) {
    throw new CompileError('composite gang scheduling requires minGroupCount to be set after resolution')
  }
  return { gang: { minGroupCount: minCount } }
}

function common({ constraints, disruptionMode, priorityClassName = '' }: SchedulingConfig): {
  readonly schedulingConstraints?: SchedulingConstraints
  readonly disruptionMode?: DisruptionMode
  readonly priorityClassName?: string
} {
  const topology = constraints?.topology ?? []
  const mode = compileMode(disruptionMode)
  return {
    ...(topology.length === 0 ? {} : { schedulingConstraints: { topology: topology.map(({ key }) => ({ key })) } }),
    ...(mode === undefined ? {} : { disruptionMode: mode }),
    ...(priorityClassName === '' ? {} : { priorityClassName }),
  }
}

function compileMode(mode: DisruptionMode | undefined): DisruptionMode | undefined {
  if (mode?.all !== undefined) return { all: {} }
  return mode?.single === undefined ? undefined : { single: {} }
}
