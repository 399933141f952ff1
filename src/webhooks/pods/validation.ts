import type { UserInfo } from '../../admission/review.ts'
import { subdomainProblems } from '../../kube/vocabulary/formats.ts'
import { ELASTIC_JOB, MANAGED, MAX_EXEC_TIME, QUEUE_NAME } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { annotationPath, type FieldError, forbidden, invalid, labelPath } from '../../validation/field-error.ts'
import { atoiProblem, MAX_INT32, parseInt32 } from '../../validation/numbers.ts'
import { groupNameOf, type ParsedGroup } from '../../workload/group.ts'
import {
  isElastic,
  isMarkedManaged,
  managedLabelOf,
  maxExecTimeOf,
  prebuiltWorkloadOf,
  prebuiltWorkloadPath,
  queueLabelOf,
} from '../../workload/pod-facts.ts'
import type { World } from '../world.ts'
import { admissionGatesErrors } from './admission-gates.ts'
import { hasHoldingController } from './owners.ts'
import { topologyErrors } from './topology.ts'

/**
 * What a pod must look like in itself, managed or not: Kueue's rules, in Kueue's order and with its texts. They bind
 * every pod in the namespaces of the webhook, because a label that is wrong today is one edit away from mattering.
 */
export function createErrors(pod: Pod, group: ParsedGroup): readonly FieldError[] {
  return [
    ...queueNameErrors(pod),
    ...prebuiltNameErrors(pod),
    ...maxExecTimeErrors(pod),
    ...elasticJobErrors(pod),
    ...admissionGatesErrors(pod),
    ...commonErrors(pod, group),
  ]
}

/** The rules for creation and update alike. */
export function commonErrors(pod: Pod, group: ParsedGroup): readonly FieldError[] {
  return [
    ...managedLabelErrors(pod),
    ...group.errors,
    ...topologyErrors(pod.metadata.annotations),
    ...prebuiltGroupErrors(pod),
  ]
}

function queueNameErrors(pod: Pod): readonly FieldError[] {
  return subdomainErrors(queueLabelOf(pod), labelPath(QUEUE_NAME))
}

export function prebuiltNameErrors(pod: Pod): readonly FieldError[] {
  return subdomainErrors(prebuiltWorkloadOf(pod), prebuiltWorkloadPath(pod))
}

function subdomainErrors(value: string | undefined, path: string): readonly FieldError[] {
  if (value === undefined) return []
  const problems = subdomainProblems(value)
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(','))]
}

/** Kueue accepts more than an int32 here and then, reading it as an int32, sets no limit at all. */
function maxExecTimeErrors(pod: Pod): readonly FieldError[] {
  const text = maxExecTimeOf(pod)
  if (text === undefined) return []
  const path = labelPath(MAX_EXEC_TIME)
  const parsed = parseInt32(text)
  if ('problem' in parsed) {
    const detail = `${atoiProblem(text, parsed.problem)}; write whole seconds from "1" to "${MAX_INT32}"`
    return [invalid(path, text, detail)]
  }
  return parsed.value > 0 ? [] : [invalid(path, parsed.value, 'should be greater than 0')]
}

function elasticJobErrors(pod: Pod): readonly FieldError[] {
  if (!isElastic(pod)) return []
  return [forbidden(annotationPath(ELASTIC_JOB), 'elastic job is not supported for "/v1, Kind=Pod"')]
}

function managedLabelErrors(pod: Pod): readonly FieldError[] {
  const value = managedLabelOf(pod)
  if (value === undefined || value === 'true') return []
  const detail = "managed label value can only be 'true'; remove the label: Muster sets it on the pods it queues"
  return [forbidden(labelPath(MANAGED), detail)]
}

function prebuiltGroupErrors(pod: Pod): readonly FieldError[] {
  const group = groupNameOf(pod)
  const prebuilt = prebuiltWorkloadOf(pod)
  if (group === undefined || !prebuilt || prebuilt === group) return []
  return [invalid(prebuiltWorkloadPath(pod), prebuilt, 'prebuilt workload and pod group should be equal')]
}

/** A pod that its owner queues and that is also marked as queued by itself: allowed, but hardly meant. */
export function managedOwnerWarnings(pod: Pod, user: UserInfo | undefined, world: World): readonly string[] {
  if (!isMarkedManaged(pod) || !hasHoldingController(pod, user, world)) return []
  return [`pod owner is managed by kueue, label '${MANAGED}=true' might lead to unexpected behaviour`]
}
