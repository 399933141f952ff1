import type { UserInfo } from '../../admission/review.ts'
import { ELASTIC_JOB, MANAGED } from '../../kube/vocabulary/names.ts'
import type { Pod } from '../../kube/vocabulary/objects.ts'
import { annotationPath, type FieldError, forbidden, invalid, labelPath } from '../../validation/field-error.ts'
import { groupNameOf, type ParsedGroup } from '../../workload/group.ts'
import {
  isElastic,
  isMarkedManaged,
  managedLabelOf,
  prebuiltWorkloadOf,
  prebuiltWorkloadPath,
} from '../../workload/pod-facts.ts'
import { hasHoldingController } from '../owners.ts'
import { queueMarkErrors } from '../queue-marks.ts'
import { topologyErrors } from '../topology.ts'
import type { World } from '../world.ts'
import { admissionGatesErrors } from './admission-gates.ts'

/**
 * What a pod must look like in itself, managed or not: Kueue's rules, in Kueue's order and with its texts. They bind
 * every pod in the namespaces of the webhook, because a label that is wrong today is one edit away from mattering.
 */
export function createErrors(pod: Pod, group: ParsedGroup): readonly FieldError[] {
  return [...queueMarkErrors(pod), ...elasticJobErrors(pod), ...admissionGatesErrors(pod), ...commonErrors(pod, group)]
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
