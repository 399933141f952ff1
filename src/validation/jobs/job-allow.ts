import type { SchedulingAllowList } from '../../config/configuration.ts'
import { isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, forbidden } from '../field-error.ts'
import { isBlock, type JobView, writingErrors } from './job-view.ts'
import { members } from './scheduling-rules.ts'
import { blockKeys, type WrittenBlock } from './scheduling-spelling.ts'
import { MAX_ITEMS, type StrayKey, shortened } from './scheduling-tree.ts'

/** The list that binds a namespace, and where in the configuration it stands: whoever is refused wants to know. */
export interface Allowance {
  readonly allow: SchedulingAllowList
  readonly from: string
}

/** What is wrong with the blocks of a Job: all that the API server says, how they are written, what is not allowed. */
export function withPolicyErrors(
  upstream: readonly FieldError[],
  job: JobView,
  allowance: Allowance,
): readonly FieldError[] {
  const blocks = [job.field, job.annotation].filter(isBlock)
  return [
    ...blocks.reduce<readonly FieldError[]>((errors, block) => withStrayErrors(errors, block, allowance), upstream),
    ...writingErrors(job),
    ...blocks.flatMap(block => [...absentPolicyErrors(block, allowance), ...allowErrors(block, allowance)]),
  ]
}

/**
 * Opt-in, as KEP-6089 demands of every controller: what is not listed is denied, so that an option of a later
 * Kubernetes does not slip into a cluster before somebody has decided on it.
 */
export function allowErrors(block: WrittenBlock, { allow, from }: Allowance): readonly FieldError[] {
  const { model, paths } = block
  const errors: FieldError[] = []
  const deny = (field: string, what: string, list: readonly string[], key: string): void => {
    errors.push(notAllowed(field, what, list, `${from}.${key}`))
  }
  for (const policy of members(model.schedulingPolicy)) {
    if (!allow.policies.includes(policy)) {
      deny(`${paths.policy}.${policy}`, `the policy \`${policy}\``, allow.policies, 'policies')
    }
  }
  const topology = topologyOf(model.schedulingConstraints)
  for (const [index, key] of allow.topologyKeys.includes('*') ? [] : topology.entries()) {
    if (typeof key !== 'string' || allow.topologyKeys.includes(key)) continue
    const what = `the topology key ${JSON.stringify(shortened(key))}`
    deny(paths.topologyKey(index), what, allow.topologyKeys, 'topologyKeys')
  }
  for (const mode of members(model.disruptionMode)) {
    if (!allow.disruptionModes.includes(mode)) {
      const what = `the disruption mode \`${mode}\``
      deny(`${paths.disruption}.${mode}`, what, allow.disruptionModes, 'disruptionModes')
    }
  }
  if (model.resourceClaims !== undefined && !allow.resourceClaims) {
    errors.push(forbidden(paths.claims, `resource claims are not allowed here (${from}.resourceClaims is false)`))
  }
  return errors
}

/** A Job without a policy is a basic one. A Job without a block is none of this and is never asked. */
export function absentPolicyErrors(block: WrittenBlock, { allow, from }: Allowance): readonly FieldError[] {
  const isAbsent = block.model.schedulingPolicy === undefined && block.errors.length === 0
  if (!isAbsent || allow.policies.includes('basic')) return []
  const what = 'a block without a policy means `basic`, which'
  return [notAllowed(block.paths.policy, what, allow.policies, `${from}.policies`)]
}

const notAllowed = (field: string, what: string, list: readonly string[], key: string): FieldError =>
  forbidden(field, `${what} is not allowed here; allowed: ${listed(list)} (${key})`)

const listed = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '))

/** More keys than anybody looks at cannot be allowed one by one; the rest stands for a key that is in no list. */
function topologyOf(constraints: unknown): readonly unknown[] {
  const topology = isObject(constraints) && Array.isArray(constraints.topology) ? constraints.topology : []
  const keys = topology.slice(0, MAX_ITEMS).map((entry: unknown) => (isObject(entry) ? entry.key : undefined))
  return topology.length > MAX_ITEMS ? [...keys, `and ${topology.length - MAX_ITEMS} more`] : keys
}

/**
 * Unknown keys. The API server drops them before anybody sees them, so they come from a newer one, from a file or from
 * the annotation. Where dropping them leaves a union empty, upstream has an error of its own, which is completed: one
 * mistake is one error.
 */
export function withStrayErrors(
  errors: readonly FieldError[],
  block: WrittenBlock,
  allowance: Allowance,
): readonly FieldError[] {
  const result = [...errors]
  for (const stray of block.stray) {
    const detail = `is not allowed here; allowed: ${listed(allowedBeside(stray, block, allowance.allow))}`
    const empty = result.findIndex(error => error.field === stray.parent && error.code === 'EmptyUnion')
    const found = result[empty]
    if (found === undefined) result.push(forbidden(stray.field, `\`${shortened(stray.key)}\` ${detail}`))
    else result[empty] = { ...found, detail: `${found.detail}; \`${shortened(stray.key)}\` ${detail}` }
  }
  return result
}

function allowedBeside(
  { holder, known }: StrayKey,
  block: WrittenBlock,
  allow: SchedulingAllowList,
): readonly string[] {
  if (holder === 'policy') return allow.policies
  if (holder === 'disruption') return allow.disruptionModes
  return holder === 'block' ? blockKeys(block) : known
}
