import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { blockPath, type SchedulingConfig, type WorkloadItem } from './item.ts'

type PolicyOption = 'basic' | 'gang'
type ModeOption = 'single' | 'all'

/**
 * What a controller has opted into. What is not listed is denied, so that an option that Kubernetes adds later does not
 * leak into a controller that never heard of it (KEP-6089).
 */
export interface AllowLists {
  readonly policies: readonly PolicyOption[]
  readonly disruptionModes: readonly ModeOption[]
}

/** Everything that 1.37 knows: the lists of the Job controller. */
export const ALLOW_ALL: AllowLists = { policies: ['basic', 'gang'], disruptionModes: ['single', 'all'] }

/** The lists look at what holds in the end, so a default that is not allowed fails as well. */
export function allowErrors(item: WorkloadItem, config: SchedulingConfig, allow: AllowLists): readonly FieldError[] {
  const { policy = {}, disruptionMode = {} } = config
  const policyPath = blockPath(item, item.input?.policy)
  const modePath = blockPath(item, item.input?.disruptionMode)
  return [
    ...(['basic', 'gang'] as const)
      .filter(option => policy[option] !== undefined && !allow.policies.includes(option))
      .map(option => forbidden(policyPath, `${option} scheduling policy is not supported by this controller`)),
    ...(['single', 'all'] as const)
      .filter(option => disruptionMode[option] !== undefined && !allow.disruptionModes.includes(option))
      .map(option => forbidden(modePath, `the disruptionMode \`${option}\` is not supported by this controller`)),
  ]
}
