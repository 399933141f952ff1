import { subdomainProblems } from '../kube/vocabulary/formats.ts'
import { ELASTIC_JOB, MAX_EXEC_TIME, PRIORITY_CLASS, QUEUE_NAME } from '../kube/vocabulary/names.ts'
import { annotationPath, type FieldError, invalid, labelPath } from '../validation/field-error.ts'
import { atoiProblem, MAX_INT32, parseInt32 } from '../validation/numbers.ts'
import {
  isElastic,
  type Marked,
  maxExecTimeOf,
  prebuiltWorkloadOf,
  prebuiltWorkloadPath,
  priorityClassOf,
  queueLabelOf,
  queueOf,
} from '../workload/pod-facts.ts'
import type { World } from './world.ts'

/**
 * What everything that waits in a queue may say of itself, pod or Job: Kueue's rules, in Kueue's order and with its
 * texts.
 */
export function queueMarkErrors(object: Marked): readonly FieldError[] {
  return [
    ...subdomainErrors(queueLabelOf(object), labelPath(QUEUE_NAME)),
    ...prebuiltNameErrors(object),
    ...maxExecTimeErrors(object),
  ]
}

/** Whether it is Kueue's "suspended", before the change and after it: then most of what it says is still open. */
export interface Lull {
  readonly before: boolean
  readonly after: boolean
}

/** And how that may change. */
export function queueMarkUpdateErrors(
  before: Marked,
  after: Marked,
  lull: Lull,
  namespace: string,
  world: World,
): readonly FieldError[] {
  return [
    ...queueChangeErrors(before, after, lull, namespace, world),
    ...prebuiltChangeErrors(before, after, lull),
    ...maxExecTimeChangeErrors(before, after, lull),
    ...priorityClassErrors(before, after, lull),
    ...elasticJobErrors(before, after),
  ]
}

export const IMMUTABLE = 'field is immutable'

export const immutable = (path: string, was: string, is: string): readonly FieldError[] =>
  was === is ? [] : [invalid(path, is, IMMUTABLE)]

export function prebuiltNameErrors(object: Marked): readonly FieldError[] {
  return subdomainErrors(prebuiltWorkloadOf(object), prebuiltWorkloadPath(object))
}

function subdomainErrors(value: string | undefined, path: string): readonly FieldError[] {
  if (value === undefined) return []
  const problems = subdomainProblems(value)
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(','))]
}

/** Kueue accepts more than an int32 here and then, reading it as an int32, sets no limit at all. */
function maxExecTimeErrors(object: Marked): readonly FieldError[] {
  const text = maxExecTimeOf(object)
  if (text === undefined) return []
  const path = labelPath(MAX_EXEC_TIME)
  const parsed = parseInt32(text)
  if ('problem' in parsed) {
    const detail = `${atoiProblem(text, parsed.problem)}; write whole seconds from "1" to "${MAX_INT32}"`
    return [invalid(path, text, detail)]
  }
  return parsed.value > 0 ? [] : [invalid(path, parsed.value, 'should be greater than 0')]
}

function queueChangeErrors(
  before: Marked,
  after: Marked,
  lull: Lull,
  namespace: string,
  world: World,
): readonly FieldError[] {
  const [was, is] = [queueOf(before), queueOf(after)]
  const errors: FieldError[] = lull.after ? [] : [...immutable(labelPath(QUEUE_NAME), was, is)]
  if (is === '' && was !== '' && world.hasDefaultQueue(namespace)) {
    errors.push(invalid(labelPath(QUEUE_NAME), '', 'queue-name must not be empty in namespace with default queue'))
  }
  return errors
}

function prebuiltChangeErrors(before: Marked, after: Marked, lull: Lull): readonly FieldError[] {
  if (lull.after || isElastic(before)) return prebuiltNameErrors(after)
  return immutable(prebuiltWorkloadPath(after), prebuiltWorkloadOf(before) ?? '', prebuiltWorkloadOf(after) ?? '')
}

function maxExecTimeChangeErrors(before: Marked, after: Marked, lull: Lull): readonly FieldError[] {
  if (lull.before && lull.after) return []
  return immutable(labelPath(MAX_EXEC_TIME), maxExecTimeOf(before) ?? '', maxExecTimeOf(after) ?? '')
}

function priorityClassErrors(before: Marked, after: Marked, lull: Lull): readonly FieldError[] {
  const [was, is] = [priorityClassOf(before), priorityClassOf(after)]
  const path = labelPath(PRIORITY_CLASS)
  if (was === '' && is !== '' && !lull.after) {
    return [invalid(path, is, 'WorkloadPriorityClass cannot be added to a non-suspended workload')]
  }
  if (was !== '' && is === '') return [invalid(path, is, 'WorkloadPriorityClass cannot be removed from a workload')]
  return []
}

function elasticJobErrors(before: Marked, after: Marked): readonly FieldError[] {
  if (isElastic(before) === isElastic(after)) return []
  return [invalid(annotationPath(ELASTIC_JOB), isElastic(after), IMMUTABLE)]
}
