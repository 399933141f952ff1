import { COMPLETIONS_FOLLOW, ELASTIC_JOB, MIN_PARALLELISM, QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import {
  annotationPath,
  type FieldError,
  forbidden,
  invalid,
  labelPath,
  MAX_ERRORS,
} from '../../validation/field-error.ts'
import { atoiProblem, isGoBoolean, isGoTrue, parseBoolProblem, parseInt32 } from '../../validation/numbers.ts'
import {
  completionsFollowOf,
  doCompletionsFollow,
  isStopping,
  isSuspended,
  minParallelismOf,
} from '../../workload/job-facts.ts'
import { isDeleting, isElastic, queueLabelOf } from '../../workload/pod-facts.ts'
import { admissionGatesErrors, admissionGatesUpdateErrors } from '../pods/admission-gates.ts'
import { queueMarkErrors, queueMarkUpdateErrors } from '../queue-marks.ts'
import { sliceBoundErrors, topologyErrors } from '../topology.ts'
import type { World } from '../world.ts'
import { JOBS, type QueueableKind } from './kinds.ts'
import type { QueueableObject } from './shape.ts'
import { type PodTemplate, parallelismOf, podsOf, podTemplatesOf } from './size.ts'

/**
 * What a Job or JobSet may say of its queue: Kueue's rules, in Kueue's order and with its texts. They bind whatever
 * comes here, queued or not: a mark that is wrong today is one edit away from mattering.
 */
export function createErrors(object: QueueableObject, kind: QueueableKind, world: World): readonly FieldError[] {
  const common = [...markErrors(object, world), ...elasticErrors(object, kind), ...admissionGatesErrors(object)]
  const placed = podTemplatesOf(object, kind)
    .flatMap(template => templateErrors(template, kind))
    .slice(0, MAX_ERRORS)
  if (kind.kind !== JOBS.kind) return [...common, ...placed]
  return [...common, ...minParallelismErrors(object, kind), ...followErrors(object), ...placed]
}

/** Where its pods ask to be placed together: pods are judged by the same rules, and those of a Job come too late to be refused. */
function templateErrors({ annotations, pods, path }: PodTemplate, { kind }: QueueableKind): readonly FieldError[] {
  const errors = topologyErrors(annotations, path)
  // Of a Job Kueue says first what its request is, and of what is right so far whether it is too large.
  if (kind === JOBS.kind && errors.length > 0) return errors
  return [...errors, ...sliceBoundErrors(annotations, pods, path)]
}

/** And how that may change. What Muster is stopping still counts as running, as in Kueue. */
export function updateErrors(
  before: QueueableObject,
  after: QueueableObject,
  kind: QueueableKind,
  namespace: string,
  world: World,
): readonly FieldError[] {
  const lull = { before: isAtRest(before), after: isAtRest(after) }
  return toldOnce([
    ...queueMarkUpdateErrors(before, after, lull, namespace, world),
    ...admissionGatesUpdateErrors(before, after),
    ...newErrors(before, after, kind, world),
    ...(kind.kind === JOBS.kind ? sizeChangeErrors(before, after) : []),
  ])
}

/** What is judged as a change and as a new mark, too, is one mistake, and Kueue tells it once. */
function toldOnce(errors: readonly FieldError[]): readonly FieldError[] {
  const known = new Set<string>()
  return errors.filter(({ field, type, detail }) => {
    const text = [type, field, detail].join('\n')
    const isNew = !known.has(text)
    known.add(text)
    return isNew
  })
}

export const isAtRest = (object: QueueableObject): boolean => isSuspended(object) && !isStopping(object)

/** What was wrong before must keep no controller from its work, nor a least parallelism its user from a smaller one. */
function newErrors(
  before: QueueableObject,
  after: QueueableObject,
  kind: QueueableKind,
  world: World,
): readonly FieldError[] {
  if (isDeleting(before)) return []
  const errors = createErrors(after, kind, world)
  if (errors.length === 0) return errors
  const known = new Set(createErrors(before, kind, world).map(({ field, type }) => `${type} ${field}`))
  if (minParallelismOf(before) === minParallelismOf(after)) known.add(`Invalid ${annotationPath(MIN_PARALLELISM)}`)
  return errors.filter(({ field, type }) => !known.has(`${type} ${field}`))
}

/** An empty queue is refused as a name, but where everything waits it is what Muster itself writes: nobody has said which. */
function markErrors(object: QueueableObject, { config }: World): readonly FieldError[] {
  const errors = queueMarkErrors(object)
  if (queueLabelOf(object) !== '' || !config.manageJobsWithoutQueueName) return errors
  return errors.filter(({ field }) => field !== labelPath(QUEUE_NAME))
}

/** Kueue gives a Job more quota while it runs, slice by slice; nobody here can. */
function elasticErrors(object: QueueableObject, { kind, group, version }: QueueableKind): readonly FieldError[] {
  if (!isElastic(object)) return []
  const detail = `elastic job is not supported for "${group}/${version}, Kind=${kind}"`
  return [forbidden(annotationPath(ELASTIC_JOB), detail)]
}

function minParallelismErrors(object: QueueableObject, kind: QueueableKind): readonly FieldError[] {
  const text = minParallelismOf(object)
  if (text === undefined) return []
  const path = annotationPath(MIN_PARALLELISM)
  const parsed = parseInt32(text)
  if ('problem' in parsed) return [invalid(path, text, atoiProblem(text, parsed.problem))]
  const pods = podsOf(object, kind)
  if (parsed.value > 0 && parsed.value < pods) return []
  return [invalid(path, parsed.value, `should be between 0 and ${pods - 1}`)]
}

function followErrors(object: QueueableObject): readonly FieldError[] {
  const text = completionsFollowOf(object)
  if (text === undefined) return []
  const path = annotationPath(COMPLETIONS_FOLLOW)
  if (!isGoBoolean(text)) return [invalid(path, text, parseBoolProblem(text))]
  if (!isGoTrue(text)) return []
  const { completionMode, completions } = object.spec
  const errors: FieldError[] = []
  if (completionMode !== 'Indexed') errors.push(invalid(path, text, 'should not be enabled for NonIndexed jobs'))
  // Without completions, the API server counts one.
  if ((completions ?? 1) !== parallelismOf(object)) {
    const detail = `should be equal to parallelism when ${COMPLETIONS_FOLLOW} annotation is true`
    errors.push(invalid('spec.completions', completions ?? null, detail))
  }
  return errors
}

/** With how many pods it was started is the engine's decision, and stays so while it runs. */
function sizeChangeErrors(before: QueueableObject, after: QueueableObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const resized = parallelismOf(before) !== parallelismOf(after)
  if (resized && minParallelismOf(before) !== undefined && !isSuspended(before)) {
    const detail = 'cannot change when partial admission is enabled and the job is not suspended'
    errors.push(forbidden('spec.parallelism', detail))
  }
  const runsOn = !isSuspended(before) && !isSuspended(after)
  if (runsOn && doCompletionsFollow(before) !== doCompletionsFollow(after)) {
    errors.push(forbidden(annotationPath(COMPLETIONS_FOLLOW), 'field is immutable while the job is not suspended'))
  }
  return errors
}
