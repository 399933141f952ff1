import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import {
  controllerOf,
  type KubeObject,
  type OwnerReference,
  type PodSpec,
  type StringMap,
} from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import { keptOf } from '../asked.ts'
import { QUEUED_MARKS, SIZE_MARKS } from '../job-facts.ts'
import { LIFT_MARKS, type Mark, QUEUE_MARK } from '../pod-facts.ts'
import type { JobPodSet, QueuedJob } from './queued-job.ts'

const MARKS: readonly Mark[] = [QUEUE_MARK, ...QUEUED_MARKS, ...SIZE_MARKS]
const keysOf = (marks: readonly Mark[], place: Mark['in']): readonly string[] =>
  marks.flatMap(mark => (mark.in === place ? [mark.key] : []))

const CONTAINER = { ...fields('name', 'restartPolicy'), resources: fields('requests', 'limits') }

/** What is read of the metadata of a Job or a JobSet. */
export const JOB_METADATA: Outline = {
  ...fields('name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'),
  ownerReferences: fields('apiVersion', 'kind', 'name', 'uid', 'controller'),
  labels: fields(...keysOf(MARKS, 'labels')),
  annotations: fields(...keysOf(MARKS, 'annotations')),
}

/** What is read of a template of pods. */
export const POD_TEMPLATE: Outline = {
  metadata: {
    labels: fields(...keysOf(LIFT_MARKS, 'labels')),
    annotations: fields(...keysOf(LIFT_MARKS, 'annotations')),
  },
  spec: {
    ...fields('nodeSelector', 'tolerations', 'overhead', 'runtimeClassName', 'priority'),
    containers: CONTAINER,
    initContainers: CONTAINER,
    resources: fields('requests', 'limits'),
  },
}

export const CONDITIONS: Outline = fields('type', 'status', 'reason', 'message')

/** As many characters as are kept of what the templates of one object ask for. */
const MAX_ASKS = 16_384
/** As many as its Workload has room for. */
const MAX_POD_SETS = 18
const MAX_TEXT = 1024
/** Longer than any reference to something that exists. */
const MAX_REFERENCE = 1024
/** No mark that means something is longer. */
const MAX_MARK = 512

export function jobMetadata({ metadata }: KubeObject): KubeObject['metadata'] {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata
  const marks = { labels: {} as Record<string, string>, annotations: {} as Record<string, string> }
  for (const mark of MARKS) {
    const value = mark.of({ metadata })
    if (typeof value === 'string' && value.length <= MAX_MARK) marks[mark.in][mark.key] = value
  }
  const controller = controllerOf(metadata.ownerReferences)
  return {
    ...{ name, namespace, uid, resourceVersion, creationTimestamp },
    ...(deletionTimestamp != null && { deletionTimestamp }),
    ...marks,
    ...(isSmall(controller) && { ownerReferences: [controller] }),
  }
}

const isSmall = (reference: OwnerReference | undefined): reference is OwnerReference =>
  reference !== undefined && JSON.stringify(reference).length <= MAX_REFERENCE

/** The pods of a template, without their numbers. */
export function templateFacts(
  template: unknown,
): Omit<JobPodSet, 'name' | 'count' | 'minCount' | 'needed' | 'present'> {
  const { metadata, spec } = fieldsOf(template)
  const { labels, annotations } = fieldsOf(metadata)
  const { runtimeClassName } = fieldsOf(spec)
  return {
    asks: JSON.stringify(keptOf(fieldsOf(spec) as PodSpec)),
    ...(typeof runtimeClassName === 'string' && { runtimeClass: runtimeClassName }),
    hasMetadata: isObject(metadata),
    ...(isObject(labels) && { labels: liftMarks(labels, 'labels') }),
    ...(isObject(annotations) && { annotations: liftMarks(annotations, 'annotations') }),
  }
}

function liftMarks(map: Fields, place: Mark['in']): StringMap {
  const known = keysOf(LIFT_MARKS, place).filter(key => Object.hasOwn(map, key))
  return Object.fromEntries(known.map(key => [key, String(map[key]).slice(0, MAX_MARK)]))
}

/** Of something whose pods are not known by the label of its uid. */
export const uncounted = (kind: string, { metadata: { name } }: KubeObject): Pick<QueuedJob, 'podSets' | 'excess'> => ({
  podSets: [],
  excess:
    `${kind} ${name} selects its pods itself (spec.manualSelector), and nobody can count them then: create it without ` +
    'spec.manualSelector and spec.selector',
})

/** Why it cannot be counted, if so much of it was left out or would have to be kept; then nothing of it is. */
export function bounded(
  { kind, metadata: { name }, omitted }: KubeObject,
  podSets: readonly JobPodSet[],
): Pick<QueuedJob, 'podSets' | 'excess'> {
  const missing = omitted?.filter(path => !path.startsWith('status.')) ?? []
  const what = `${kind ?? 'Job'} ${name}`
  const none = (excess: string) => ({ podSets: [], excess })
  if (missing.length > 0)
    return none(`${what} has more in ${missing.join(', ')} than is read: create it with less of that`)
  if (podSets.length > MAX_POD_SETS) {
    return none(`${what} has ${podSets.length} replicated jobs, and at most ${MAX_POD_SETS} can wait together`)
  }
  const kept = podSets.reduce((sum, { asks, name }) => sum + asks.length + name.length, 0)
  if (kept <= MAX_ASKS) return { podSets }
  return none(
    `what the pods of ${what} ask for (requests, node selector, tolerations) takes ${kept} characters to write down, ` +
      `and at most ${MAX_ASKS} are kept: create it with fewer of them`,
  )
}

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

export const countIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

export interface JobCondition {
  readonly type: string
  readonly message: string
}

/** The condition of this type, if it is true. */
export function trueCondition(status: Fields, type: string): JobCondition | undefined {
  const conditions = Array.isArray(status.conditions) ? status.conditions : []
  const found = conditions.find(
    (candidate): candidate is Fields => isObject(candidate) && candidate.type === type && candidate.status === 'True',
  )
  if (found === undefined) return undefined
  // V8 keeps the whole of a text for as long as a part that was cut out of it lives.
  return { type, message: Buffer.from(String(found.message ?? '').slice(0, MAX_TEXT)).toString() }
}
