import { isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, invalid } from '../field-error.ts'
import type { DisruptionMode, GangPolicy, PodGroupPolicy } from './scheduling-model.ts'

/**
 * What a gang is, for everybody who asks: the rules, the warnings, the guard of the parallelism and the builder. The
 * functions take what people wrote, whatever its type.
 */

/** The member that counts. With two of them it is basic, as in upstream's library, until somebody reports that. */
export function policyThatCounts(policy: unknown): PodGroupPolicy | undefined {
  if (isSet(policy, 'basic')) return { basic: {} }
  return isSet(policy, 'gang') ? { gang: (gangOf(policy) ?? {}) as GangPolicy } : undefined
}

/** A Job that asks for no policy is a basic one. What is no policy at all is reported as that and counts as nothing. */
export function jobPolicy(policy: unknown): PodGroupPolicy | undefined {
  const isAbsent = policy === undefined || isObject(policy)
  return policyThatCounts(policy) ?? (isAbsent ? { basic: {} } : undefined)
}

/** As with policies: `single` wins. */
export function modeThatCounts(mode: unknown): DisruptionMode | undefined {
  if (isSet(mode, 'single')) return { single: {} }
  return isSet(mode, 'all') ? { all: {} } : undefined
}

export const isGang = (policy: unknown): boolean => policyThatCounts(policy)?.gang !== undefined

/** The gang of a policy tree. Its minCount is whatever was written. */
export function gangOf(policy: unknown): { readonly minCount?: unknown } | undefined {
  return isObject(policy) && isObject(policy.gang) ? policy.gang : undefined
}

/** A gang that names no size is all that runs at a time; whoever runs nothing at the moment has a gang of one. */
export function gangSize(gang: { readonly minCount?: unknown } | undefined, atATime: number): number {
  return typeof gang?.minCount === 'number' ? gang.minCount : Math.max(1, atATime)
}

/** KEP-5547, and what the Job controller of 1.36 does: a Job that runs all its indexes at once has not to ask. */
export function isImplicitGang(job: {
  readonly indexed: boolean
  readonly parallelism: number
  readonly completions: number | undefined
}): boolean {
  return job.indexed && job.parallelism > 1 && job.completions === job.parallelism
}

/** Pods that are scheduled one by one cannot be disrupted only all together. */
export function allNeedsGangErrors(
  policy: PodGroupPolicy | undefined,
  mode: DisruptionMode | undefined,
  path: string,
): readonly FieldError[] {
  if (policy?.basic === undefined || mode?.all === undefined) return []
  return [invalid(path, '', 'the disruptionMode `all` is not supported with the Basic scheduling policy')]
}

const isSet = (union: unknown, member: string): boolean => isObject(union) && union[member] !== undefined
