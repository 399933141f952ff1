import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import {
  GROUP_TEMPLATE_NAME,
  GROUPED,
  PARENT_COMPOSITE,
  PARENT_COMPOSITE_KEP,
  ROOT_GROUP,
  SCHEDULING,
} from '../../kube/vocabulary/names.ts'
import { type JobView, podSpecOf, viewJob } from '../../validation/jobs/job-view.ts'
import { BATCH_JOB } from '../jobs/batch-job.ts'
import { isForeign } from '../jobs/job-kind.ts'
import { sourceOf } from '../mappers/source.ts'

/** What is read of a Job to find out who makes the scheduler's objects for it, and which. */
export interface JobToGroup {
  readonly view: JobView
  readonly name: string
  readonly generateName: string
  readonly controller: Controller | undefined
  /** Another controller than the usual one runs it. */
  readonly foreign: boolean
  /** Empty: the default one. */
  readonly schedulerName: string
  /** Whether its pods name a group; what they name, if that is a name. */
  readonly bringsGroup: boolean
  readonly groupName: string
  /** The template of its parent's Workload that its parent has delegated to it; empty is the first one. */
  readonly delegated: string | undefined
  readonly parentComposite: string | undefined
  /** The same of a parent that Muster makes all objects for. */
  readonly rootGroup: string | undefined
  readonly isMarked: boolean
}

/** All that is read of its marks, here and by those who compile it. */
export const GROUPING_LABELS: readonly string[] = [GROUPED]
export const GROUPING_ANNOTATIONS: readonly string[] = [
  SCHEDULING,
  GROUP_TEMPLATE_NAME,
  PARENT_COMPOSITE,
  PARENT_COMPOSITE_KEP,
  ROOT_GROUP,
]

export interface Controller {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/**
 * Undefined: it is no Job at all, which others say. `prefix` is where it stands in the object that makes it; `known` is
 * for who has read it already.
 */
export function jobToGroup(object: unknown, prefix = '', known?: JobView): JobToGroup | undefined {
  if (!isObject(object)) return undefined
  const metadata = isObject(object.metadata) ? object.metadata : {}
  const [name, generateName] = [textIn(metadata, 'name'), textIn(metadata, 'generateName')]
  const view = known ?? viewJob(object, prefix, name || generateName)
  if (!('prefix' in view) || !isObject(object.spec)) return undefined
  const { controller, groupTemplateName } = sourceOf(object, { version: '1.37' })
  const { schedulerName, schedulingGroup } = podSpecOf(object.spec)
  return {
    ...{ view, name, generateName },
    controller: controller && controllerFrom(controller),
    foreign: isForeign(BATCH_JOB, object.spec.managedBy),
    schedulerName: typeof schedulerName === 'string' ? schedulerName : '',
    bringsGroup: schedulingGroup !== undefined && schedulingGroup !== null,
    groupName: isObject(schedulingGroup) ? textIn(schedulingGroup, 'podGroupName') : '',
    delegated: typeof groupTemplateName === 'string' ? groupTemplateName : undefined,
    parentComposite: annotationOf(object, PARENT_COMPOSITE) ?? annotationOf(object, PARENT_COMPOSITE_KEP),
    rootGroup: rootGroupOf(object),
    isMarked: groupedMarkOf(object) !== undefined,
  }
}

/** As a watch asks for them. */
export const GROUPED_SELECTOR = `${GROUPED}=true`

/** Whatever stands there: who reads it decides what it is worth. */
export const groupedMarkOf = (object: unknown): string | undefined => markOf(object, 'labels', GROUPED)
export const isGrouped = (object: unknown): boolean => groupedMarkOf(object) === 'true'
/** Of a Job, or of the template of one. */
export const rootGroupOf = (job: unknown): string | undefined => annotationOf(job, ROOT_GROUP)

const annotationOf = (object: unknown, key: string): string | undefined => markOf(object, 'annotations', key)

function markOf(object: unknown, place: 'labels' | 'annotations', key: string): string | undefined {
  const metadata = isObject(object) ? object.metadata : undefined
  const marks = isObject(metadata) ? metadata[place] : undefined
  return isObject(marks) ? own(marks, key) : undefined
}

const textIn = (fields: Fields, key: string): string => own(fields, key) ?? ''

function own(fields: Fields, key: string): string | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return typeof value === 'string' ? value : undefined
}

const controllerFrom = (reference: Fields): Controller => ({
  apiVersion: textIn(reference, 'apiVersion'),
  kind: textIn(reference, 'kind'),
  name: textIn(reference, 'name'),
  uid: textIn(reference, 'uid'),
})
