import { isDeepStrictEqual } from 'node:util'
import { type Fields, isObject } from '../../kube/vocabulary/fields.ts'
import type { FieldError } from '../../validation/field-error.ts'
import type {
  DisruptionMode,
  GroupResourceClaim,
  PodGroupPolicy,
  SchedulingConstraints,
} from '../../validation/jobs/scheduling-model.ts'
import { type Part, structureErrors } from '../../validation/jobs/scheduling-schemas.ts'
import { type CompositePolicy, countingPods } from './item.ts'

/**
 * The rules that the building blocks carry themselves, wherever they are embedded. `old` is the block before an update:
 * what has not changed is not looked at again, so that a rule that came later never locks an object that is older.
 */
type Check<T> = (path: string, block: T, old: T | undefined) => readonly FieldError[]

export const policyErrors: Check<PodGroupPolicy> = (path, policy, old) => partErrors('policy', path, policy, old)

/** As a policy for pods, except for the name of its number. */
export const compositePolicyErrors: Check<CompositePolicy> = (path, policy, old) =>
  policyErrors(path, countingPods(policy), old && countingPods(old)).map(error =>
    error.field === `${path}.gang.minCount` ? { ...error, field: `${path}.gang.minGroupCount` } : error,
  )

export const disruptionModeErrors: Check<DisruptionMode> = (path, mode, old) =>
  partErrors('disruption', path, mode, old)

/** The topology is one value: whoever changes an entry changes all of it. */
export const constraintsErrors: Check<SchedulingConstraints> = (path, constraints, old) => {
  const topology = constraints.topology ?? []
  if (old !== undefined && isDeepStrictEqual(topology, old.topology ?? [])) return []
  const errors = partErrors('constraints', path, constraints, undefined)
  if (errors.length > 0) return errors
  return topology.flatMap((entry, index) => partErrors('topology', `${path}.topology[${index}]`, entry, undefined))
}

export const claimErrors: Check<GroupResourceClaim> = (path, claim, old) => partErrors('claim', path, claim, old)

function partErrors(part: Part, path: string, block: object, old: object | undefined): readonly FieldError[] {
  const written = withoutAbsent(block)
  const before = old === undefined ? undefined : withoutAbsent(old)
  return structureErrors(part, written, field => field)
    .filter(({ field }) => before === undefined || !isUnchanged(field, written, before))
    .map(error => ({ ...error, field: error.field === '' ? path : `${path}.${error.field}` }))
}

/** Of a union as a whole only the membership counts, not what its members hold. */
function isUnchanged(field: string, block: Fields, old: Fields): boolean {
  if (field === '') return isDeepStrictEqual(new Set(Object.keys(block)), new Set(Object.keys(old)))
  const valueAt = (fields: Fields): unknown =>
    field.split('.').reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], fields)
  return isDeepStrictEqual(valueAt(block), valueAt(old))
}

/** In Go an empty name is one that is missing. */
function withoutAbsent(block: object): Fields {
  const entries = Object.entries(block).filter(
    ([key, value]) => value !== undefined && !((key === 'name' || key === 'key') && value === ''),
  )
  return Object.fromEntries(entries.map(([key, value]) => [key, isObject(value) ? withoutAbsent(value) : value]))
}
