import { type FieldError, invalid } from '../../validation/field-error.ts'
import { allNeedsGangErrors } from '../../validation/jobs/gang.ts'
import { type AllowLists, allowErrors } from './allow.ts'
import { claimErrors, compositePolicyErrors, constraintsErrors, disruptionModeErrors, policyErrors } from './blocks.ts'
import { blockPath, internalError, isComposite, itemPath, type MaybeItem, type WorkloadItem } from './item.ts'
import { resolveConfig } from './merge.ts'
import { treeProblem } from './tree.ts'

interface ValidateOptions {
  readonly allow: AllowLists
  /** For callers whose API server has applied the rules of the building blocks already, as it does for Jobs. */
  readonly skipBlocks?: boolean
  /** The tree before an update. Only names and input are read from it. */
  readonly oldRoot?: WorkloadItem
}

/**
 * Everything that is wrong with what the user wrote, at the fields where it was written. Trees that no user can be
 * blamed for are internal errors. Lists as a whole (how many claims, which names twice) and what may change in an update
 * belong to the API that embeds the blocks and are not looked at here.
 */
export function validateTree(root: MaybeItem, options: ValidateOptions): readonly FieldError[] {
  if (root === null || root === undefined) {
    return [invalid(itemPath(root), null, 'invalid builder: missing root WorkloadItem')]
  }
  const { oldRoot } = options
  if (oldRoot !== undefined && oldRoot.name !== root.name) {
    const names = [oldRoot.name, root.name].map(name => JSON.stringify(name))
    return [internalError(itemPath(root), `old root name ${names[0]} does not match new root name ${names[1]}`)]
  }
  const problem = treeProblem(root)
  if (problem !== undefined) return [internalError(itemPath(root), problem)]
  return itemErrors(root, oldRoot, options)
}

function itemErrors(
  item: WorkloadItem,
  old: WorkloadItem | undefined,
  options: ValidateOptions,
): readonly FieldError[] {
  const config = resolveConfig(item)
  // A node that has moved to another parent is a new one, whatever its name.
  const oldChildren = new Map((old?.children ?? []).map(child => [child.name, child]))
  return [
    ...(options.skipBlocks === true ? [] : blockErrors(item, old)),
    ...allowErrors(item, config, options.allow),
    ...allNeedsGangErrors(config.policy, config.disruptionMode, blockPath(item, item.input?.disruptionMode)),
    ...(item.children ?? []).flatMap(child => itemErrors(child, oldChildren.get(child.name), options)),
  ]
}

function blockErrors(item: WorkloadItem, old: WorkloadItem | undefined): readonly FieldError[] {
  const { constraints, disruptionMode, resourceClaims } = item.input ?? {}
  const before = old?.input
  const kind = isComposite(item) ? 'composite' : 'group'
  const mode = disruptionMode?.[kind]
  const topology = constraints?.[kind]
  const claims = kind === 'group' ? (resourceClaims?.group ?? []) : []
  const oldClaims = new Map((before?.resourceClaims?.group ?? []).map(claim => [claim.name, claim]))
  const claimsPath = blockPath(item, resourceClaims)
  return [
    ...policyBlockErrors(item, before),
    ...(topology === undefined
      ? []
      : constraintsErrors(blockPath(item, constraints), topology, before?.constraints?.[kind])),
    ...(mode === undefined
      ? []
      : disruptionModeErrors(blockPath(item, disruptionMode), mode, before?.disruptionMode?.[kind])),
    ...claims.flatMap((claim, index) => claimErrors(`${claimsPath}[${index}]`, claim, oldClaims.get(claim.name))),
  ]
}

function policyBlockErrors(item: WorkloadItem, before: WorkloadItem['input']): readonly FieldError[] {
  const policy = item.input?.policy
  const path = blockPath(item, policy)
  if (isComposite(item)) {
    const block = policy?.composite
    return block === undefined ? [] : compositePolicyErrors(path, block, before?.policy?.composite)
  }
  return policy?.group === undefined ? [] : policyErrors(path, policy.group, before?.policy?.group)
}
