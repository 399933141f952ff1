import { isObject } from '../../kube/vocabulary/fields.ts'
import { type FieldError, invalid } from '../field-error.ts'
import { gangOf } from './gang.ts'
import { structureErrors } from './scheduling-schemas.ts'
import type { BlockPaths, WrittenBlock } from './scheduling-spelling.ts'
import { sameTree } from './scheduling-tree.ts'

/**
 * The declarative rules of Kubernetes 1.37 for `spec.scheduling` of a Job: structure on creation, and on update what
 * may be set, cleared or changed. What has not changed is never judged again.
 */
export function creationErrors({ model, paths }: WrittenBlock): readonly FieldError[] {
  return [
    ...policyErrors(model.schedulingPolicy, paths),
    ...constraintErrors(model.schedulingConstraints, paths),
    ...disruptionErrors(model.disruptionMode, paths),
    ...claimErrors(model.resourceClaims, paths),
  ]
}

/** `root` is where the block belongs; it matters when there is none on one side. */
export function changeErrors(
  before: WrittenBlock | undefined,
  after: WrittenBlock | undefined,
  root: string,
): readonly FieldError[] {
  if (after === undefined) return before === undefined ? [] : [cleared(root)]
  if (before === undefined) return [set(root)]
  const { model: was, paths: formerly } = before
  const { model: is, paths } = after
  const errors: FieldError[] = [...policyChangeErrors(before, after)]
  if (!sameTree(was.schedulingConstraints, is.schedulingConstraints)) {
    errors.push(immutable(is.schedulingConstraints === undefined ? formerly.constraints : paths.constraints))
  }
  if (!sameTree(was.disruptionMode, is.disruptionMode)) {
    errors.push(immutable(is.disruptionMode === undefined ? formerly.disruption : paths.disruption))
  }
  if (!sameTree(was.resourceClaims, is.resourceClaims)) {
    errors.push(immutable(paths.claims))
    // The limit stands in the same group of tags as the immutability, so upstream reports both.
    if (is.resourceClaims !== undefined) errors.push(...claimListErrors(is.resourceClaims, paths))
  }
  return errors
}

const set = (field: string): FieldError => invalid(field, null, 'field cannot be set once created')
const cleared = (field: string): FieldError => invalid(field, null, 'field cannot be cleared once set')
const immutable = (field: string): FieldError => invalid(field, null, 'field is immutable')

function policyChangeErrors(before: WrittenBlock, after: WrittenBlock): readonly FieldError[] {
  const was = before.model.schedulingPolicy
  const is = after.model.schedulingPolicy
  const { paths } = after
  if (sameTree(was, is)) return []
  if (was === undefined) return [set(paths.policy)]
  if (is === undefined) return [cleared(before.paths.policy)]
  const unchanged = new Set<string>()
  if (sameTree(members(was), members(is))) unchanged.add(paths.policy)
  const [formerGang, gang] = [gangOf(was), gangOf(is)]
  if (formerGang !== undefined && formerGang.minCount === gang?.minCount) unchanged.add(paths.minCount)
  return policyErrors(is, paths).filter(({ field }) => !unchanged.has(field))
}

/** The members of a union that are set, in the order of their declaration. */
export const members = (union: unknown): readonly string[] => (isObject(union) ? Object.keys(union) : [])

const below = (path: string) => (field: string) => (field === '' ? path : `${path}.${field}`)

function policyErrors(policy: unknown, { policy: path }: BlockPaths): readonly FieldError[] {
  return policy === undefined ? [] : structureErrors('policy', policy, below(path))
}

function disruptionErrors(mode: unknown, { disruption: path }: BlockPaths): readonly FieldError[] {
  return mode === undefined ? [] : structureErrors('disruption', mode, below(path))
}

function constraintErrors(constraints: unknown, paths: BlockPaths): readonly FieldError[] {
  if (constraints === undefined) return []
  const errors = structureErrors('constraints', constraints, below(paths.constraints))
  if (errors.length > 0) return errors
  return itemsOf((constraints as { readonly topology?: unknown }).topology).flatMap((entry, index) => {
    const pathOf = (field: string): string => (field === '' ? `${paths.topology}[${index}]` : paths.topologyKey(index))
    return structureErrors('topology', entry, pathOf).map(error => {
      const hint = error.type === 'Required' ? paths.hints.get(error.field) : undefined
      return hint === undefined ? error : { ...error, detail: hint }
    })
  })
}

const claimListErrors = (claims: unknown, paths: BlockPaths): readonly FieldError[] =>
  structureErrors('claims', claims, below(paths.claims))

function claimErrors(claims: unknown, paths: BlockPaths): readonly FieldError[] {
  if (claims === undefined) return []
  const errors = claimListErrors(claims, paths)
  if (errors.length > 0) return errors
  const items = itemsOf(claims)
  return [
    ...duplicateErrors(items, paths.claims),
    ...items.flatMap((claim, index) => structureErrors('claim', claim, below(`${paths.claims}[${index}]`))),
  ]
}

const itemsOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [])

/** Every later item with a name that came before, a missing name being a name like any other; its value is the item. */
function duplicateErrors(claims: readonly unknown[], path: string): readonly FieldError[] {
  const seen = new Set<unknown>()
  const errors: FieldError[] = []
  for (const [index, claim] of claims.entries()) {
    if (!isObject(claim)) continue
    const { name = '' } = claim
    if (seen.has(name)) {
      errors.push({ field: `${path}[${index}]`, type: 'Duplicate', detail: '', value: { name, ...claim } })
    }
    seen.add(name)
  }
  return errors
}
