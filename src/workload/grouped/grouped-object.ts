import type { Resource } from '../../kube/vocabulary/api.ts'
import type { Fields } from '../../kube/vocabulary/fields.ts'
import { controllerOf, type KubeObject } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline, outlined } from '../../kube/vocabulary/outline.ts'
import { JOB_SETS, JOBS } from '../../kube/vocabulary/resources.ts'
import { remainingIn } from '../jobs/batch-job.ts'
import { CONDITIONS, countIn, fieldsOf, trueCondition } from '../jobs/templates.ts'
import { GROUPING_ANNOTATIONS, GROUPING_LABELS, jobToGroup } from './job-to-group.ts'
import { objectsOfJob, objectsOfJobSet, type Surroundings, type Wanted } from './objects.ts'

/** A kind of which Muster makes the scheduler's objects: how it is read, and what is made of it. */
export interface GroupedKind {
  /** Before the name of its objects in the keys of the work queue. */
  readonly word: string
  readonly resource: Resource
  readonly outline: Outline
  objectsOf(object: Fields, around: Surroundings): Wanted
}

/** What the cache keeps of such an object: what its objects are compiled from, as text, and how far it is. */
export interface GroupedObject extends KubeObject {
  /** Empty where nothing is made of it any more, or it is too much. */
  readonly source: string
  /** Why that was too much to be kept. */
  readonly excess?: string
  readonly ended: boolean
  readonly suspended: boolean
  /** How many completions are left, where the object counts them. */
  readonly remaining?: number
  /** Some of its pods do not run, be it that they wait or are about to. */
  readonly lacks: boolean
}

/**
 * All of them are in memory, and a tenant may make many. It is more than a block and the names of a Job take, and those
 * of a JobSet whose templates fit into a Workload.
 */
const MAX_SOURCE: Readonly<Record<string, number>> = { Job: 4096, JobSet: 8192 }

const METADATA: Outline = {
  ...fields('name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'),
  ownerReferences: fields('apiVersion', 'kind', 'name', 'uid', 'controller'),
  labels: fields(...GROUPING_LABELS),
  annotations: fields(...GROUPING_ANNOTATIONS),
}
const TEMPLATE: Outline = { spec: fields('schedulingGroup', 'schedulerName', 'priorityClassName') }
const JOB_SPEC: Outline = {
  ...fields('parallelism', 'completions', 'completionMode', 'scheduling', 'managedBy', 'suspend'),
  template: TEMPLATE,
}

export const GROUPED_JOB: GroupedKind = {
  word: 'grouped-job',
  resource: JOBS,
  outline: {
    ...fields('apiVersion', 'kind'),
    metadata: METADATA,
    spec: JOB_SPEC,
    status: {
      ...fields('active', 'ready', 'succeeded', 'completedIndexes', 'failedIndexes'),
      conditions: CONDITIONS,
    },
  },
  objectsOf: objectsOfJob,
}

export const GROUPED_JOB_SET: GroupedKind = {
  word: 'grouped-jobset',
  resource: JOB_SETS,
  outline: {
    ...fields('apiVersion', 'kind'),
    metadata: METADATA,
    spec: {
      ...fields('suspend', 'managedBy', 'startupPolicy'),
      replicatedJobs: {
        ...fields('name', 'replicas', 'dependsOn'),
        template: { metadata: { annotations: fields(...GROUPING_ANNOTATIONS) }, spec: JOB_SPEC },
      },
    },
    status: { conditions: CONDITIONS },
  },
  objectsOf: objectsOfJobSet,
}

export const GROUPED_KINDS: readonly GroupedKind[] = [GROUPED_JOB, GROUPED_JOB_SET]

export function groupedForCache({ resource }: GroupedKind, object: KubeObject): GroupedObject {
  const { spec: written, status: known } = object as { readonly spec?: unknown; readonly status?: unknown }
  const [spec, status] = [fieldsOf(written), fieldsOf(known)]
  const { group, version, kind } = resource
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels } = object.metadata
  const ended = ['Complete', 'Completed', 'Failed'].some(type => trueCondition(status, type) !== undefined)
  const source = ended ? '' : sourceOf({ ...object, apiVersion: `${group}/${version}`, kind })
  const isTooLong = !ended && (source.length > limitOf(resource) || (object.omitted ?? []).length > 0)
  return {
    metadata: {
      ...{ name, namespace, uid, resourceVersion, creationTimestamp, labels },
      ...(deletionTimestamp != null && { deletionTimestamp }),
    },
    source: isTooLong ? '' : source,
    ...(isTooLong && { excess: tooMuch(resource) }),
    ended,
    suspended: spec.suspend === true,
    ...(kind === JOBS.kind && { remaining: remainingIn(spec, status) }),
    lacks: (countIn(status.ready) ?? 0) < (countIn(status.active) ?? 0),
  }
}

/**
 * Why the objects of a Job or JobSet could never be made, said before it is there. The cache would keep as much of it,
 * and what the API server adds when it stores it.
 */
export function excessOf({ resource, outline }: GroupedKind, object: Fields): string | undefined {
  const source = sourceOf(outlined(object, outline) as KubeObject)
  return source.length > limitOf(resource) - ADDED_LATER ? tooMuch(resource) : undefined
}

/** uid, version and times. */
const ADDED_LATER = 256

const limitOf = ({ kind }: Resource): number => MAX_SOURCE[kind] ?? 0
const tooMuch = (resource: Resource): string =>
  `what it says of its scheduling takes more than ${limitOf(resource)} characters`

/** Of its owners only the controller is asked for. */
function sourceOf({ metadata, ...object }: KubeObject): string {
  const controller = controllerOf(metadata.ownerReferences)
  const { ownerReferences: _, ...own } = metadata
  const kept = { ...own, ...(controller && { ownerReferences: [controller] }) }
  return JSON.stringify({ ...object, metadata: kept, status: undefined, omitted: undefined })
}

export const sourceIn = ({ source }: GroupedObject): Fields => JSON.parse(source) as Fields

/** Its controller by kind and name, as Workloads name whom they are for. */
export function parentOf(object: GroupedObject): string {
  const controller = object.source === '' ? undefined : jobToGroup(sourceIn(object))?.controller
  return controller === undefined ? '' : `${controller.kind}/${controller.name}`
}
