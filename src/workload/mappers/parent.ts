import { parseApiVersion } from '../../kube/vocabulary/api-version.ts'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { PodGroupTemplate, SchedulingWorkload } from '../builder/objects.ts'
import type { Source } from './source.ts'

interface Parent {
  readonly workload: SchedulingWorkload
  readonly template: PodGroupTemplate
}

/**
 * The template that a parent has delegated to a Job, or why there is none. Upstream makes no group then and starts the
 * pods without one, which nobody notices.
 */
export function parentWorkload(source: Source, workloads: readonly SchedulingWorkload[]): Parent | string {
  const { controller, groupTemplateName: wanted, namespace } = source
  const owner = `${String(controller?.kind)} ${JSON.stringify(controller?.name)}`
  const workload = workloads.find(
    candidate => (candidate.metadata.namespace ?? '') === (namespace ?? '') && isFor(candidate, controller),
  )
  if (workload === undefined) return `there is no Workload of ${owner}: its pods start without a group`
  const { podGroupTemplates: templates = [] } = workload.spec
  // An empty name means the first one. Templates below a group of groups are not looked at by the Job controller.
  const template = wanted === '' ? templates[0] : templates.find(({ name }) => name === wanted)
  if (template !== undefined) return { workload, template }
  const name = JSON.stringify(workload.metadata.name)
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

/** A Workload of somebody else, if it has the parts that are read here. The API server has checked the rest. */
export function asWorkload(object: Fields): SchedulingWorkload | undefined {
  const { metadata, spec } = object
  if (!isObject(metadata) || typeof metadata.name !== 'string' || !isObject(spec)) return undefined
  const { controllerRef, podGroupTemplates } = spec
  const templates = podGroupTemplates ?? []
  const isTemplate = (template: unknown): boolean =>
    isObject(template) && typeof template.name === 'string' && isObject(template.schedulingPolicy)
  if (!Array.isArray(templates) || !templates.every(isTemplate)) return undefined
  return {
    ...object,
    metadata: { ...metadata, name: metadata.name },
    spec: {
      ...(isObject(controllerRef)
        ? { controllerRef: controllerRef as unknown as SchedulingWorkload['spec']['controllerRef'] }
        : {}),
      podGroupTemplates: templates as readonly PodGroupTemplate[],
    },
  }
}
