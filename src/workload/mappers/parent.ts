import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import { compositeTemplates } from '../builder/groups.ts'
import type { CompositePodGroupTemplate, PodGroupTemplate, SchedulingWorkload } from '../builder/objects.ts'
import type { Source } from './source.ts'

interface Parent {
  readonly workload: SchedulingWorkload
  readonly template: PodGroupTemplate
}

/**
 * The template that a parent has delegated to a Job, or why there is none. Upstream makes no group then and starts the
 * pods without one, which nobody notices.
 */
export function parentWorkload(
  source: Source,
  workloads: readonly SchedulingWorkload[],
  reach: 'top' | 'nested' = 'top',
): Parent | string {
  const { controller, groupTemplateName: wanted, namespace } = source
  const owner = `${String(controller?.kind)} ${JSON.stringify(controller?.name)}`
  const workload = workloads.find(
    candidate => (candidate.metadata.namespace ?? '') === (namespace ?? '') && isFor(candidate, controller),
  )
  if (workload === undefined) {
    const then = reach === 'top' ? 'its pods start without a group' : 'its pods wait for it'
    return `there is no Workload of ${owner}: ${then}`
  }
  const { podGroupTemplates: top = [] } = workload.spec
  const nested =
    reach === 'top' ? [] : compositeTemplates(workload).flatMap(({ podGroupTemplates = [] }) => podGroupTemplates)
  const templates = [...top, ...nested]
  // An empty name means the first one. Templates below a group of groups are not looked at by the Job controller.
  const template = wanted === '' ? templates[0] : templates.find(({ name }) => name === wanted)
  if (template !== undefined) return { workload, template }
  const name = JSON.stringify(workload.metadata.name)
  if (reach === 'nested') return `the Workload ${name} of ${owner} has no template ${JSON.stringify(wanted)}`
  return `the Workload ${name} has no top-level template ${JSON.stringify(wanted)}: its pods start without a group`
}

function isFor({ spec: { controllerRef } }: SchedulingWorkload, controller: Fields | undefined): boolean {
  const { apiVersion, kind, name } = controller ?? {}
  if (controllerRef === undefined || typeof apiVersion !== 'string') return false
  return (
    (controllerRef.apiGroup ?? '') === parseApiVersion(apiVersion).group &&
    controllerRef.kind === kind &&
    controllerRef.name === name
  )
}

/** Whom a Workload is for, by kind and name. */
export function parentIn(workload: object): string | undefined {
  const { spec } = workload as Fields
  const reference = isObject(spec) ? spec.controllerRef : undefined
  return isObject(reference) ? `${String(reference.kind)}/${String(reference.name)}` : undefined
}

/** A Workload of somebody else, if it has the parts that are read here. The API server has checked the rest. */
export function asWorkload(object: Fields): SchedulingWorkload | undefined {
  const { metadata, spec } = object
  if (!isObject(metadata) || typeof metadata.name !== 'string' || !isObject(spec)) return undefined
  const { controllerRef, podGroupTemplates, compositePodGroupTemplates } = spec
  const templates = podGroupTemplates ?? []
  const composites = compositePodGroupTemplates ?? []
  if (!areTemplates(templates) || !areComposites(composites, MAX_DEPTH)) return undefined
  return {
    ...object,
    metadata: { ...metadata, name: metadata.name },
    spec: {
      ...(isObject(controllerRef)
        ? { controllerRef: controllerRef as unknown as SchedulingWorkload['spec']['controllerRef'] }
        : {}),
      podGroupTemplates: templates,
      ...(composites.length > 0 && { compositePodGroupTemplates: composites }),
    },
  }
}

/** The API server allows four; what claims to be deeper is no Workload. */
const MAX_DEPTH = 4

const isTemplate = (template: unknown): template is Fields =>
  isObject(template) && typeof template.name === 'string' && isObject(template.schedulingPolicy)

const areTemplates = (list: unknown): list is readonly PodGroupTemplate[] =>
  Array.isArray(list) && list.every(isTemplate)

function areComposites(list: unknown, depth: number): list is readonly CompositePodGroupTemplate[] {
  if (!Array.isArray(list) || (depth === 0 && list.length > 0)) return false
  return list.every(
    (template: unknown) =>
      isTemplate(template) &&
      areTemplates(template.podGroupTemplates ?? []) &&
      areComposites(template.compositePodGroupTemplates ?? [], depth - 1),
  )
}
